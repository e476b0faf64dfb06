/**
 * Which kernel a thread has: WebAssembly where it runs with SIMD, plain TypeScript elsewhere. Compiling waits (browsers do
 * not allow it otherwise in the main thread); after that everything is synchronous.
 */
import { wasmKernelOf } from "./instance.js";
import { plainKernel } from "./plain/index.js";
import type { Kernel } from "./types.js";
import { wasm } from "./wasm.js";

export { foldedSum, type Places } from "./fold.js";
export { plainKernel } from "./plain/index.js";
export type { DecodeLoop, EncodeLoop, Kernel, Loops, Workspace } from "./types.js";
export { decodeFault, slack } from "./types.js";

let loaded: Promise<Kernel> | undefined;

/** The kernel of this thread. */
export function loadKernel(): Promise<Kernel> {
  loaded ??= loadWasmKernel().then((kernel) => kernel ?? plainKernel);
  return loaded;
}

/** The WebAssembly kernel, or undefined where there is no WebAssembly with SIMD or a page forbids to compile it. */
export const loadWasmKernel = (): Promise<Kernel | undefined> => wasmKernelOf(wasm, plainKernel);
