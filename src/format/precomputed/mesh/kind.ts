/** Meshes as one of the kinds of data of this format. */
import type { Kind } from "../open.js";
import { repairInfo } from "../repair-info.js";
import { openMeshDataset } from "./dataset.js";
import { validateMeshes } from "./validate.js";

export const meshKind: Kind = {
  open: openMeshDataset,
  validate: validateMeshes,
  repair: (place, options) => repairInfo(validateMeshes, place, options),
};
