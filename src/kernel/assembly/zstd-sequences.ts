// Blocks of Zstandard with matches: a search that takes the first match that it finds, as a frame's fastest levels do, and sequences in tables
// of their own. For numbers of few digits, whose low bytes come again and again between high ones that do not.
//
// | sequence        | literals before it, bytes of the match, its offset + 3 (1: the last offset once more)               |
// |-----------------|-----------------------------------------------------------------------------------------------------|
// | code            | a symbol for each of the three, in states of a table, and bits that say how much more                |
// | stream of bits  | from the last sequence to the first: states of offset, match and literals, then their bits; the decoder begins at the end |
import { literalCodes, matchCodes } from "./zstd";
import { writeShares } from "./zstd-encode-tables";
import { fseTable } from "./zstd-tables";

const MOST_LOG: u32 = 15;
const places = memory.data(1 << 17, 16); // the last place of each hash, from the start of the frame
let placesLog: u32 = 0;
export let rep: u32 = 0; // the last offset

/** As it was before a block that is written otherwise. */
export function restore(offset: u32): void {
  rep = offset;
}

/** Literals of the last block, one after the other, and how many. */
export const literals = memory.data((1 << 17) + 64, 16);
export let literalCount: u32 = 0;

// Sequences of the last block: 12 bytes each, the three numbers of the table above.
const sequences = memory.data(12 * (1 << 15), 16);
let sequenceCount: u32 = 0;

/** Before the first block of a frame of so many bytes. */
export function startSearch(size: usize): void {
  placesLog = 10;
  while (placesLog < MOST_LOG && <usize>1 << placesLog < size) placesLog++;
  memory.fill(places, 0, 4 << placesLog);
  rep = 1;
}

/** By five bytes. */
// @ts-ignore: decorator
@inline
function slotOf(at: usize, shift: u64): usize {
  return places + <usize>((((load<u64>(at) << 24) * 0xcf1bbcdcb7a56463) >> shift) << 2);
}

/** How many bytes at `a` are those at `b`, up to `end`. */
// @ts-ignore: decorator
@inline
function same(a: usize, b: usize, end: usize): u32 {
  const from = b;
  for (; b + 8 <= end; a += 8, b += 8) {
    const other = load<u64>(a) ^ load<u64>(b);
    if (other !== 0) return <u32>(b - from) + <u32>(ctz(other) >> 3);
  }
  while (b < end && load<u8>(a) === load<u8>(b)) {
    a++;
    b++;
  }
  return <u32>(b - from);
}

const NEAR: u32 = 16;

/**
 * Splits the bytes from `at` to `end`, of a frame whose content begins at `start`, into literals and sequences. Where numbers of one size
 * have parts that repeat, a match follows the last one after as many literals as before: there it is looked for first.
 */
export function search(start: usize, at: usize, end: usize): void {
  let anchor = at;
  let literal = literals; // where the next ones go
  let sequence = sequences;
  let last = rep;
  let guess: u32 = 0;
  let lastRun: u32 = 0;
  let lastLength: u32 = 0;
  const shift = 64 - <u64>placesLog;
  const stop = end - 12 - NEAR; // so that whatever is looked at is there
  if (at === start) at++;
  while (at < stop) {
    let here = at + guess;
    let length: u32 = 0;
    let offset: u32 = 1; // as it is written
    const slot = slotOf(here, shift);
    const candidate = start + <usize>load<u32>(slot);
    store<u32>(slot, <u32>(here - start));
    if (at + 1 - last >= start && load<u32>(at + 1) === load<u32>(at + 1 - last)) {
      here = at + 1;
      length = 4 + same(here + 4 - last, here + 4, end);
    } else if (candidate < here && (load<u64>(candidate) ^ load<u64>(here)) << 24 === 0) {
      length = 4 + same(candidate + 4, here + 4, end);
      last = <u32>(here - candidate);
      offset = last + 3;
      for (; here > anchor && here - last > start && load<u8>(here - 1) === load<u8>(here - 1 - last); here--) length++;
    } else {
      at += guess > 0 ? 0 : 1 + ((at - anchor) >> 8);
      guess = 0;
      continue;
    }
    const run = <u32>(here - anchor);
    if (run > 16) memory.copy(literal, anchor, run);
    else v128.store(literal, v128.load(anchor));
    literal += run;
    store<u32>(sequence, run);
    store<u32>(sequence, length, 4);
    store<u32>(sequence, offset, 8);
    sequence += 12;
    at = here + length;
    anchor = at;
    guess = run === lastRun && length === lastLength && run < NEAR ? run : 0;
    lastRun = run;
    lastLength = length;
    if (guess === 0 && at < stop) store<u32>(slotOf(at - 2, shift), <u32>(at - 2 - start));
  }
  memory.copy(literal, anchor, end - anchor);
  literalCount = <u32>(literal + (end - anchor) - literals);
  sequenceCount = <u32>(sequence - sequences) / 12;
  rep = last;
}

