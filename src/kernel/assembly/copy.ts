// Copies in steps of 16 bytes. They write, and read, up to 15 bytes past the end: the caller has checked the bounds of what
// counts, and every workspace has slack behind its last byte.

// Row d: the numbers 0..15 modulo d, which spread a pattern of d bytes over a vector.
const patterns = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1,
  0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0,
  0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3,
  0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0,
  0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3,
  0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6, 0, 1,
  0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 3, 4, 5, 6,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 1, 2, 3, 4,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 1, 2,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 0, 1,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0,
]);

// The largest multiple of d up to 16: how far a whole number of patterns reaches. A division takes longer than a whole match.
const steps = memory.data<u8>([0, 16, 16, 15, 16, 15, 12, 14, 16, 9, 10, 11, 12, 13, 14, 15]);

/** Copies n bytes between places at least 16 bytes apart, the target being the later one if they overlap. */
// @ts-ignore: decorator
@inline
export function copyFar(dst: usize, src: usize, n: usize): void {
  const end = dst + n;
  do {
    v128.store(dst, v128.load(src));
    src += 16;
    dst += 16;
  } while (dst < end);
}

/** Repeats the last `distance` bytes before `dst` for n bytes. */
// @ts-ignore: decorator
@inline
export function copyMatch(dst: usize, distance: usize, n: usize): void {
  if (distance >= 16) {
    v128.store(dst, v128.load(dst - distance)); // two vectors hold most matches, and need no loop to predict
    v128.store(dst, v128.load(dst - distance, 16), 16);
    if (n > 32) copyFar(dst + 32, dst - distance + 32, n - 32);
    return;
  }
  const end = dst + n;
  const pattern = v128.swizzle(v128.load(dst - distance), v128.load(patterns + (distance << 4)));
  const step = <usize>load<u8>(steps + distance);
  do {
    v128.store(dst, pattern);
    dst += step;
  } while (dst < end);
}
