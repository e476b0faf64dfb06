// The literals of a compressed block: raw, one byte, or Huffman codes in one or four streams.
import { EARLY, WRONG } from "./zstd";
import { huffmanTable } from "./zstd-tables";

const BLOCK: u32 = 1 << 17;
const literals = memory.data(131072 + 64, 16);
const huffman = memory.data(4096, 16);

/** What was found last. */
export let literalsAt: usize = 0;
export let literalsSize: u32 = 0;

// Whether the frame has a table.
let hasHuffman = false;

export function forgetHuffman(): void {
  hasHuffman = false;
}

/** Bytes that the literals took, or what is wrong. */
export function readLiterals(src: usize, size: usize): i32 {
  if (size === 0) return EARLY;
  const first = <u32>load<u8>(src);
  const type = first & 3;
  const format = (first >> 2) & 3;
  if (type < 2) {
    const head: u32 = format === 1 ? 2 : format === 3 ? 3 : 1;
    if (size < <usize>head) return EARLY;
    const word = load<u32>(src);
    const count = head === 1 ? first >> 3 : head === 2 ? (word >> 4) & 0xfff : (word >> 4) & 0xfffff;
    if (count > BLOCK) return WRONG;
    literalsSize = count;
    if (type === 0) {
      if (count > <u32>size - head) return EARLY;
      literalsAt = src + head;
      return head + count;
    }
    if (size <= <usize>head) return EARLY;
    memory.fill(literals, load<u8>(src + head), count);
    literalsAt = literals;
    return head + 1;
  }
  const head: u32 = format < 2 ? 3 : format + 2;
  if (size < <usize>head) return EARLY;
  const word = load<u64>(src) >> 4;
  const width: u64 = format < 2 ? 10 : format === 2 ? 14 : 18;
  const mask = ((<u64>1) << width) - 1;
  const count = <u32>(word & mask);
  const packed = <u32>((word >> width) & mask);
  if (count > BLOCK || packed > <u32>size - head) return WRONG;
  let at = src + head;
  const end = at + packed;
  if (type === 2) {
    const table = huffmanTable(huffman, at, packed);
    if (table < 0) return WRONG;
    hasHuffman = true;
    at += table;
  } else if (!hasHuffman) return WRONG;
  const right = format === 0 ? oneStream(at, end, literals, count) : fourStreams(at, end, literals, count);
  if (!right) return WRONG;
  literalsAt = literals;
  literalsSize = count;
  return head + packed;
}

/** How many bits on top of a stream's last eight bytes are no data; its last byte, which marks them, is not 0. */
// @ts-ignore: decorator
@inline
export function unused(end: usize): u64 {
  return <u64>(clz<u32>(load<u8>(end - 1)) - 23);
}

/** The entry of the next symbol. As a distance to shift by, it counts as the bits of its code: the symbol is above the sixth bit. */
// @ts-ignore: decorator
@inline
function look(bits: u64): u64 {
  return <u64>load<u16>(huffman + <usize>((bits >> 52) & 0xffe));
}

function oneStream(at: usize, end: usize, dst: usize, count: u32): bool {
  return end > at && load<u8>(end - 1) !== 0 && tail(at, end - 8, unused(end), dst, dst + count);
}

/** The rest of a stream, symbol by symbol; whether it ends with the last one. */
function tail(start: usize, at: usize, used: u64, to: usize, end: usize): bool {
  while (to < end) {
    at -= <usize>(used >> 3);
    used &= 7;
    if (at + 8 < start) return false; // no bit of it is left
    let bits = load<u64>(at) << used;
    for (let i = 0; i < 5 && to < end; i++) {
      const entry = look(bits);
      bits <<= entry;
      used += entry & 63;
      store<u8>(to++, <u8>(entry >> 8));
    }
  }
  return (<i64>at - <i64>start) * 8 + 64 === <i64>used;
}