const ROOM: u32 = 1 << 8; // states of a table
const codes = memory.data(4 << 15, 16); // of each sequence: literals, offset << 8, match << 16
const counts = memory.data(3 * 256, 16);
const shares = memory.data(2 * 64, 16);
const tables = memory.data(3 * 4 * ROOM, 16);
/** For each symbol, and each state that follows, the state that has this symbol and leads there. */
const before = memory.data(3 * 64 * ROOM, 16);
const logs = memory.data(12, 16);
const modes = memory.data(16, 16);

/** Code of a number of literals. */
// @ts-ignore: decorator
@inline
function literalCode(run: u32): u32 {
  if (run < 16) return run;
  if (run >= 64) return 50 - clz<u32>(run);
  return run < 24 ? 16 + ((run - 16) >> 1) : run < 32 ? 20 + ((run - 24) >> 2) : run < 48 ? 22 + ((run - 32) >> 3) : 24;
}

/** Code of the length of a match, less 3. */
// @ts-ignore: decorator
@inline
function matchCode(more: u32): u32 {
  if (more < 32) return more;
  if (more >= 128) return 67 - clz<u32>(more);
  if (more < 48) return more < 40 ? 32 + ((more - 32) >> 1) : 36 + ((more - 40) >> 2);
  return more < 64 ? 38 + ((more - 48) >> 3) : more < 96 ? 40 + ((more - 64) >> 4) : 42;
}

/** The sequences of the last block: how many bytes they take. */
export function writeSequences(dst: usize): u32 {
  const n = sequenceCount;
  let to = dst;
  if (n < 128) store<u8>(to++, <u8>n);
  else if (n < 0x7f00) {
    store<u8>(to, <u8>((n >> 8) + 128));
    store<u8>(to, <u8>n, 1);
    to += 2;
  } else {
    store<u8>(to, 255);
    store<u16>(to, <u16>(n - 0x7f00), 1);
    to += 3;
  }
  if (n === 0) return <u32>(to - dst);
  memory.fill(counts, 0, 3 * 256);
  for (let i: u32 = 0; i < n; i++) {
    const own = sequences + <usize>(i * 12);
    const run = literalCode(load<u32>(own));
    const match = matchCode(load<u32>(own, 4) - 3);
    const offset = 31 - clz<u32>(load<u32>(own, 8));
    store<u32>(codes + (i << 2), run | (offset << 8) | (match << 16));
    add(counts + (run << 2));
    add(counts + 256 + (offset << 2));
    add(counts + 512 + (match << 2));
  }
  const kinds = to++;
  for (let kind: u32 = 0; kind < 3; kind++) to += buildTable(kind, n, to);
  store<u8>(kinds, <u8>((load<u8>(modes) << 6) | (load<u8>(modes, 1) << 4) | (load<u8>(modes, 2) << 2)));
  return <u32>(stream(n, to) - dst);
}

// @ts-ignore: decorator
@inline
function add(at: usize): void {
  store<u32>(at, load<u32>(at) + 1);
}

/** The table of literals, offsets or matches, which is written down at `dst`: how many bytes that takes. */
function buildTable(kind: u32, n: u32, dst: usize): u32 {
  const own = counts + (kind << 8);
  const table = tables + kind * 4 * ROOM;
  const back = before + kind * 64 * ROOM;
  let symbols: u32 = 0;
  let used: u32 = 0;
  for (let symbol: u32 = 0; symbol < 64; symbol++) {
    if (load<u32>(own + (symbol << 2)) === 0) continue;
    symbols = symbol + 1;
    used++;
  }
  if (used === 1) {
    store<u32>(logs + (kind << 2), 0);
    store<u8>(modes + kind, 1);
    store<u32>(table, 0);
    store<u8>(back + (symbols - 1) * ROOM, 0);
    store<u8>(dst, <u8>(symbols - 1));
    return 1;
  }
  const log: u32 = n < 512 ? 6 : 8;
  store<u32>(logs + (kind << 2), log);
  store<u8>(modes + kind, 2);
  share(own, symbols, n, 1 << log);
  const written = writeShares(dst, shares, log);
  fseTable(table, shares, symbols, log);
  for (let state: u32 = 0; state < <u32>1 << log; state++) {
    const entry = load<u32>(table + (state << 2));
    memory.fill(back + (entry >> 24) * ROOM + (entry & 0xffff), <u8>state, 1 << ((entry >> 16) & 255));
  }
  return written;
}

