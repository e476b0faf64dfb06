/**
 * Objects without vertices, which no batch of an answer has: put among the others, where those come in their order; else everything
 * that a level knows and that has not come. What a coarser level has only the id of, because it was thinned away there, is none of them.
 */
import type { ReadOptions } from "../model/dataset.js";
import type { ObjectSource } from "../model/source.js";
import type { Batch, Columns } from "../model/vectors.js";

const ROWS = 1 << 14; // objects that are looked at together

/** Ids as they come, 8 bytes each; nothing for those that are 0, 1, 2 … before all others. */
export class Seen {
  #dense = 0;
  #ids = new BigInt64Array(64);
  #held = 0;

  get count(): number {
    return this.#dense + this.#held;
  }

  add(ids: Batch["ids"]): void {
    const all = new BigInt64Array(ids.buffer, ids.byteOffset, ids.length); // the bits tell them apart
    let first = 0;
    if (this.#held === 0) while (first < all.length && all[first] === BigInt(this.#dense + first)) first++;
    this.#dense += first;
    const signed = all.subarray(first);
    if (this.#held + signed.length > this.#ids.length) {
      const more = new BigInt64Array(2 * (this.#held + signed.length));
      more.set(this.#ids.subarray(0, this.#held));
      this.#ids = more;
    }
    this.#ids.set(signed, this.#held);
    this.#held += signed.length;
  }

  /** From now on: whether an id is among them. */
  finder(): (id: bigint) => boolean {
    const sorted = this.#ids.subarray(0, this.#held).sort();
    return (id) => {
      const wanted = BigInt.asIntN(64, id);
      if (wanted >= 0n && wanted < BigInt(this.#dense)) return true;
      let [low, high] = [0, sorted.length];
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (sorted[middle]! < wanted) low = middle + 1;
        else high = middle;
      }
      return sorted[low] === wanted;
    };
  }
}

/** The rows of those objects that have no vertices on the finest level either; all of them where nobody says what that has. */
async function neverAny(
  objects: ObjectSource,
  rows: Uint32Array,
  finest: ObjectSource | undefined,
  options: ReadOptions,
): Promise<Uint32Array> {
  if (finest === undefined || rows.length === 0) return rows;
  const there = await finest.rowsOf([...(await objects.ids(rows, options))], options);
  const { offsets } = await finest.place(Uint32Array.from(there.filter((row) => row >= 0)), options);
  let next = 0;
  return rows.filter((_, i) => there[i]! < 0 || offsets[next] === offsets[++next]);
}

/** The objects of a level that are not among those seen, with these attributes; `finest`: of a coarser level, those of level 0. */
export async function* unseenObjects(
  objects: ObjectSource,
  seen: Seen,
  names: readonly string[],
  options: ReadOptions,
  finest?: ObjectSource,
): AsyncGenerator<{ readonly ids: Batch["ids"]; readonly objectColumns: Columns }> {
  if (seen.count >= objects.rows) return;
  const has = seen.finder();
  for (let from = 0; from < objects.rows; from += ROWS) {
    const all = Uint32Array.from({ length: Math.min(ROWS, objects.rows - from) }, (_, i) => from + i);
    const known = await objects.ids(all, options);
    const unseen = all.filter((_, i) => !has(known[i]!));
    const rows = await neverAny(objects, unseen, finest, options);
    if (rows.length === 0) continue;
    const [ids, objectColumns] = await Promise.all([objects.ids(rows, options), objects.columns(names, rows, options)]);
    yield { ids, objectColumns };
  }
}

/** The rows of objects that have nothing. */
async function emptyRows(
  objects: ObjectSource,
  finest: ObjectSource | undefined,
  options: ReadOptions,
): Promise<Uint32Array> {
  const found: number[] = [];
  for (let from = 0; from < objects.rows; from += ROWS) {
    const rows = Uint32Array.from({ length: Math.min(ROWS, objects.rows - from) }, (_, i) => from + i);
    const { offsets } = await objects.place(rows, options);
    const empty = rows.filter((_, i) => offsets[i] === offsets[i + 1]);
    for (const row of await neverAny(objects, empty, finest, options)) found.push(row);
  }
  return Uint32Array.from(found);
}

/** Puts objects without vertices into batches of paths, as long as these come in the order of their rows. */
export async function gapFiller(
  objects: ObjectSource,
  names: readonly string[],
  options: ReadOptions,
  finest?: ObjectSource,
): Promise<(batch: Batch) => Promise<Batch>> {
  const empty = await emptyRows(objects, finest, options);
  let [next, last] = [0, -1];
  return async (batch) => {
    if (next === empty.length || batch.repeats === true || batch.ids.length === 0) return batch;
    const rows = await objects.rowsOf([...batch.ids], options);
    if (!rows.every((row, i) => row > (i === 0 ? last : rows[i - 1]!))) {
      next = empty.length;
      return batch;
    }
    last = rows.at(-1)!;
    const from = next;
    while (next < empty.length && empty[next]! < last) next++;
    if (from === next) return batch;
    const all = Uint32Array.from([...rows, ...empty.subarray(from, next)]).sort();
    const place = new Map(Array.from(all, (row, i) => [row, i]));
    const [parts, owners] = [[0], [] as number[]];
    let gap = from;
    for (const [part, object] of batch.objects.entries()) {
      for (; object >= 0 && gap < next && empty[gap]! < rows[object]!; gap++) {
        parts.push(batch.parts[part]!);
        owners.push(place.get(empty[gap]!)!);
      }
      parts.push(batch.parts[part + 1]!);
      owners.push(object < 0 ? -1 : place.get(rows[object]!)!);
    }
    const [ids, objectColumns] = await Promise.all([objects.ids(all, options), objects.columns(names, all, options)]);
    return { ...batch, parts: Uint32Array.from(parts), objects: Int32Array.from(owners), ids, objectColumns };
  };
}

/** How many objects of a batch have no vertices. */
export function emptyIn({ parts, objects, ids }: Batch): number {
  const has = new Uint8Array(ids.length);
  for (const [part, object] of objects.entries()) if (object >= 0 && parts[part + 1]! > parts[part]!) has[object] = 1;
  return has.reduce((left, one) => left - one, ids.length);
}
