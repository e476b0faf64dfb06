/**
 * The kernel of PackedTree: particles in memory of their own, and the loops over ranges of them. Each room is an instance of the
 * module with its own memory, because what is sorted there is handed out as it lies, and goes when it is dropped. Several threads can
 * have a room in the same memory; what they write besides particles is apart:
 *
 * | bytes                | hold                                                                             |
 * |----------------------|----------------------------------------------------------------------------------|
 * | 0 … start            | what the module keeps for itself, the same for all                                 |
 * | SCRATCH, per thread  | its block of the partition, a box, the heap of the nearest, the numbers found      |
 * | 24 or 12 × particles | x, y, z                                                                          |
 * | 4 × particles        | the order                                                                        |
 */
import { nearest } from "./plain/tree-nearest.js";
import { partition } from "./plain/tree-partition.js";
import { bounds, keepAll, keepBox, keepSphere } from "./plain/tree-scan.js";
import { wasm } from "./tree-wasm.js";

type Six = [x0: number, y0: number, z0: number, x1: number, y1: number, z1: number];

/** The loops. */
export interface ParticleLoops {
  /**
   * Puts those from `start` up to `stop` whose coordinate along the axis lies below `mid` before the others; the number of the first
   * of the others. The k-th from below that lies wrong changes places with the k-th from above, as two pointers would do it.
   */
  partition(start: number, stop: number, axis: number, mid: number): number;
  /** Writes the numbers from `start` up to `stop` to found[n] and behind; the n behind the last. */
  keepAll(start: number, stop: number, n: number): number;
  /** The same of those that are in a box. */
  keepBox(...args: [start: number, stop: number, n: number, ...Six]): number;
  /** The same of those in a sphere, whose radius has the square `most`. */
  keepSphere(start: number, stop: number, n: number, x: number, y: number, z: number, most: number): number;
  /** Writes the lower and the upper corner around those from `start` up to `stop` to `box`; whether all of them are finite. */
  bounds(start: number, stop: number): boolean;
}

/** The nearest so far: a heap, whose first is the worst, by distance and where that is the same by number. */
export interface Nearest {
  readonly squares: Float64Array;
  readonly numbers: Uint32Array;
  /** Looks at those from `start` up to `stop`, with `size` in the heap; no square is above `within`. How many there are then. */
  near(start: number, stop: number, x: number, y: number, z: number, size: number, within: number): number;
}

/** Particles and their numbers. */
export interface ParticleRoom extends ParticleLoops {
  readonly kind: "wasm" | "plain";
  /** x, y and z of each. */
  readonly positions: Float32Array | Float64Array;
  /** What moves along with each particle. */
  readonly order: Uint32Array;
  /** Where numbers are written; FOUND of them, and a few more. */
  readonly found: Uint32Array;
  /** Where the corners of a box are written. */
  readonly box: Float64Array;
  /** The heap for so many, empty; the one before it is gone. */
  nearest(most: number): Nearest;
  /** What another thread needs for a room in the same memory, by the number of the thread, from 1; undefined where it is not shared. */
  share?(thread: number): SharedRoom;
}

/** A room that goes from one thread to another. */
export interface SharedRoom {
  readonly memory: WebAssembly.Memory;
  readonly count: number;
  readonly bytes: 4 | 8;
  readonly threads: number;
  readonly thread: number;
}

/** How many numbers a room can find at a time. */
export const FOUND = 1 << 16;
/** The largest heap that the kernel has. */
const HEAP = 1 << 12;
/** Where things are in the scratch memory of a thread, as assembly/tree-scratch.ts has it. */
const [BOX_AT, SQUARES_AT, NEAREST_AT, FOUND_AT] = [1024, 1088, 33856, 50240];
const SCRATCH = FOUND_AT + 4 * FOUND + 16;
const PAGE = 65536;
const MOST_PAGES = 65535; // 32-bit addresses reach to the end of the last

interface Exports {
  start(): number;
  use(at: number): void;
  keepAll(...args: number[]): number;
  partition32(...args: number[]): number;
  partition64(...args: number[]): number;
  keepBox32(...args: number[]): number;
  keepBox64(...args: number[]): number;
  keepSphere32(...args: number[]): number;
  keepSphere64(...args: number[]): number;
  bounds32(...args: number[]): number;
  bounds64(...args: number[]): number;
  near32(...args: number[]): number;
  near64(...args: number[]): number;
}

/** The modules, for memory of one thread and of several. */
const compiled: Promise<WebAssembly.Module | undefined>[] = [];
const rooms = new WeakMap<object, ParticleRoom>();

/** The room that has these very positions. */
export const roomOf = (positions: Float32Array | Float64Array): ParticleRoom | undefined => rooms.get(positions);

/**
 * Room for so many particles with coordinates of 4 or 8 bytes, for so many threads: one, unless told. Where threads cannot share
 * memory it is for one.
 */
