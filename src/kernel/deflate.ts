/** The kernel that encodes deflate. Its loop is there only in WebAssembly: whoever finds none uses another deflate. */
import { wasm } from "./deflate-wasm.js";
import { wasmKernelOf } from "./instance.js";
import { plainKernelOf } from "./plain/workspace.js";
import type { DeflateLoops, KernelOf } from "./types.js";

export type DeflateKernel = KernelOf<DeflateLoops>;

/** A kernel with a memory of its own. */
export async function loadDeflateKernel(): Promise<DeflateKernel> {
  const plain = plainKernelOf<DeflateLoops>(() => ({}));
  return (await wasmKernelOf(wasm, plain)) ?? plain;
}
