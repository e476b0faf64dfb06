/**
 * An array in memory, and the region of an array that a call is about.
 *
 * Elements of fixed size lie in one buffer in C order, little-endian; `typed()` of model/elements.ts gives them their typed
 * array. float16 is its bits, complex is interleaved pairs, a struct, fixed string or opaque type is its bytes.
 * Elements of variable size are values.
 */
import type { DataType } from "../bytes/dtype.js";
import type { ChunkData } from "../codec/types.js";

/** An array in memory: its shape, its element type, and its elements in C order. */
export interface NdArray {
  readonly shape: readonly number[];
  readonly dtype: DataType;
  readonly data: ChunkData;
}

/** Per axis: one index (the axis goes away) or start, stop, step as in Python; what is absent is the whole axis. */
export type AxisSelection = number | { readonly start?: number; readonly stop?: number; readonly step?: number } | null;
/** A part of an array, axis by axis; axes that are not mentioned are taken whole. */
export type Region = readonly AxisSelection[];