export async function particleRoom(count: number, bytes: 4 | 8, threads = 1): Promise<ParticleRoom> {
  const room =
    (threads > 1 ? await wasmRoom(count, bytes, threads) : undefined) ??
    (await wasmRoom(count, bytes, 1)) ??
    plainRoom(count, bytes);
  rooms.set(room.positions, room);
  return room;
}

/** The same without WebAssembly: where there is none, or not as much memory as the particles take. */
export function plainRoom(count: number, bytes: 4 | 8): ParticleRoom {
  const positions = bytes === 4 ? new Float32Array(3 * count) : new Float64Array(3 * count);
  const order = new Uint32Array(count);
  const found = new Uint32Array(FOUND + 4);
  const box = new Float64Array(6);
  return {
    kind: "plain",
    positions,
    order,
    found,
    box,
    partition: (start, stop, axis, mid) => partition(positions, order, start, stop, axis, mid),
    keepAll: keepAll(found),
    keepBox: keepBox(positions, found),
    keepSphere: keepSphere(positions, found),
    bounds: bounds(positions, box),
    nearest: (most) => nearest(positions, most),
  };
}

async function wasmRoom(count: number, bytes: 4 | 8, threads: number): Promise<ParticleRoom | undefined> {
  const size = FIRST + threads * SCRATCH + (3 * bytes + 4) * count;
  const pages = Math.ceil(size / PAGE);
  if (pages > MOST_PAGES) return undefined;
  try {
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: threads > 1 });
    return await sharedRoom({ memory, count, bytes, threads, thread: 0 });
  } catch {
    return undefined; // no WebAssembly with SIMD, a page that forbids it, or not as much memory
  }
}

/** Where the scratch memory begins: behind the few tables of the module. */
const FIRST = 4096;

/** The room of a thread in memory that it shares with others. */
export async function sharedRoom({ memory, count, bytes, threads, thread }: SharedRoom): Promise<ParticleRoom> {
  compiled[threads > 1 ? 1 : 0] ??= compile(threads > 1);
  const module = await compiled[threads > 1 ? 1 : 0];
  if (module === undefined) throw new Error("no WebAssembly with SIMD");
  const { exports } = await WebAssembly.instantiate(module, { env: { memory } });
  const { start, use, keepAll, ...loops } = exports as unknown as Exports;
  if (start() > FIRST) throw new Error("the tables of the kernel take more memory than there is for them");
  const scratch = FIRST + thread * SCRATCH;
  use(scratch);
  const at = FIRST + threads * SCRATCH;
  const numbers = at + 3 * bytes * count;
  const { buffer } = memory;
  const [partition, keepBox, keepSphere, bounds, near] =
    bytes === 4
      ? [loops.partition32, loops.keepBox32, loops.keepSphere32, loops.bounds32, loops.near32]
      : [loops.partition64, loops.keepBox64, loops.keepSphere64, loops.bounds64, loops.near64];
  const positions = new (bytes === 4 ? Float32Array : Float64Array)(buffer, at, 3 * count);
  const squares = new Float64Array(buffer, scratch + SQUARES_AT, HEAP);
  const nearestNumbers = new Uint32Array(buffer, scratch + NEAREST_AT, HEAP);
  return {
    kind: "wasm",
    positions,
    order: new Uint32Array(buffer, numbers, count),
    found: new Uint32Array(buffer, scratch + FOUND_AT, FOUND + 4),
    box: new Float64Array(buffer, scratch + BOX_AT, 6),
    partition: (start, stop, axis, mid) => partition(at, numbers, start, stop, axis, mid) >>> 0,
    keepAll,
    keepBox: (start, stop, n, x0, y0, z0, x1, y1, z1) => keepBox(at, start, stop, n, x0, y0, z0, x1, y1, z1),
    keepSphere: (start, stop, n, x, y, z, most) => keepSphere(at, start, stop, n, x, y, z, most),
    bounds: (start, stop) => bounds(at, start, stop) === 0,
    nearest: (most) =>
      most > HEAP
        ? nearest(positions, most)
        : {
            squares,
            numbers: nearestNumbers,
            near: (start, stop, x, y, z, size, within) => near(at, start, stop, x, y, z, size, most, within),
          },
    ...(threads > 1 && { share: (other: number) => ({ memory, count, bytes, threads, thread: other }) }),
  };
}

async function compile(shared: boolean): Promise<WebAssembly.Module | undefined> {
  try {
    const bytes = Uint8Array.from(atob(wasm), (character) => character.charCodeAt(0));
    if (shared) bytes[limitsOf(bytes)] = 3;
    return await WebAssembly.compile(bytes);
  } catch {
    return undefined;
  }
}

/** Where the module says what memory it imports: 1 for one that has a largest size, 3 for one that threads share as well. */
function limitsOf(bytes: Uint8Array): number {
  const name = [..."memory"].map((character) => character.charCodeAt(0));
  return bytes.findIndex((_, at) => name.every((code, i) => bytes[at + i] === code)) + name.length + 1;
}
