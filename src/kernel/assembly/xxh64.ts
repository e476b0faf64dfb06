// XXH64 with seed 0, as Zstandard's checksums have it.
const P1: u64 = 0x9e3779b185ebca87;
const P2: u64 = 0xc2b2ae3d27d4eb4f;
const P3: u64 = 0x165667b19e3779f9;
const P4: u64 = 0x85ebca77c2b2ae63;
const P5: u64 = 0x27d4eb2f165667c5;

// @ts-ignore: decorator
@inline
function round(lane: u64, word: u64): u64 {
  return rotl<u64>(lane + word * P2, 31) * P1;
}

// @ts-ignore: decorator
@inline
function merge(hash: u64, lane: u64): u64 {
  return (hash ^ round(0, lane)) * P1 + P4;
}

export function xxh64(at: usize, size: usize): u64 {
  const end = at + size;
  let hash = P5;
  if (size >= 32) {
    let a = P1 + P2;
    let b = P2;
    let c: u64 = 0;
    let d: u64 = 0 - P1;
    for (; at + 32 <= end; at += 32) {
      a = round(a, load<u64>(at));
      b = round(b, load<u64>(at, 8));
      c = round(c, load<u64>(at, 16));
      d = round(d, load<u64>(at, 24));
    }
    hash = rotl<u64>(a, 1) + rotl<u64>(b, 7) + rotl<u64>(c, 12) + rotl<u64>(d, 18);
    hash = merge(merge(merge(merge(hash, a), b), c), d);
  }
  hash += size;
  for (; at + 8 <= end; at += 8) hash = rotl<u64>(hash ^ round(0, load<u64>(at)), 27) * P1 + P4;
  if (at + 4 <= end) {
    hash = rotl<u64>(hash ^ (<u64>load<u32>(at) * P1), 23) * P2 + P3;
    at += 4;
  }
  for (; at < end; at++) hash = rotl<u64>(hash ^ (<u64>load<u8>(at) * P5), 11) * P1;
  hash = (hash ^ (hash >> 33)) * P2;
  hash = (hash ^ (hash >> 29)) * P3;
  return hash ^ (hash >> 32);
}
