/**
 * How LZ4, BloscLZ and Snappy write literals and matches into `m`. Each function returns the new end of the output, or -1
 * when it would pass `limit`.
 */
export interface Emitter {
  /** The longest way back that a match may name. */
  readonly reach: number;
  /** What a match this far away must have at least, to be shorter than literals. */
  leastLength(distance: number): number;
  head(m: Uint8Array, dst: number, limit: number, srcLen: number): number;
  sequence: (
    m: Uint8Array,
    dst: number,
    limit: number,
    literals: number,
    n: number,
    distance: number,
    length: number,
  ) => number;
  /** The literals after the last match; `start` is where the output begins. */
  tail(m: Uint8Array, dst: number, limit: number, literals: number, n: number, start: number): number;
}

/** LZ4 and BloscLZ count the rest of a long length in bytes of 255 and one that is less. */
function emitRest(m: Uint8Array, dst: number, rest: number): number {
  for (; rest >= 255; rest -= 255) m[dst++] = 255;
  m[dst++] = rest;
  return dst;
}

function lz4Literals(m: Uint8Array, dst: number, literals: number, n: number, low: number): number {
  m[dst++] = (Math.min(n, 15) << 4) | low;
  if (n >= 15) dst = emitRest(m, dst, n - 15);
  m.copyWithin(dst, literals, literals + n);
  return dst + n;
}

export const lz4: Emitter = {
  reach: 65535,
  leastLength: () => 4,
  head: (_, dst) => dst,
  sequence(m, dst, limit, literals, n, distance, length) {
    length -= 4;
    if (dst + n + Math.trunc(n / 255) + Math.trunc(length / 255) + 5 > limit) return -1;
    dst = lz4Literals(m, dst, literals, n, Math.min(length, 15));
    m[dst++] = distance;
    m[dst++] = distance >> 8;
    return length < 15 ? dst : emitRest(m, dst, length - 15);
  },
  tail(m, dst, limit, literals, n) {
    return dst + n + Math.trunc(n / 255) + 2 > limit ? -1 : lz4Literals(m, dst, literals, n, 0);
  },
};

function blosclzLiterals(m: Uint8Array, dst: number, limit: number, literals: number, n: number): number {
  if (dst + n + ((n + 31) >> 5) > limit) return -1;
  while (n > 0) {
    const run = Math.min(n, 32);
    m[dst++] = run - 1;
    for (let i = 0; i < run; i++) m[dst++] = m[literals++]!;
    n -= run;
  }
  return dst;
}

export const blosclz: Emitter = {
  reach: 73726,
  leastLength: (distance) => (distance > 8191 ? 8 : 4),
  head: (_, dst) => dst,
  sequence(m, dst, limit, literals, n, distance, length) {
    dst = blosclzLiterals(m, dst, limit, literals, n);
    if (dst < 0 || dst + Math.trunc(length / 255) + 5 > limit) return -1;
    const far = distance > 8191;
    distance -= far ? 8192 : 1;
    m[dst++] = (Math.min(length - 2, 7) << 5) | (far ? 31 : distance >> 8);
    if (length >= 9) dst = emitRest(m, dst, length - 9);
    if (far) {
      m[dst++] = 255;
      m[dst++] = distance >> 8;
    }
    m[dst++] = distance;
    return dst;
  },
  tail(m, dst, limit, literals, n, start) {
    dst = blosclzLiterals(m, dst, limit, literals, n);
    if (dst > start) m[start]! |= 32; // the version mark
    return dst;
  },
};

function snappyLiterals(m: Uint8Array, dst: number, limit: number, literals: number, n: number): number {
  if (dst + n + 5 > limit) return -1;
  if (n === 0) return dst;
  let rest = n - 1;
  if (rest < 60) {
    m[dst++] = rest << 2;
  } else {
    const tag = dst++;
    for (; rest; rest >>>= 8) m[dst++] = rest;
    m[tag] = (58 + dst - tag) << 2;
  }
  m.copyWithin(dst, literals, literals + n);
  return dst + n;
}

export const snappy: Emitter = {
  reach: 65535,
  leastLength: () => 4,
  head(m, dst, limit, srcLen) {
    if (dst + 5 > limit) return -1;
    for (; srcLen > 127; srcLen >>>= 7) m[dst++] = srcLen | 128;
    m[dst++] = srcLen;
    return dst;
  },
  sequence(m, dst, limit, literals, n, distance, length) {
    dst = snappyLiterals(m, dst, limit, literals, n);
    if (dst < 0 || dst + Math.trunc(length / 64) * 3 + 3 > limit) return -1;
    while (length > 0) {
      const run = Math.min(length, 64);
      if (run >= 4 && run < 12 && distance < 2048) {
        m[dst++] = 1 | ((run - 4) << 2) | ((distance >> 8) << 5);
        m[dst++] = distance;
      } else {
        m[dst++] = 2 | ((run - 1) << 2);
        m[dst++] = distance;
        m[dst++] = distance >> 8;
      }
      length -= run;
    }
    return dst;
  },
  tail: snappyLiterals,
};
