/** The kernel of compressed_segmentation, loaded where there are such chunks. */
import { wasmKernelOf } from "./instance.js";
import { wasm } from "./labels-wasm.js";
import { segmentationDecode, segmentationEncode } from "./plain/segmentation.js";
import { plainKernelOf } from "./plain/workspace.js";
import type { LabelKernel } from "./types.js";

export { segmentationRoom } from "./segmentation.js";
export type { Block, LabelKernel } from "./types.js";
export { decodeFault } from "./types.js";

export const plainLabelKernel: LabelKernel = /* @__PURE__ */ plainKernelOf((m) => ({
  segmentationDecode: (size, src, words, dst, sx, sy, sz, bx, by, bz) =>
    segmentationDecode(m, size, src, words, dst, [sx, sy, sz], [bx, by, bz]),
  segmentationEncode: (size, src, dst, _scratch, sx, sy, sz, bx, by, bz) =>
    segmentationEncode(m, size, src, dst, [sx, sy, sz], [bx, by, bz]),
}));

let loaded: Promise<LabelKernel> | undefined;

/** The kernel of this thread. */
export function loadLabelKernel(): Promise<LabelKernel> {
  loaded ??= loadWasmLabelKernel().then((kernel) => kernel ?? plainLabelKernel);
  return loaded;
}

export const loadWasmLabelKernel = (): Promise<LabelKernel | undefined> => wasmKernelOf(wasm, plainLabelKernel);
