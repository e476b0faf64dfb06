/**
 * DEFLATE (RFC 1951), decoding only, for where there is no node:zlib. Unlike the libraries for browsers (see
 * docs/decisions/deflate.md) it says where the stream ended, stops at the first byte too many, and refuses what the
 * format does not allow: over-full and incomplete codes, distances before the start, stored lengths that disagree.
 *
 * Bits are taken from the low end of each byte. A stream is blocks:
 *
 * | bits | block                                                                                             |
 * |------|---------------------------------------------------------------------------------------------------|
 * | 1    | last                                                                                              |
 * | 2    | 0 stored (to the next byte; u16 length, u16 its complement, bytes) · 1 fixed codes · 2 own codes   |
 * | …    | own codes: 5 bits literals − 257, 5 distances − 1, 4 lengths − 4, 3 per length, then code lengths  |
 * | …    | symbols: 0–255 byte, 256 end, 257–285 length, then a distance symbol; both with extra bits        |
 */
import { Corrupt } from "../errors.js";

const FAST = 10;

interface Code {
  /** By the next FAST bits: symbol << 4 | length; 0 where the code is longer, or there is none. */
  readonly fast: Uint16Array;
  /** Codes per length, and the symbols sorted by code. */
  readonly counts: Uint16Array;
  readonly symbols: Uint16Array;
}

interface State {
  readonly bytes: Uint8Array;
  at: number;
  hold: number;
  held: number;
  out: Uint8Array<ArrayBuffer>;
  size: number;
  readonly cap: number;
}

export interface Inflated {
  readonly content: Uint8Array;
  /** Where the stream ended. */
  readonly end: number;
}

/** The raw stream at `start`; `guess` is the first allocation. "full" where the content would pass `cap`. */
export function inflate(bytes: Uint8Array, start: number, guess: number, cap: number): Inflated | "full" {
  const state: State = { bytes, at: start, hold: 0, held: 0, out: new Uint8Array(guess), size: 0, cap };
  for (let last = false; !last; ) {
    last = take(state, 1) === 1;
    const type = take(state, 2);
    if (type === 3) throw damaged(state, "has a block of type 3");
    const fits = type === 0 ? stored(state) : symbols(state, ...(type === 1 ? fixedCodes() : ownCodes(state)));
    if (!fits) return "full";
  }
  const end = state.at - (state.held >>> 3);
  if (end > bytes.length) throw damaged(state, "is cut short");
  return { content: state.size === state.out.length ? state.out : state.out.slice(0, state.size), end };
}

const damaged = (state: State, what: string): Corrupt =>
  new Corrupt(
    `the deflate stream ${what} near byte ${Math.min(state.at, state.bytes.length)} of ${state.bytes.length}`,
  );

/** The next 24 bits or more. Beyond the end there are zeros; eight bytes of them and the stream is cut short. */
function peek(state: State): number {
  while (state.held < 24) {
    state.hold |= state.bytes[state.at++]! << state.held;
    state.held += 8;
  }
  if (state.at > state.bytes.length + 8) throw damaged(state, "is cut short");
  return state.hold;
}

/** Up to 16 bits. */
function take(state: State, bits: number): number {
  const value = peek(state) & ((1 << bits) - 1);
  state.hold >>>= bits;
  state.held -= bits;
  return value;
}

/** Makes room for `more` bytes; false where that passes the cap. */
function grow(state: State, more: number): boolean {
  const wanted = state.size + more;
  if (wanted > state.cap) return false;
  if (wanted > state.out.length) {
    const out = new Uint8Array(Math.min(state.cap, Math.max(wanted, 2 * state.out.length)));
    out.set(state.out);
    state.out = out;
  }
  return true;
}

function stored(state: State): boolean {
  take(state, state.held & 7);
  const length = take(state, 16);
  if ((take(state, 16) ^ 0xffff) !== length) throw damaged(state, "has a stored block whose two lengths disagree");
  const from = state.at - (state.held >>> 3);
  if (from + length > state.bytes.length) throw damaged(state, "is cut short");
  if (!grow(state, length)) return false;
  state.out.set(state.bytes.subarray(from, from + length), state.size);
  state.size += length;
  state.at = from + length;
  state.hold = state.held = 0;
  return true;
}

let fixed: [Code, Code] | undefined;
function fixedCodes(): [Code, Code] {
  const lengths = (i: number): number => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
  fixed ??= [code(Uint8Array.from({ length: 288 }, (_, i) => lengths(i)))!, code(new Uint8Array(32).fill(5))!];
  return fixed;
}

const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

function ownCodes(state: State): [Code, Code] {
  const literals = take(state, 5) + 257;
  const distances = take(state, 5) + 1;
  if (literals > 286 || distances > 30) throw damaged(state, "has more codes than there are symbols");
  const short = new Uint8Array(19);
  for (let i = 0, n = take(state, 4) + 4; i < n; i++) short[ORDER[i]!] = take(state, 3);
  const lengthCode = code(short);
  if (lengthCode === undefined) throw damaged(state, "has an impossible code of code lengths");
  const lengths = new Uint8Array(literals + distances);
  for (let i = 0; i < lengths.length; ) {
    const entry = long(lengthCode, peek(state));
    if (entry === 0) throw damaged(state, "has a code that stands for nothing");
    take(state, entry & 15);
    const symbol = entry >>> 4;
    if (symbol < 16) {
      lengths[i++] = symbol;
      continue;
    }
    if (symbol === 16 && i === 0) throw damaged(state, "repeats a code length before the first");
    const value = symbol === 16 ? lengths[i - 1]! : 0;
    const times = symbol === 16 ? 3 + take(state, 2) : symbol === 17 ? 3 + take(state, 3) : 11 + take(state, 7);
    if (i + times > lengths.length) throw damaged(state, "has too many code lengths");
    lengths.fill(value, i, i + times);
    i += times;
  }
  const literalCode = code(lengths.subarray(0, literals));
  const distanceCode = code(lengths.subarray(literals));
  if (lengths[256] === 0 || literalCode === undefined || distanceCode === undefined)
    throw damaged(state, "has an impossible code");
  return [literalCode, distanceCode];
}

