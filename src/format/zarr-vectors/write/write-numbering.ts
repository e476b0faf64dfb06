/**
 * Tuples of whole numbers to numbers: 0, 1, 2 … in the order in which the tuples first come. Chunks by their coordinates,
 * fragments by object and chunk, link cells by chunk and offsets: what is asked once for every vertex must not make a text or
 * an object each time.
 */
export interface Numbering {
  readonly count: number;
  /** The tuples by number, `rank` each; room for more may follow. */
  readonly tuples: Int32Array;
  /** The number of the tuple that starts at `at`; a new one where it has none. */
  of(tuple: Int32Array, at?: number): number;
  /** The same, but −1 where it has none. */
  find(tuple: Int32Array, at?: number): number;
}

export function numbering(rank: number): Numbering {
  let tuples = new Int32Array(16 * rank);
  let table = new Int32Array(64); // number + 1; at most half full
  let count = 0;

  const same = (number: number, tuple: Int32Array, at: number): boolean => {
    for (let k = 0, own = number * rank; k < rank; k++) if (tuples[own + k] !== tuple[at + k]) return false;
    return true;
  };
  /** The place of the tuple in the table, or the free one where it belongs. */
  const slotOf = (tuple: Int32Array, at: number): number => {
    let hash = 0x9e3779b1;
    for (let k = 0; k < rank; k++) {
      hash = Math.imul(hash ^ tuple[at + k]!, 0x85ebca6b);
      hash ^= hash >>> 15;
    }
    const mask = table.length - 1;
    let slot = hash & mask;
    while (table[slot] !== 0 && !same(table[slot]! - 1, tuple, at)) slot = (slot + 1) & mask;
    return slot;
  };
  const grow = (): void => {
    table = new Int32Array(4 * table.length);
    for (let number = 0; number < count; number++) table[slotOf(tuples, number * rank)] = number + 1;
  };

  return {
    get count() {
      return count;
    },
    get tuples() {
      return tuples;
    },
    find: (tuple, at = 0) => table[slotOf(tuple, at)]! - 1,
    of(tuple, at = 0) {
      const slot = slotOf(tuple, at);
      if (table[slot] !== 0) return table[slot]! - 1;
      if ((count + 1) * rank > tuples.length) {
        const larger = new Int32Array(2 * tuples.length);
        larger.set(tuples);
        tuples = larger;
      }
      for (let k = 0; k < rank; k++) tuples[count * rank + k] = tuple[at + k]!;
      table[slot] = ++count;
      if (2 * count > table.length) grow();
      return count - 1;
    },
  };
}

const LONG = 1 << 20; // beyond which room that may never be used is dearer than copying

/** A list of numbers that grows. */
export class Growing {
  values: Uint32Array;
  length = 0;

  /** With room for so many. */
  constructor(room = 64) {
    this.values = new Uint32Array(Math.max(1, room));
  }

  push(value: number): void {
    if (this.length === this.values.length) {
      const larger = new Uint32Array(Math.ceil(this.length * (this.length < LONG ? 2 : 1.25)));
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }

  done(): Uint32Array {
    return this.values.subarray(0, this.length);
  }
}
