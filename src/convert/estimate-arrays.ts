/**
 * How many bytes a conversion of an array would write: what is copied is counted, of the rest some chunks from all over are encoded into
 * memory. What is no larger than that is known to the byte.
 */
import { isFixed, memorySize } from "../bytes/dtype.js";
import { writeNpy } from "../format/interchange/npy.js";
import { formatVolume } from "../format/precomputed/volume/info.js";
import { arrayNode, type ZarrArray } from "../format/zarr/node.js";
import { keyOf } from "../format/zarr/read.js";
import { writeRegion } from "../format/zarr/write.js";
import type { ArrayDataset } from "../model/dataset.js";
import { elementCount } from "../space/shape.js";
import { Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import type { Store } from "../store/types.js";
import { type ConvertOptions, planArray, retyped } from "./arrays.js";
import type { Estimate } from "./estimate.js";
import { sliced } from "./slice.js";
import { type ConvertVolumeOptions, convertVolume, planVolume } from "./volumes.js";

const BYTES = 32 << 20; // of elements that are looked at
const CHUNKS = 64; // and the most chunks

type Range = { readonly start: number; readonly stop: number };

/** An array as another in Zarr. */
export async function estimateArray(source: ArrayDataset, options: ConvertOptions): Promise<Estimate> {
  const { meta, documents, block } = await planArray(source, options);
  const { signal, limits } = options;
  const own = [...documents.values()].reduce((sum, { length }) => sum + length, 0);
  if (block === undefined) return withOwn(await copiedBytes(source as ZarrArray, options), own);
  const { regions, isAll, share } = someOf(source, meta.chunkShape);
  const target = arrayNode(memoryStore(), Prefix.root, meta);
  for (const region of regions) {
    const values = retyped(await source.read(region, { signal, limits }), meta);
    await writeRegion(target, region, values, { signal, limits, fresh: true, writeEmptyChunks: meta.fillIsNull });
  }
  return withOwn({ bytes: (await sizeOf(target.store)) / share, exact: isAll }, own);
}

/** An array as a volume, with its coarser scales. */
export async function estimateVolume(source: ArrayDataset, options: ConvertVolumeOptions): Promise<Estimate> {
  const { info, axes } = planVolume(source, options);
  const { scales } = info;
  const halved = 2 ** (scales.length - 1);
  const lengths = [...scales[0]!.chunkSizes[0]!.map((size) => size * halved), source.shape[axes[3] ?? -1] ?? 1];
  const block = source.shape.map((length, axis) => Math.min(length, lengths[axes.indexOf(axis)] ?? 1));
  const { regions, isAll, share } = someOf(source, block);
  const own = JSON.stringify(formatVolume(info)).length;
  let bytes = 0;
  for (const region of isAll ? [undefined] : regions) {
    const store = memoryStore();
    await convertVolume(sliced(source, region), store, Prefix.root, {
      ...options,
      strict: undefined,
      onProgress: undefined,
    });
    bytes += (await sizeOf(store)) - (isAll ? 0 : own);
  }
  return isAll ? { bytes, exact: true } : withOwn({ bytes: bytes / share, exact: false }, own);
}

/** An array as an .npy file, whose size is known. */
export const npyBytes = ({ shape, dtype }: ArrayDataset): number =>
  writeNpy({ shape, dtype, data: new Uint8Array() }).length + elementCount(shape) * memorySize(dtype);

const withOwn = ({ bytes, exact }: Estimate, own: number): Estimate => ({ bytes: Math.round(bytes) + own, exact });

/** Blocks of the grid from all over it, and their share of all elements. */
function someOf({ shape, dtype }: ArrayDataset, block: readonly number[]) {
  const grid = shape.map((length, axis) => Math.ceil(length / block[axis]!));
  const count = elementCount(grid);
  const most = Math.min(CHUNKS, BYTES / (elementCount(block) * (isFixed(dtype) ? dtype.size : 64)));
  const regions = spread(count, Math.max(1, Math.floor(most))).map((number) => regionAt(number, grid, block, shape));
  const sizes = regions.map((region) => elementCount(region.map(({ start, stop }) => stop - start)));
  const share = sizes.reduce((sum, size) => sum + size, 0) / elementCount(shape);
  return { regions, isAll: regions.length === count, share: share || 1 };
}

/** Some of the numbers below `count`; steps of the golden ratio do not follow the rows of a grid. */
function spread(count: number, some: number): number[] {
  if (count <= some) return Array.from({ length: count }, (_, i) => i);
  const golden = (Math.sqrt(5) - 1) / 2;
  return [...new Set(Array.from({ length: some }, (_, i) => Math.floor((((i + 0.5) * golden) % 1) * count)))];
}

function regionAt(
  number: number,
  grid: readonly number[],
  block: readonly number[],
  shape: readonly number[],
): Range[] {
  let left = number;
  const index = grid.map(() => 0);
  for (let axis = grid.length - 1; axis >= 0; axis--) {
    index[axis] = left % grid[axis]!;
    left = Math.floor(left / grid[axis]!);
  }
  return index.map((at, axis) => ({
    start: at * block[axis]!,
    stop: Math.min((at + 1) * block[axis]!, shape[axis]!),
  }));
}

/** What the chunks take that are there: all of them where the store lists them, else some. */
async function copiedBytes(source: ZarrArray, options: ConvertOptions): Promise<Estimate> {
  const { signal } = options;
  let bytes = 0;
  const stored = source.stored(options);
  const sizeAt = async (index: readonly number[]): Promise<number> =>
    (await source.store.stat(keyOf(source, index), { signal }))?.size ?? 0;
  if (stored !== undefined) {
    for await (const { index, size } of stored) bytes += size ?? (await sizeAt(index));
    return { bytes, exact: true };
  }
  const grid = source.shape.map((length, axis) => Math.ceil(length / source.chunkShape[axis]!));
  const [count, chunk] = [elementCount(grid), grid.map(() => 1)];
  const some = spread(count, CHUNKS);
  for (const number of some) bytes += await sizeAt(regionAt(number, grid, chunk, grid).map(({ start }) => start));
  return { bytes: (bytes * count) / Math.max(1, some.length), exact: some.length === count };
}

async function sizeOf(store: Store): Promise<number> {
  let bytes = 0;
  for await (const { size = 0 } of store.list(Prefix.root)) bytes += size;
  return bytes;
}
