// How LZ4 (0), BloscLZ (1) and Snappy (2) write literals and matches. Each function returns the new end of the output, or 0
// when it would pass `limit`; literals are copied 16 bytes at a time into the slack behind.
import { copyFar } from "./copy";

/** LZ4 and BloscLZ count the rest of a long length in bytes of 255 and one that is less. */
// @ts-ignore: decorator
@inline
function emitRest(dst: usize, rest: usize): usize {
  while (rest >= 255) {
    store<u8>(dst++, 255);
    rest -= 255;
  }
  store<u8>(dst, <u8>rest);
  return dst + 1;
}

// @ts-ignore: decorator
@inline
function lz4Literals(dst: usize, literals: usize, n: usize, low: usize): usize {
  if (n < 15) {
    store<u8>(dst++, <u8>((n << 4) | low));
  } else {
    store<u8>(dst, <u8>(0xf0 | low));
    dst = emitRest(dst + 1, n - 15);
  }
  if (n) copyFar(dst, literals, n);
  return dst + n;
}

// @ts-ignore: decorator
@inline
function lz4Sequence(dst: usize, limit: usize, literals: usize, n: usize, distance: usize, length: usize): usize {
  length -= 4;
  if (dst + n + n / 255 + length / 255 + 5 > limit) return 0;
  dst = lz4Literals(dst, literals, n, min<usize>(length, 15));
  store<u16>(dst, <u16>distance);
  dst += 2;
  return length < 15 ? dst : emitRest(dst, length - 15);
}

// @ts-ignore: decorator
@inline
function blosclzLiterals(dst: usize, limit: usize, literals: usize, n: usize): usize {
  if (dst + n + ((n + 31) >> 5) > limit) return 0;
  while (n > 0) {
    const run = min<usize>(n, 32);
    store<u8>(dst++, <u8>(run - 1));
    copyFar(dst, literals, run);
    dst += run;
    literals += run;
    n -= run;
  }
  return dst;
}

// @ts-ignore: decorator
@inline
function blosclzMatch(dst: usize, limit: usize, distance: usize, length: usize): usize {
  if (dst + length / 255 + 5 > limit) return 0;
  const far = distance > 8191;
  distance -= far ? 8192 : 1;
  const high: usize = far ? 31 : distance >> 8;
  if (length < 9) {
    store<u8>(dst++, <u8>(((length - 2) << 5) | high));
  } else {
    store<u8>(dst, <u8>(0xe0 | high));
    dst = emitRest(dst + 1, length - 9);
  }
  if (far) {
    store<u8>(dst, 255);
    store<u8>(dst + 1, <u8>(distance >> 8));
    dst += 2;
  }
  store<u8>(dst, <u8>distance);
  return dst + 1;
}

/** Snappy begins with the length of its output, 7 bits a byte. */
export function snappySize(dst: usize, limit: usize, n: usize): usize {
  if (dst + 5 > limit) return 0;
  for (; n > 127; n >>= 7) store<u8>(dst++, <u8>(n | 128));
  store<u8>(dst, <u8>n);
  return dst + 1;
}

// @ts-ignore: decorator
@inline
function snappyLiterals(dst: usize, limit: usize, literals: usize, n: usize): usize {
  if (dst + n + 5 > limit) return 0;
  if (n == 0) return dst;
  let rest = n - 1;
  if (rest < 60) {
    store<u8>(dst++, <u8>(rest << 2));
  } else {
    const tag = dst++;
    for (; rest; rest >>= 8) store<u8>(dst++, <u8>rest);
    store<u8>(tag, <u8>((58 + dst - tag) << 2));
  }
  copyFar(dst, literals, n);
  return dst + n;
}

// @ts-ignore: decorator
@inline
function snappyMatch(dst: usize, limit: usize, distance: usize, length: usize): usize {
  if (dst + length / 64 * 3 + 3 > limit) return 0;
  while (length > 0) {
    const run = min<usize>(length, 64);
    if (run >= 4 && run < 12 && distance < 2048) {
      store<u8>(dst, <u8>(1 | ((run - 4) << 2) | ((distance >> 8) << 5)));
      store<u8>(dst + 1, <u8>distance);
      dst += 2;
    } else {
      store<u8>(dst, <u8>(2 | ((run - 1) << 2)));
      store<u16>(dst + 1, <u16>distance);
      dst += 3;
    }
    length -= run;
  }
  return dst;
}

/** n literals, then a match. */
export function emitSequence(
  format: i32,
  dst: usize,
  limit: usize,
  literals: usize,
  n: usize,
  distance: usize,
  length: usize,
): usize {
  if (format == 0) return lz4Sequence(dst, limit, literals, n, distance, length);
  if (format == 1) {
    dst = blosclzLiterals(dst, limit, literals, n);
    return dst == 0 ? 0 : blosclzMatch(dst, limit, distance, length);
  }
  dst = snappyLiterals(dst, limit, literals, n);
  return dst == 0 ? 0 : snappyMatch(dst, limit, distance, length);
}

/** The literals after the last match. */
export function emitTail(format: i32, dst: usize, limit: usize, literals: usize, n: usize): usize {
  if (format == 1) return blosclzLiterals(dst, limit, literals, n);
  if (format == 2) return snappyLiterals(dst, limit, literals, n);
  return dst + n + n / 255 + 2 > limit ? 0 : lz4Literals(dst, literals, n, 0);
}
