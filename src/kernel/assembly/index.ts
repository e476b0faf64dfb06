// The hot loops for WebAssembly with SIMD. Plain addresses, no objects, no runtime: `scripts/kernel.mjs` compiles this
// folder to src/kernel/wasm.ts. What each loop promises is written once, in ../types.ts.
export { bitshuffle, bitunshuffle, shuffle, unshuffle } from "./shuffle";
export { blosclzDecode, lz4Decode, snappyDecode } from "./decode";
export { blosclzEncode, lz4Encode, snappyEncode } from "./encode";
export { lz4hcEncode } from "./chain";
export { fold } from "./fold";
export { segmentationDecode } from "./segmentation-decode";
export { segmentationEncode } from "./segmentation-encode";
export { xxh64 } from "./xxh64";
export { zstdDecode } from "./zstd";

/** The first address after the tables that the loops keep for themselves. */
export function start(): usize {
  return __heap_base;
}
