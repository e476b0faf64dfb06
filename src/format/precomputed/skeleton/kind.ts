/** Skeletons as one of the kinds of data of this format. */
import type { Kind } from "../open.js";
import { repairInfo } from "../repair-info.js";
import { openSkeletonDataset } from "./dataset.js";
import { validateSkeletons } from "./validate.js";

export const skeletonKind: Kind = {
  open: openSkeletonDataset,
  validate: validateSkeletons,
  repair: (place, options) => repairInfo(validateSkeletons, place, options),
};
