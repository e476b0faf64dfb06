// One Zstandard frame (RFC 8878), whose blocks ../../codec/zstd-frame.ts has walked: magic, header and block sizes are right.
//
// | block           | what is in a compressed one                                                                     |
// |-----------------|-------------------------------------------------------------------------------------------------|
// | literals        | type, size; raw, one byte, or Huffman codes in one or four streams, with a table or the last one |
// | sequences       | how many; three tables (lengths of literals, offsets, lengths of matches); one stream of bits   |
//
// Streams of bits are read from their end. A reader is `bits` (what comes next is on top), `used` (how many of its 64 are gone)
// and `at`, where it was loaded; memory before a stream belongs to somebody, so that loading there does no harm, and `left` says
// afterwards whether anything was taken that is not the stream's.
import { copyFar, copyMatch } from "./copy";
import { xxh64 } from "./xxh64";
import { forgetHuffman, literalsAt, literalsSize, readLiterals, unused } from "./zstd-literals";
import { fseTable, readCounts } from "./zstd-tables";

export const EARLY = -1;
const BEFORE = -2;
const MORE = -3;
export const WRONG = -5;
const CHECKSUM = -6;

const BLOCK: u32 = 1 << 17;
const lengths = memory.data(2048, 16);
const offsets = memory.data(1024, 16);
const matches = memory.data(2048, 16);

// Values of the codes: the first one, and how many bits follow, as base << 8 | bits.
export const literalCodes = memory.data<u32>([
  0x000, 0x100, 0x200, 0x300, 0x400, 0x500, 0x600, 0x700, 0x800, 0x900, 0xa00, 0xb00, 0xc00, 0xd00, 0xe00, 0xf00,
  0x1001, 0x1201, 0x1401, 0x1601, 0x1802, 0x1c02, 0x2003, 0x2803, 0x3004, 0x4006, 0x8007, 0x10008, 0x20009, 0x4000a,
  0x8000b, 0x10000c, 0x20000d, 0x40000e, 0x80000f, 0x1000010,
]);
export const matchCodes = memory.data<u32>([
  0x300, 0x400, 0x500, 0x600, 0x700, 0x800, 0x900, 0xa00, 0xb00, 0xc00, 0xd00, 0xe00, 0xf00, 0x1000, 0x1100, 0x1200,
  0x1300, 0x1400, 0x1500, 0x1600, 0x1700, 0x1800, 0x1900, 0x1a00, 0x1b00, 0x1c00, 0x1d00, 0x1e00, 0x1f00, 0x2000,
  0x2100, 0x2200, 0x2301, 0x2501, 0x2701, 0x2901, 0x2b02, 0x2f02, 0x3303, 0x3b03, 0x4304, 0x5304, 0x6305, 0x8307,
  0x10308, 0x20309, 0x4030a, 0x8030b, 0x10030c, 0x20030d, 0x40030e, 0x80030f, 0x1000310,
]);
// The tables that a format gives, where a block brings none.
const literalDefault = memory.data<i16>([
  4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1,
]);
const offsetDefault = memory.data<i16>([
  1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1,
]);
const matchDefault = memory.data<i16>([
  1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
  1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
]);

// What blocks of one frame hand on to the next; the logarithms of table sizes are −1 before there is a table.
let lengthsLog: i32 = -1;
let offsetsLog: i32 = -1;
let matchesLog: i32 = -1;
let rep0: u32 = 1;
let rep1: u32 = 4;
let rep2: u32 = 8;

/** The content of the frame at `src` into at most `room` bytes: how many they are, or what is wrong. */
export function zstdDecode(src: usize, srcLen: usize, dst: usize, room: usize): i32 {
  const descriptor = load<u8>(src, 4);
  const single = (descriptor >> 5) & 1;
  const sizeCode = descriptor >> 6;
  const dictionaryCode = descriptor & 3;
  let at = src + 5 + (single ^ 1) + (dictionaryCode === 3 ? 4 : dictionaryCode);
  at += sizeCode === 0 ? single : 1 << sizeCode;
  const end = src + srcLen;
  forgetHuffman();
  lengthsLog = offsetsLog = matchesLog = -1;
  rep0 = 1;
  rep1 = 4;
  rep2 = 8;
  let to = dst;
  for (let last = false; !last; ) {
    if (end - at < 3) return EARLY;
    const header = <u32>load<u16>(at) | (<u32>load<u8>(at, 2) << 16);
    at += 3;
    last = (header & 1) !== 0;
    const type = (header >> 1) & 3;
    const size = <usize>(header >> 3);
    const left = room - (to - dst);
    if (type === 2) {
      if (size > end - at) return EARLY;
      const found = block(at, size, dst, to, left < <usize>BLOCK ? left : <usize>BLOCK);
      if (found < 0) return found;
      at += size;
      to += found;
      continue;
    }
    if (size > left) return MORE;
    if ((type === 0 ? size : 1) > end - at) return EARLY;
    if (type === 0) memory.copy(to, at, size);
    else memory.fill(to, load<u8>(at), size);
    at += type === 0 ? size : 1;
    to += size;
  }
  if ((descriptor & 4) !== 0) {
    if (end - at < 4) return EARLY;
    if (load<u32>(at) !== <u32>xxh64(dst, to - dst)) return CHECKSUM;
  }
  return <i32>(to - dst);
}

