// Huffman codes of at most 11 bits for counted bytes, and how zstd writes down which they are: a weight for each byte up to the last
// one that occurs, 12 − bits − (11 − the longest), 0 for those that do not occur; the last weight follows from the others.
import { fseTable } from "./zstd-tables";

const LONGEST: u32 = 11;

/** For each byte its code, in the highest bits of 64, and in the lowest eight how many they are. */
export const codes = memory.data(2048, 16);

const order = memory.data(1024, 16); // the bytes that occur, the rarest first
const depths = memory.data(1024, 16); // what in-place construction works on: counts, then parents, then depths
const places = memory.data(2064, 16);
const perLength = memory.data(1024, 16);
const weights = memory.data(256 + 16, 16);

let longest: u32 = 0;

/** One more than the largest byte that occurs; 0 where there is but one. Codes are canonical, longest first, as zstd has them. */
export function buildCodes(counts: usize): u32 {
  let used: u32 = 0;
  let symbols: u32 = 0;
  for (let s: u32 = 0; s < 256; s++) {
    if (load<u32>(counts + (s << 2)) === 0) continue;
    store<u32>(order + (used++ << 2), s);
    symbols = s + 1;
  }
  if (used < 2) return 0;
  sortByCount(counts, used);
  for (let i: u32 = 0; i < used; i++)
    store<u32>(depths + (i << 2), load<u32>(counts + (load<u32>(order + (i << 2)) << 2)));
  codeLengths(used);
  limitLengths(used);
  // Lengths to the bytes, and from these the codes, by the places that each takes in a table of 2 ** longest.
  memory.fill(weights, 0, 256);
  let i: u32 = 0;
  for (let length = longest; length > 0; length--)
    for (let n = load<u32>(perLength + (length << 2)); n > 0; n--, i++)
      store<u8>(weights + load<u32>(order + (i << 2)), <u8>(longest + 1 - length));
  let place: u32 = 0;
  for (let length = longest; length > 0; length--) {
    const own = load<u32>(perLength + (length << 2));
    store<u32>(perLength + (length << 2), place >> (longest - length)); // from here on the next code of this length
    place += own << (longest - length);
  }
  for (let s: u32 = 0; s < symbols; s++) {
    const weight = <u32>load<u8>(weights + s);
    if (weight === 0) continue;
    const length = longest + 1 - weight;
    const next = perLength + (length << 2);
    store<u64>(codes + (s << 3), (<u64>load<u32>(next) << (64 - length)) | length);
    store<u32>(next, load<u32>(next) + 1);
  }
  return symbols;
}

/** By the lower 9 bits, then by the upper ones: a block has no more than 2 ** 17 bytes. */
function sortByCount(counts: usize, used: u32): void {
  sortByDigit(counts, used, 0, order, depths);
  sortByDigit(counts, used, 9, depths, order);
}

function sortByDigit(counts: usize, used: u32, shift: u32, from: usize, to: usize): void {
  memory.fill(places, 0, 2052);
  for (let i: u32 = 0; i < used; i++) {
    const at = places + (digit(counts, from + (i << 2), shift) << 2);
    store<u32>(at, load<u32>(at, 4) + 1, 4);
  }
  for (let d: usize = 0; d < 2048; d += 4) store<u32>(places + d, load<u32>(places + d) + load<u32>(places + d, 4), 4);
  for (let i: u32 = 0; i < used; i++) {
    const at = places + (digit(counts, from + (i << 2), shift) << 2);
    const place = load<u32>(at);
    store<u32>(at, place + 1);
    store<u32>(to + (place << 2), load<u32>(from + (i << 2)));
  }
}

// @ts-ignore: decorator
@inline
function digit(counts: usize, at: usize, shift: u32): u32 {
  return (load<u32>(counts + (load<u32>(at) << 2)) >> shift) & 511;
}

// @ts-ignore: decorator
@inline
function at(i: i32): u32 {
  return load<u32>(depths + (i << 2));
}

// @ts-ignore: decorator
@inline
function put(i: i32, value: u32): void {
  store<u32>(depths + (i << 2), value);
}

/** The depths of leaves of an optimal tree over ascending counts, in their place (Moffat and Katajainen); then how many have each. */
function codeLengths(used: u32): void {
  const n = <i32>used;
  put(0, at(0) + at(1));
  let root = 0;
  let leaf = 2;
  for (let next = 1; next < n - 1; next++) {
    if (leaf >= n || at(root) < at(leaf)) {
      put(next, at(root));
      put(root++, next);
    } else put(next, at(leaf++));
    if (leaf >= n || (root < next && at(root) < at(leaf))) {
      put(next, at(next) + at(root));
      put(root++, next);
    } else put(next, at(next) + at(leaf++));
  }
  put(n - 2, 0);
  for (let next = n - 3; next >= 0; next--) put(next, at(at(next)) + 1);
  memory.fill(perLength, 0, 1024);
  let free: u32 = 1;
  let depth: u32 = 0;
  for (let inner = n - 2, left = used; left > 0; depth++) {
    let nodes: u32 = 0;
    for (; inner >= 0 && at(inner) === depth; inner--) nodes++;
    store<u32>(perLength + (depth << 2), free - nodes);
    left -= free - nodes;
    free = 2 * nodes;
  }
  longest = depth - 1;
}