/** How many of the states each symbol gets: as many as its part of them all, at least one; the largest gives or takes the rest. */
function share(own: usize, symbols: u32, n: u32, states: u32): void {
  memory.fill(shares, 0, 128);
  let left = <i32>states;
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    const count = load<u32>(own + (symbol << 2));
    if (count === 0) continue;
    const part = max<u32>(1, (count * states + (n >> 1)) / n);
    store<u16>(shares + (symbol << 1), <u16>part);
    left -= <i32>part;
  }
  while (left !== 0) {
    let most: u32 = 0;
    for (let symbol: u32 = 1; symbol < symbols; symbol++)
      if (load<u16>(shares + (symbol << 1)) > load<u16>(shares + (most << 1))) most = symbol;
    const given = left > 0 ? left : -1;
    store<u16>(shares + (most << 1), <u16>(<i32>load<u16>(shares + (most << 1)) + given));
    left -= given;
  }
}

/** The stream of bits, whose end is told. States take at most 8 bits each, what comes behind the codes 16, 16 and 24. */
function stream(n: u32, dst: usize): usize {
  let code = load<u32>(codes + ((n - 1) << 2));
  let run = <u32>load<u8>(before + (code & 255) * ROOM);
  let offset = <u32>load<u8>(before + 64 * ROOM + ((code >> 8) & 255) * ROOM);
  let match = <u32>load<u8>(before + 128 * ROOM + (code >> 16) * ROOM);
  let bits: u64 = 0;
  let held: u64 = 0;
  let out = dst;
  for (let i = n - 1; ; ) {
    const own = sequences + <usize>(i * 12);
    let entry = load<u32>(literalCodes + ((code & 255) << 2));
    bits |= <u64>(load<u32>(own) - (entry >> 8)) << held;
    held += entry & 255;
    entry = load<u32>(matchCodes + ((code >> 16) << 2));
    bits |= <u64>(load<u32>(own, 4) - (entry >> 8)) << held;
    held += entry & 255;
    entry = (code >> 8) & 255;
    bits |= <u64>(load<u32>(own, 8) - (1 << entry)) << held;
    held += entry;
    store<u64>(out, bits);
    out += <usize>(held >> 3);
    bits >>= held & 0x38;
    held &= 7;
    if (i-- === 0) break;
    code = load<u32>(codes + (i << 2));
    let last = <u32>load<u8>(before + 64 * ROOM + ((code >> 8) & 255) * ROOM + offset);
    entry = load<u32>(tables + 4 * ROOM + (last << 2));
    bits |= <u64>(offset - (entry & 0xffff)) << held;
    held += (entry >> 16) & 255;
    offset = last;
    last = <u32>load<u8>(before + 128 * ROOM + (code >> 16) * ROOM + match);
    entry = load<u32>(tables + 8 * ROOM + (last << 2));
    bits |= <u64>(match - (entry & 0xffff)) << held;
    held += (entry >> 16) & 255;
    match = last;
    last = <u32>load<u8>(before + (code & 255) * ROOM + run);
    entry = load<u32>(tables + (last << 2));
    bits |= <u64>(run - (entry & 0xffff)) << held;
    held += (entry >> 16) & 255;
    run = last;
    store<u64>(out, bits);
    out += <usize>(held >> 3);
    bits >>= held & 0x38;
    held &= 7;
  }
  const runLog = load<u32>(logs);
  const offsetLog = load<u32>(logs, 4);
  const matchLog = load<u32>(logs, 8);
  bits |= <u64>(match | (offset << matchLog) | (run << (matchLog + offsetLog)) | (1 << (matchLog + offsetLog + runLog))) << held;
  held += matchLog + offsetLog + runLog + 1;
  store<u64>(out, bits);
  return out + <usize>((held + 7) >> 3);
}
