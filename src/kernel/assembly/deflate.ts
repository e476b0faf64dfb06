// A stream of deflate (RFC 1951): what was there within the last 32 KiB is named by its distance and length, the rest stays bytes, and
// both are written in codes made for each block. It is made for values of a few kilobytes, of which there are millions: nothing has to be
// cleared between them. `scripts/kernel.mjs` compiles this file to ../deflate-wasm.ts.
import { bits, continueAt, fillByte, held, out, write } from "./bits";
import {
  distanceCodes,
  distanceCounts,
  dynamicCodes,
  fixedCodes,
  fixedSize,
  literalCodes,
  literalCounts,
  writeCodes,
} from "./deflate-codes";

export { start } from "./start";

/** What a block may have at most: matches, and bytes that they and the bytes between them stand for, about. */
const MATCHES: u32 = 8192;
const BYTES: u32 = 1 << 16;
const sequences = memory.data(8 * 8193, 16); // bytes that stay (u32), then (length − 3) << 16 | distance − 1 of what follows them
const END: u32 = 256; // the symbol
const LONGEST: u32 = 258;
const FAR: u32 = 32767; // one less than may be: `chain` then still has what it had there
const SHORT: u32 = 1024; // bytes for which it may not pay to write codes down
const GOOD: u32 = 32; // no better one is sought a byte further on

/** Where four bytes like these were last, by a hash, and for each place where they were before. Places count on from value to value. */
const heads = memory.data(4 << 15, 16);
const chain = memory.data(4 << 15, 16);
let base: u32 = 1;

let src: usize = 0;
let size: u32 = 0;
let shift: u32 = 0;
let effort: u32 = 0;
let distance: u32 = 0;
let count: u32 = 0;
let extra: u32 = 0;

/** How many bytes the stream has: at most `length`, a 1,024th of it, and 64. `tries` are the places that are looked at for a match. */
export function deflate(from: usize, length: u32, dst: usize, tries: u32): u32 {
  src = from;
  size = length;
  effort = tries;
  shift = length <= 4096 ? 20 : 17;
  if (base > 0xffff_ffff - length) {
    memory.fill(heads, 0, 4 << 15);
    base = 1;
  }
  continueAt(dst);
  clear();
  let begun: u32 = 0; // of the block
  let kept: u32 = 0; // the first byte after the last match
  let at: u32 = 0;
  while (at + 4 <= size) {
    let own = search(at);
    if (own === 0) at += 1 + min((at - kept) >> 6, 3); // where nothing was found for long, not every place is looked at
    else {
      let far = distance;
      let known = at + 1;
      const next = own < GOOD ? search(known++) : 0;
      if (next > own) {
        at++;
        own = next;
        far = distance;
      }
      for (; at > kept && at > far && own < LONGEST; at--, own++)
        if (load<u8>(src + at - 1) !== load<u8>(src + at - 1 - far)) break;
      match(at - kept, own, far);
      at += own;
      kept = at;
      for (; known < at; known++) note(known);
      // Numbers that count up are the same again but for a byte: these are neither sought nor found later.
      while (at + 8 < size && count < MATCHES && load<u32>(src + at + 1) === load<u32>(src + at + 1 - far)) {
        own = alike(src + at + 1, src + at + 1 - far, min(LONGEST, size - at - 1));
        match(1, own, far);
        at += 1 + own;
        kept = at;
      }
    }
    if (count < MATCHES && at - begun < BYTES) continue;
    block(begun, kept, at, at === size);
    begun = kept = at;
  }
  if (begun < size || size === 0) block(begun, kept, size, true);
  base += size;
  fillByte();
  return <u32>(out - dst);
}

function clear(): void {
  memory.fill(literalCounts, 0, 1152);
  memory.fill(distanceCounts, 0, 128);
  count = extra = 0;
}

// @ts-ignore: decorator
@inline
function slotOf(at: u32): usize {
  return heads + <usize>(((load<u32>(src + at) * 0x9e3779b1) >> shift) << 2);
}

function note(at: u32): void {
  if (at + 4 > size) return;
  const slot = slotOf(at);
  store<u32>(chain + ((at & 0x7fff) << 2), load<u32>(slot));
  store<u32>(slot, base + at);
}

/** The length of the longest match of this place, of which `distance` is set; 0 where there is none. */
// @ts-ignore: decorator
@inline
function search(at: u32): u32 {
  if (at + 4 > size) return 0;
  const slot = slotOf(at);
  const before = load<u32>(slot);
  store<u32>(chain + ((at & 0x7fff) << 2), before);
  store<u32>(slot, base + at);
  return before < base ? 0 : follow(at, before);
}

function follow(at: u32, first: u32): u32 {
  const most = min(LONGEST, size - at);
  const lowest = at > FAR ? base + at - FAR : base;
  const here = src + at;
  let best: u32 = 3;
  let tries = effort;
  for (let place = first; place >= lowest; place = load<u32>(chain + (((place - base) & 0x7fff) << 2))) {
    const there = src + (place - base);
    if (load<u32>(there + best - 3) === load<u32>(here + best - 3)) {
      const own = alike(here, there, most);
      if (own > best) {
        best = own;
        distance = <u32>(here - there);
        if (own === most) break;
      }
    }
    if (--tries === 0) break;
  }
  return best > 3 ? best : 0;
}

/** How many bytes are the same, up to so many; it may look at eight beyond them. */
function alike(a: usize, b: usize, most: u32): u32 {
  for (let at: u32 = 0; at < most; at += 8) {
    const differ = load<u64>(a + at) ^ load<u64>(b + at);
    if (differ !== 0) return min(most, at + <u32>(ctz(differ) >> 3));
  }
  return most;
}

