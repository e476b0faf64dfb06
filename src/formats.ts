/** The formats there are, in the order in which a place is asked whether it is theirs. A new one is one more line. */
import { interchange } from "./format/interchange/format.js";
import { packedTree } from "./format/packed-tree/file/format.js";
import { precomputed } from "./format/precomputed/format.js";
import { snapshot } from "./format/snapshot/format.js";
import { zarr } from "./format/zarr/format.js";
import { zarrVectors } from "./format/zarr-vectors/index.js";
import type { Format } from "./model/format.js";

/** The formats there are. A Zarr Vectors store is a Zarr group as well, so it is asked first. */
export const formats: readonly Format[] = [zarrVectors, zarr, precomputed, packedTree, snapshot, interchange];