function block(src: usize, size: usize, start: usize, to: usize, room: usize): i32 {
  const used = readLiterals(src, size);
  if (used < 0) return used;
  const from = src + used;
  const end = src + size;
  if (from >= end) return EARLY;
  let count = <u32>load<u8>(from);
  let at = from + 1;
  if (count === 0) {
    if (at !== end) return WRONG;
    if (<usize>literalsSize > room) return MORE;
    memory.copy(to, literalsAt, literalsSize);
    return literalsSize;
  }
  if (count >= 128) {
    if (end - at < 2) return EARLY;
    if (count === 255) {
      count = <u32>load<u16>(at) + 0x7f00;
      at += 2;
    } else count = ((count - 128) << 8) + load<u8>(at++);
  }
  if (at >= end) return EARLY;
  const modes = load<u8>(at++);
  if ((modes & 3) !== 0) return WRONG;
  let taken = readTable(modes >> 6, lengths, lengthsLog, 35, 9, literalDefault, 6, at, end);
  if (taken < 0) return WRONG;
  lengthsLog = taken & 15;
  at += taken >> 4;
  taken = readTable((modes >> 4) & 3, offsets, offsetsLog, 31, 8, offsetDefault, 5, at, end);
  if (taken < 0) return WRONG;
  offsetsLog = taken & 15;
  at += taken >> 4;
  taken = readTable((modes >> 2) & 3, matches, matchesLog, 52, 9, matchDefault, 6, at, end);
  if (taken < 0) return WRONG;
  matchesLog = taken & 15;
  at += taken >> 4;
  return runSequences(at, end, count, start, to, room);
}

/** One of the three tables of sequences: bytes taken << 4 | its logarithm, or a number below 0. */
function readTable(
  mode: u32,
  table: usize,
  log: i32,
  last: u32,
  most: u32,
  given: usize,
  givenLog: u32,
  at: usize,
  end: usize,
): i32 {
  if (mode === 3) return log;
  if (mode === 0) {
    const symbols = last === 31 ? 29 : last + 1;
    return fseTable(table, given, symbols, givenLog) ? givenLog : -1;
  }
  if (mode === 1) {
    if (at >= end || load<u8>(at) > last) return -1;
    store<u32>(table, <u32>load<u8>(at) << 24);
    return 1 << 4;
  }
  return readCounts(table, at, end, last, most);
}

/** Literals and matches by turns; what is left of the literals is the end of the block. */
function runSequences(start: usize, end: usize, count: u32, first: usize, dst: usize, room: usize): i32 {
  if (start >= end || load<u8>(end - 1) === 0) return WRONG;
  let at = end - 8;
  let used = unused(end);
  let bits = load<u64>(at) << used;
  let state0 = take(bits, lengthsLog);
  bits <<= lengthsLog;
  let state1 = take(bits, offsetsLog);
  bits <<= offsetsLog;
  let state2 = take(bits, matchesLog);
  used += lengthsLog + offsetsLog + matchesLog;
  let to = dst;
  const stop = dst + room;
  let literal = literalsAt;
  const literalsEnd = literalsAt + literalsSize;
  for (;;) {
    at -= <usize>(used >> 3);
    used &= 7;
    if (at + 8 < start) return WRONG;
    bits = load<u64>(at) << used;
    const entry0 = load<u32>(lengths + (state0 << 2));
    const entry1 = load<u32>(offsets + (state1 << 2));
    const entry2 = load<u32>(matches + (state2 << 2));
    const offsetBits = entry1 >> 24;
    let offset = (<u32>1 << offsetBits) + <u32>take(bits, offsetBits);
    bits <<= offsetBits;
    const matchCode = load<u32>(matchCodes + ((entry2 >> 24) << 2));
    const size = (matchCode >> 8) + <u32>take(bits, matchCode & 255);
    used += offsetBits + (matchCode & 255);
    at -= <usize>(used >> 3);
    used &= 7;
    if (at + 8 < start) return WRONG;
    bits = load<u64>(at) << used;
    const literalCode = load<u32>(literalCodes + ((entry0 >> 24) << 2));
    const run = (literalCode >> 8) + <u32>take(bits, literalCode & 255);
    bits <<= literalCode & 255;
    used += literalCode & 255;

    if (offset > 3) {
      offset -= 3;
      rep2 = rep1;
      rep1 = rep0;
      rep0 = offset;
    } else {
      const which = offset - (run === 0 ? 0 : 1);
      if (which === 0) offset = rep0;
      else {
        offset = which === 1 ? rep1 : which === 2 ? rep2 : rep0 - 1;
        if (offset === 0) return WRONG;
        if (which !== 1) rep2 = rep1;
        rep1 = rep0;
        rep0 = offset;
      }
    }
    if (<usize>run > literalsEnd - literal) return WRONG;
    if (<u64>run + <u64>size > <u64>(stop - to)) return MORE;
    if (run > 0) copyFar(to, literal, run);
    to += run;
    literal += run;
    if (<usize>offset > to - first) return BEFORE;
    copyMatch(to, offset, size);
    to += size;

    if (--count === 0) break;
    let step = (entry0 >> 16) & 255;
    state0 = <usize>(entry0 & 0xffff) + take(bits, step);
    bits <<= step;
    used += step;
    step = (entry2 >> 16) & 255;
    state2 = <usize>(entry2 & 0xffff) + take(bits, step);
    bits <<= step;
    used += step;
    step = (entry1 >> 16) & 255;
    state1 = <usize>(entry1 & 0xffff) + take(bits, step);
    used += step;
  }
  if ((<i64>at - <i64>start) * 8 + 64 !== <i64>used) return WRONG;
  const rest = <u32>(literalsEnd - literal);
  if (<usize>rest > stop - to) return MORE;
  memory.copy(to, literal, rest);
  return <i32>(to + rest - dst);
}

/** The next n bits, of which there may be none. */
// @ts-ignore: decorator
@inline
function take(bits: u64, n: u32): usize {
  return <usize>((bits >> 1) >> (63 - <u64>n));
}
