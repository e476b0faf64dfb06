// The loops of compressed_segmentation, a module of their own: `scripts/kernel.mjs` compiles this file to ../labels-wasm.ts.
export { segmentationDecode } from "./segmentation-decode";
export { segmentationEncode } from "./segmentation-encode";
export { start } from "./start";