function fourStreams(at: usize, end: usize, dst: usize, count: u32): bool {
  if (end - at < 10 || count < 6) return false;
  const start0 = at + 6;
  const start1 = start0 + load<u16>(at);
  const start2 = start1 + load<u16>(at, 2);
  const start3 = start2 + load<u16>(at, 4);
  if (start0 >= start1 || start1 >= start2 || start2 >= start3 || start3 >= end) return false;
  if (load<u8>(start1 - 1) === 0 || load<u8>(start2 - 1) === 0 || load<u8>(start3 - 1) === 0) return false;
  if (load<u8>(end - 1) === 0) return false;
  const quarter = (count + 3) >> 2;
  if (<u32>3 * quarter > count) return false;
  let at0 = start1 - 8;
  let at1 = start2 - 8;
  let at2 = start3 - 8;
  let at3 = end - 8;
  let used0 = unused(start1);
  let used1 = unused(start2);
  let used2 = unused(start3);
  let used3 = unused(end);
  let to0 = dst;
  let to1 = dst + quarter;
  let to2 = to1 + quarter;
  let to3 = to2 + quarter;
  const end1 = to1;
  const end2 = to2;
  const end3 = to3;
  const end4 = dst + count;
  // The last stream has the fewest symbols. Five of them take at most 55 bits of the 57 that are there, so that the lowest bit is
  // never looked at: set, it says by how much its word has been shifted. Spelled out, because the compiler does not: a loop
  // takes half as long again.
  while (at0 >= start0 && at1 >= start1 && at2 >= start2 && at3 >= start3 && to3 + 5 <= end4) {
    let bits0 = (load<u64>(at0) | 1) << used0;
    let bits1 = (load<u64>(at1) | 1) << used1;
    let bits2 = (load<u64>(at2) | 1) << used2;
    let bits3 = (load<u64>(at3) | 1) << used3;
    let entry: u64;
    entry = look(bits0);
    bits0 <<= entry;
    store<u8>(to0, <u8>(entry >> 8), 0);
    entry = look(bits1);
    bits1 <<= entry;
    store<u8>(to1, <u8>(entry >> 8), 0);
    entry = look(bits2);
    bits2 <<= entry;
    store<u8>(to2, <u8>(entry >> 8), 0);
    entry = look(bits3);
    bits3 <<= entry;
    store<u8>(to3, <u8>(entry >> 8), 0);
    entry = look(bits0);
    bits0 <<= entry;
    store<u8>(to0, <u8>(entry >> 8), 1);
    entry = look(bits1);
    bits1 <<= entry;
    store<u8>(to1, <u8>(entry >> 8), 1);
    entry = look(bits2);
    bits2 <<= entry;
    store<u8>(to2, <u8>(entry >> 8), 1);
    entry = look(bits3);
    bits3 <<= entry;
    store<u8>(to3, <u8>(entry >> 8), 1);
    entry = look(bits0);
    bits0 <<= entry;
    store<u8>(to0, <u8>(entry >> 8), 2);
    entry = look(bits1);
    bits1 <<= entry;
    store<u8>(to1, <u8>(entry >> 8), 2);
    entry = look(bits2);
    bits2 <<= entry;
    store<u8>(to2, <u8>(entry >> 8), 2);
    entry = look(bits3);
    bits3 <<= entry;
    store<u8>(to3, <u8>(entry >> 8), 2);
    entry = look(bits0);
    bits0 <<= entry;
    store<u8>(to0, <u8>(entry >> 8), 3);
    entry = look(bits1);
    bits1 <<= entry;
    store<u8>(to1, <u8>(entry >> 8), 3);
    entry = look(bits2);
    bits2 <<= entry;
    store<u8>(to2, <u8>(entry >> 8), 3);
    entry = look(bits3);
    bits3 <<= entry;
    store<u8>(to3, <u8>(entry >> 8), 3);
    entry = look(bits0);
    bits0 <<= entry;
    store<u8>(to0, <u8>(entry >> 8), 4);
    entry = look(bits1);
    bits1 <<= entry;
    store<u8>(to1, <u8>(entry >> 8), 4);
    entry = look(bits2);
    bits2 <<= entry;
    store<u8>(to2, <u8>(entry >> 8), 4);
    entry = look(bits3);
    bits3 <<= entry;
    store<u8>(to3, <u8>(entry >> 8), 4);
    to0 += 5;
    to1 += 5;
    to2 += 5;
    to3 += 5;
    used0 = ctz(bits0);
    used1 = ctz(bits1);
    used2 = ctz(bits2);
    used3 = ctz(bits3);
    at0 -= <usize>(used0 >> 3);
    at1 -= <usize>(used1 >> 3);
    at2 -= <usize>(used2 >> 3);
    at3 -= <usize>(used3 >> 3);
    used0 &= 7;
    used1 &= 7;
    used2 &= 7;
    used3 &= 7;
  }
  return (
    tail(start0, at0, used0, to0, end1) &&
    tail(start1, at1, used1, to1, end2) &&
    tail(start2, at2, used2, to2, end3) &&
    tail(start3, at3, used3, to3, end4)
  );
}
