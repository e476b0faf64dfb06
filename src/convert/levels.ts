/** Coarser levels of what is converted: they are there when the store is; links between them come last. */
import { Unsupported } from "../errors.js";
import type { ZarrVectors } from "../format/zarr-vectors/index.js";
import type { VectorWriter } from "../format/zarr-vectors/write/write.js";
import type { Query } from "../model/vectors.js";
import type { PyramidLevel, PyramidOptions } from "../pyramid/index.js";
import { checkPyramid } from "../pyramid/plan.js";
import type { Location } from "../store/open.js";
import type { Store } from "../store/types.js";
import { wrap } from "../store/wrap.js";
import type { ConvertReport } from "./arrays.js";

/** What the levels shall be, known before anything is written; `holds` is whether the target is a store that can have them. */
export function levelsWanted(
  target: string,
  holds: boolean,
  pyramid: PyramidOptions | true | undefined,
  { signal, limits, maxMemory, pool, onProgress }: PyramidOptions,
): PyramidOptions | undefined {
  if (pyramid === undefined) return undefined;
  if (!holds)
    throw new Unsupported(`${target} cannot be written with the option pyramid, which means nothing there`, {
      where: target,
      hint: "Coarser levels are built in Zarr Vectors stores of version 0.9.2.",
    });
  const own = pyramid === true ? {} : pyramid;
  checkPyramid(own);
  return { signal, limits, maxMemory, pool, onProgress, ...own };
}

/** Whether an address is that of a zip file, or of something in one. */
export const isZip = (target: string): boolean => /\.(zip|ozx)(\||$)/i.test(target);

/** A zip file under way cannot be read, as level 0 must be: the store is made elsewhere, and goes there when it is whole. */
export async function elsewhere(
  { store: target, at }: Pick<Location, "store" | "at">,
  place: { readonly store: Store; remove(): Promise<void> },
  work: (location: Location) => Promise<ConvertReport>,
): Promise<ConvertReport> {
  try {
    const report = await work({ store: wrap(place.store, { url: target.url }), at });
    for await (const { key } of place.store.list(at)) await target.set(key, (await place.store.get(key))!);
    return report;
  } finally {
    await place.remove();
  }
}

/** Where levels are built, those of the source are not lost, and are not read. */
export const finest = (query: Query = {}): Query =>
  (query.level ?? query.maxVertices ?? query.resolution) === undefined ? { ...query, level: 0 } : query;

/** Commits a store with the coarser levels that it shall have, which nobody sees before. */
export async function committed(
  writer: VectorWriter,
  options: PyramidOptions | undefined,
): Promise<{ readonly dataset: ZarrVectors; readonly levels?: readonly PyramidLevel[] }> {
  if (options === undefined) return { dataset: await writer.commit() };
  const { coarserLevels } = await import("../pyramid/build.js");
  let made: Awaited<ReturnType<typeof coarserLevels>> | undefined;
  const dataset = await writer.commit(async (finest) => {
    made = await coarserLevels(finest, options);
    return made;
  });
  return { dataset, ...made!.report() };
}

/** Gives a store that nobody sees yet its coarser levels. */
export async function withLevels(
  report: ConvertReport,
  { store, at }: Pick<Location, "store" | "at">,
  options: PyramidOptions,
): Promise<ConvertReport> {
  const { writePyramid } = await import("../pyramid/build.js");
  return { ...report, ...(await writePyramid(store, at, options)) };
}

/** What comes when a store is there. */
export async function withLinks(
  report: ConvertReport,
  { store, at }: Location,
  options: PyramidOptions,
): Promise<ConvertReport> {
  await (await import("../pyramid/cross.js")).linkLevels(store, at, options);
  return report;
}
