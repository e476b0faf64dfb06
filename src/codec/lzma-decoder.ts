/**
 * LZMA, the coder inside .lzma and .xz: a range coder whose bits have adaptive odds, over literals, matches and repeats of
 * the last four distances. The dictionary is the output itself, from `start` on.
 */
import { Corrupt } from "../errors.js";
import type { Output } from "./output.js";

const TOP = 2 ** 24;
const HALF = 1024;

/** Where each group of odds begins in the one array; literals come last. */
const MATCH = 0;
const REP = MATCH + 192;
const REP_0 = REP + 12;
const REP_1 = REP_0 + 12;
const REP_2 = REP_1 + 12;
const REP_0_LONG = REP_2 + 12;
const SLOT = REP_0_LONG + 192;
const SPECIAL = SLOT + 256;
const ALIGN = SPECIAL + 115;
const LENGTH = ALIGN + 16;
const REP_LENGTH = LENGTH + 514;
const LITERAL = REP_LENGTH + 514;

export interface LzmaProperties {
  /** High bits of the byte before that choose the odds of a literal. */
  readonly lc: number;
  /** Low bits of the position that do. */
  readonly lp: number;
  /** Low bits of the position that choose the odds of everything else. */
  readonly pb: number;
}

/** The byte that holds all three. */
export function lzmaProperties(byte: number): LzmaProperties {
  if (byte >= 225) throw new Corrupt(`LZMA properties should be below 225, found ${byte}`);
  return { lc: byte % 9, lp: Math.floor(byte / 9) % 5, pb: Math.floor(byte / 45) };
}

export class LzmaDecoder {
  /** Where the dictionary begins. */
  start = 0;
  /** The next byte of input, and the first that is not input any more. */
  at = 0;
  end = 0;
  readonly #bytes: Uint8Array;
  readonly #output: Output;
  #odds = new Uint16Array(LITERAL);
  #properties: LzmaProperties = { lc: 0, lp: 0, pb: 0 };
  #range = 0;
  #code = 0;
  #state = 0;
  readonly #rep = new Uint32Array(4);

  constructor(bytes: Uint8Array, output: Output) {
    this.#bytes = bytes;
    this.#output = output;
  }

  /** Forgets everything but the dictionary. */
  reset(properties = this.#properties): void {
    this.#properties = properties;
    this.#odds = new Uint16Array(LITERAL + (0x300 << (properties.lc + properties.lp))).fill(HALF);
    this.#state = 0;
    this.#rep.fill(0);
  }

  /** Starts the range coder on input from `at` to `end`. */
  begin(at: number, end: number): void {
    this.at = at;
    this.end = end;
    this.#range = 0xffffffff;
    this.#code = 0;
    if (this.#next() !== 0) throw damaged("should start with a zero", at);
    for (let i = 0; i < 4; i++) this.#code = ((this.#code << 8) | this.#next()) >>> 0;
  }

  /** Whether the range coder has nothing left, which is how it must end. */
  get finished(): boolean {
    return this.#code === 0;
  }

  /** Decodes until the output has `until` bytes, or to the end mark; tells whether it was the mark. */
  decode(until: number): boolean {
    const output = this.#output;
    const rep = this.#rep;
    const { lc, lp, pb } = this.#properties;
    while (output.size < until) {
      const position = output.size - this.start;
      const low = position & ((1 << pb) - 1);
      const state = this.#state;
      if (this.#bit(MATCH + state * 16 + low) === 0) {
        const before = position === 0 ? 0 : output.bytes[output.size - 1]!;
        const context = ((position & ((1 << lp) - 1)) << lc) + (before >> (8 - lc));
        const byte = this.#literal(LITERAL + 0x300 * context, state);
        output.reserve(1);
        output.bytes[output.size++] = byte;
        this.#state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
        continue;
      }
      let length = 1;
      if (this.#bit(REP + state) === 0) {
        rep.copyWithin(1, 0, 3);
        length = this.#length(LENGTH, low);
        rep[0] = this.#distance(length);
        this.#state = state < 7 ? 7 : 10;
        if (rep[0] === 0xffffffff) return true;
      } else if (this.#bit(REP_0 + state) === 0) {
        const long = this.#bit(REP_0_LONG + state * 16 + low) === 1;
        if (long) length = this.#length(REP_LENGTH, low);
        this.#state = long ? (state < 7 ? 8 : 11) : state < 7 ? 9 : 11;
      } else {
        const which = this.#bit(REP_1 + state) === 0 ? 1 : this.#bit(REP_2 + state) === 0 ? 2 : 3;
        const distance = rep[which]!;
        rep.copyWithin(1, 0, which);
        rep[0] = distance;
        length = this.#length(REP_LENGTH, low);
        this.#state = state < 7 ? 8 : 11;
      }
      this.#copy(rep[0]! + 1, length, position, until);
    }
    return false;
  }

  /** Only the end mark may follow. */
  mark(): void {
    const { size } = this.#output;
    if (!this.decode(size + 1)) throw damaged("goes on after its declared size", this.at);
  }

  #copy(back: number, length: number, position: number, until: number): void {
    const output = this.#output;
    if (back > position) throw damaged(`goes back ${back} bytes after ${position}`, this.at);
    if (output.size + length > until) throw damaged("goes on after its declared size", this.at);
    output.reserve(length);
    const { bytes } = output;
    for (let i = output.size; i < output.size + length; i++) bytes[i] = bytes[i - back]!;
    output.size += length;
  }

