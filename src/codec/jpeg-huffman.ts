/**
 * The bits of a JPEG scan, and the Huffman codes in them. Bits come from the high end; a byte ff in the data is followed by a
 * byte 0, and by anything else where a marker begins, which ends the bits.
 */
import { Corrupt } from "../errors.js";

/** Codes by length 1 to 16: the first, the last, and where their symbols begin. Up to 8 bits also by the bits themselves. */
export interface Huffman {
  /** symbol | length << 8 by the next 8 bits; 0 where the code is longer. */
  readonly fast: Uint16Array;
  /** Per length, the largest code; −1 where there is none. */
  readonly last: Int32Array;
  /** What is added to a code of this length to find its symbol. */
  readonly shift: Int32Array;
  readonly symbols: Uint8Array;
}

export function huffman(counts: Uint8Array, symbols: Uint8Array): Huffman {
  const fast = new Uint16Array(256);
  const last = new Int32Array(17).fill(-1);
  const shift = new Int32Array(17);
  let code = 0;
  let at = 0;
  for (let length = 1; length <= 16; length++, code <<= 1) {
    const count = counts[length - 1]!;
    if (code + count > 1 << length)
      throw new Corrupt(`a Huffman table of jpeg data has too many codes of ${length} bits`);
    shift[length] = at - code;
    for (let i = 0; i < count; i++, at++, code++) {
      if (length > 8) continue;
      const first = code << (8 - length);
      fast.fill(symbols[at]! | (length << 8), first, first + (1 << (8 - length)));
    }
    if (count > 0) last[length] = code - 1;
  }
  return { fast, last, shift, symbols };
}

export class Bits {
  readonly #bytes: Uint8Array;
  #at: number;
  #hold = 0;
  #held = 0;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** Where the bytes go on after the bits; what was begun is left. */
  get offset(): number {
    return this.#at;
  }

  /** Throws the rest of a byte away: what follows is a marker. */
  align(): void {
    if (this.#held >= 8 || this.#more())
      throw new Corrupt(`the scan of jpeg data should end at byte ${this.#at}, but goes on`);
    this.#held = 0;
  }

  /** Past the two bytes of a marker. */
  skip(n: number): void {
    this.#at += n;
  }

  #fill(n: number): void {
    while (this.#held < n) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined || (byte === 0xff && this.#bytes[this.#at + 1] !== 0))
        throw new Corrupt(`the scan of jpeg data ends too early, at byte ${this.#at} of ${this.#bytes.length}`);
      this.#at += byte === 0xff ? 2 : 1;
      this.#hold = ((this.#hold << 8) | byte) & 0xffffff;
      this.#held += 8;
    }
  }

  /** Up to 16 bits. */
  take(n: number): number {
    if (n === 0) return 0;
    this.#fill(n);
    this.#held -= n;
    return (this.#hold >> this.#held) & ((1 << n) - 1);
  }

  /** A signed number of n bits, as JPEG has them: those with a 0 in front are negative. */
  signed(n: number): number {
    const value = this.take(n);
    return n > 0 && value < 1 << (n - 1) ? value - (1 << n) + 1 : value;
  }

  symbol({ fast, last, shift, symbols }: Huffman): number {
    // Where the data end within the next 8 bits, the code is found bit by bit.
    if (this.#held < 8 && this.#more()) this.#fill(8);
    if (this.#held >= 8) {
      const entry = fast[(this.#hold >> (this.#held - 8)) & 255]!;
      if (entry !== 0) {
        this.#held -= entry >> 8;
        return entry & 255;
      }
    }
    let code = 0;
    for (let length = 1; length <= 16; length++) {
      code = (code << 1) | this.take(1);
      if (code <= last[length]!) return symbols[code + shift[length]!]!;
    }
    throw new Corrupt(`jpeg data has a code near byte ${this.#at} that is in no Huffman table`);
  }

  #more(): boolean {
    const byte = this.#bytes[this.#at];
    return byte !== undefined && (byte !== 0xff || this.#bytes[this.#at + 1] === 0);
  }
}
