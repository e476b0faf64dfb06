/**
 * Where the fragments of each object are. One blob for each object:
 *
 * | bytes                | meaning                                          |
 * |----------------------|--------------------------------------------------|
 * | u32                  | B blocks; then for each                          |
 * | i64[dims]            | the chunk                                        |
 * | u8                   | mode                                             |
 * | mode 0: i64          | one fragment                                     |
 * | mode 1: i64, i64     | as many fragments as the second from the first   |
 * | mode 2: u32, i64[n]  | n fragments in any order                         |
 *
 * Packed, with nothing after; the fragments in this order are the object. In memory the manifests of many objects are one table
 * of blocks, each a run of fragments in one chunk; a list of n becomes n blocks. Coordinates are int32: a grid of 2^31 chunks
 * along an axis is no store, four bytes keep a million blocks in the cache, and what does not fit is refused.
 */
import { fromDense, fromLegacy, fromTuples, parse } from "./manifest-parse.js";
import { encodeChunk, encodeRow, of, promote } from "./manifest-write.js";

export interface Manifests {
  /** Objects. */
  readonly rows: number;
  readonly dims: number;
  /** Object i is the blocks offsets[i] up to offsets[i + 1]. */
  readonly offsets: Uint32Array;
  /** `dims` coordinates for each block. */
  readonly chunks: Int32Array;
  /** Block b is count[b] fragments from first[b], in the numbering of its chunk. */
  readonly first: Uint32Array;
  readonly count: Uint32Array;
  /** How each block is written (`Mode`); undefined: all are single fragments, as in every store of the reference's writers. */
  readonly modes: Uint8Array | undefined;
}

export const Manifests = { parse, fromLegacy, fromTuples, fromDense, of, promote, concat, encodeRow, encodeChunk };

/** The objects of each part one after another, as the chunks of an index give them. */
function concat(parts: readonly Manifests[], dims: number): Manifests {
  if (parts.length === 1) return parts[0]!;
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const blocks = parts.reduce((sum, part) => sum + part.first.length, 0);
  const out = {
    rows,
    dims,
    offsets: new Uint32Array(rows + 1),
    chunks: new Int32Array(blocks * dims),
    first: new Uint32Array(blocks),
    count: new Uint32Array(blocks),
    modes: parts.some(({ modes }) => modes !== undefined) ? new Uint8Array(blocks) : undefined,
  };
  let [row, block] = [0, 0];
  for (const part of parts) {
    for (let i = 0; i < part.rows; i++) out.offsets[++row] = block + part.offsets[i + 1]!;
    out.chunks.set(part.chunks, block * dims);
    out.first.set(part.first, block);
    out.count.set(part.count, block);
    if (part.modes !== undefined) out.modes!.set(part.modes, block);
    block += part.first.length;
  }
  return out;
}
