/** Objects without vertices, which no batch has: everything that a level knows and that has not come. */
import type { ReadOptions } from "../model/dataset.js";
import type { ObjectSource } from "../model/source.js";
import type { Batch, Columns } from "../model/vectors.js";

const ROWS = 1 << 14; // objects that are looked at together

/** Ids as they come, 8 bytes each. */
export class Seen {
  #ids = new BigInt64Array(64);
  count = 0;

  add(ids: Batch["ids"]): void {
    const signed = new BigInt64Array(ids.buffer, ids.byteOffset, ids.length); // the bits tell them apart
    if (this.count + ids.length > this.#ids.length) {
      const more = new BigInt64Array(2 * (this.count + ids.length));
      more.set(this.#ids.subarray(0, this.count));
      this.#ids = more;
    }
    this.#ids.set(signed, this.count);
    this.count += ids.length;
  }

  /** From now on: whether an id is among them. */
  finder(): (id: bigint) => boolean {
    const sorted = this.#ids.subarray(0, this.count).sort();
    return (id) => {
      const wanted = BigInt.asIntN(64, id);
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

/** The objects of a level that are not among those seen, with these attributes. */
export async function* unseenObjects(
  objects: ObjectSource,
  seen: Seen,
  names: readonly string[],
  options: ReadOptions,
): AsyncGenerator<{ readonly ids: Batch["ids"]; readonly objectColumns: Columns }> {
  if (seen.count >= objects.rows) return;
  const has = seen.finder();
  for (let from = 0; from < objects.rows; from += ROWS) {
    const all = Uint32Array.from({ length: Math.min(ROWS, objects.rows - from) }, (_, i) => from + i);
    const known = await objects.ids(all, options);
    const rows = all.filter((_, i) => !has(known[i]!));
    if (rows.length === 0) continue;
    const [ids, objectColumns] = await Promise.all([objects.ids(rows, options), objects.columns(names, rows, options)]);
    yield { ids, objectColumns };
  }
}