  #literal(odds: number, state: number): number {
    let symbol = 1;
    if (state >= 7) {
      const { bytes, size } = this.#output;
      const back = this.#rep[0]! + 1;
      if (back > size - this.start) throw damaged(`goes back ${back} bytes after ${size - this.start}`, this.at);
      // As long as the bits agree with those of the byte that a match would give, that byte chooses the odds.
      for (let match = bytes[size - back]!; symbol < 256; match <<= 1) {
        const expected = (match >> 7) & 1;
        const bit = this.#bit(odds + ((1 + expected) << 8) + symbol);
        symbol = (symbol << 1) | bit;
        if (bit !== expected) break;
      }
    }
    while (symbol < 256) symbol = (symbol << 1) | this.#bit(odds + symbol);
    return symbol & 255;
  }

  /** Two odds that choose 3 bits, 3 bits or 8; the first two also by position. */
  #length(odds: number, low: number): number {
    if (this.#bit(odds) === 0) return 2 + this.#tree(odds + 2 + low * 8, 3);
    if (this.#bit(odds + 1) === 0) return 10 + this.#tree(odds + 130 + low * 8, 3);
    return 18 + this.#tree(odds + 258, 8);
  }

  #distance(length: number): number {
    const slot = this.#tree(SLOT + Math.min(length - 2, 3) * 64, 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const base = (2 | (slot & 1)) * 2 ** bits;
    if (slot < 14) return base + this.#reverse(SPECIAL + base - slot, bits);
    let direct = 0;
    for (let i = bits - 4; i > 0; i--) {
      this.#range >>>= 1;
      const bit = this.#code >= this.#range ? 1 : 0;
      if (bit === 1) this.#code -= this.#range;
      this.#normalise();
      direct = direct * 2 + bit;
    }
    return base + direct * 16 + this.#reverse(ALIGN, 4);
  }

  #tree(odds: number, bits: number): number {
    let symbol = 1;
    for (let i = 0; i < bits; i++) symbol = (symbol << 1) | this.#bit(odds + symbol);
    return symbol - (1 << bits);
  }

  #reverse(odds: number, bits: number): number {
    let value = 0;
    for (let i = 0, symbol = 1; i < bits; i++) {
      const bit = this.#bit(odds + symbol);
      symbol = (symbol << 1) | bit;
      value |= bit << i;
    }
    return value;
  }

  #bit(index: number): number {
    const odds = this.#odds[index]!;
    const bound = (this.#range >>> 11) * odds;
    let bit = 0;
    if (this.#code < bound) {
      this.#range = bound;
      this.#odds[index] = odds + ((2048 - odds) >> 5);
    } else {
      this.#range -= bound;
      this.#code -= bound;
      this.#odds[index] = odds - (odds >> 5);
      bit = 1;
    }
    this.#normalise();
    return bit;
  }

  #normalise(): void {
    if (this.#range >= TOP) return;
    this.#range = (this.#range << 8) >>> 0;
    this.#code = ((this.#code << 8) | this.#next()) >>> 0;
  }

  #next(): number {
    if (this.at >= this.end) throw damaged("is cut short", this.at);
    return this.#bytes[this.at++]!;
  }
}

const damaged = (what: string, at: number): Corrupt => new Corrupt(`the LZMA data ${what} near byte ${at}`);
