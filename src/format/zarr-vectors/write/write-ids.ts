/**
 * Objects by number, 0, 1, 2 … as they come, and the ids under which they came. Ids are held as two halves: a bigint for each
 * of a million objects, made and hashed, would cost more than their vertices.
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
  const known = numbering(2);
  const number = new Growing(); // of each known id
  const name = new Growing(); // of each object: which known id + 1, or 0
  return {
    get count() {
      return name.length;
    },
    take(ids) {
      const words = halves(ids);
      const own = new Int32Array(ids.length);
      for (let i = 0; i < own.length; i++) {
        const id = known.of(words, 2 * i);
        if (id === number.length) {
          number.push(name.length);
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
        const id = known.find(words, 2 * i);
        if (id >= 0) own[i] = number.values[id]!;
      }
      return own;
    },
    nameless() {
      name.push(0);
      return name.length - 1;
    },
    all() {
      const ids = new BigInt64Array(name.length);
      const named = new Uint8Array(name.length);
      const words = halves(ids);
      for (let i = 0; i < named.length; i++) {
        const id = name.values[i]! - 1;
        if (id < 0) continue;
        named[i] = 1;
        words[2 * i] = known.tuples[2 * id]!;
        words[2 * i + 1] = known.tuples[2 * id + 1]!;
      }
      return { ids, named };
    },
  };
}
