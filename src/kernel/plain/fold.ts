export function fold(m: Uint8Array, src: number, size: number, near: number, middle: number, far: number): void {
  for (const end = src + size; src < end; src++) {
    const moved = m[src]!;
    m[src + near]! ^= moved;
    m[src + middle]! ^= moved;
    m[src + far]! ^= moved;
  }
}
