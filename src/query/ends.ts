/** Where the ends of joints and links lie: their vertices are looked up chunk by chunk. */
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource, Tile } from "../model/source.js";
import { heldLong, nextTurn } from "../store/turn.js";
import { runOf } from "./layout.js";

const PLAIN = { positions: true, vertex: [], fragment: [] };

/** Goes through the tiles of these chunks (or of those `among` these), each with the numbers of the ends that lie in it. */
export async function eachEnd(
  source: LevelSource,
  chunks: Int32Array,
  options: ReadOptions,
  found: (tile: Tile, ends: Uint32Array) => void,
  among?: Uint8Array,
): Promise<void> {
  const { distinct, starts, order } = grouped(chunks);
  const places = new Map(distinct.map((chunk, i) => [chunk, i]));
  const asked = among === undefined ? distinct : distinct.filter((chunk) => among[chunk] === 1);
  for await (const tile of source.tiles(asked, PLAIN, options)) {
    if (heldLong()) await nextTurn();
    options.signal?.throwIfAborted();
    const at = places.get(tile.chunk)!;
    found(tile, order.subarray(starts[at]!, starts[at + 1]!));
  }
}

/** For each end of links its position and its part, by its vertex. */
export async function endsOf(
  source: LevelSource,
  chunks: Int32Array,
  vertices: Uint32Array,
  options: ReadOptions,
): Promise<{ readonly positions: Float64Array; readonly part: Int32Array }> {
  const positions = new Float64Array(chunks.length * source.dims).fill(Number.NaN);
  const part = new Int32Array(chunks.length).fill(-1);
  await eachEnd(source, chunks, options, (tile, ends) => copyEnds(ends, tile, source.dims, vertices, positions, part));
  return { positions, part };
}

// The loop is a function of its own, here and elsewhere: what is hot is compiled as a whole, and a function that waits is large.
function copyEnds(
  ends: Uint32Array,
  { positions, parts }: Pick<Tile, "positions" | "parts">,
  dims: number,
  vertices: Uint32Array,
  out: Float64Array,
  part: Int32Array,
): void {
  for (let i = 0; i < ends.length; i++) {
    const end = ends[i]!;
    const vertex = vertices[end]!;
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
