// Byte and bit shuffle. `count` elements of `typesize` bytes; byte j of element i goes to j * count + i.
//
// For 2, 4, 8 and 16 bytes per element, 16 elements at a time are `typesize` vectors. Interleaving the first half of those
// vectors with the second half, byte by byte, rotates the bits of every byte's address to the left by one. Unshuffling swaps
// (plane, element) for (element, plane), which is log2(typesize) such rounds; shuffling is the way on around the circle,
// always 4 rounds.

// @ts-ignore: decorator
@inline
function low(a: v128, b: v128): v128 {
  return v128.shuffle<u8>(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
// @ts-ignore: decorator
@inline
function high(a: v128, b: v128): v128 {
  return v128.shuffle<u8>(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

/** Two tables of 16 vectors, between which the rounds go to and fro. */
const ping = memory.data(256, 16);
const pong = memory.data(256, 16);

/** One round over `half` pairs; source vectors lie `from` bytes apart, target vectors `to`. */
// @ts-ignore: decorator
@inline
function round(src: usize, from: usize, dst: usize, to: usize, half: usize): void {
  const far = half * from;
  for (let i: usize = 0; i < half; i++) {
    const a = v128.load(src);
    const b = v128.load(src + far);
    v128.store(dst, low(a, b));
    v128.store(dst + to, high(a, b));
    src += from;
    dst += to << 1;
  }
}

export function shuffle(typesize: usize, src: usize, count: usize, dst: usize): void {
  let i: usize = 0;
  if (typesize == 2 || typesize == 4 || typesize == 8 || typesize == 16) {
    const half = typesize >> 1;
    for (; i + 16 <= count; i += 16) {
      round(src + i * typesize, 16, ping, 16, half);
      round(ping, 16, pong, 16, half);
      round(pong, 16, ping, 16, half);
      round(ping, 16, dst + i, count, half);
    }
  }
  for (let j: usize = 0; j < typesize; j++) {
    for (let k = i; k < count; k++) store<u8>(dst + j * count + k, load<u8>(src + k * typesize + j));
  }
}

export function unshuffle(typesize: usize, src: usize, count: usize, dst: usize): void {
  let i: usize = 0;
  if (typesize == 4) {
    for (; i + 16 <= count; i += 16) {
      const at = src + i;
      const a = v128.load(at);
      const b = v128.load(at + count);
      const c = v128.load(at + 2 * count);
      const d = v128.load(at + 3 * count);
      const ac = low(a, c);
      const AC = high(a, c);
      const bd = low(b, d);
      const BD = high(b, d);
      const to = dst + (i << 2);
      v128.store(to, low(ac, bd));
      v128.store(to, high(ac, bd), 16);
      v128.store(to, low(AC, BD), 32);
      v128.store(to, high(AC, BD), 48);
    }
  } else if (typesize == 2) {
    for (; i + 16 <= count; i += 16) round(src + i, count, dst + (i << 1), 16, 1);
  } else if (typesize == 8) {
    for (; i + 16 <= count; i += 16) {
      round(src + i, count, ping, 16, 4);
      round(ping, 16, pong, 16, 4);
      round(pong, 16, dst + (i << 3), 16, 4);
    }
  } else if (typesize == 16) {
    for (; i + 16 <= count; i += 16) {
      round(src + i, count, ping, 16, 8);
      round(ping, 16, pong, 16, 8);
      round(pong, 16, ping, 16, 8);
      round(ping, 16, dst + (i << 4), 16, 8);
    }
  }
  for (let j: usize = 0; j < typesize; j++) {
    for (let k = i; k < count; k++) store<u8>(dst + k * typesize + j, load<u8>(src + j * count + k));
  }
}

// Bit k of byte b of element i goes to bit i % 8 of byte (8 b + k) * count / 8 + i / 8; count is a multiple of 8. That is a
// byte shuffle, a transposition of the 8 by 8 bits in every 8 bytes, and a byte shuffle of those 8 bytes inside each plane.

/** Transposes the bits of every 8 bytes in place; n is a multiple of 8, and what lies in the 8 bytes behind does not matter. */
function transposeBits(at: usize, n: usize): void {
  const m7 = i64x2.splat(0x00aa00aa00aa00aa);
  const m14 = i64x2.splat(0x0000cccc0000cccc);
  const m28 = i64x2.splat(0x00000000f0f0f0f0);
  for (const end = at + n; at < end; at += 16) {
    let x = v128.load(at);
    let t = v128.and(v128.xor(x, i64x2.shr_u(x, 7)), m7);
    x = v128.xor(v128.xor(x, t), i64x2.shl(t, 7));
    t = v128.and(v128.xor(x, i64x2.shr_u(x, 14)), m14);
    x = v128.xor(v128.xor(x, t), i64x2.shl(t, 14));
    t = v128.and(v128.xor(x, i64x2.shr_u(x, 28)), m28);
    v128.store(at, v128.xor(v128.xor(x, t), i64x2.shl(t, 28)));
  }
}

export function bitshuffle(typesize: usize, src: usize, count: usize, dst: usize, scratch: usize): void {
  shuffle(typesize, src, count, scratch);
  transposeBits(scratch, typesize * count);
  for (let j: usize = 0; j < typesize; j++) shuffle(8, scratch + j * count, count >> 3, dst + j * count);
}

export function bitunshuffle(typesize: usize, src: usize, count: usize, dst: usize, scratch: usize): void {
  for (let j: usize = 0; j < typesize; j++) unshuffle(8, src + j * count, count >> 3, scratch + j * count);
  transposeBits(scratch, typesize * count);
  unshuffle(typesize, scratch, count, dst);
}
