/**
 * One greedy search for LZ4, BloscLZ and Snappy: a table of the last place of each hash, steps that grow where nothing is
 * found, then the sequence (literals, match) in the words of the format. 0 means: does not fit.
 */
import type { Emitter } from "./emit.js";
import { blosclz, lz4, snappy } from "./emit.js";
import { matchLength, word } from "./match.js";

const tableBits = 12;
const table = new Uint32Array(1 << tableBits);

function encode(
  m: Uint8Array,
  emitter: Emitter,
  src: number,
  srcLen: number,
  dst: number,
  room: number,
  acceleration: number,
): number {
  const start = dst;
  const limit = dst + room;
  const end = src + srcLen;
  let anchor = src;
  dst = emitter.head(m, dst, limit, srcLen);
  if (dst < 0) return 0;
  const last = end - 12; // no match starts later, and none reaches into the last 5 bytes: a rule of LZ4
  table.fill(0);
  let at = src + 1;
  let misses = 0;
  while (at <= last) {
    const here = word(m, at);
    const entry = slot(here);
    let ref = src + table[entry]!;
    table[entry] = at - src;
    if (at - ref > emitter.reach || word(m, ref) !== here) {
      at += step(misses++, acceleration);
      continue;
    }
    let from = at;
    while (from > anchor && ref > src && m[from - 1] === m[ref - 1]) {
      from--;
      ref--;
    }
    const length = 4 + matchLength(m, from + 4, ref + 4, end - 5);
    if (length < emitter.leastLength(from - ref)) {
      at += step(misses++, acceleration);
      continue;
    }
    dst = emitter.sequence(m, dst, limit, anchor, from - anchor, from - ref, length);
    if (dst < 0) return 0;
    at = from + length;
    anchor = at;
    misses = 0;
    if (at > last) break;
    table[slot(word(m, at - 2))] = at - 2 - src;
  }
  dst = emitter.tail(m, dst, limit, anchor, end - anchor, start);
  return dst < 0 ? 0 : dst - start;
}

/** After a match the next bytes are tried one by one; then, the longer nothing is found, the wider apart. */
function step(misses: number, acceleration: number): number {
  return misses < 2 ? 1 : acceleration + (misses >> 6);
}

function slot(bytes: number): number {
  return Math.imul(bytes, 0x9e3779b1) >>> (32 - tableBits);
}

export function lz4Encode(
  m: Uint8Array,
  src: number,
  srcLen: number,
  dst: number,
  room: number,
  effort: number,
): number {
  return encode(m, lz4, src, srcLen, dst, room, effort);
}
export function blosclzEncode(
  m: Uint8Array,
  src: number,
  srcLen: number,
  dst: number,
  room: number,
  effort: number,
): number {
  return encode(m, blosclz, src, srcLen, dst, room, effort);
}
export function snappyEncode(
  m: Uint8Array,
  src: number,
  srcLen: number,
  dst: number,
  room: number,
  effort: number,
): number {
  return encode(m, snappy, src, srcLen, dst, room, effort);
}
