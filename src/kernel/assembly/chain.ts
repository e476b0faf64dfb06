// LZ4 at high compression: every place is linked to the one before it with the same hash; the longest of `attempts`
// candidates wins, unless the next place has a longer one. 0 means: does not fit.
import { emitSequence, emitTail } from "./emit";
import { matchLength } from "./match";

/** Per hash, the last place + 1. */
const heads = memory.data(4 << 15, 16);
/** Per place modulo 65536, the way back to the one before; 65535 leads out of reach, as does anything before the start. */
const links = memory.data(2 << 16, 16);

let inserted: usize = 0;
let distance: usize = 0;

// @ts-ignore: decorator
@inline
function slot(at: usize): usize {
  return heads + (<usize>((load<u32>(at) * 2654435761) >> 17) << 2);
}

// @ts-ignore: decorator
@inline
function link(place: usize): usize {
  return links + ((place & 65535) << 1);
}

/** Links every place before `at`, then looks for a match at `at` longer than `best`; leaves its distance behind. */
function search(src: usize, at: usize, limit: usize, attempts: i32, best: usize): usize {
  for (; inserted < at; inserted++) {
    const place = inserted - src;
    const entry = slot(inserted);
    store<u16>(link(place), <u16>min<usize>(place + 1 - load<u32>(entry), 65535));
    store<u32>(entry, <u32>(place + 1));
  }
  const here = <i32>(at - src);
  let place = <i32>load<u32>(slot(at)) - 1;
  while (place >= 0 && here - place <= 65535 && attempts-- > 0) {
    const ref = src + place;
    if (load<u8>(ref + best) == load<u8>(at + best) && load<u32>(ref) == load<u32>(at)) {
      const length = matchLength(at + 4, ref + 4, limit) + 4;
      if (length > best) {
        best = length;
        distance = at - ref;
        if (at + best >= limit) break;
      }
    }
    place -= <i32>load<u16>(link(place));
  }
  return best;
}

export function lz4hcEncode(src: usize, srcLen: usize, dst: usize, room: usize, attempts: i32): i32 {
  const start = dst;
  const limit = dst + room;
  const end = src + srcLen;
  let anchor = src;
  if (srcLen > 12) {
    const last = end - 12;
    memory.fill(heads, 0, 4 << 15);
    inserted = src;
    let at = src + 1;
    while (at <= last) {
      let length = search(src, at, end - 5, attempts, 3);
      if (length < 4) {
        at++;
        continue;
      }
      let found = distance;
      while (at < last && length < 64) {
        const next = search(src, at + 1, end - 5, attempts, length);
        if (next <= length) break;
        at++;
        length = next;
        found = distance;
      }
      dst = emitSequence(0, dst, limit, anchor, at - anchor, found, length);
      if (dst == 0) return 0;
      at += length;
      anchor = at;
    }
  }
  dst = emitTail(0, dst, limit, anchor, end - anchor);
  return dst == 0 ? 0 : <i32>(dst - start);
}
