/**
 * The tree over more particles than fit into memory: the same nodes, box and order as `buildTree` has, to the last bit.
 *
 * Particles are put on disk as they come. A node of more of them than there is room for is cut there, along z, y and x, in three
 * passes over its particles; planes that leave all particles on one side, which the corners around them tell, take none. A node for
 * which there is room is read, divided in memory, and written back. All in the order of the walk, because the planes of a node
 * depend, by what rounding leaves behind, on the nodes before it.
 *
 * Held in memory: a part of the particles, within what is allowed, and all nodes, which are some hundred times fewer.
 */

import type { NumericType } from "../../codec/numeric.js";
import { numericView } from "../../codec/numeric.js";
import { InvalidInput, LimitExceeded } from "../../errors.js";
import { particleRoom } from "../../kernel/tree.js";
import type { Progress } from "../../model/dataset.js";
import type { Positions } from "../../model/vectors.js";
import type { ScratchFile } from "../../store/scratch.js";
import type { CallOptions } from "../../store/types.js";
import { TreeBox } from "./box.js";
import { type BuildTreeOptions, nodeRows, thresholdOf } from "./build.js";
import { division } from "./divide.js";
import { type DiskParticles, diskPartition, loadRoom, readRows, saveRoom } from "./external-disk.js";
import { spill } from "./external-spill.js";
import type { ParticleStream } from "./external-types.js";
import type { TreeRows } from "./file/rows.js";

/** How to build. */
export interface BuildOnDiskOptions extends CallOptions, Omit<BuildTreeOptions, "inPlace" | "pool"> {
  /** Makes a scratch file; in Node `scratchFile`. They take as many bytes as the particles, and 4 more for each. */
  readonly scratch: () => ScratchFile;
  /** Bytes that are held at once; 256 MiB unless told. */
  readonly maxMemory?: number | undefined;
  /** How many particles have their places. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** A tree whose particles are on disk, in its order, until it is closed. */
export interface TreeOnDisk extends TreeRows {
  /** Takes the scratch files away; safe to call twice. */
  close(): void;
}

const MB = 2 ** 20;
/** What the kernel's addresses reach, but for what it keeps for itself: without it, more particles at a time take longer. */
const KERNEL_BYTES = 2 ** 32 - 16 * MB;

/** The tree over particles that come in batches, which are read once. */
export async function buildTreeOnDisk(stream: ParticleStream, options: BuildOnDiskOptions): Promise<TreeOnDisk> {
  const files: ScratchFile[] = [];
  const close = (): void => {
    for (const file of files.splice(0)) file.close();
  };
  const scratch = (): ScratchFile => {
    const file = options.scratch();
    files.push(file);
    return file;
  };
  try {
    const threshold = thresholdOf(options);
    if (options.box !== undefined) TreeBox.check(options.box);
    const disk = await spill(stream, scratch, options.signal);
    const { nodes, box } = await divideOnDisk(disk, threshold, options);
    const created = options.created ?? Date.now() / 1000;
    const tree = { version: [1, 0, 0], created, box, threshold, nodes, count: disk.count } as const;
    return { ...rowsOnDisk(disk), tree, close };
  } catch (error) {
    close();
    throw error;
  }
}

async function divideOnDisk(disk: DiskParticles, threshold: number, options: BuildOnDiskOptions) {
  const { signal, maxMemory = 256 * MB, onProgress } = options;
  if (!(maxMemory >= 1))
    throw new InvalidInput(`the memory of a build should be a number of bytes, found ${maxMemory}`);
  const { count, precision, positions, carried } = disk;
  const widest = Math.max(...carried.map(({ size }) => size));
  const share = (part: number): number => Math.max(1, Math.floor((part * maxMemory) / (positions.size + 4 + widest)));
  const most = Math.min(count || 1, share(0.7), Math.floor(KERNEL_BYTES / (positions.size + 4)));
  const piece = Math.min(2 ** 17, share(0.02));
  const room = await particleRoom(most, precision);
  const column = new Uint8Array(most * widest);
  const out = new Uint8Array(piece * widest);
  const pause = breaths(signal);
  const cut = diskPartition(disk, piece, pause);
  const mostNodes = Math.max(2 ** 16, (0.2 * maxMemory) / 48); // of a row, while there are more and when it becomes words
  const rows = nodeRows(
    mostNodes,
    () =>
      new LimitExceeded(
        `the tree has more than ${Math.floor(mostNodes)} nodes, for which ${maxMemory} bytes of memory are not enough`,
        { hint: "Allow more memory, or a higher threshold." },
      ),
  );
  const walk = division(options.box ?? TreeBox.around(disk.around), threshold, rows);

  const node = async (
    start: number,
    stop: number,
    level: number,
    place: number,
    around: Float64Array,
  ): Promise<void> => {
    const isLeaf = walk.isLeaf(stop - start, level);
    if (!isLeaf && stop - start <= most) {
      loadRoom(disk, room, start, stop - start);
      walk.node(room, start, 0, stop - start, level, place);
      saveRoom(disk, room, start, stop - start, column, out);
      onProgress?.({ done: stop, total: count, unit: "vertices" });
      return pause();
    }
    const own = rows.begin(start, stop, level, place);
    let flags = 0;
    const middle = walk.middle();
    const part = async (
      start: number,
      stop: number,
      axis: number,
      octant: number,
      around: Float64Array,
    ): Promise<void> => {
      if (axis < 0) {
        flags |= 1 << octant;
        walk.enter(octant);
        await node(start, stop, level + 1, octant + 1, around);
        walk.leave(octant);
        return;
      }
      const [mid, upper] = [middle[axis]!, octant | (1 << axis)];
      if (around[axis + 3]! < mid) return part(start, stop, axis - 1, octant, around);
      if (around[axis]! >= mid) return part(start, stop, axis - 1, upper, around);
      const found = await cut(start, stop, axis, mid);
      await part(start, found.at, axis - 1, octant, found.lower);
      await part(found.at, stop, axis - 1, upper, found.upper);
    };
    if (!isLeaf) await part(start, stop, 2, 0, around);
    rows.end(own, flags);
  };

  await node(0, count, 1, 0, disk.around);
  return { nodes: rows.nodes(), box: walk.box() };
}

/** Lets others run when a while has passed: signals, timers, answers. */
function breaths(signal: AbortSignal | undefined): () => Promise<void> {
  let last = performance.now();
  return async () => {
    if (performance.now() - last > 50) {
      await new Promise((done) => setTimeout(done, 0));
      last = performance.now();
    }
    signal?.throwIfAborted();
  };
}

/** Columns in the order of the tree; each has memory of its own for what was read last. */
function rowsOnDisk({ count, precision, positions, carried, attributes }: DiskParticles): Omit<TreeRows, "tree"> {
  const columns = [positions, ...carried];
  const held = columns.map(() => new Uint8Array());
  const read = (column: number, start: number, stop: number): Uint8Array => {
    const bytes = (stop - start) * columns[column]!.size;
    if (held[column]!.length < bytes) held[column] = new Uint8Array(bytes);
    return readRows(columns[column]!, start, stop, held[column]!);
  };
  return {
    count,
    precision: precision === 4 ? "float32" : "float64",
    attributes,
    positions: (start, stop) =>
      numericView({ kind: "float", size: precision, endian: "little" }, read(0, start, stop)) as Positions,
    order: (start, stop) =>
      numericView({ kind: "uint", size: 4, endian: "little" }, read(1, start, stop)) as Uint32Array,
    values: (attribute, start, stop) =>
      numericView(attributes[attribute]!.dtype as NumericType, read(2 + attribute, start, stop)),
  };
}
