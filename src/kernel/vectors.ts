/** The kernel of Zarr Vectors. Its loops are there only in WebAssembly: whoever finds none does the work otherwise. */
import { wasmKernelOf } from "./instance.js";
import { plainKernelOf } from "./plain/workspace.js";
import type { KernelOf, VectorLoops } from "./types.js";
import { wasm } from "./vectors-wasm.js";

export type VectorKernel = KernelOf<VectorLoops>;

let loaded: Promise<VectorKernel> | undefined;

/** The kernel of this thread. */
export function loadVectorKernel(): Promise<VectorKernel> {
  const plain = plainKernelOf<VectorLoops>(() => ({}));
  loaded ??= wasmKernelOf(wasm, plain).then((kernel) => kernel ?? plain);
  return loaded;
}
