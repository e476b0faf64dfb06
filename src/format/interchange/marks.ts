/** A bit for each number, and how many are set before one. */
export class Marks {
  #bits: Uint32Array;
  /** Those before every 16th word. */
  #before = new Uint32Array();

  /** `count`: how many numbers there will be, where that is known. */
  constructor(count = 0) {
    this.#bits = new Uint32Array(Math.ceil(count / 32));
  }

  set(number: number): void {
    const word = number >>> 5;
    if (word >= this.#bits.length) {
      const grown = new Uint32Array(2 * word + 64);
      grown.set(this.#bits);
      this.#bits = grown;
    }
    this.#bits[word]! |= 1 << (number & 31);
  }

  has(number: number): boolean {
    return ((this.#bits[number >>> 5]! >>> (number & 31)) & 1) === 1; // of what is not there, nothing
  }

  /** All are set, so many: from now on it is known how many are before each. */
  count(): number {
    this.#before = new Uint32Array(Math.ceil(this.#bits.length / 16) + 1);
    let sum = 0;
    for (let word = 0; word < this.#bits.length; word++) {
      if (word % 16 === 0) this.#before[word / 16] = sum;
      sum += ones(this.#bits[word]!);
    }
    this.#before.fill(sum, Math.ceil(this.#bits.length / 16));
    return sum;
  }

  before(number: number): number {
    const word = Math.min(number >>> 5, this.#bits.length);
    let sum = this.#before[word >>> 4]!;
    for (let own = (word >>> 4) << 4; own < word; own++) sum += ones(this.#bits[own]!);
    return sum + ones((this.#bits[number >>> 5] ?? 0) & ((1 << (number & 31)) - 1));
  }
}

function ones(word: number): number {
  let bits = word - ((word >>> 1) & 0x5555_5555);
  bits = (bits & 0x3333_3333) + ((bits >>> 2) & 0x3333_3333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