// @ts-ignore: decorator
@inline
function add(counts: usize, symbol: u32): void {
  store<u32>(counts + (symbol << 2), load<u32>(counts + (symbol << 2)) + 1);
}

function match(before: u32, length: u32, far: u32): void {
  const l = length - 3;
  const d = far - 1;
  add(literalCounts, lengthSymbol(l));
  add(distanceCounts, distanceSymbol(d));
  extra += lengthExtra(l) + distanceExtra(d);
  const to = sequences + (count++ << 3);
  store<u32>(to, before);
  store<u32>(to, (l << 16) | d, 4);
}

// A length − 3 beyond 7 has its two bits below the highest in the symbol, and the rest after it; the largest has a symbol of its own.
// A distance − 1 beyond 3 has the one bit below the highest.

// @ts-ignore: decorator
@inline
function lengthExtra(l: u32): u32 {
  return l < 8 || l === 255 ? 0 : 29 - clz(l);
}

// @ts-ignore: decorator
@inline
function lengthSymbol(l: u32): u32 {
  if (l < 8) return 257 + l;
  if (l === 255) return 285;
  const n = 31 - clz(l);
  return 253 + 4 * n + ((l >> (n - 2)) & 3);
}

// @ts-ignore: decorator
@inline
function distanceExtra(d: u32): u32 {
  return d < 4 ? 0 : 30 - clz(d);
}

// @ts-ignore: decorator
@inline
function distanceSymbol(d: u32): u32 {
  if (d < 4) return d;
  const n = 31 - clz(d);
  return 2 * n + ((d >> (n - 1)) & 1);
}

/** Writes the sequences from … to `kept`, and the bytes from there up to `to`: in whatever takes the fewest bits. */
function block(from: u32, kept: u32, to: u32, last: bool): void {
  store<u32>(sequences + (count << 3), to - kept); // bytes after the last match
  countBytes(from);
  add(literalCounts, END);
  const fixed = to - from < SHORT ? fixedSize() : <u32>i32.MAX_VALUE;
  const dynamic = dynamicCodes();
  if (extra + min(fixed, dynamic) > 8 * (to - from) + 40) stored(from, to, last);
  else {
    write(u32(last) | (fixed <= dynamic ? 2 : 4), 3);
    if (fixed <= dynamic) fixedCodes();
    else writeCodes();
    writeSequences(from);
  }
  clear();
}

function stored(from: u32, to: u32, last: bool): void {
  let at = from;
  do {
    const own = min<u32>(to - at, 0xffff);
    write(u32(last && at + own === to), 3);
    fillByte();
    store<u16>(out, <u16>own);
    store<u16>(out, <u16>~own, 2);
    memory.copy(out + 4, src + at, own);
    continueAt(out + 4 + own);
    at += own;
  } while (at < to);
}

function countBytes(from: u32): void {
  let at = src + from;
  for (let i: u32 = 0; ; i++) {
    const sequence = sequences + (i << 3);
    for (const end = at + load<u32>(sequence); at < end; at++) add(literalCounts, load<u8>(at));
    if (i === count) return;
    at += <usize>(load<u32>(sequence, 4) >> 16) + 3;
  }
}

/** Before a match, and before three bytes, at most 15 bits are held: the longest match has 48, a byte 15. */
function writeSequences(from: u32): void {
  let word = bits;
  let used = <u64>held;
  let to = out;
  let at = src + from;
  for (let i: u32 = 0; ; i++) {
    const sequence = sequences + (i << 3);
    const end = at + load<u32>(sequence);
    for (; at + 3 <= end; at += 3) {
      let code = load<u32>(literalCodes + (<usize>load<u8>(at) << 2));
      word |= <u64>(code & 0xffff) << used;
      used += code >> 16;
      code = load<u32>(literalCodes + (<usize>load<u8>(at, 1) << 2));
      word |= <u64>(code & 0xffff) << used;
      used += code >> 16;
      code = load<u32>(literalCodes + (<usize>load<u8>(at, 2) << 2));
      word |= <u64>(code & 0xffff) << used;
      used += code >> 16;
      store<u64>(to, word);
      to += <usize>(used >> 3);
      word >>= used & 0x38;
      used &= 7;
    }
    for (; at < end; at++) {
      const code = load<u32>(literalCodes + (<usize>load<u8>(at) << 2));
      word |= <u64>(code & 0xffff) << used;
      used += code >> 16;
    }
    store<u64>(to, word);
    to += <usize>(used >> 3);
    word >>= used & 0x38;
    used &= 7;
    if (i === count) break;
    const l = load<u32>(sequence, 4) >> 16;
    const d = load<u32>(sequence, 4) & 0xffff;
    at += l + 3;
    let code = load<u32>(literalCodes + (lengthSymbol(l) << 2));
    word |= <u64>(code & 0xffff) << used;
    used += code >> 16;
    let more = lengthExtra(l);
    word |= <u64>(l & ((1 << more) - 1)) << used;
    used += more;
    code = load<u32>(distanceCodes + (distanceSymbol(d) << 2));
    word |= <u64>(code & 0xffff) << used;
    used += code >> 16;
    more = distanceExtra(d);
    word |= <u64>(d & ((1 << more) - 1)) << used;
    used += more;
    store<u64>(to, word);
    to += <usize>(used >> 3);
    word >>= used & 0x38;
    used &= 7;
  }
  continueAt(to, word, <u32>used);
  const code = load<u32>(literalCodes + (END << 2));
  write(code & 0xffff, code >> 16);
}
