/** Annotations as one of the kinds of data of this format. */
import type { Kind } from "../open.js";
import { openAnnotationDataset } from "./dataset.js";
import { validateAnnotations } from "./validate.js";

export const annotationKind: Kind = {
  open: openAnnotationDataset,
  validate: validateAnnotations,
  repair: async (place, options) => (await import("./repair.js")).repairAnnotations(place, options),
};
