// Zstandard frames for numbers. What hardly repeats, such as coordinates, becomes Huffman codes alone: what a full encoder finds in it by its
// search for matches is next to nothing, and the search takes most of its time. What repeats in part is searched (zstd-sequences.ts), and what
// is one byte again and again, from its beginning or behind some bytes that say how many there are, is that byte. `scripts/kernel.mjs`
// compiles this file to ../zstd-encode-wasm.ts.
import { xxh64 } from "./xxh64";
import { buildCodes, codes, writeWeights } from "./zstd-encode-tables";
import { literalCount, literals, rep, restore, search, startSearch, writeSequences } from "./zstd-sequences";

export { start } from "./start";

const BLOCK: usize = 1 << 17;
// Of 96 words, those that have come before: up to a few nothing is looked for, beyond many another encoder looks longer.
const FEW: u32 = 3;
const MANY: u32 = 64;
const LEAST: u32 = 64; // bytes below which no codes are worth their table
const HEAD: u32 = 8; // bytes before what is one byte again and again
const SLOTS_LOG = 14;
const slots = memory.data(65536, 16); // 2 ** SLOTS_LOG words
const counts = memory.data(4096, 16); // four tables of 256, so that equal bytes in a row need not wait for each other

/** The frame of `size` bytes, with a checksum where that is 1, and how many bytes it has; 0 where most of it repeats. */
export function zstdFrame(src: usize, size: usize, dst: usize, checksum: u32): i32 {
  const constant = size > 2 * HEAD && isConstant(src + HEAD, size - HEAD);
  const again: u32 = constant || size < LEAST ? 0 : repeats(src, size);
  if (again > MANY) return 0;
  const searched = again > FEW;
  if (searched) startSearch(size);
  store<u32>(dst, 0xfd2fb528);
  const sizeCode: u32 = size < 256 ? 0 : size < 65792 ? 1 : 2;
  store<u8>(dst, <u8>((sizeCode << 6) | 32 | (checksum << 2)), 4);
  let to = dst + 5;
  if (sizeCode === 0) store<u8>(to, <u8>size);
  else if (sizeCode === 1) store<u16>(to, <u16>(size - 256));
  else store<u32>(to, <u32>size);
  to += 1 << sizeCode;
  const end = src + size;
  for (let at = src; at < end; ) {
    const head = constant && at === src && !isConstant(src, 2 * HEAD);
    const own = head ? HEAD : <u32>min(end - at, BLOCK);
    const type: u32 = head ? 0 : constant ? 1 : 2;
    to += writeBlock(src, at, own, to, type, searched, at + own === end);
    at += own;
  }
  if (checksum === 1) {
    store<u32>(to, <u32>xxh64(src, size));
    to += 4;
  }
  return <i32>(to - dst);
}

/** One block with its header, raw where its type says so or it would not be smaller. */
function writeBlock(start: usize, src: usize, size: u32, dst: usize, type: u32, searched: bool, last: bool): u32 {
  let packed: u32 = type === 1 ? 1 : type === 0 || size < LEAST ? 0 : block(start, src, size, dst + 3, searched);
  const own: u32 = packed === 0 ? 0 : type;
  const header = ((own === 2 ? packed : size) << 3) | (own << 1) | (last ? 1 : 0);
  if (own === 1) store<u8>(dst, load<u8>(src), 3);
  else if (own === 0) {
    memory.copy(dst + 3, src, size);
    packed = size;
  }
  store<u16>(dst, <u16>header);
  store<u8>(dst, <u8>(header >> 16), 2);
  return 3 + packed;
}

function isConstant(at: usize, size: usize): bool {
  const byte = i8x16.splat(load<i8>(at));
  let i: usize = 0;
  for (; i + 16 <= size; i += 16) if (v128.any_true(v128.xor(v128.load(at + i), byte))) return false;
  for (; i < size; i++) if (load<u8>(at + i) !== load<u8>(at)) return false;
  return true;
}

/** How many of 96 words come again: each is looked for where the last one of its kind was put. */
function repeats(src: usize, size: usize): u32 {
  memory.fill(slots, 0, 65536);
  let found: u64 = 0;
  const end = src + (size & ~3);
  for (let at = src; at < end; at += 4) {
    const word = load<u32>(at);
    const slot = slots + <usize>(((word * 0x9e3779b1) >> (32 - SLOTS_LOG)) << 2);
    found += u64(load<u32>(slot) === word);
    store<u32>(slot, word);
  }
  return <u32>((96 * found) / (<u64>size >> 2));
}

/** One block of the content that begins at `start`: its bytes, or 0 where they are not fewer. */
function block(start: usize, src: usize, size: u32, dst: usize, searched: bool): u32 {
  const last = rep;
  if (searched) search(start, src, src + size);
  let packed = searched ? writeLiterals(literals, literalCount, dst) : writeLiterals(src, size, dst);
  if (searched) packed += writeSequences(dst + packed);
  else store<u8>(dst + packed++, 0); // no sequences
  if (packed < size - (size >> 6)) return packed;
  restore(last);
  return 0; // what saves less than a 64th is not worth decoding
}

