/**
 * Which chunks have a blob: coordinates in ascending numeric order, axis by axis. Documents and paths spell a chunk as its
 * coordinates joined by ".", such as "0.-1.12".
 */
import { Corrupt, LimitExceeded } from "../../../errors.js";

export interface Directory {
  readonly count: number;
  /** Coordinates per chunk. */
  readonly rank: number;
  /** count × rank. */
  readonly coords: Int32Array;
}

const KEY = /^(?:0|-?[1-9]\d{0,9})(?:\.(?:0|-?[1-9]\d{0,9}))*$/;

export const Directory = {
  /** The coordinates of a chunk's name, or undefined where it is none. */
  parseKey(name: string): number[] | undefined {
    return KEY.test(name) ? name.split(".").map(Number) : undefined;
  },

  key: (coords: ArrayLike<number>, at: number, rank: number): string => {
    let key = `${coords[at]}`;
    for (let axis = 1; axis < rank; axis++) key += `.${coords[at + axis]}`;
    return key;
  },

  /** Places in any order, one after the other; a place that comes twice counts once. */
  of(places: readonly number[], rank: number, where: string): Directory {
    const count = places.length / rank;
    const order = new Uint32Array(count);
    let sorted = true;
    for (let i = 0; i < count; i++) {
      order[i] = i;
      if (i > 0 && compare(places, (i - 1) * rank, places, i * rank, rank) >= 0) sorted = false;
    }
    if (!sorted) order.sort((a, b) => compare(places, a * rank, places, b * rank, rank));
    const coords = new Int32Array(places.length);
    let kept = 0;
    for (let i = 0; i < count; i++) {
      const from = order[i]! * rank;
      if (kept > 0 && compare(places, from, coords, (kept - 1) * rank, rank) === 0) continue;
      for (let axis = 0; axis < rank; axis++) {
        const place = places[from + axis]!;
        if (place !== (place | 0))
          throw new LimitExceeded(`${where} has the chunk coordinate ${place}, beyond 32 bits`, { where });
        coords[kept * rank + axis] = place;
      }
      kept++;
    }
    return { count: kept, rank, coords: kept === count ? coords : coords.slice(0, kept * rank) };
  },

  /** From names such as "0.-1.12". */
  ofKeys(keys: Iterable<string>, rank: number, where: string): Directory {
    const places: number[] = [];
    for (const key of keys) {
      const place = Directory.parseKey(key);
      if (place?.length !== rank) {
        const found = JSON.stringify(key.slice(0, 80));
        throw new Corrupt(`${where} should name chunks by ${rank} whole numbers such as "0.1", found ${found}`, {
          where,
        });
      }
      for (const at of place) places.push(at);
    }
    return Directory.of(places, rank, where);
  },

  /** The row of a place, or −1. */
  find({ count, rank, coords }: Directory, wanted: ArrayLike<number>, at = 0): number {
    let low = 0;
    let high = count - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const order = compare(coords, middle * rank, wanted, at, rank);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  },
};

/** The order of two places, axis by axis. */
export function compare(a: ArrayLike<number>, i: number, b: ArrayLike<number>, j: number, rank: number): number {
  for (let axis = 0; axis < rank; axis++) {
    const step = a[i + axis]! - b[j + axis]!;
    if (step !== 0) return step;
  }
  return 0;
}
