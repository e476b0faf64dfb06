// The loops of PackedTree, a module of their own: `scripts/kernel.mjs` compiles this file to ../tree-wasm.ts.
export { partition32, partition64 } from "./tree-partition";
export { bounds32, bounds64, box, found, keepBox32, keepBox64, keepSphere32, keepSphere64 } from "./tree-scan";
export { start } from "./start";
