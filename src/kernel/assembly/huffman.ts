// How long the codes of counted symbols are, so that all of them together take the fewest bits, and none more than is allowed.

/** The symbols that occur, the rarest first: the first of them have the longest codes. */
export const order = memory.data(1152, 16);
/** How many codes have each length. */
export const perLength = memory.data(1152, 16);
export let longest: u32 = 0;

const depths = memory.data(1152, 16); // what in-place construction works on: counts, then parents, then depths
const places = memory.data(2064, 16);
const FEW: u32 = 24;

/** Of the symbols below `symbols`, at most 286 with counts below 2 ** 18: how many occur. Nothing is done for fewer than two. */
export function codeLengths(counts: usize, symbols: u32, most: u32): u32 {
  let used: u32 = 0;
  let all: u32 = 0;
  for (let s: u32 = 0; s < symbols; s++) {
    const count = load<u32>(counts + (s << 2));
    if (count === 0) continue;
    store<u32>(order + (used++ << 2), s);
    all |= count;
  }
  if (used < 2) return used;
  if (used <= FEW) sortFew(counts, used);
  else {
    const few = all < 512;
    sortByDigit(counts, used, 0, few ? (2 << (31 - clz(all))) - 1 : 511, order, depths);
    if (few) memory.copy(order, depths, used << 2);
    else sortByDigit(counts, used, 9, 511, depths, order);
  }
  for (let i: u32 = 0; i < used; i++)
    store<u32>(depths + (i << 2), load<u32>(counts + (load<u32>(order + (i << 2)) << 2)));
  growTree(used);
  limitLengths(used, most);
  return used;
}

function sortFew(counts: usize, used: u32): void {
  for (let i: u32 = 1; i < used; i++) {
    const symbol = load<u32>(order + (i << 2));
    const count = load<u32>(counts + (symbol << 2));
    let to = i;
    for (; to > 0; to--) {
      const before = load<u32>(order + ((to - 1) << 2));
      if (load<u32>(counts + (before << 2)) <= count) break;
      store<u32>(order + (to << 2), before);
    }
    store<u32>(order + (to << 2), symbol);
  }
}

/** By the bits of `mask`, the lowest ones, after so many. */
function sortByDigit(counts: usize, used: u32, shift: u32, mask: u32, from: usize, to: usize): void {
  memory.fill(places, 0, 4 * mask + 8);
  for (let i: u32 = 0; i < used; i++) {
    const at = places + (digit(counts, from + (i << 2), shift, mask) << 2);
    store<u32>(at, load<u32>(at, 4) + 1, 4);
  }
  let sum: u32 = 0;
  for (let at = places, end = places + 4 * mask; at <= end; at += 4) {
    sum += load<u32>(at);
    store<u32>(at, sum);
  }
  for (let i: u32 = 0; i < used; i++) {
    const at = places + (digit(counts, from + (i << 2), shift, mask) << 2);
    const place = load<u32>(at);
    store<u32>(at, place + 1);
    store<u32>(to + (place << 2), load<u32>(from + (i << 2)));
  }
}

// @ts-ignore: decorator
@inline
function digit(counts: usize, at: usize, shift: u32, mask: u32): u32 {
  return (load<u32>(counts + (load<u32>(at) << 2)) >> shift) & mask;
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
function growTree(used: u32): void {
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
  memory.fill(perLength, 0, 1152);
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

/** None beyond `most` bits: what lies deeper comes there, and shorter ones are split until all have room. */
function limitLengths(used: u32, most: u32): void {
  if (longest <= most) return;
  let total: u32 = 0;
  let deepest = used;
  for (let length: u32 = 1; length < most; length++) {
    const own = load<u32>(perLength + (length << 2));
    deepest -= own;
    total += own << (most - length);
  }
  total += deepest;
  for (; total > <u32>1 << most; total--) {
    deepest--;
    let length = most - 1;
    while (load<u32>(perLength + (length << 2)) === 0) length--;
    store<u32>(perLength + (length << 2), load<u32>(perLength + (length << 2)) - 1);
    if (length + 1 === most) deepest += 2;
    else store<u32>(perLength + ((length + 1) << 2), load<u32>(perLength + ((length + 1) << 2)) + 2);
  }
  store<u32>(perLength + (most << 2), deepest);
  longest = most;
}
