// How far two places agree.

/** The number of equal bytes from `a` (before `limit`) and from `b`, which lies before `a`. */
// @ts-ignore: decorator
@inline
export function matchLength(a: usize, b: usize, limit: usize): usize {
  const start = a;
  while (a < limit) {
    const differ = i8x16.bitmask(i8x16.ne(v128.load(a), v128.load(b)));
    if (differ) return min(a + ctz(differ), limit) - start;
    a += 16;
    b += 16;
  }
  return limit - start;
}
