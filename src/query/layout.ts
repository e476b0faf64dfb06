/**
 * Where everything of a batch goes, known before any data is read: the objects one after the other, of each its fragments in
 * order. So every tile, in whatever order it comes, is copied to its place and can be forgotten.
 */
import { Corrupt } from "../errors.js";
import type { Placement } from "../model/source.js";

/** What to put together: item i is an object, or a part that nobody owns (row −1), and its blocks. */
export interface Items {
  readonly rows: Int32Array;
  readonly place: Placement;
  /** For each block 1 where what came before it in its object was left out. */
  readonly gaps?: Uint8Array | undefined;
  /** The offsets of the parts of each chunk in question. */
  readonly sizes: ReadonlyMap<number, Uint32Array>;
}

export interface Layout {
  readonly rows: Int32Array;
  /** Fragments in the batch, in order. */
  readonly count: number;
  /** Fragment f is the vertices fragments[f] up to fragments[f + 1] of the batch. */
  readonly fragments: Uint32Array;
  readonly item: Uint32Array;
  readonly chunk: Int32Array;
  readonly part: Uint32Array;
  /** The first vertex of its part in the tile. */
  readonly from: Uint32Array;
  /** The chunks, ascending; those of chunk i have the fragments order[starts[i]] up to order[starts[i + 1]]. */
  readonly chunks: readonly number[];
  readonly starts: Uint32Array;
  readonly order: Uint32Array;
  /** The place of each chunk among `chunks`, −1 where it is none of them. */
  readonly places: Int32Array;
  /** The vertices of each chunk. */
  readonly tileSizes: Uint32Array;
  /** Parts with vertices, and the item of each. */
  readonly parts: Uint32Array;
  readonly items: Uint32Array;
}

export function lay({ rows, place, gaps, sizes }: Items, paths: boolean): Layout {
  const chunks = distinctChunks(place.chunk);
  const places = new Int32Array((chunks.at(-1) ?? -1) + 1).fill(-1);
  for (let i = 0; i < chunks.length; i++) places[chunks[i]!] = i;
  const tables = chunks.map((chunk) => sizes.get(chunk) ?? EMPTY);
  let count = 0;
  for (let b = 0; b < place.count.length; b++) count += place.count[b]!;
  const fragments = new Uint32Array(count + 1);
  const [item, part, from] = [new Uint32Array(count), new Uint32Array(count), new Uint32Array(count)];
  const chunk = new Int32Array(count);
  const starts = new Uint32Array(chunks.length + 1);
  const parts = new Uint32Array(rows.length + (gaps?.length ?? 0) + 1);
  const items = new Uint32Array(parts.length - 1);
  let [f, made] = [0, 0];
  for (let i = 0; i < rows.length; i++) {
    let begin = fragments[f]!;
    for (let b = place.offsets[i]!; b < place.offsets[i + 1]!; b++) {
      if (paths && gaps?.[b] === 1 && fragments[f]! > begin) {
        parts[made] = begin;
        items[made++] = i;
        begin = fragments[f]!;
      }
      const at = places[place.chunk[b]!]!;
      const table = tables[at]!;
      const end = place.first[b]! + place.count[b]!;
      if (end >= table.length && place.count[b]! > 0)
        throw new Corrupt(
          `an object has fragment ${end - 1} of a chunk, but the chunk has ${table.length - 1} fragments`,
        );
      starts[at + 1]! += place.count[b]!;
      for (let p = place.first[b]!; p < end; p++, f++) {
        item[f] = i;
        chunk[f] = place.chunk[b]!;
        part[f] = p;
        from[f] = table[p]!;
        fragments[f + 1] = fragments[f]! + table[p + 1]! - table[p]!;
      }
    }
    if (fragments[f] === begin) continue;
    parts[made] = begin;
    items[made++] = i;
  }
  parts[made] = fragments[f]!;
  return {
    rows,
    count,
    fragments,
    item,
    chunk,
    part,
    from,
    chunks,
    starts,
    order: byChunk(chunk, starts, places),
    places,
    tileSizes: Uint32Array.from(tables, (table) => table[table.length - 1]!),
    parts: parts.subarray(0, made + 1),
    items: items.subarray(0, made),
  };
}

/** Each chunk of a list once, ascending. */
export function distinctChunks(chunk: Int32Array): number[] {
  let last = -1;
  for (let b = 0; b < chunk.length; b++) if (chunk[b]! > last) last = chunk[b]!;
  const seen = new Uint8Array(last + 1);
  for (let b = 0; b < chunk.length; b++) seen[chunk[b]!] = 1;
  const distinct: number[] = [];
  for (let c = seen.indexOf(1); c >= 0; c = seen.indexOf(1, c + 1)) distinct.push(c);
  return distinct;
}

const EMPTY = Uint32Array.of(0);

/** Turns counts (moved by one) into offsets, and gives the fragments chunk by chunk. */
function byChunk(chunk: Int32Array, starts: Uint32Array, places: Int32Array): Uint32Array {
  for (let i = 1; i < starts.length; i++) starts[i]! += starts[i - 1]!;
  const next = starts.slice();
  const order = new Uint32Array(chunk.length);
  for (let f = 0; f < chunk.length; f++) order[next[places[chunk[f]!]!]!++] = f;
  return order;
}

/** The run (of offsets, empty ones among them) that a number falls into. */
export function runOf(offsets: Uint32Array, at: number): number {
  let [low, high] = [0, offsets.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (offsets[middle]! <= at) low = middle;
    else high = middle;
  }
  return low;
}
