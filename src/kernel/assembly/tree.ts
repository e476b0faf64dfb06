// The loops of PackedTree, a module of their own: `scripts/kernel.mjs` compiles this file to ../tree-wasm.ts. Its memory comes from
// outside, so that several threads can work in one.
export { start } from "./start";
export { bounds32, bounds64 } from "./tree-bounds";
export { near32, near64 } from "./tree-nearest";
export { partition32, partition64 } from "./tree-partition";
export { keepAll, keepBox32, keepBox64, keepSphere32, keepSphere64 } from "./tree-scan";
export { use } from "./tree-scratch";