/** None beyond 11 bits: what lies deeper comes there, and shorter ones are split until all have room. */
function limitLengths(used: u32): void {
  if (longest <= LONGEST) return;
  let total: u32 = 0;
  let deepest = used;
  for (let length: u32 = 1; length < LONGEST; length++) {
    const own = load<u32>(perLength + (length << 2));
    deepest -= own;
    total += own << (LONGEST - length);
  }
  total += deepest;
  for (; total > 1 << LONGEST; total--) {
    deepest--;
    let length = LONGEST - 1;
    while (load<u32>(perLength + (length << 2)) === 0) length--;
    store<u32>(perLength + (length << 2), load<u32>(perLength + (length << 2)) - 1);
    if (length + 1 === LONGEST) deepest += 2;
    else store<u32>(perLength + ((length + 1) << 2), load<u32>(perLength + ((length + 1) << 2)) + 2);
  }
  store<u32>(perLength + (LONGEST << 2), deepest);
  longest = LONGEST;
}

const LOG: u32 = 6;
const shares = memory.data(32, 16);
const table = memory.data(256, 16);
/** For each weight, and each state that follows, the state that has this weight and leads there. */
const before = memory.data(12 * 64, 16);

// Bits that are written from the lowest on.
let bits: u64 = 0;
let held: u32 = 0;
let out: usize = 0;

function write(value: u32, n: u32): void {
  bits |= <u64>value << held;
  held += n;
  while (held >= 8) {
    store<u8>(out++, <u8>bits);
    bits >>= 8;
    held -= 8;
  }
}

/** The weights of the last codes, for bytes below `symbols`: how many bytes they take; 0 where they cannot be written. */
export function writeWeights(dst: usize, symbols: u32): u32 {
  const count = symbols - 1; // the last one is not written
  const packed: u32 = count < 2 ? 0 : packWeights(dst + 1, count);
  if (packed > 0 && packed < 128 && (count > 128 || packed < count >> 1)) {
    store<u8>(dst, <u8>packed);
    return packed + 1;
  }
  if (count > 128) return 0;
  store<u8>(dst, <u8>(127 + count));
  store<u8>(weights + count, 0); // a half byte may be left
  for (let i: u32 = 0; i < count; i += 2)
    store<u8>(dst + 1 + (i >> 1), <u8>((load<u8>(weights + i) << 4) | load<u8>(weights + i + 1)));
  return 1 + ((count + 1) >> 1);
}

/** The weights as two states that take turns; 0 where they are all the same. */
function packWeights(dst: usize, count: u32): u32 {
  if (!share(count)) return 0;
  out = dst;
  bits = held = 0;
  writeShares();
  if (!fseTable(table, shares, 12, LOG)) return 0;
  for (let state: i32 = 63; state >= 0; state--) {
    const entry = load<u32>(table + (state << 2));
    const base = entry & 0xffff;
    const size: u32 = 1 << ((entry >> 16) & 255);
    memory.fill(before + ((entry >> 24) << 6) + base, <u8>state, size);
  }
  // From the end: a state of the last two weights each, of the kind that would take a bit more than there is.
  let mine = first(load<u8>(weights + count - 2));
  let other = first(load<u8>(weights + count - 1));
  for (let i = <i32>count - 3; i >= 0; i--) {
    const state = <u32>load<u8>(before + (<u32>load<u8>(weights + i) << 6) + other);
    const entry = load<u32>(table + (state << 2));
    write(other - (entry & 0xffff), (entry >> 16) & 255);
    other = mine;
    mine = state;
  }
  write(other, LOG);
  write(mine, LOG);
  write(1, 1);
  if (held > 0) write(0, 8 - held);
  return <u32>(out - dst);
}

/** The first state with this weight has the most bits to follow. */
function first(weight: u32): u32 {
  let state: u32 = 0;
  while (load<u32>(table + (state << 2)) >> 24 !== weight) state++;
  return state;
}

/** How many of 64 states each weight gets: at least one where it occurs. False where one has them all. */
function share(count: u32): bool {
  memory.fill(shares, 0, 32);
  for (let i: u32 = 0; i < count; i++) {
    const to = shares + (<u32>load<u8>(weights + i) << 1);
    store<u16>(to, load<u16>(to) + 1);
  }
  let left: i32 = 64;
  let most: u32 = 0;
  for (let w: u32 = 0; w < 12; w++) {
    const own = <u32>load<u16>(shares + (w << 1));
    if (own === 0) continue;
    if (own === count) return false;
    const part = (own * 64 + (count >> 1)) / count;
    store<u16>(shares + (w << 1), <u16>(part === 0 ? 1 : part));
    left -= part === 0 ? 1 : part;
    if (load<u16>(shares + (w << 1)) > load<u16>(shares + (most << 1))) most = w;
  }
  const rest = <i32>load<u16>(shares + (most << 1)) + left;
  if (rest < 1 || rest > 63) return false;
  store<u16>(shares + (most << 1), <u16>rest);
  return true;
}

/** The shares as the format has them: of what is left the fewest bits that can say it. */
function writeShares(): void {
  write(LOG - 5, 4);
  let left: i32 = 1 << LOG;
  for (let w: u32 = 0; left > 0; w++) {
    const value = <u32>load<u16>(shares + (w << 1)) + 1;
    const size = 32 - clz<u32>(left + 1);
    const half: u32 = 1 << (size - 1);
    const short: u32 = 2 * half - 2 - <u32>left;
    if (value < short) write(value, size - 1);
    else write(value < half ? value : value + short, size);
    left -= <i32>value - 1;
    if (value > 1) continue;
    let zeros: u32 = 0;
    while (load<u16>(shares + ((w + 1 + zeros) << 1)) === 0) zeros++;
    w += zeros;
    for (; zeros >= 3; zeros -= 3) write(3, 2);
    write(zeros, 2);
  }
  if (held > 0) write(0, 8 - held);
}