/** The canonical code with these lengths; undefined unless it is complete (a single code of one bit, or none, may stand alone). */
function code(lengths: Uint8Array): Code | undefined {
  const counts = new Uint16Array(16);
  for (const length of lengths) counts[length]!++;
  const used = lengths.length - counts[0]!;
  counts[0] = 0;
  const next = new Uint16Array(17);
  const offsets = new Uint16Array(17);
  let left = 1;
  for (let length = 1; length < 16; length++) {
    left = left * 2 - counts[length]!;
    if (left < 0) return undefined;
    next[length + 1] = (next[length]! + counts[length]!) << 1;
    offsets[length + 1] = offsets[length]! + counts[length]!;
  }
  if (left > 0 && used > counts[1]!) return undefined;
  const symbols = new Uint16Array(used);
  const fast = new Uint16Array(1 << FAST);
  for (let symbol = 0; symbol < lengths.length; symbol++) {
    const length = lengths[symbol]!;
    if (length === 0) continue;
    symbols[offsets[length]!++] = symbol;
    const bits = next[length]!++;
    if (length > FAST) continue;
    let reversed = 0;
    for (let i = 0; i < length; i++) reversed |= ((bits >>> i) & 1) << (length - 1 - i);
    for (let i = reversed; i < fast.length; i += 1 << length) fast[i] = (symbol << 4) | length;
  }
  return { fast, counts, symbols };
}

/** What a code longer than FAST bits stands for, as in `fast`; 0 for nothing. */
function long({ counts, symbols }: Code, hold: number): number {
  for (let length = 1, value = 0, first = 0, index = 0; length < 16; length++) {
    value |= (hold >>> (length - 1)) & 1;
    const count = counts[length]!;
    if (value - count < first) return (symbols[index + value - first]! << 4) | length;
    index += count;
    first = (first + count) << 1;
    value <<= 1;
  }
  return 0;
}

const LENGTH_BASE = new Uint16Array(29);
const LENGTH_EXTRA = new Uint8Array(29);
const DISTANCE_BASE = new Uint16Array(30);
const DISTANCE_EXTRA = new Uint8Array(30);
for (let i = 0, base = 3; i < 28; base += 1 << LENGTH_EXTRA[i++]!) {
  LENGTH_EXTRA[i] = i < 8 ? 0 : (i >> 2) - 1;
  LENGTH_BASE[i] = base;
}
LENGTH_BASE[28] = 258;
for (let i = 0, base = 1; i < 30; base += 1 << DISTANCE_EXTRA[i++]!) {
  DISTANCE_EXTRA[i] = i < 4 ? 0 : (i >> 1) - 1;
  DISTANCE_BASE[i] = base;
}

/** The hot loop, everything in locals. */
function symbols(state: State, literal: Code, distance: Code): boolean {
  const { bytes } = state;
  const stop = bytes.length + 8;
  const literalFast = literal.fast;
  const distanceFast = distance.fast;
  const mask = (1 << FAST) - 1;
  let { at, hold, held, out, size } = state;
  let wrong: string | undefined;
  let fits = true;
  for (;;) {
    while (held < 24) {
      hold |= bytes[at++]! << held;
      held += 8;
    }
    const entry = literalFast[hold & mask] || long(literal, hold);
    hold >>>= entry & 15;
    held -= entry & 15;
    const symbol = entry >>> 4;
    if (symbol < 256) {
      if (size === out.length) {
        state.size = size;
        fits = grow(state, 1);
        out = state.out;
      }
      if (entry === 0) wrong = "has a code that stands for nothing";
      if (at > stop) wrong = "is cut short";
      if (wrong !== undefined || !fits) break;
      out[size++] = symbol;
      continue;
    }
    if (symbol === 256) break;
    if (symbol > 285) {
      wrong = "has a length that stands for nothing";
      break;
    }
    // 15 bits of the code are gone at most, and 5 are needed.
    const lengthExtra = LENGTH_EXTRA[symbol - 257]!;
    const length = LENGTH_BASE[symbol - 257]! + (hold & ((1 << lengthExtra) - 1));
    hold >>>= lengthExtra;
    held -= lengthExtra;
    while (held < 24) {
      hold |= bytes[at++]! << held;
      held += 8;
    }
    const far = distanceFast[hold & mask] || long(distance, hold);
    hold >>>= far & 15;
    held -= far & 15;
    while (held < 16) {
      hold |= bytes[at++]! << held;
      held += 8;
    }
    const distanceExtra = DISTANCE_EXTRA[far >>> 4]!;
    const back = DISTANCE_BASE[far >>> 4]! + (hold & ((1 << distanceExtra) - 1));
    hold >>>= distanceExtra;
    held -= distanceExtra;
    if (far === 0 || far >>> 4 > 29) wrong = "has a distance that stands for nothing";
    else if (back > size) wrong = `goes back ${back} bytes after ${size}`;
    if (at > stop) wrong = "is cut short";
    const end = size + length;
    if (end > out.length && wrong === undefined) {
      state.size = size;
      fits = grow(state, length);
      out = state.out;
    }
    if (wrong !== undefined || !fits) break;
    for (; size < end; size++) out[size] = out[size - back]!;
  }
  state.at = at;
  state.hold = hold;
  state.held = held;
  state.size = size;
  if (wrong !== undefined) throw damaged(state, wrong);
  return fits;
}
