/**
 * A file that is too large to be held becomes a store: its vertices and then its links as they come from the file, past the query
 * engine, which would put each object together first.
 */
import type { FileDataset } from "../format/interchange/dataset.js";
import type { FileContent } from "../format/interchange/types.js";
import { createZarrVectors } from "../format/zarr-vectors/write/write.js";
import type { VectorDataset } from "../model/vectors.js";
import type { PyramidOptions } from "../pyramid/index.js";
import { LOGS, Prefix } from "../store/key.js";
import { type Scratch, scratchIn } from "../store/scratch.js";
import type { Store } from "../store/types.js";
import type { ConvertReport } from "./arrays.js";
import { writingWithin } from "./feed.js";
import { committed } from "./levels.js";
import { refuseLosses } from "./losses.js";
import { type ConvertVectorsOptions, renumbered } from "./vectors.js";

/** How the file passes; undefined where it is no file, or one that is asked like anything else. */
export const passingOf = (source: VectorDataset): FileContent["passing"] =>
  (source as Partial<FileDataset>).content?.passing;

export async function convertPassing(
  source: VectorDataset,
  passing: NonNullable<FileContent["passing"]>,
  store: Store,
  at: Prefix,
  options: ConvertVectorsOptions,
  pyramid: PyramidOptions | undefined,
): Promise<ConvertReport> {
  const { signal, limits, formatVersion, codecs, sharding, dtype, onProgress } = options;
  const memory = writingWithin(options, 7 / 8);
  const scratches: Scratch[] = [];
  const makeScratch = (): Scratch => {
    const made = scratchIn({ store, at: Prefix.join(at, LOGS) }, memory / 2, signal);
    scratches.push(made);
    return made;
  };
  try {
    const passed = await passing(makeScratch, { signal, limits });
    const { geometry, linkWidth } = passed;
    const losses: string[] = [];
    const lose = (sentence: string): void => void losses.push(`${source.url}: ${sentence}`);
    for (const loss of passed.losses ?? []) lose(loss);
    const headers = await source.headers();
    const writer = await createZarrVectors(
      store,
      at,
      {
        geometry,
        axes: source.axes,
        dtype,
        chunkShape: options.chunkShape ?? "auto",
        objects: geometry !== "points",
        ids: options.ids ?? (formatVersion === "0.7.0" ? "preserve" : "sparse"),
        userMetadata: Object.keys(source.attributes).length > 0 ? source.attributes : undefined,
        headers: headers.size > 0 ? Object.fromEntries(headers) : undefined,
        formatVersion,
        codecs,
        sharding,
        links: linkWidth > 0 ? { width: linkWidth, late: true } : undefined,
      },
      { signal, limits, maxMemory: memory },
    );
    try {
      let [objects, last]: [number, bigint | undefined] = [0, undefined];
      const numbered = { options, numbers: { next: 0, told: false }, lose };
      let vertices = 0;
      for await (const batch of passed.batches()) {
        signal?.throwIfAborted();
        await writer.add(batch);
        const fresh = (batch.ids ?? []).filter((id) => id !== last);
        renumbered(numbered, fresh);
        objects += fresh.length;
        last = batch.ids?.at(-1) ?? last;
        vertices += batch.positions.length / source.axes.length;
        onProgress?.({ done: vertices, total: passed.vertices, unit: "vertices" });
      }
      if (passed.groups !== undefined) writer.groups(passed.groups.members, passed.groups.columns);
      refuseLosses(options, losses);
      const { dataset, ...built } = await committed(writer, pyramid);
      return { chunksCopied: 0, chunksRecoded: dataset.levels.length, vertices, objects, losses, ...built };
    } catch (error) {
      await writer.abort();
      throw error;
    }
  } finally {
    for (const scratch of scratches) await scratch.clear();
  }
}
