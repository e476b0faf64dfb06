/**
 * The kernel of PackedTree: particles in memory of their own, and the loops over ranges of them. Each room is an instance of the
 * module with its own memory, because what is sorted there is handed out as it lies, and goes when it is dropped.
 */
import { partition } from "./plain/tree-partition.js";
import { bounds, keepBox, keepSphere } from "./plain/tree-scan.js";
import { wasm } from "./tree-wasm.js";

/** The loops. */
export interface ParticleLoops {
  /**
   * Puts those from `start` up to `stop` whose coordinate along the axis lies below `mid` before the others; the number of the first
   * of the others. The k-th from below that lies wrong changes places with the k-th from above, as two pointers would do it.
   */
  partition(start: number, stop: number, axis: number, mid: number): number;
  /** Writes the numbers of those from `start` up to `stop` that are in a box to found[n] and behind; the n behind the last. */
  keepBox(
    ...args: [
      start: number,
      stop: number,
      n: number,
      x0: number,
      y0: number,
      z0: number,
      x1: number,
      y1: number,
      z1: number,
    ]
  ): number;
  /** The same of a sphere, whose radius has the square `most`. */
  keepSphere(start: number, stop: number, n: number, x: number, y: number, z: number, most: number): number;
  /** Writes the lower and the upper corner around those from `start` up to `stop` to `box`; whether all of them are finite. */
  bounds(start: number, stop: number): boolean;
}

/** Particles and their numbers. */
export interface ParticleRoom extends ParticleLoops {
  readonly kind: "wasm" | "plain";
  /** x, y and z of each. */
  readonly positions: Float32Array | Float64Array;
  /** What moves along with each particle. */
  readonly order: Uint32Array;
  /** Where numbers are written; FOUND of them, and one more. */
  readonly found: Uint32Array;
  /** Where the corners of a box are written. */
  readonly box: Float64Array;
}

/** How many numbers a room can find at a time. */
export const FOUND = 1 << 16;

interface Exports {
  readonly memory: WebAssembly.Memory;
  start(): number;
  found(): number;
  box(): number;
  partition32(...args: number[]): number;
  partition64(...args: number[]): number;
  keepBox32(...args: number[]): number;
  keepBox64(...args: number[]): number;
  keepSphere32(...args: number[]): number;
  keepSphere64(...args: number[]): number;
  bounds32(...args: number[]): number;
  bounds64(...args: number[]): number;
}

const MOST = 2 ** 32 - 65536; // bytes that 32-bit addresses reach
let compiled: Promise<WebAssembly.Module | undefined> | undefined;
const rooms = new WeakMap<object, ParticleRoom>();

/** The room that has these very positions. */
export const roomOf = (positions: Float32Array | Float64Array): ParticleRoom | undefined => rooms.get(positions);

/** Room for so many particles with coordinates of 4 or 8 bytes. */
export async function particleRoom(count: number, bytes: 4 | 8): Promise<ParticleRoom> {
  compiled ??= compile();
  const module = await compiled;
  const room = (module && (await wasmRoom(module, count, bytes))) ?? plainRoom(count, bytes);
  rooms.set(room.positions, room);
  return room;
}

/** The same without WebAssembly: where there is none, or not as much memory as the particles take. */
export function plainRoom(count: number, bytes: 4 | 8): ParticleRoom {
  const positions = bytes === 4 ? new Float32Array(3 * count) : new Float64Array(3 * count);
  const order = new Uint32Array(count);
  const found = new Uint32Array(FOUND + 1);
  const box = new Float64Array(6);
  return {
    kind: "plain",
    positions,
    order,
    found,
    box,
    partition: (start, stop, axis, mid) => partition(positions, order, start, stop, axis, mid),
    keepBox: keepBox(positions, found),
    keepSphere: keepSphere(positions, found),
    bounds: bounds(positions, box),
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
  const exports = (await WebAssembly.instantiate(module)).exports as unknown as Exports;
  const { memory } = exports;
  const at = Math.ceil(exports.start() / 16) * 16;
  const numbers = at + 3 * bytes * count;
  const size = numbers + 4 * count;
  if (size > MOST) return undefined;
  try {
    const missing = size - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / 65536));
  } catch {
    return undefined;
  }
  const loops =
    bytes === 4
      ? {
          partition: exports.partition32,
          keepBox: exports.keepBox32,
          keepSphere: exports.keepSphere32,
          bounds: exports.bounds32,
        }
      : {
          partition: exports.partition64,
          keepBox: exports.keepBox64,
          keepSphere: exports.keepSphere64,
          bounds: exports.bounds64,
        };
  return {
    kind: "wasm",
    positions: new (bytes === 4 ? Float32Array : Float64Array)(memory.buffer, at, 3 * count),
    order: new Uint32Array(memory.buffer, numbers, count),
    found: new Uint32Array(memory.buffer, exports.found(), FOUND + 1),
    box: new Float64Array(memory.buffer, exports.box(), 6),
    partition: (start, stop, axis, mid) => loops.partition(at, numbers, start, stop, axis, mid) >>> 0,
    keepBox: (start, stop, n, x0, y0, z0, x1, y1, z1) => loops.keepBox(at, start, stop, n, x0, y0, z0, x1, y1, z1),
    keepSphere: (start, stop, n, x, y, z, most) => loops.keepSphere(at, start, stop, n, x, y, z, most),
    bounds: (start, stop) => loops.bounds(at, start, stop) === 0,
  };
}
