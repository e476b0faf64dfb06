// The tables of Zstandard.
//
// FSE: an entry is the base of the next state | bits to add << 16 | symbol << 24.
// Huffman: an entry is the bits of the code | symbol << 8, one for each number of 11 bits, which no code is longer than.

const spread = memory.data(512, 16);
const nexts = memory.data(512, 16);

/** From counts, −1 for less than one; whether they fill the table exactly. */
export function fseTable(table: usize, counts: usize, symbols: u32, log: u32): bool {
  const size: u32 = 1 << log;
  let high = size - 1;
  for (let s: u32 = 0; s < symbols; s++) {
    const count = <i32>load<i16>(counts + (s << 1));
    store<u16>(nexts + (s << 1), <u16>(count < 0 ? 1 : count));
    if (count < 0) store<u8>(spread + high--, <u8>s);
  }
  const step = (size >> 1) + (size >> 3) + 3;
  let at: u32 = 0;
  for (let s: u32 = 0; s < symbols; s++) {
    const count = <i32>load<i16>(counts + (s << 1));
    for (let i = 0; i < count; i++) {
      store<u8>(spread + at, <u8>s);
      do at = (at + step) & (size - 1);
      while (at > high);
    }
  }
  if (at !== 0) return false;
  for (let state: u32 = 0; state < size; state++) {
    const symbol = <u32>load<u8>(spread + state);
    const next = <u32>load<u16>(nexts + (symbol << 1));
    store<u16>(nexts + (symbol << 1), <u16>(next + 1));
    const bits = log - (31 - clz<u32>(next));
    store<u32>(table + (state << 2), ((next << bits) - size) | (bits << 16) | (symbol << 24));
  }
  return true;
}

const counts = memory.data(512, 16);

/** A table whose probabilities are written at `at`. */
export function readCounts(table: usize, at: usize, end: usize, last: u32, most: u32): i32 {
  if (at >= end) return -1;
  const log = (<u32>load<u8>(at) & 15) + 5;
  if (log > most) return -1;
  let bit: u32 = 4;
  let left: i32 = 1 << log;
  let symbol: u32 = 0;
  while (left > 0) {
    if (symbol > last || at + (bit >> 3) >= end) return -1;
    const size = 32 - clz<u32>(left + 1);
    const value = (load<u32>(at + (bit >> 3)) >> (bit & 7)) & ((1 << size) - 1);
    const low = value & ((1 << (size - 1)) - 1);
    const short = <u32>((1 << size) - 2 - left);
    let count: i32;
    if (low < short) {
      count = <i32>low - 1;
      bit += size - 1;
    } else {
      count = <i32>(value >= <u32>(1 << (size - 1)) ? value - short : value) - 1;
      bit += size;
    }
    left -= count < 0 ? -count : count;
    store<i16>(counts + (symbol++ << 1), <i16>count);
    if (count !== 0) continue;
    for (let more: u32 = 3; more === 3; ) {
      more = (<u32>load<u16>(at + (bit >> 3)) >> (bit & 7)) & 3;
      bit += 2;
      if (symbol + more > last + 1) return -1;
      for (let i: u32 = 0; i < more; i++) store<i16>(counts + (symbol++ << 1), 0);
    }
  }
  const bytes = (bit + 7) >> 3;
  if (left !== 0 || bytes > <u32>(end - at) || !fseTable(table, counts, symbol, log)) return -1;
  return (bytes << 4) | log;
}

const weights = memory.data(256, 16);
const ranks = memory.data(64, 16);
const weightTable = memory.data(256, 16);