/** Literals as Huffman codes, one byte, or as they are. */
function writeLiterals(src: usize, size: u32, dst: usize): u32 {
  if (size >= LEAST) {
    const packed = huffman(src, size, dst);
    if (packed > 0) return packed;
  }
  const constant = size > 3 && isConstant(src, size);
  const head: u32 = size < 32 ? 1 : size < 4096 ? 2 : 3;
  const header = (constant ? 1 : 0) | (head === 1 ? size << 3 : (size << 4) | (head === 2 ? 4 : 12));
  store<u32>(dst, header);
  if (constant) store<u8>(dst + head, load<u8>(src));
  else memory.copy(dst + head, src, size);
  return head + (constant ? 1 : size);
}

/** Literals in four streams: their bytes, or 0 where they are not fewer. */
function huffman(src: usize, size: u32, dst: usize): u32 {
  count(src, size);
  const symbols = buildCodes(counts); // of the bytes that occur, one more than the largest; 0: one value only
  if (symbols === 0) return 0;
  const head: u32 = size < 1024 ? 3 : size < 16384 ? 4 : 5;
  const tree = writeWeights(dst + head, symbols);
  if (tree === 0) return 0;
  const streams = dst + head + tree;
  const quarter = (size + 3) >> 2;
  let to = streams + 6;
  for (let i: u32 = 0; i < 4; i++) {
    const from = src + i * quarter;
    const stop = i === 3 ? src + size : from + quarter;
    const length = stream(from, stop, to);
    if (i < 3) store<u16>(streams + (i << 1), <u16>length);
    to += length;
  }
  const packed = <u32>(to - dst) - head;
  if (packed + head >= size) return 0;
  const width: u64 = head === 3 ? 10 : head === 4 ? 14 : 18;
  const header: u64 = 2 | (<u64>(head - 2) << 2) | (<u64>size << 4) | (<u64>packed << (4 + width));
  for (let i: u32 = 0; i < head; i++) store<u8>(dst + i, <u8>(header >> (<u64>i << 3)));
  return <u32>(to - dst);
}

function count(src: usize, size: u32): void {
  memory.fill(counts, 0, 4096);
  const end = src + size;
  let at = src;
  for (; at + 4 <= end; at += 4) {
    const word = load<u32>(at);
    add(counts + ((word & 255) << 2));
    add(counts + 1024 + (((word >> 8) & 255) << 2));
    add(counts + 2048 + (((word >> 16) & 255) << 2));
    add(counts + 3072 + ((word >> 24) << 2));
  }
  for (; at < end; at++) add(counts + (<usize>load<u8>(at) << 2));
  for (let i: usize = 0; i < 1024; i += 16) {
    const sum = i32x4.add(
      i32x4.add(v128.load(counts + i), v128.load(counts + i, 1024)),
      i32x4.add(v128.load(counts + i, 2048), v128.load(counts + i, 3072)),
    );
    v128.store(counts + i, sum);
  }
}

// @ts-ignore: decorator
@inline
function add(at: usize): void {
  store<u32>(at, load<u32>(at) + 1);
}

/**
 * The codes of the bytes, the last one first; a set bit marks the end, from where a decoder begins. Codes come in at the top, the bits
 * of those before move down. What an entry has below its code counts its bits, and is garbage that is never written: four codes
 * and what is left of the last byte are 51 bits at most.
 */
function stream(src: usize, end: usize, dst: usize): u32 {
  let bits: u64 = 0;
  let used: u64 = 0;
  let to = dst;
  let at = end;
  for (; at >= src + 4; at -= 4) {
    let code = load<u64>(codes + (<usize>load<u8>(at - 1) << 3));
    bits = (bits >> code) | code;
    used += code;
    code = load<u64>(codes + (<usize>load<u8>(at - 2) << 3));
    bits = (bits >> code) | code;
    used += code;
    code = load<u64>(codes + (<usize>load<u8>(at - 3) << 3));
    bits = (bits >> code) | code;
    used += code;
    code = load<u64>(codes + (<usize>load<u8>(at - 4) << 3));
    bits = (bits >> code) | code;
    used += code;
    used &= 255;
    store<u64>(to, bits >> (64 - used));
    to += <usize>(used >> 3);
    used &= 7;
  }
  for (; at > src; at--) {
    const code = load<u64>(codes + (<usize>load<u8>(at - 1) << 3));
    bits = (bits >> code) | code;
    used += code & 255;
  }
  bits = (bits >> 1) | (<u64>1 << 63);
  used++;
  store<u64>(to, bits >> (64 - used));
  return <u32>(to - dst) + <u32>((used + 7) >> 3);
}
