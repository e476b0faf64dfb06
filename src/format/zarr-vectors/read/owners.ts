/** Which objects own a part of a chunk: a column says it at once where it is true (owner-column.ts), else all manifests are read, once. */
import { Corrupt } from "../../../errors.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type { Parts, Placement } from "../../../model/source.js";
import { distinctChunks } from "../../../query/layout.js";
import type { ObjectPages } from "./object-pages.js";
import type { OwnerColumn } from "./owner-column.js";

export interface Owners {
  readonly offsets: Uint32Array;
  readonly rows: Uint32Array;
}

/** The owners of some parts, in one pass over all manifests. */
export async function ownersFrom(
  pages: ObjectPages,
  chunks: number,
  parts: Parts,
  options?: ReadOptions,
): Promise<Owners> {
  const asked = askedParts(parts, chunks);
  const size = parts.part.length;
  const last = new Int32Array(size).fill(-1); // an object may name a part twice
  const found: Found = { part: [], row: [] };
  for (let i = 0; i * pages.pageRows < pages.rows; i++)
    addOwners(found, await pages.page(i, options), i * pages.pageRows, asked, last);
  const offsets = new Uint32Array(size + 1);
  for (let f = 0; f < found.part.length; f++) offsets[found.part[f]! + 1]!++;
  for (let i = 0; i < size; i++) offsets[i + 1]! += offsets[i]!;
  const next = offsets.slice(0, size);
  const rows = new Uint32Array(found.row.length);
  for (let f = 0; f < found.row.length; f++) rows[next[found.part[f]!]!++] = found.row[f]!;
  return { offsets, rows };
}

/** Which of the parts asked for each part of a chunk is. */
interface Asked {
  /** Part p of chunk c is place starts[c] + p, below starts[c + 1]. */
  readonly starts: Uint32Array;
  /** The number of the part at each place, from 1; 0: it is not asked for. A part that is asked for again is next[number]. */
  readonly number: Uint32Array;
  readonly next: Uint32Array;
}

function askedParts({ chunk, part }: Parts, chunks: number): Asked {
  const starts = new Uint32Array(chunks + 1);
  for (let i = 0; i < chunk.length; i++) starts[chunk[i]! + 1] = Math.max(starts[chunk[i]! + 1]!, part[i]! + 1);
  for (let c = 0; c < chunks; c++) starts[c + 1]! += starts[c]!;
  const number = new Uint32Array(starts[chunks]!);
  const next = new Uint32Array(chunk.length + 1);
  for (let i = 0; i < chunk.length; i++) {
    const at = starts[chunk[i]!]! + part[i]!;
    next[i + 1] = number[at]!;
    number[at] = i + 1;
  }
  return { starts, number, next };
}

interface Found {
  readonly part: number[];
  readonly row: number[];
}

/** A block whose chunk is not there (−1) has no parts: an object that is read says so. */
function addOwners(
  found: Found,
  { offsets, chunk, first, count }: Placement,
  row: number,
  { starts, number, next }: Asked,
  last: Int32Array,
): void {
  for (let b = 0, o = 0; b < chunk.length; b++) {
    const c = chunk[b]!;
    if (c < 0 || starts[c] === starts[c + 1]) continue;
    const from = starts[c]! + first[b]!;
    const to = Math.min(from + count[b]!, starts[c + 1]!);
    for (let at = from; at < to; at++) {
      for (let n = number[at]!; n > 0; n = next[n]!) {
        while (offsets[o + 1]! <= b) o++;
        if (last[n - 1] === row + o) continue;
        last[n - 1] = row + o;
        found.part.push(n - 1);
        found.row.push(row + o);
      }
    }
  }
}

/** The row of each id, −1 where there is none. */
export type RowsOf = (ids: BigInt64Array) => Promise<Int32Array>;

/** The owners that a true column gives; undefined where it only says that there are several. */
export async function ownersByColumn(
  column: OwnerColumn,
  rowsOf: RowsOf,
  { chunk, part }: Parts,
  options?: ReadOptions,
): Promise<Owners | undefined> {
  const ids = new IdList(chunk.length);
  const columns = await column.ids(distinctChunks(chunk), options);
  for (let i = 0; i < chunk.length; i++) ids.add(columns.get(chunk[i]!)!, part[i]!);
  if (ids.several) return undefined;
  const owners = await rowsOf(ids.ids);
  const offsets = new Uint32Array(chunk.length + 1);
  const rows = new Uint32Array(chunk.length);
  let count = 0;
  for (let i = 0; i < chunk.length; i++) {
    if (owners[i]! >= 0) rows[count++] = owners[i]!;
    else if (ids.ids[i] !== -1n)
      throw new Corrupt(`fragment ${part[i]} of a chunk is said to belong to object ${ids.ids[i]}, which is not there`);
    offsets[i + 1] = count;
  }
  return { offsets, rows: rows.slice(0, count) };
}

/** Ids that are put together from columns, as words: a bigint for each would be the most of the work. */
export class IdList {
  readonly ids: BigInt64Array;
  /** Whether any is −2. */
  several = false;
  readonly #words: Int32Array;
  #count = 0;
  #column: BigInt64Array = new BigInt64Array();
  #from: Int32Array = new Int32Array();

  constructor(size: number) {
    this.ids = new BigInt64Array(size);
    this.#words = new Int32Array(this.ids.buffer);
  }

  /** The id at a place of a column; −1 beyond its end. */
  add(column: BigInt64Array, at: number): void {
    if (column !== this.#column) {
      this.#column = column;
      this.#from = new Int32Array(column.buffer, column.byteOffset, 2 * column.length);
    }
    const inside = at < column.length;
    const low = inside ? this.#from[2 * at]! : -1;
    const high = inside ? this.#from[2 * at + 1]! : -1;
    if (low === -2 && high === -1) this.several = true;
    this.#words[2 * this.#count] = low;
    this.#words[2 * this.#count++ + 1] = high;
  }
}
