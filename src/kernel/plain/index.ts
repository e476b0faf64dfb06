/** The loops in plain TypeScript, for places without WebAssembly SIMD and for blocks too large for its memory. */
import { LimitExceeded } from "../../errors.js";
import type { Kernel, Workspace } from "../types.js";
import { slack } from "../types.js";
import { lz4hcEncode } from "./chain.js";
import { blosclzDecode, lz4Decode, snappyDecode } from "./decode.js";
import { blosclzEncode, lz4Encode, snappyEncode } from "./encode.js";
import { fold } from "./fold.js";
import { segmentationDecode, segmentationEncode } from "./segmentation.js";
import { bitshuffle, bitunshuffle, shuffle, unshuffle } from "./shuffle.js";

/** Larger memories are made for one use, so that one giant chunk does not occupy them for good. */
const kept = 16 << 20;

let workspace = makeWorkspace(0);

export const plainKernel: Kernel = {
  kind: "plain",
  reserve(size) {
    if (size + slack <= workspace.memory.length) return workspace;
    const larger = makeWorkspace(size + slack);
    if (size <= kept) workspace = larger;
    return larger;
  },
};

function memory(size: number): Uint8Array {
  try {
    return new Uint8Array(size);
  } catch (cause) {
    throw new LimitExceeded(`no memory could be had for a workspace of ${size} bytes`, { cause, reason: "memory" });
  }
}

function makeWorkspace(size: number): Workspace {
  const m = memory(size);
  return {
    memory: m,
    start: 0,
    shuffle: (typesize, src, count, dst) => shuffle(m, typesize, src, count, dst),
    unshuffle: (typesize, src, count, dst) => unshuffle(m, typesize, src, count, dst),
    bitshuffle: (typesize, src, count, dst) => bitshuffle(m, typesize, src, count, dst),
    bitunshuffle: (typesize, src, count, dst) => bitunshuffle(m, typesize, src, count, dst),
    fold: (src, size, near, middle, far) => fold(m, src, size, near, middle, far),
    lz4Decode: (src, srcLen, dst, dstLen) => lz4Decode(m, src, srcLen, dst, dstLen),
    blosclzDecode: (src, srcLen, dst, dstLen) => blosclzDecode(m, src, srcLen, dst, dstLen),
    snappyDecode: (src, srcLen, dst, dstLen) => snappyDecode(m, src, srcLen, dst, dstLen),
    lz4Encode: (src, srcLen, dst, room, effort) => lz4Encode(m, src, srcLen, dst, room, effort),
    blosclzEncode: (src, srcLen, dst, room, effort) => blosclzEncode(m, src, srcLen, dst, room, effort),
    snappyEncode: (src, srcLen, dst, room, effort) => snappyEncode(m, src, srcLen, dst, room, effort),
    lz4hcEncode: (src, srcLen, dst, room, effort) => lz4hcEncode(m, src, srcLen, dst, room, effort),
    segmentationDecode: (size, src, words, dst, sx, sy, sz, bx, by, bz) =>
      segmentationDecode(m, size, src, words, dst, [sx, sy, sz], [bx, by, bz]),
    segmentationEncode: (size, src, dst, _scratch, sx, sy, sz, bx, by, bz) =>
      segmentationEncode(m, size, src, dst, [sx, sy, sz], [bx, by, bz]),
  };
}
