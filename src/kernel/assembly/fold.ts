// The step that makes long checksums fast; see ../fold.ts.

export function fold(src: usize, size: usize, near: usize, middle: usize, far: usize): void {
  for (const end = src + size; src < end; src += 16) {
    const moved = v128.load(src);
    v128.store(src + near, v128.xor(v128.load(src + near), moved));
    v128.store(src + middle, v128.xor(v128.load(src + middle), moved));
    v128.store(src + far, v128.xor(v128.load(src + far), moved));
  }
}
