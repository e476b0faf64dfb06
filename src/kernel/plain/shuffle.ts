/** Byte and bit shuffle over `m`, a byte at a time; the layout is in ../types.ts. */
export function shuffle(m: Uint8Array, typesize: number, src: number, count: number, dst: number): void {
  for (let j = 0; j < typesize; j++) {
    for (let i = 0, from = src + j, to = dst + j * count; i < count; i++, from += typesize) m[to + i] = m[from]!;
  }
}

export function unshuffle(m: Uint8Array, typesize: number, src: number, count: number, dst: number): void {
  for (let j = 0; j < typesize; j++) {
    for (let i = 0, from = src + j * count, to = dst + j; i < count; i++, to += typesize) m[to] = m[from + i]!;
  }
}

export function bitshuffle(m: Uint8Array, typesize: number, src: number, count: number, dst: number): void {
  const plane = count >> 3;
  for (let j = 0; j < typesize; j++) {
    for (let i = 0; i < plane; i++) {
      const from = src + i * 8 * typesize + j;
      let low = 0;
      let high = 0;
      for (let k = 0; k < 4; k++) {
        low |= m[from + k * typesize]! << (8 * k);
        high |= m[from + (k + 4) * typesize]! << (8 * k);
      }
      const to = dst + j * count + i;
      for (let k = 0; k < 8; k++) m[to + k * plane] = column(low >>> k) | (column(high >>> k) << 4);
    }
  }
}

export function bitunshuffle(m: Uint8Array, typesize: number, src: number, count: number, dst: number): void {
  const plane = count >> 3;
  for (let j = 0; j < typesize; j++) {
    for (let i = 0; i < plane; i++) {
      const from = src + j * count + i;
      let low = 0;
      let high = 0;
      for (let k = 0; k < 4; k++) {
        low |= m[from + k * plane]! << (8 * k);
        high |= m[from + (k + 4) * plane]! << (8 * k);
      }
      const to = dst + i * 8 * typesize + j;
      for (let k = 0; k < 8; k++) m[to + k * typesize] = column(low >>> k) | (column(high >>> k) << 4);
    }
  }
}

/** Bits 0, 8, 16 and 24 next to each other: the multiplication moves them to bits 21 to 24, where no other sum reaches. */
function column(word: number): number {
  return (Math.imul(word & 0x01010101, 0x00204081) >>> 21) & 15;
}
