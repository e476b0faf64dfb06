// The codes of one block of deflate (RFC 1951) out of how often each symbol occurs, and how they are written down before it: the
// lengths of all codes in one list, in which runs are symbols of their own, and the codes of these symbols before that.
import { write } from "./bits";
import { codeLengths, longest, order, perLength } from "./huffman";

/** Bytes, the end of the block, and classes of lengths of matches. */
const LITERALS: u32 = 286;
const DISTANCES: u32 = 30;
const RUNS: u32 = 19;

export const literalCounts = memory.data(1152, 16);
export const distanceCounts = memory.data(128, 16);
/** For each symbol its code, the first bit lowest, and from bit 16 on its length. */
export const literalCodes = memory.data(1152, 16);
export const distanceCodes = memory.data(128, 16);

const runCounts = memory.data(80, 16);
const runCodes = memory.data(80, 16);
const runLengths = memory.data(32, 16);
const literalLengths = memory.data(288 + 32 + 16, 16); // those of distances come directly after the last that is written
const distanceLengths = memory.data(32, 16);
const runs = memory.data(2 * 320, 16); // a symbol each, and the bits that follow it
const ORDER = memory.data<u8>([16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]);

let literals: u32 = 0;
let distances: u32 = 0;
let written: u32 = 0;
let runCount: u32 = 0;

/** Makes the codes for what was counted; how many bits the block takes with them, but for the bits that follow symbols. */
export function dynamicCodes(): u32 {
  build(literalCounts, LITERALS, 15, literalLengths, literalCodes);
  build(distanceCounts, DISTANCES, 15, distanceLengths, distanceCodes);
  let size = bitsOf(literalCounts, literalLengths, LITERALS) + bitsOf(distanceCounts, distanceLengths, DISTANCES);
  literals = LITERALS;
  while (load<u8>(literalLengths + literals - 1) === 0) literals--;
  distances = DISTANCES;
  while (load<u8>(distanceLengths + distances - 1) === 0) distances--;
  memory.copy(literalLengths + literals, distanceLengths, distances);
  findRuns(literals + distances);
  build(runCounts, RUNS, 7, runLengths, runCodes);
  written = RUNS;
  while (load<u8>(runLengths + load<u8>(ORDER + written - 1)) === 0) written--;
  size += 14 + 3 * written + bitsOf(runCounts, runLengths, RUNS);
  size += 2 * count(runCounts, 16) + 3 * count(runCounts, 17) + 7 * count(runCounts, 18);
  return size;
}

/** How many bits it takes with the codes that need not be written down. */
export function fixedSize(): u32 {
  let size: u32 = 0;
  for (let s: u32 = 0; s < LITERALS; s++)
    size += count(literalCounts, s) * (s < 144 ? 8 : s < 256 ? 9 : s < 280 ? 7 : 8);
  for (let s: u32 = 0; s < DISTANCES; s++) size += count(distanceCounts, s) * 5;
  return size;
}

export function fixedCodes(): void {
  for (let s: u32 = 0; s < LITERALS; s++) {
    const length: u32 = s < 144 ? 8 : s < 256 ? 9 : s < 280 ? 7 : 8;
    const code = s < 144 ? 0x30 + s : s < 256 ? 0x190 + s - 144 : s < 280 ? s - 256 : 0xc0 + s - 280;
    store<u32>(literalCodes + (s << 2), entry(code, length));
  }
  for (let s: u32 = 0; s < DISTANCES; s++) store<u32>(distanceCodes + (s << 2), entry(s, 5));
}

/** Writes down the codes that `dynamicCodes` made. */
export function writeCodes(): void {
  write(literals - 257, 5);
  write(distances - 1, 5);
  write(written - 4, 4);
  for (let i: u32 = 0; i < written; i++) write(load<u8>(runLengths + load<u8>(ORDER + i)), 3);
  for (let i: u32 = 0; i < runCount; i++) {
    const symbol = <u32>load<u8>(runs + 2 * i);
    const code = load<u32>(runCodes + (symbol << 2));
    write(code & 0xffff, code >> 16);
    if (symbol > 15) write(load<u8>(runs + 2 * i + 1), symbol === 16 ? 2 : symbol === 17 ? 3 : 7);
  }
}

