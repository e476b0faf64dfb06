/** The objects of a dataset under the ids that a view gives them: their own, or 1, 2, 3 … where one of those is 0 or less, which the client hides. */
import type { ReadOptions } from "../../model/dataset.js";
import type { ObjectSource } from "../../model/source.js";

/** Ids of a view, and the objects that they stand for. */
export interface ViewIds {
  /** In the view, row by row. */
  readonly all: BigUint64Array;
  /** In the dataset, row by row. */
  readonly own: BigInt64Array | BigUint64Array;
  /** The row of an id of the view; −1 where there is none. */
  rowOf(id: bigint): number;
}

/** The ids of these objects. */
export async function viewIds(objects: ObjectSource, reading: ReadOptions): Promise<ViewIds> {
  const own = await objects.ids(undefined, reading);
  const signed = own as BigInt64Array;
  if (!signed.some((id) => id <= 0n)) {
    const all = BigUint64Array.from(signed);
    let rows: Map<bigint, number> | undefined;
    const rowOf = (id: bigint): number => {
      rows ??= new Map(Array.from(all, (known, row) => [known, row]));
      return rows.get(id) ?? -1;
    };
    return { all, own, rowOf };
  }
  return {
    all: BigUint64Array.from(signed, (_, row) => BigInt(row + 1)),
    own,
    rowOf: (id) => (id >= 1n && id <= BigInt(own.length) ? Number(id) - 1 : -1),
  };
}

/** The id that a name is in decimal; undefined where it is none. */
export const idOf = (name: string): bigint | undefined =>
  /^(0|[1-9]\d{0,19})$/.test(name) && BigInt(name) < 2n ** 64n ? BigInt(name) : undefined;

/** A number from 0 up to 2^32 that has nothing to do with others: what comes first in a random order that is always the same. */
export function drawn(row: number): number {
  let h = (row ^ Math.imul(Math.floor(row / 2 ** 32), 0x9e3779b1)) >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
