// LZ4, BloscLZ and Snappy, strict. Inside linear memory a stray address is silent, so every length and distance is compared
// with what remains before it is used. Codes: -1 input ends early, -2 a match reaches back before the output,
// -3 more output than room, -4 less.
import { copyFar, copyMatch } from "./copy";

export function lz4Decode(src: usize, srcLen: usize, dst: usize, dstLen: usize): i32 {
  const end = src + srcLen;
  const start = dst;
  const limit = dst + dstLen;
  while (src < end) {
    const token = <usize>load<u8>(src++);
    let literals = token >> 4;
    if (literals == 15) {
      let more: usize;
      do {
        if (src >= end) return -1;
        more = load<u8>(src++);
        literals += more;
        if (literals > dstLen) return -3;
      } while (more == 255);
    }
    if (literals > limit - dst) return -3;
    if (literals > end - src) return -1;
    v128.store(dst, v128.load(src)); // mostly enough, and then without a loop to predict
    if (literals > 16) copyFar(dst + 16, src + 16, literals - 16);
    src += literals;
    dst += literals;
    if (end - src < 2) return src < end ? -1 : dst == limit ? <i32>dstLen : -4; // only literals may come last
    const distance = <usize>load<u16>(src);
    src += 2;
    if (distance == 0 || distance > dst - start) return -2;
    let length = token & 15;
    if (length == 15) {
      let more: usize;
      do {
        if (src >= end) return -1;
        more = load<u8>(src++);
        length += more;
        if (length > dstLen) return -3;
      } while (more == 255);
    }
    length += 4;
    if (length > limit - dst) return -3;
    copyMatch(dst, distance, length);
    dst += length;
  }
  return -1;
}

export function blosclzDecode(src: usize, srcLen: usize, dst: usize, dstLen: usize): i32 {
  const end = src + srcLen;
  const start = dst;
  const limit = dst + dstLen;
  let mask: usize = 31; // the upper bits of the first byte are a version mark
  while (src < end) {
    const control = <usize>load<u8>(src++) & mask;
    mask = 255;
    if (control < 32) {
      const literals = control + 1;
      if (literals > limit - dst) return -3;
      if (literals > end - src) return -1;
      copyFar(dst, src, literals);
      src += literals;
      dst += literals;
    } else {
      let length = (control >> 5) + 2;
      let distance = (control & 31) << 8;
      if (length == 9) {
        let more: usize;
        do {
          if (src >= end) return -1;
          more = load<u8>(src++);
          length += more;
          if (length > dstLen) return -3;
        } while (more == 255);
      }
      if (src >= end) return -1;
      const low = <usize>load<u8>(src++);
      if (low == 255 && distance == 31 << 8) {
        if (end - src < 2) return -1;
        distance = ((<usize>load<u8>(src)) << 8) + load<u8>(src + 1) + 8192;
        src += 2;
      } else {
        distance += low + 1;
      }
      if (distance > dst - start) return -2;
      if (length > limit - dst) return -3;
      copyMatch(dst, distance, length);
      dst += length;
    }
  }
  return dst == limit ? <i32>dstLen : -4;
}

export function snappyDecode(src: usize, srcLen: usize, dst: usize, dstLen: usize): i32 {
  const end = src + srcLen;
  const start = dst;
  const limit = dst + dstLen;
  let size: u64 = 0;
  for (let shift: u64 = 0; ; shift += 7) {
    if (src >= end || shift > 28) return -1;
    const byte = <u64>load<u8>(src++);
    size |= (byte & 127) << shift;
    if (byte < 128) break;
  }
  if (size != <u64>dstLen) return size > <u64>dstLen ? -3 : -4;
  while (src < end) {
    const tag = <usize>load<u8>(src++);
    const kind = tag & 3;
    let length = (tag >> 2) + 1;
    if (kind == 0) {
      if (length > 60) {
        const extra = length - 60;
        if (extra > end - src) return -1;
        length = 0;
        for (let i: usize = 0; i < extra; i++) length |= (<usize>load<u8>(src + i)) << (i << 3);
        src += extra;
        if (length >= dstLen) return -3; // also keeps the next line from wrapping
        length++;
      }
      if (length > limit - dst) return -3;
      if (length > end - src) return -1;
      copyFar(dst, src, length);
      src += length;
    } else {
      const width: usize = kind == 3 ? 4 : kind;
      if (width > end - src) return -1;
      let distance: usize;
      if (kind == 1) {
        length = (length - 1 & 7) + 4;
        distance = ((tag >> 5) << 8) | load<u8>(src);
      } else {
        distance = kind == 2 ? load<u16>(src) : load<u32>(src);
      }
      src += width;
      if (distance == 0 || distance > dst - start) return -2;
      if (length > limit - dst) return -3;
      copyMatch(dst, distance, length);
    }
    dst += length;
  }
  return dst == limit ? <i32>dstLen : -4;
}
