/**
 * Which kernel a thread has: WebAssembly where it runs with SIMD, plain TypeScript elsewhere. Compiling waits (browsers do
 * not allow it otherwise in the main thread); after that everything is synchronous.
 */
import { plainKernel } from "./plain/index.js";
import type { Kernel, Loops, Workspace } from "./types.js";
import { slack } from "./types.js";
import { wasm } from "./wasm.js";

export { foldedSum, type Places } from "./fold.js";
export { plainKernel } from "./plain/index.js";
export { segmentationRoom } from "./segmentation.js";
export type { Block, DecodeLoop, EncodeLoop, Kernel, Loops, Workspace } from "./types.js";
export { decodeFault, slack } from "./types.js";

/** WebAssembly never gives memory back; what needs more than this is rare, and runs in memory that is dropped afterwards. */
const largest = 256 << 20;

let loaded: Promise<Kernel> | undefined;

/** The kernel of this thread. */
export function loadKernel(): Promise<Kernel> {
  loaded ??= loadWasmKernel().then((kernel) => kernel ?? plainKernel);
  return loaded;
}

/** The WebAssembly kernel, or undefined where there is no WebAssembly with SIMD or a page forbids to compile it. */
export async function loadWasmKernel(): Promise<Kernel | undefined> {
  try {
    const bytes = Uint8Array.from(atob(wasm), (character) => character.charCodeAt(0));
    const { instance } = await WebAssembly.instantiate(bytes);
    return wasmKernel(instance.exports as unknown as Exports);
  } catch {
    return undefined;
  }
}

interface Exports extends Loops {
  readonly memory: WebAssembly.Memory;
  start(): number;
}

function wasmKernel({ memory, start, ...loops }: Exports): Kernel {
  const first = start();
  let workspace: Workspace = { ...loops, memory: new Uint8Array(memory.buffer), start: first };
  return {
    kind: "wasm",
    reserve(size) {
      if (size > largest) return plainKernel.reserve(size);
      const missing = first + size + slack - workspace.memory.length;
      if (missing > 0) {
        try {
          memory.grow(Math.ceil(missing / 65536));
        } catch {
          return plainKernel.reserve(size); // no room for the whole to grow, perhaps still for a piece
        }
        workspace = { ...loops, memory: new Uint8Array(memory.buffer), start: first };
      }
      return workspace;
    },
  };
}
