/** A kernel in WebAssembly from its module, which is text so that it needs no file beside the code. */
import { type KernelOf, slack } from "./types.js";

/** WebAssembly never gives memory back; what needs more than this is rare, and runs in memory that is dropped afterwards. */
const largest = 256 << 20;

/** undefined where there is no WebAssembly with SIMD or a page forbids to compile it; `plain` takes what is too large. */
export async function wasmKernelOf<L>(wasm: string, plain: KernelOf<L>): Promise<KernelOf<L> | undefined> {
  try {
    const bytes = Uint8Array.from(atob(wasm), (character) => character.charCodeAt(0));
    const { instance } = await WebAssembly.instantiate(bytes);
    return kernelOf(instance.exports as unknown as L & Exports, plain);
  } catch {
    return undefined;
  }
}

interface Exports {
  readonly memory: WebAssembly.Memory;
  start(): number;
}

function kernelOf<L>(exports: L & Exports, plain: KernelOf<L>): KernelOf<L> {
  const { memory, start, ...loops } = exports;
  const first = start();
  const room = () => ({ ...(loops as L), memory: new Uint8Array(memory.buffer), start: first });
  let workspace = room();
  return {
    kind: "wasm",
    reserve(size) {
      if (size > largest) return plain.reserve(size);
      const missing = first + size + slack - workspace.memory.length;
      if (missing > 0) {
        try {
          memory.grow(Math.ceil(missing / 65536));
        } catch {
          return plain.reserve(size); // no room for the whole to grow, perhaps still for a piece
        }
        workspace = room();
      }
      return workspace;
    },
  };
}