// @ts-ignore: decorator
@inline
function count(counts: usize, symbol: u32): u32 {
  return load<u32>(counts + (symbol << 2));
}

function bitsOf(counts: usize, lengths: usize, symbols: u32): u32 {
  let sum: u32 = 0;
  for (let s: u32 = 0; s < symbols; s++) sum += count(counts, s) * load<u8>(lengths + s);
  return sum;
}

/** Lengths and canonical codes, of at least two symbols: some decoders refuse a tree of one. */
function build(counts: usize, symbols: u32, most: u32, lengths: usize, codes: usize): void {
  let used = codeLengths(counts, symbols, most);
  if (used < 2) {
    for (let s: u32 = 0; used < 2; s++)
      if (count(counts, s) === 0) {
        store<u32>(counts + (s << 2), 1);
        used++;
      }
    codeLengths(counts, symbols, most);
  }
  memory.fill(lengths, 0, symbols);
  let i: u32 = 0;
  for (let length = longest; length > 0; length--)
    for (let n = load<u32>(perLength + (length << 2)); n > 0; n--, i++)
      store<u8>(lengths + load<u32>(order + (i << 2)), <u8>length);
  let code: u32 = 0;
  for (let length: u32 = 1; length <= longest; length++) {
    const own = load<u32>(perLength + (length << 2));
    store<u32>(perLength + (length << 2), code); // from here on the next code of this length
    code = (code + own) << 1;
  }
  for (let s: u32 = 0; s < symbols; s++) {
    const length = <u32>load<u8>(lengths + s);
    if (length === 0) continue;
    const next = perLength + (length << 2);
    const own = load<u32>(next);
    store<u32>(next, own + 1);
    store<u32>(codes + (s << 2), entry(own, length));
  }
}

/** A code with its first bit lowest. */
function entry(code: u32, length: u32): u32 {
  let turned = ((code >> 1) & 0x5555) | ((code & 0x5555) << 1);
  turned = ((turned >> 2) & 0x3333) | ((turned & 0x3333) << 2);
  turned = ((turned >> 4) & 0x0f0f) | ((turned & 0x0f0f) << 4);
  turned = ((turned >> 8) | (turned << 8)) & 0xffff;
  return (turned >> (16 - length)) | (length << 16);
}

/** The list of lengths as symbols: lengths themselves, 16 for the one before 3 to 6 times, 17 and 18 for 3 to 10 and 11 to 138 zeros. */
function findRuns(total: u32): void {
  memory.fill(runCounts, 0, 80);
  runCount = 0;
  store<u32>(literalLengths + total, 0xffffffff); // no run goes on behind the end
  for (let at = literalLengths, last = at + total; at < last; ) {
    const length = <u32>load<u8>(at);
    const four = load<u32>(at);
    if (length === 0 ? (four & 0xffffff) !== 0 : four !== length * 0x01010101) {
      add(length, 0);
      at++;
      continue;
    }
    const begun = at;
    const most: u32 = length > 0 ? 7 : 138;
    do at++;
    while (load<u8>(at) === length && <u32>(at - begun) < most);
    const own = <u32>(at - begun);
    if (length > 0) {
      add(length, 0);
      add(16, own - 4);
    } else if (own <= 10) add(17, own - 3);
    else add(18, own - 11);
  }
}

function add(symbol: u32, extra: u32): void {
  store<u8>(runs + 2 * runCount, <u8>symbol);
  store<u8>(runs + 2 * runCount++ + 1, <u8>extra);
  store<u32>(runCounts + (symbol << 2), count(runCounts, symbol) + 1);
}
