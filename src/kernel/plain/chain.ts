/**
 * LZ4 at high compression: every place is linked to the one before it with the same hash; the longest of `attempts`
 * candidates wins, unless the next place has a longer one. 0 means: does not fit.
 */
import { lz4 } from "./emit.js";
import { matchLength, word } from "./match.js";

/** Per hash, the last place + 1. */
const heads = new Uint32Array(1 << 15);
/** Per place modulo 65536, the way back to the one before; 65535 leads out of reach, as does anything before the start. */
const links = new Uint16Array(1 << 16);

let inserted = 0;
let distance = 0;

function slot(bytes: number): number {
  return Math.imul(bytes, 0x9e3779b1) >>> 17;
}

/** Links every place before `at`, then looks for a match at `at` longer than `best`; leaves its distance behind. */
function search(m: Uint8Array, src: number, at: number, limit: number, attempts: number, best: number): number {
  for (; inserted < at; inserted++) {
    const place = inserted - src;
    const entry = slot(word(m, inserted));
    links[place & 65535] = Math.min(place + 1 - heads[entry]!, 65535);
    heads[entry] = place + 1;
  }
  const here = word(m, at);
  let ref = src + heads[slot(here)]! - 1;
  while (ref >= src && at - ref <= 65535 && attempts-- > 0) {
    if (m[ref + best] === m[at + best] && word(m, ref) === here) {
      const length = 4 + matchLength(m, at + 4, ref + 4, limit);
      if (length > best) {
        best = length;
        distance = at - ref;
        if (at + best >= limit) break;
      }
    }
    ref -= links[(ref - src) & 65535]!;
  }
  return best;
}

export function lz4hcEncode(
  m: Uint8Array,
  src: number,
  srcLen: number,
  dst: number,
  room: number,
  attempts: number,
): number {
  const start = dst;
  const limit = dst + room;
  const end = src + srcLen;
  const last = end - 12;
  let anchor = src;
  heads.fill(0);
  inserted = src;
  let at = src + 1;
  while (at <= last) {
    let length = search(m, src, at, end - 5, attempts, 3);
    if (length < 4) {
      at++;
      continue;
    }
    let found = distance;
    while (at < last && length < 64) {
      const next = search(m, src, at + 1, end - 5, attempts, length);
      if (next <= length) break;
      at++;
      length = next;
      found = distance;
    }
    dst = lz4.sequence(m, dst, limit, anchor, at - anchor, found, length);
    if (dst < 0) return 0;
    at += length;
    anchor = at;
  }
  dst = lz4.tail(m, dst, limit, anchor, end - anchor, start);
  return dst < 0 ? 0 : dst - start;
}
