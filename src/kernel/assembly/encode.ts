// One greedy search for LZ4, BloscLZ and Snappy: a table of the last place of each hash, steps that grow where nothing is
// found, then the sequence (literals, match) in the words of the format. 0 means: does not fit.
import { emitSequence, emitTail, snappySize } from "./emit";
import { matchLength } from "./match";

const tableBits = 12;
const table = memory.data(4 << 12, 16);

/** Hash of the 5 bytes at `at`: one more than the shortest match finds fewer, but longer ones. */
// @ts-ignore: decorator
@inline
function slot(at: usize): usize {
  return table + (<usize>(((load<u64>(at) << 24) * 889523592379) >> (64 - tableBits)) << 2);
}

/** After a match the next bytes are tried one by one; then, the longer nothing is found, the wider apart. */
// @ts-ignore: decorator
@inline
function step(misses: usize, acceleration: usize): usize {
  return misses < 2 ? 1 : acceleration + (misses >> 6);
}

function encode(format: i32, src: usize, srcLen: usize, dst: usize, room: usize, acceleration: usize): i32 {
  const start = dst;
  const limit = dst + room;
  const end = src + srcLen;
  let anchor = src;
  if (format == 2) {
    dst = snappySize(dst, limit, srcLen);
    if (dst == 0) return 0;
  }
  if (srcLen > 12) {
    const last = end - 12; // no match starts later, and none reaches into the last 5 bytes: a rule of LZ4
    const reach: usize = format == 1 ? 73726 : 65535;
    memory.fill(table, 0, 4 << tableBits);
    let at = src + 1;
    let misses: usize = 0;
    while (at <= last) {
      const entry = slot(at);
      let ref = src + load<u32>(entry);
      store<u32>(entry, <u32>(at - src));
      if (at - ref > reach || load<u32>(ref) != load<u32>(at)) {
        at += step(misses++, acceleration);
        continue;
      }
      let from = at;
      while (from > anchor && ref > src && load<u8>(from - 1) == load<u8>(ref - 1)) {
        from--;
        ref--;
      }
      const length = matchLength(from + 4, ref + 4, end - 5) + 4;
      if (format == 1 && length < 8 && from - ref > 8191) {
        at += step(misses++, acceleration); // a far match takes four bytes in BloscLZ: too short to pay
        continue;
      }
      dst = emitSequence(format, dst, limit, anchor, from - anchor, from - ref, length);
      if (dst == 0) return 0;
      at = from + length;
      anchor = at;
      misses = 0;
      if (at > last) break;
      store<u32>(slot(at - 2), <u32>(at - 2 - src));
    }
  }
  dst = emitTail(format, dst, limit, anchor, end - anchor);
  if (dst == 0) return 0;
  if (format == 1) store<u8>(start, load<u8>(start) | 32); // BloscLZ's version mark
  return <i32>(dst - start);
}

export function lz4Encode(src: usize, srcLen: usize, dst: usize, room: usize, acceleration: usize): i32 {
  return encode(0, src, srcLen, dst, room, acceleration);
}
export function blosclzEncode(src: usize, srcLen: usize, dst: usize, room: usize, acceleration: usize): i32 {
  return encode(1, src, srcLen, dst, room, acceleration);
}
export function snappyEncode(src: usize, srcLen: usize, dst: usize, room: usize, acceleration: usize): i32 {
  return encode(2, src, srcLen, dst, room, acceleration);
}
