/** The number of equal bytes from `a` (before `limit`) and from `b`, which lies before `a`. */
export function matchLength(m: Uint8Array, a: number, b: number, limit: number): number {
  const start = a;
  while (a < limit && m[a] === m[b]) {
    a++;
    b++;
  }
  return a - start;
}

/** The four bytes at `at` as one number; equal bytes give equal numbers. */
export function word(m: Uint8Array, at: number): number {
  return m[at]! | (m[at + 1]! << 8) | (m[at + 2]! << 16) | (m[at + 3]! << 24);
}
