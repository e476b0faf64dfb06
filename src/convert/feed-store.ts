/** A feed becomes a store of Zarr Vectors: one level, batch by batch. */
import { createZarrVectors } from "../format/zarr-vectors/write/write.js";
import type { PyramidOptions } from "../pyramid/index.js";
import type { Prefix } from "../store/key.js";
import type { Store } from "../store/types.js";
import type { ConvertReport } from "./arrays.js";
import { type Feed, notesOf, writingWithin } from "./feed.js";
import { committed } from "./levels.js";
import { refuseLosses } from "./losses.js";
import { type ConvertVectorsOptions, fits, inRoom, renumbered } from "./vectors.js";

export function writeFeed(
  feed: Feed,
  store: Store,
  at: Prefix,
  options: ConvertVectorsOptions = {},
  pyramid?: PyramidOptions,
): Promise<ConvertReport> {
  const { signal, limits, formatVersion, codecs, sharding, dtype, ids } = options;
  const { geometry, axes, headers, layout, linkWidth, hasObjects } = feed;
  refuseLosses(options, feed.losses);
  return inRoom(store, at, options, async () => {
    const writer = await createZarrVectors(
      store,
      at,
      {
        geometry,
        axes,
        crs: feed.crs ?? undefined,
        dtype,
        chunkShape: options.chunkShape ?? layout?.chunkShape ?? "auto",
        binShape:
          layout?.binShape && fits(options.chunkShape, layout.binShape, layout.chunkShape)
            ? layout.binShape
            : undefined,
        objects: hasObjects,
        ids: ids ?? (formatVersion === "0.7.0" ? "preserve" : "sparse"),
        userMetadata: Object.keys(feed.attributes).length > 0 ? feed.attributes : undefined,
        headers: headers.size > 0 ? Object.fromEntries(headers) : undefined,
        formatVersion,
        codecs,
        sharding,
        links: linkWidth > 0 ? { width: linkWidth } : undefined,
      },
      { signal, limits, maxMemory: writingWithin(options, 1 / 2) },
    );
    try {
      let [vertices, objects] = [0, 0];
      const numbers = { next: 0, told: false };
      const lost: string[] = [];
      const lose = (sentence: string): void => void lost.push(`${feed.url}: ${sentence}`);
      for await (const batch of feed.batches()) {
        await writer.add(hasObjects ? batch : { ...batch, fragments: undefined });
        if (batch.repeats === true) continue;
        renumbered({ options, numbers, lose }, batch.ids);
        vertices += batch.positions.length / batch.dims;
        objects += batch.ids.length;
      }
      const groups = await feed.groups();
      if (groups.members.length > 0)
        writer.groups(
          groups.members.map((own) => [...own]),
          groups.columns,
        );
      const losses = [...feed.losses, ...lost]; // of which there may be more now
      refuseLosses(options, losses);
      const { dataset: _, ...levels } = await committed(writer, pyramid);
      return { chunksCopied: 0, chunksRecoded: 1, vertices, objects, losses, ...levels, ...notesOf(feed) };
    } catch (error) {
      await writer.abort();
      throw error;
    }
  });
}
