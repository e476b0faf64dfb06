/** The chunks of an array that are there: keys below it that name a place in its grid, whatever else lies about. */
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
