/** Segment properties as one of the kinds of data of this format. */
import type { Kind } from "../open.js";
import { openPropertiesDataset } from "./dataset.js";
import { validateProperties } from "./validate.js";

export const propertiesKind: Kind = { open: openPropertiesDataset, validate: validateProperties };
