// Huffman codes of at most 11 bits for counted bytes, and how zstd writes down which they are: a weight for each byte up to the last
// one that occurs, 12 − bits − (11 − the longest), 0 for those that do not occur; the last weight follows from the others.
import { continueAt, fillByte, out, write } from "./bits";
import { codeLengths, longest, order, perLength } from "./huffman";
import { fseTable } from "./zstd-tables";

const LONGEST: u32 = 11;

/** For each byte its code, in the highest bits of 64, and in the lowest eight how many they are. */
export const codes = memory.data(2048, 16);

const weights = memory.data(256 + 16, 16);

/** One more than the largest byte that occurs; 0 where there is but one. Codes are canonical, longest first, as zstd has them. */
export function buildCodes(counts: usize): u32 {
  if (codeLengths(counts, 256, LONGEST) < 2) return 0;
  let symbols: u32 = 256;
  while (load<u32>(counts + ((symbols - 1) << 2)) === 0) symbols--;
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

const LOG: u32 = 6;
const shares = memory.data(32, 16);
const table = memory.data(256, 16);
/** For each weight, and each state that follows, the state that has this weight and leads there. */
const before = memory.data(12 * 64, 16);

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
  writeShares(dst, shares, LOG);
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
  fillByte();
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

/** The shares as the format has them: of what is left the fewest bits that can say it. How many bytes that takes. */
export function writeShares(dst: usize, shares: usize, log: u32): u32 {
  continueAt(dst);
  write(log - 5, 4);
  let left: i32 = 1 << log;
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
  fillByte();
  return <u32>(out - dst);
}
