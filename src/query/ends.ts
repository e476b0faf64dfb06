/** Where the ends of joints and links lie: their vertices are looked up chunk by chunk. */
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource, Tile } from "../model/source.js";
import { runOf } from "./layout.js";

const PLAIN = { positions: true, vertex: [], fragment: [] };

/**
 * For each end its position and its part. `vertexOf` says which vertex end i is, −1 for none (its part is then −1, and so it is of
 * ends in chunks that are not `among` these).
 */
export async function endsOf(
  source: LevelSource,
  chunks: Int32Array,
  options: ReadOptions,
  vertexOf: (parts: Uint32Array, end: number) => number,
  among?: Uint8Array,
): Promise<{ readonly positions: Float64Array; readonly part: Int32Array }> {
  const { dims } = source;
  const out = new Float64Array(chunks.length * dims).fill(Number.NaN);
  const part = new Int32Array(chunks.length).fill(-1);
  const { distinct, starts, order } = grouped(chunks);
  const places = new Map(distinct.map((chunk, i) => [chunk, i]));
  const asked = among === undefined ? distinct : distinct.filter((chunk) => among[chunk] === 1);
  for await (const { chunk, positions, parts } of source.tiles(asked, PLAIN, options)) {
    options.signal?.throwIfAborted();
    const at = places.get(chunk)!;
    copyEnds(order.subarray(starts[at]!, starts[at + 1]!), { positions, parts }, dims, vertexOf, out, part);
  }
  return { positions: out, part };
}

// The loop is a function of its own, here and elsewhere: what is hot is compiled as a whole, and a function that waits is large.
function copyEnds(
  ends: Uint32Array,
  { positions, parts }: Pick<Tile, "positions" | "parts">,
  dims: number,
  vertexOf: (parts: Uint32Array, end: number) => number,
  out: Float64Array,
  part: Int32Array,
): void {
  for (let i = 0; i < ends.length; i++) {
    const end = ends[i]!;
    const vertex = vertexOf(parts, end);
    if (vertex < 0) continue;
    part[end] = runOf(parts, vertex);
    for (let axis = 0; axis < dims; axis++) out[end * dims + axis] = positions[vertex * dims + axis]!;
  }
}

/** The numbers of equal chunks together. */
function grouped(chunks: Int32Array): { distinct: number[]; starts: Uint32Array; order: Uint32Array } {
  const places = new Map<number, number>();
  const ofEnd = new Uint32Array(chunks.length);
  let [last, at] = [-1, 0];
  for (let i = 0; i < chunks.length; i++) {
    if (chunks[i] !== last) {
      last = chunks[i]!;
      at = places.get(last) ?? places.size;
      places.set(last, at);
    }
    ofEnd[i] = at;
  }
  const starts = new Uint32Array(places.size + 1);
  for (let i = 0; i < chunks.length; i++) starts[ofEnd[i]! + 1]!++;
  for (let i = 1; i < starts.length; i++) starts[i]! += starts[i - 1]!;
  const next = starts.slice();
  const order = new Uint32Array(chunks.length);
  for (let i = 0; i < chunks.length; i++) order[next[ofEnd[i]!]!++] = i;
  return { distinct: [...places.keys()], starts, order };
}
