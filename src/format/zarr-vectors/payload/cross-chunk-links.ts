/**
 * Links across chunks up to 0.7: one blob for the level, and each endpoint says where it is.
 *
 * | blob                        | bytes                                                                                 |
 * |-----------------------------|---------------------------------------------------------------------------------------|
 * | cross_chunk_links (0.2–0.7) | records of `width` endpoints, each i64[dims] chunk, i64 vertex                        |
 * | cross_chunk_faces (0.3–0.5) | endpoints i64[dims] chunk, i64 0, i64 vertex; beside them i64[n + 1]: face i is the   |
 * |                             | endpoints offsets[i] up to offsets[i + 1]                                             |
 */
import { Corrupt, LimitExceeded } from "../../../errors.js";
import { Int64, outside, put, words } from "./int64.js";

export interface CrossChunkLinks {
  readonly count: number;
  readonly dims: number;
  /** Link i is the endpoints offsets[i] up to offsets[i + 1]. */
  readonly offsets: Uint32Array;
  /** `dims` coordinates for each endpoint. */
  readonly chunks: Int32Array;
  /** The vertex of each endpoint, in the numbering of its chunk. */
  readonly vertices: Uint32Array;
}

export const CrossChunkLinks = {
  parse(data: Uint8Array, width: number, dims: number, where: string): CrossChunkLinks {
    const ends = endpoints(data, dims, 0, where);
    const count = ends.vertices.length / width;
    if (!Number.isInteger(count))
      throw new Corrupt(`${where} should be links of ${width}, found ${ends.vertices.length} endpoints`, { where });
    const offsets = new Uint32Array(count + 1);
    for (let i = 1; i <= count; i++) offsets[i] = i * width;
    return { count, dims, offsets, ...ends };
  },

  parseFaces(data: Uint8Array, offsets: Uint8Array, dims: number, where: string): CrossChunkLinks {
    const ends = endpoints(data, dims, 1, where);
    const starts = Int64.unsigned(offsets, `the offsets of ${where}`);
    const count = Math.max(0, starts.length - 1);
    const right = starts.every((start, i) => (i === 0 ? start === 0 : start >= starts[i - 1]!));
    if (!right || (starts.at(-1) ?? 0) !== ends.vertices.length)
      throw new Corrupt(`the offsets of ${where} should ascend from 0 to its ${ends.vertices.length} endpoints`, {
        where,
      });
    return { count, dims, offsets: starts.length === 0 ? new Uint32Array(1) : starts, ...ends };
  },

  encode: (links: CrossChunkLinks): Uint8Array<ArrayBuffer> => encodeEndpoints(links, 0),

  encodeFaces: (links: CrossChunkLinks): { readonly data: Uint8Array; readonly offsets: Uint8Array } => ({
    data: encodeEndpoints(links, 1),
    offsets: Int64.encode(links.offsets),
  }),
};

/** Coordinates, `zeros` columns that are always 0 (a group, which no writer used), a vertex. */
function endpoints(data: Uint8Array, dims: number, zeros: number, where: string) {
  const columns = dims + zeros + 1;
  const count = Int64.count(data, where) / columns;
  if (!Number.isInteger(count))
    throw new Corrupt(`${where} should be endpoints of ${columns} int64, found ${data.length} bytes`, { where });
  const from = words(data);
  const chunks = new Int32Array(count * dims);
  const vertices = new Uint32Array(count);
  for (let i = 0, at = 0; i < count; i++) {
    for (let d = 0; d < dims; d++, at++) {
      const low = from[2 * at]! | 0;
      if ((from[2 * at + 1]! | 0) !== low >> 31)
        throw new LimitExceeded(`${where} has a chunk coordinate at byte ${8 * at} beyond ±2^31`, { where });
      chunks[i * dims + d] = low;
    }
    for (let z = 0; z < zeros; z++, at++)
      if (from[2 * at] !== 0 || from[2 * at + 1] !== 0) throw outside(from, at, `the group of an endpoint in ${where}`);
    if (from[2 * at + 1] !== 0) throw outside(from, at, where);
    vertices[i] = from[2 * at++]!;
  }
  return { chunks, vertices };
}

function encodeEndpoints({ dims, chunks, vertices }: CrossChunkLinks, zeros: number): Uint8Array<ArrayBuffer> {
  const columns = dims + zeros + 1;
  const out = new Int32Array(2 * columns * vertices.length);
  for (let i = 0, at = 0; i < vertices.length; i++, at += 2 * columns) {
    for (let d = 0; d < dims; d++) put(out, at + 2 * d, chunks[i * dims + d]!);
    out[at + 2 * (columns - 1)] = vertices[i]!;
  }
  return new Uint8Array(out.buffer);
}
