/** The chunks of an array that are there: keys below it that name a place in its grid, whatever else lies about. */
import { OctavoError } from "../../errors.js";
import type { ReadOptions, StoredChunk } from "../../model/dataset.js";
import { parseChunkKey } from "./keys.js";
import type { ZarrArray } from "./node.js";

export function storedChunks(array: ZarrArray, options: ReadOptions = {}): AsyncIterable<StoredChunk> | undefined {
  return array.store.can.list ? listed(array, options) : undefined;
}

async function* listed({ store, at, meta }: ZarrArray, options: ReadOptions): AsyncGenerator<StoredChunk> {
  const grid = meta.shape.map((length, axis) => Math.ceil(length / meta.chunkShape[axis]!));
  for await (const { key, size } of store.list(at, { signal: options.signal })) {
    const index = parseChunkKey(meta.keys, grid.length, key.slice(at.length));
    if (index?.every((place, axis) => place < grid[axis]!)) yield { index, key, size };
  }
}

/** Their places as text; undefined where the store cannot or will not list them, or has more than `most`. */
export async function storedPlaces(
  array: ZarrArray,
  most: number,
  options: ReadOptions,
): Promise<ReadonlySet<string> | undefined> {
  if (!array.store.can.list) return undefined;
  const places = new Set<string>();
  try {
    for await (const { index } of listed(array, options)) {
      if (places.size === most) return undefined;
      places.add(String(index));
    }
    return places;
  } catch (error) {
    if (error instanceof OctavoError) return undefined; // such as a bucket that may be read and not listed
    throw error;
  }
}
