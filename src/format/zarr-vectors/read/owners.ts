/** Which objects own a part of a chunk: a column says it at once where it is true (owner-column.ts), else all manifests are read, once. */
import { Corrupt } from "../../../errors.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type { Parts, Placement } from "../../../model/source.js";
import type { ObjectPages } from "./object-pages.js";
import type { OwnerColumn } from "./owner-column.js";

export interface Owners {
  readonly offsets: Uint32Array;
  readonly rows: Uint32Array;
}

/** The blocks of a level, chunk by chunk. */
export interface Inverted {
  /** Chunk c has the entries offsets[c] up to offsets[c + 1], in the order of objects. */
  readonly offsets: Uint32Array;
  readonly row: Uint32Array;
  readonly first: Uint32Array;
  readonly count: Uint32Array;
}

/** Two passes over all pages: count, then fill; only the chunks of a mask, where there is one. */
export async function invert(
  pages: ObjectPages,
  chunks: number,
  wanted?: Uint8Array,
  options?: ReadOptions,
): Promise<Inverted> {
  const mask = wanted ?? new Uint8Array(chunks).fill(1);
  const offsets = new Uint32Array(chunks + 1);
  const total = Math.ceil(pages.rows / pages.pageRows);
  for (let i = 0; i < total; i++) countBlocks(await pages.page(i, options), mask, offsets);
  for (let c = 0; c < chunks; c++) offsets[c + 1]! += offsets[c]!;
  const size = offsets[chunks]!;
  const out = { offsets, row: new Uint32Array(size), first: new Uint32Array(size), count: new Uint32Array(size) };
  const next = offsets.slice(0, chunks);
  for (let i = 0; i < total; i++) fillBlocks(await pages.page(i, options), i * pages.pageRows, mask, next, out);
  return out;
}

/** A block whose chunk is not there (−1) is in no mask: an object that is read says so. */
function countBlocks({ chunk }: Placement, mask: Uint8Array, counts: Uint32Array): void {
  for (let b = 0; b < chunk.length; b++) if (mask[chunk[b]!] === 1) counts[chunk[b]! + 1]!++;
}

function fillBlocks(page: Placement, row: number, mask: Uint8Array, next: Uint32Array, out: Inverted): void {
  const { offsets, chunk, first, count } = page;
  for (let b = 0, o = 0; b < chunk.length; b++) {
    if (mask[chunk[b]!] !== 1) continue;
    while (offsets[o + 1]! <= b) o++;
    const at = next[chunk[b]!]!++;
    out.row[at] = row + o;
    out.first[at] = first[b]!;
    out.count[at] = count[b]!;
  }
}

/** The owners of some parts, from all manifests. */
export function ownersFrom(inverted: Inverted, parts: Parts): Owners {
  const size = parts.chunk.length;
  const order = inOrder(parts);
  const offsets = new Uint32Array(size + 1);
  const last = new Int32Array(size).fill(-1); // an object may name a part twice
  eachOwner(inverted, parts, order, (i, row) => {
    if (last[i] !== row) offsets[i + 1]!++;
    last[i] = row;
  });
  for (let i = 0; i < size; i++) offsets[i + 1]! += offsets[i]!;
  const rows = new Uint32Array(offsets[size]!);
  const next = offsets.slice(0, size);
  last.fill(-1);
  eachOwner(inverted, parts, order, (i, row) => {
    if (last[i] !== row) rows[next[i]!++] = row;
    last[i] = row;
  });
  return { offsets, rows };
}

/** The parts by chunk and number, as they mostly come. */
function inOrder({ chunk, part }: Parts): Uint32Array {
  const order = Uint32Array.from(chunk.keys());
  const compare = (a: number, b: number): number => chunk[a]! - chunk[b]! || part[a]! - part[b]!;
  for (let i = 1; i < order.length; i++) if (compare(i - 1, i) > 0) return order.sort(compare);
  return order;
}

/** Goes through the blocks of each chunk, and of each block through those of its parts that are asked for. */
function eachOwner(
  { offsets, row, first, count }: Inverted,
  { chunk, part }: Parts,
  order: Uint32Array,
  found: (i: number, row: number) => void,
): void {
  for (let from = 0, to = 0; from < order.length; from = to) {
    const c = chunk[order[from]!]!;
    while (to < order.length && chunk[order[to]!] === c) to++;
    for (let e = offsets[c]!; e < offsets[c + 1]!; e++) {
      let [low, high] = [from, to];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (part[order[middle]!]! < first[e]!) low = middle + 1;
        else high = middle;
      }
      const end = first[e]! + count[e]!;
      for (; low < to && part[order[low]!]! < end; low++) found(order[low]!, row[e]!);
    }
  }
}

/** The owners that a true column gives; undefined where it only says that there are several. */
export async function ownersByColumn(
  column: OwnerColumn,
  rowsOf: (ids: readonly bigint[]) => Promise<Int32Array>,
  { chunk, part }: Parts,
  options?: ReadOptions,
): Promise<Owners | undefined> {
  const columns = await column.ids([...new Set(chunk)], options);
  const ids: bigint[] = [];
  for (let i = 0; i < chunk.length; i++) ids.push(columns.get(chunk[i]!)![part[i]!] ?? -1n);
  if (ids.includes(-2n)) return undefined;
  const rows = await rowsOf(ids);
  for (let i = 0; i < ids.length; i++)
    if (ids[i] !== -1n && rows[i]! < 0)
      throw new Corrupt(`fragment ${part[i]} of a chunk is said to belong to object ${ids[i]}, which is not there`);
  return flatten(ids.map((_, i) => (rows[i]! < 0 ? [] : [rows[i]!])));
}

function flatten(lists: readonly (readonly number[])[]): Owners {
  const offsets = new Uint32Array(lists.length + 1);
  for (const [i, list] of lists.entries()) offsets[i + 1] = offsets[i]! + list.length;
  const rows = new Uint32Array(offsets[lists.length]!);
  for (const [i, list] of lists.entries()) rows.set(list, offsets[i]!);
  return { offsets, rows };
}
