/** Any array as an .npy file, block by block. */
import { memorySize } from "../bytes/dtype.js";
import { writeNpy } from "../format/interchange/npy.js";
import { blocks } from "../model/blocks.js";
import type { ArrayDataset, ReadArrayOptions } from "../model/dataset.js";
import { elementCount } from "../space/shape.js";
import type { Sink } from "../store/types.js";
import type { ConvertReport } from "./arrays.js";
import { refuseLosses, type Strictness } from "./losses.js";

const BLOCK = 64 << 20;

export async function convertToNpy(
  array: ArrayDataset,
  sink: Sink,
  options: ReadArrayOptions & Strictness & { readonly maxMemory?: number | undefined },
): Promise<ConvertReport> {
  const { url, shape, dtype, chunkShape, attributes, dimensionNames } = array;
  const { signal, limits, pool, onProgress, maxMemory = 4 * BLOCK } = options;
  const losses: string[] = [];
  const names = Object.keys(attributes);
  if (names.length > 0) losses.push(`${url}: the attributes ${names.join(", ")}, which .npy has no place for`);
  if (dimensionNames?.some((name) => name !== null)) losses.push(`${url}: the names of its axes`);
  try {
    refuseLosses(options, losses);
    const head = writeNpy({ shape, dtype, data: new Uint8Array() }); // refuses what .npy cannot hold, before anything is read
    await sink.write(head);
    const total = elementCount(shape) * memorySize(dtype);
    let [done, count] = [0, 0];
    const limit = Math.max(1, Math.floor(maxMemory / 4 / Math.max(1, memorySize(dtype))));
    for (const { region } of blocks([], shape, chunkShape, limit)) {
      const { data } = await array.read(region, { signal, limits, pool });
      await sink.write(data as Uint8Array);
      done += (data as Uint8Array).length;
      count++;
      onProgress?.({ done, total, unit: "bytes" });
    }
    await sink.commit();
    return { chunksCopied: 0, chunksRecoded: count, losses };
  } finally {
    await sink.abort();
  }
}
