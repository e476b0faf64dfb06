/**
 * The kernel of PackedTree: particles in memory of their own, that a loop puts on either side of a plane. Each room is an
 * instance of the module with its own memory, because what is sorted there is handed out as it lies, and goes when it is dropped.
 */
import { partition } from "./plain/tree.js";
import { wasm } from "./tree-wasm.js";

/** Particles and their numbers. */
export interface ParticleRoom {
  readonly kind: "wasm" | "plain";
  /** x, y and z of each. */
  readonly positions: Float32Array | Float64Array;
  /** What moves along with each particle. */
  readonly order: Uint32Array;
  /**
   * Puts those from `start` up to `stop` whose coordinate along the axis lies below `mid` before the others; the number of the first
   * of the others. The k-th from below that lies wrong changes places with the k-th from above, as two pointers would do it.
   */
  partition(start: number, stop: number, axis: number, mid: number): number;
}

interface Exports {
  readonly memory: WebAssembly.Memory;
  start(): number;
  partition32(...args: number[]): number;
  partition64(...args: number[]): number;
}

const MOST = 2 ** 32 - 65536; // bytes that 32-bit addresses reach
let compiled: Promise<WebAssembly.Module | undefined> | undefined;

/** Room for so many particles with coordinates of 4 or 8 bytes. */
export async function particleRoom(count: number, bytes: 4 | 8): Promise<ParticleRoom> {
  compiled ??= compile();
  const module = await compiled;
  return (module && (await wasmRoom(module, count, bytes))) ?? plainRoom(count, bytes);
}

/** The same without WebAssembly: where there is none, or not as much memory as the particles take. */
export function plainRoom(count: number, bytes: 4 | 8): ParticleRoom {
  const positions = bytes === 4 ? new Float32Array(3 * count) : new Float64Array(3 * count);
  const order = new Uint32Array(count);
  return {
    kind: "plain",
    positions,
    order,
    partition: (start, stop, axis, mid) => partition(positions, order, start, stop, axis, mid),
  };
}

async function compile(): Promise<WebAssembly.Module | undefined> {
  try {
    return await WebAssembly.compile(Uint8Array.from(atob(wasm), (character) => character.charCodeAt(0)));
  } catch {
    return undefined; // no WebAssembly with SIMD, or a page that forbids it
  }
}

async function wasmRoom(module: WebAssembly.Module, count: number, bytes: 4 | 8): Promise<ParticleRoom | undefined> {
  const { memory, start, partition32, partition64 } = (await WebAssembly.instantiate(module))
    .exports as unknown as Exports;
  const at = Math.ceil(start() / 16) * 16;
  const numbers = at + 3 * bytes * count;
  const size = numbers + 4 * count;
  if (size > MOST) return undefined;
  try {
    const missing = size - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / 65536));
  } catch {
    return undefined;
  }
  const loop = bytes === 4 ? partition32 : partition64;
  return {
    kind: "wasm",
    positions: new (bytes === 4 ? Float32Array : Float64Array)(memory.buffer, at, 3 * count),
    order: new Uint32Array(memory.buffer, numbers, count),
    partition: (from, to, axis, mid) => loop(at, numbers, from, to, axis, mid) >>> 0,
  };
}
