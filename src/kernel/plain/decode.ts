/** LZ4, BloscLZ and Snappy over `m`, strict; the negative results are those of `decodeFault`. */
export function lz4Decode(m: Uint8Array, src: number, srcLen: number, dst: number, dstLen: number): number {
  const end = src + srcLen;
  const start = dst;
  const limit = dst + dstLen;
  while (src < end) {
    const token = m[src++]!;
    let literals = token >> 4;
    if (literals === 15) {
      let more: number;
      do {
        if (src >= end) return -1;
        more = m[src++]!;
        literals += more;
        if (literals > dstLen) return -3;
      } while (more === 255);
    }
    if (literals > limit - dst) return -3;
    if (literals > end - src) return -1;
    copyLiterals(m, dst, src, literals);
    src += literals;
    dst += literals;
    if (src === end) return dst === limit ? dstLen : -4; // only literals may come last
    if (end - src < 2) return -1;
    const distance = m[src]! | (m[src + 1]! << 8);
    src += 2;
    if (distance === 0 || distance > dst - start) return -2;
    let length = token & 15;
    if (length === 15) {
      let more: number;
      do {
        if (src >= end) return -1;
        more = m[src++]!;
        length += more;
        if (length > dstLen) return -3;
      } while (more === 255);
    }
    length += 4;
    if (length > limit - dst) return -3;
    copyMatch(m, dst, distance, length);
    dst += length;
  }
  return -1;
}

export function blosclzDecode(m: Uint8Array, src: number, srcLen: number, dst: number, dstLen: number): number {
  const end = src + srcLen;
  const start = dst;
  const limit = dst + dstLen;
  let mask = 31; // the upper bits of the first byte are a version mark
  while (src < end) {
    const control = m[src++]! & mask;
    mask = 255;
    if (control < 32) {
      const literals = control + 1;
      if (literals > limit - dst) return -3;
      if (literals > end - src) return -1;
      copyLiterals(m, dst, src, literals);
      src += literals;
      dst += literals;
      continue;
    }
    let length = (control >> 5) + 2;
    let distance = (control & 31) << 8;
    if (length === 9) {
      let more: number;
      do {
        if (src >= end) return -1;
        more = m[src++]!;
        length += more;
        if (length > dstLen) return -3;
      } while (more === 255);
    }
    if (src >= end) return -1;
    const low = m[src++]!;
    if (low === 255 && distance === 31 << 8) {
      if (end - src < 2) return -1;
      distance = ((m[src]! << 8) | m[src + 1]!) + 8192;
      src += 2;
    } else {
      distance += low + 1;
    }
    if (distance > dst - start) return -2;
    if (length > limit - dst) return -3;
    copyMatch(m, dst, distance, length);
    dst += length;
  }
  return dst === limit ? dstLen : -4;
}

export function snappyDecode(m: Uint8Array, src: number, srcLen: number, dst: number, dstLen: number): number {
  const end = src + srcLen;
  const start = dst;
  const limit = dst + dstLen;
  let size = 0;
  for (let weight = 1; ; weight *= 128) {
    if (src >= end || weight > 2 ** 28) return -1;
    const byte = m[src++]!;
    size += (byte & 127) * weight;
    if (byte < 128) break;
  }
  if (size !== dstLen) return size > dstLen ? -3 : -4;
  while (src < end) {
    const tag = m[src++]!;
    const kind = tag & 3;
    let length = (tag >> 2) + 1;
    if (kind === 0) {
      if (length > 60) {
        const extra = length - 60;
        if (extra > end - src) return -1;
        length = littleEndian(m, src, extra) + 1;
        src += extra;
      }
      if (length > limit - dst) return -3;
      if (length > end - src) return -1;
      copyLiterals(m, dst, src, length);
      src += length;
    } else {
      const width = kind === 3 ? 4 : kind;
      if (width > end - src) return -1;
      let distance = littleEndian(m, src, width);
      if (kind === 1) {
        length = ((tag >> 2) & 7) + 4;
        distance |= (tag >> 5) << 8;
      }
      src += width;
      if (distance === 0 || distance > dst - start) return -2;
      if (length > limit - dst) return -3;
      copyMatch(m, dst, distance, length);
    }
    dst += length;
  }
  return dst === limit ? dstLen : -4;
}

function littleEndian(m: Uint8Array, at: number, width: number): number {
  let value = 0;
  for (let i = width - 1; i >= 0; i--) value = value * 256 + m[at + i]!;
  return value;
}

/** Short runs are quicker byte by byte than through a call into the engine. */
const short = 48;

function copyLiterals(m: Uint8Array, dst: number, src: number, n: number): void {
  if (n > short) m.copyWithin(dst, src, src + n);
  else for (let i = 0; i < n; i++) m[dst + i] = m[src + i]!;
}

/** Repeats the last `distance` bytes before `dst` for n bytes. */
function copyMatch(m: Uint8Array, dst: number, distance: number, n: number): void {
  if (n > short && distance >= n) m.copyWithin(dst, dst - distance, dst - distance + n);
  else if (n > short && distance === 1) m.fill(m[dst - 1]!, dst, dst + n);
  else for (let i = dst, from = dst - distance; i < dst + n; i++, from++) m[i] = m[from]!;
}
