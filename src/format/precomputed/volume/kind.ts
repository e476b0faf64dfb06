/** Volumes as one of the kinds of data of this format. */
import type { Kind } from "../open.js";
import { volumeAt } from "./array.js";
import { validateVolume } from "./validate.js";

export const volumeKind: Kind = { open: volumeAt, validate: validateVolume };
