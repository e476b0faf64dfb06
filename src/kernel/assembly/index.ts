// The hot loops for WebAssembly with SIMD. Plain addresses, no objects, no runtime: `scripts/kernel.mjs` compiles this
// file to src/kernel/wasm.ts. What each loop promises is written once, in ../types.ts.
export { bitshuffle, bitunshuffle, shuffle, unshuffle } from "./shuffle";
export { blosclzDecode, lz4Decode, snappyDecode } from "./decode";
export { blosclzEncode, lz4Encode, snappyEncode } from "./encode";
export { lz4hcEncode } from "./chain";
export { fold } from "./fold";
export { xxh64 } from "./xxh64";
export { zstdDecode } from "./zstd";
export { start } from "./start";
