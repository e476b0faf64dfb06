/**
 * Objects by number, 0, 1, 2 … as they come, and the ids under which they came. Ids are held as two halves: a bigint for each
 * of a million objects, made and hashed, would cost more than their vertices. As long as they are 0, 1, 2 …, as those of files are,
 * they are the numbers, and nothing is held.
 */
import { Growing, numbering } from "./write-numbering.js";

export type Ids = BigInt64Array | BigUint64Array;

export interface Names {
  /** Objects, also those without a name. */
  readonly count: number;
  /** The number of each id, new where it has not come before. */
  take(ids: Ids): Int32Array;
  /** The number of each id that has come before, else −1. */
  find(ids: Ids): Int32Array;
  /** A new object that nobody has named. */
  nameless(): number;
  /** By number: the id, and 1 where there is one. */
  all(): { readonly ids: BigInt64Array; readonly named: Uint8Array };
}

const halves = (ids: Ids): Int32Array => new Int32Array(ids.buffer, ids.byteOffset, 2 * ids.length);

export function namesOf(): Names {
  let dense = 0; // the ids below came in their order, before all others
  const known = numbering(2); // the others
  const number = new Growing(); // of each known id
  const name = new Growing(); // of each object from `dense` on: which known id + 1, or 0
  const isDense = (low: number, high: number): boolean => high === 0 && low >= 0 && low < dense;
  return {
    get count() {
      return dense + name.length;
    },
    take(ids) {
      const words = halves(ids);
      const own = new Int32Array(ids.length);
      for (let i = 0; i < own.length; i++) {
        const [low, high] = [words[2 * i]!, words[2 * i + 1]!];
        if (low === dense && high === 0 && name.length === 0) dense++;
        if (isDense(low, high)) {
          own[i] = low;
          continue;
        }
        const id = known.of(words, 2 * i);
        if (id === number.length) {
          number.push(dense + name.length);
          name.push(id + 1);
        }
        own[i] = number.values[id]!;
      }
      return own;
    },
    find(ids) {
      const words = halves(ids);
      const own = new Int32Array(ids.length).fill(-1);
      for (let i = 0; i < own.length; i++) {
        const dense = isDense(words[2 * i]!, words[2 * i + 1]!);
        const id = dense ? -1 : known.find(words, 2 * i);
        if (dense) own[i] = words[2 * i]!;
        else if (id >= 0) own[i] = number.values[id]!;
      }
      return own;
    },
    nameless() {
      name.push(0);
      return dense + name.length - 1;
    },
    all() {
      const ids = new BigInt64Array(dense + name.length);
      const named = new Uint8Array(dense + name.length).fill(1, 0, dense);
      const words = halves(ids);
      for (let i = 0; i < dense; i++) words[2 * i] = i;
      for (let i = dense; i < named.length; i++) {
        const id = name.values[i - dense]! - 1;
        if (id < 0) continue;
        named[i] = 1;
        words[2 * i] = known.tuples[2 * id]!;
        words[2 * i + 1] = known.tuples[2 * id + 1]!;
      }
      return { ids, named };
    },
  };
}
