// Byte and bit shuffle. `count` elements of `typesize` bytes; byte j of element i goes to j * count + i.
//
// 16 elements of 2, 4 or 8 bytes are as many vectors. Interleaving the first half of those vectors with the second half, byte
// by byte, rotates the bits of every byte's address to the left by one. Unshuffling swaps (plane, element) for (element,
// plane): 1, 2 or 3 such rounds; shuffling is the way on around the circle, always 4 rounds. Larger elements go 8 bytes at a
// time, and what is left of elements and bytes goes byte by byte.

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

/** Two words of 8 bytes, `step` bytes apart. */
// @ts-ignore: decorator
@inline
function loadPair(at: usize, step: usize): v128 {
  return v128.load64_lane(at + step, v128.load64_zero(at), 1);
}

/** Two words of 8 bytes, at one address each. */
// @ts-ignore: decorator
@inline
function storePair(at: usize, step: usize, pair: v128): void {
  v128.store64_lane(at, pair, 0);
  v128.store64_lane(at + step, pair, 1);
}

// @ts-ignore: decorator
@inline
function shuffle2(src: usize, count: usize, dst: usize): void {
  for (let i: usize = 0; i + 16 <= count; i += 16) {
    const from = src + (i << 1);
    let a = v128.load(from);
    let b = v128.load(from, 16);
    for (let round = 0; round < 4; round++) {
      const c = low(a, b);
      b = high(a, b);
      a = c;
    }
    v128.store(dst + i, a);
    v128.store(dst + i + count, b);
  }
}

// @ts-ignore: decorator
@inline
function unshuffle2(src: usize, count: usize, dst: usize): void {
  for (let i: usize = 0; i + 16 <= count; i += 16) {
    const a = v128.load(src + i);
    const b = v128.load(src + i + count);
    const to = dst + (i << 1);
    v128.store(to, low(a, b));
    v128.store(to, high(a, b), 16);
  }
}

// @ts-ignore: decorator
@inline
function shuffle4(src: usize, count: usize, dst: usize): void {
  for (let i: usize = 0; i + 16 <= count; i += 16) {
    const from = src + (i << 2);
    let a = v128.load(from);
    let b = v128.load(from, 16);
    let c = v128.load(from, 32);
    let d = v128.load(from, 48);
    for (let round = 0; round < 4; round++) {
      const e = low(a, c);
      const f = low(b, d);
      d = high(b, d);
      b = high(a, c);
      a = e;
      c = f;
    }
    const to = dst + i;
    v128.store(to, a);
    v128.store(to + count, b);
    v128.store(to + 2 * count, c);
    v128.store(to + 3 * count, d);
  }
}

// @ts-ignore: decorator
@inline
function unshuffle4(src: usize, count: usize, dst: usize): void {
  for (let i: usize = 0; i + 16 <= count; i += 16) {
    const from = src + i;
    const a = v128.load(from);
    const b = v128.load(from + count);
    const c = v128.load(from + 2 * count);
    const d = v128.load(from + 3 * count);
    const e = low(a, c);
    const f = high(a, c);
    const g = low(b, d);
    const h = high(b, d);
    const to = dst + (i << 2);
    v128.store(to, low(e, g));
    v128.store(to, high(e, g), 16);
    v128.store(to, low(f, h), 32);
    v128.store(to, high(f, h), 48);
  }
}

/** 8 bytes of each element, to 8 planes; elements lie `step` bytes apart. */
function shuffle8(src: usize, step: usize, count: usize, dst: usize): void {
  for (let i: usize = 0; i + 16 <= count; i += 16) {
    const from = src + i * step;
    let a = loadPair(from, step);
    let b = loadPair(from + 2 * step, step);
    let c = loadPair(from + 4 * step, step);
    let d = loadPair(from + 6 * step, step);
    let e = loadPair(from + 8 * step, step);
    let f = loadPair(from + 10 * step, step);
    let g = loadPair(from + 12 * step, step);
    let h = loadPair(from + 14 * step, step);
    for (let round = 0; round < 4; round++) {
      const p = low(a, e);
      const q = high(a, e);
      const r = low(b, f);
      const s = high(b, f);
      const t = low(c, g);
      const u = high(c, g);
      const v = low(d, h);
      h = high(d, h);
      a = p;
      b = q;
      c = r;
      d = s;
      e = t;
      f = u;
      g = v;
    }
    const to = dst + i;
    v128.store(to, a);
    v128.store(to + count, b);
    v128.store(to + 2 * count, c);
    v128.store(to + 3 * count, d);
    v128.store(to + 4 * count, e);
    v128.store(to + 5 * count, f);
    v128.store(to + 6 * count, g);
    v128.store(to + 7 * count, h);
  }
}

/** 8 planes, to 8 bytes of each element. */
function unshuffle8(src: usize, step: usize, count: usize, dst: usize): void {
  for (let i: usize = 0; i + 16 <= count; i += 16) {
    const from = src + i;
    let a = v128.load(from);
    let b = v128.load(from + count);
    let c = v128.load(from + 2 * count);
    let d = v128.load(from + 3 * count);
    let e = v128.load(from + 4 * count);
    let f = v128.load(from + 5 * count);
    let g = v128.load(from + 6 * count);
    let h = v128.load(from + 7 * count);
    for (let round = 0; round < 3; round++) {
      const p = low(a, e);
      const q = high(a, e);
      const r = low(b, f);
      const s = high(b, f);
      const t = low(c, g);
      const u = high(c, g);
      const v = low(d, h);
      h = high(d, h);
      a = p;
      b = q;
      c = r;
      d = s;
      e = t;
      f = u;
      g = v;
    }
    const to = dst + i * step;
    storePair(to, step, a);
    storePair(to + 2 * step, step, b);
    storePair(to + 4 * step, step, c);
    storePair(to + 6 * step, step, d);
    storePair(to + 8 * step, step, e);
    storePair(to + 10 * step, step, f);
    storePair(to + 12 * step, step, g);
    storePair(to + 14 * step, step, h);
  }
}

export function shuffle(typesize: usize, src: usize, count: usize, dst: usize): void {
  if (typesize == 1) memory.copy(dst, src, count);
  if (typesize == 2) shuffle2(src, count, dst);
  if (typesize == 4) shuffle4(src, count, dst);
  for (let j: usize = 0; j + 8 <= typesize; j += 8) shuffle8(src + j, typesize, count, dst + j * count);
  for (let j: usize = 0; j < typesize; j++) {
    for (let i = moved(typesize, count, j); i < count; i++) {
      store<u8>(dst + j * count + i, load<u8>(src + i * typesize + j));
    }
  }
}

export function unshuffle(typesize: usize, src: usize, count: usize, dst: usize): void {
  if (typesize == 1) memory.copy(dst, src, count);
  if (typesize == 2) unshuffle2(src, count, dst);
  if (typesize == 4) unshuffle4(src, count, dst);
  for (let j: usize = 0; j + 8 <= typesize; j += 8) unshuffle8(src + j * count, typesize, count, dst + j);
  for (let j: usize = 0; j < typesize; j++) {
    for (let i = moved(typesize, count, j); i < count; i++) {
      store<u8>(dst + i * typesize + j, load<u8>(src + j * count + i));
    }
  }
}

/** How many elements the vectors have moved, as far as their byte j is concerned. */
// @ts-ignore: decorator
@inline
function moved(typesize: usize, count: usize, j: usize): usize {
  if (typesize == 1) return count;
  return typesize == 2 || typesize == 4 || j < (typesize & ~7) ? count & ~15 : 0;
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
