/** The loops in plain TypeScript, for places without WebAssembly SIMD and for blocks too large for its memory. */
import type { Kernel } from "../types.js";
import { lz4hcEncode } from "./chain.js";
import { blosclzDecode, lz4Decode, snappyDecode } from "./decode.js";
import { blosclzEncode, lz4Encode, snappyEncode } from "./encode.js";
import { fold } from "./fold.js";
import { bitshuffle, bitunshuffle, shuffle, unshuffle } from "./shuffle.js";
import { plainKernelOf } from "./workspace.js";

export const plainKernel: Kernel = plainKernelOf((m) => ({
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
}));