/** From a description of at most `size` bytes: how many were taken, or a number below 0. */
export function huffmanTable(table: usize, src: usize, size: u32): i32 {
  if (size === 0) return -1;
  const head = <u32>load<u8>(src);
  let symbols: u32;
  let taken: u32;
  if (head >= 128) {
    symbols = head - 127;
    taken = 1 + ((symbols + 1) >> 1);
    if (taken > size) return -1;
    for (let i: u32 = 0; i < symbols; i++) {
      const pair = load<u8>(src + 1 + (i >> 1));
      store<u8>(weights + i, (i & 1) === 0 ? pair >> 4 : pair & 15);
    }
  } else {
    taken = 1 + head;
    if (taken > size) return -1;
    const found = readWeights(src + 1, src + taken);
    if (found < 0) return -1;
    symbols = found;
  }
  memory.fill(ranks, 0, 64);
  let total: u32 = 0;
  for (let i: u32 = 0; i < symbols; i++) {
    const weight = <u32>load<u8>(weights + i);
    if (weight > 11) return -1;
    store<u32>(ranks + (weight << 2), load<u32>(ranks + (weight << 2)) + 1);
    total += (1 << weight) >> 1;
  }
  if (total === 0) return -1;
  const log: u32 = 32 - clz<u32>(total);
  if (log > 11) return -1;
  // The last weight is not written: it fills what is left, which must be a power of two.
  const rest: u32 = (1 << log) - total;
  if (popcnt<u32>(rest) !== 1) return -1;
  const last: u32 = 32 - clz<u32>(rest);
  store<u8>(weights + symbols++, <u8>last);
  store<u32>(ranks + (last << 2), load<u32>(ranks + (last << 2)) + 1);
  const longest = load<u32>(ranks, 4);
  if (longest < 2 || (longest & 1) !== 0) return -1;
  let at: u32 = 0;
  for (let weight: u32 = 1; weight <= log; weight++) {
    const own = load<u32>(ranks + (weight << 2));
    store<u32>(ranks + (weight << 2), at);
    at += own << (weight + 10 - log);
  }
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    const weight = <u32>load<u8>(weights + symbol);
    if (weight === 0) continue;
    const from = table + (load<u32>(ranks + (weight << 2)) << 1);
    const count: u32 = 1 << (weight + 10 - log);
    repeat(from, count, (symbol << 8) | (log + 1 - weight));
    store<u32>(ranks + (weight << 2), ((from - table) >> 1) + count);
  }
  return taken;
}

/** An entry so many times, which is a power of two. */
function repeat(to: usize, count: u32, entry: u32): void {
  const end = to + (count << 1);
  const pair = entry | (entry << 16);
  if (count === 1) store<u16>(to, <u16>entry);
  else if (count === 2) store<u32>(to, pair);
  else for (const four = <u64>pair * 0x100000001; to < end; to += 8) store<u64>(to, four);
}

/** Weights as two states that take turns; how many, or −1. */
function readWeights(src: usize, end: usize): i32 {
  const table = readCounts(weightTable, src, end, 255, 6);
  if (table < 0) return -1;
  const log = table & 15;
  const start = src + (table >> 4);
  if (start >= end || load<u8>(end - 1) === 0) return -1;
  let left = <i32>(end - start) * 8 - (<i32>clz<u32>(load<u8>(end - 1)) - 23);
  left -= 2 * log;
  if (left < 0) return -1;
  let mine = bitsAt(start, left + log, log);
  let other = bitsAt(start, left, log);
  for (let count: u32 = 0; count < 254; ) {
    const entry = load<u32>(weightTable + (mine << 2));
    store<u8>(weights + count++, <u8>(entry >> 24));
    const bits = (entry >> 16) & 255;
    left -= bits;
    if (left < 0) {
      store<u8>(weights + count++, <u8>(load<u32>(weightTable + (other << 2)) >> 24));
      return count;
    }
    mine = other;
    other = (entry & 0xffff) + bitsAt(start, left, bits);
  }
  return -1;
}

/** n bits of a stream, the lowest of which is bit `from`. */
function bitsAt(start: usize, from: u32, n: u32): u32 {
  return (load<u32>(start + (from >> 3)) >> (from & 7)) & ((1 << n) - 1);
}
