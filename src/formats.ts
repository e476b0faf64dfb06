/** The formats there are, in the order in which a place is asked whether it is theirs. A new one is one more line. */
import { zarr } from "./format/zarr/index.js";
import type { Format } from "./model/format.js";

/** The formats there are. */
export const formats: readonly Format[] = [zarr];
