/** The kernel that encodes zstd. Its loop is there only in WebAssembly: whoever finds none uses another zstd. */
import { wasmKernelOf } from "./instance.js";
import { plainKernelOf } from "./plain/workspace.js";
import type { KernelOf, ZstdEncodeLoops } from "./types.js";
import { wasm } from "./zstd-encode-wasm.js";

export type ZstdEncodeKernel = KernelOf<ZstdEncodeLoops>;

/** A kernel with a memory of its own. */
export async function loadZstdEncodeKernel(): Promise<ZstdEncodeKernel> {
  const plain = plainKernelOf<ZstdEncodeLoops>(() => ({}));
  return (await wasmKernelOf(wasm, plain)) ?? plain;
}
