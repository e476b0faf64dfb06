/** Coarser levels as the last step of a conversion: by then the store is whole, and stays so whatever becomes of them. */
import { OctavoError, Unsupported } from "../errors.js";
import type { Query } from "../model/vectors.js";
import type { PyramidOptions } from "../pyramid/index.js";
import { checkPyramid } from "../pyramid/plan.js";
import type { Location } from "../store/open.js";
import type { ConvertReport } from "./arrays.js";

/** What the levels shall be, known before anything is written; `holds` is whether the target is a store that can have them. */
export function levelsWanted(
  target: string,
  holds: boolean,
  pyramid: PyramidOptions | true | undefined,
  { signal, limits, maxMemory, onProgress }: PyramidOptions,
): PyramidOptions | undefined {
  if (pyramid === undefined) return undefined;
  if (!holds || isZip(target))
    throw new Unsupported(`${target} cannot be written with the option pyramid, which means nothing there`, {
      where: target,
      hint: "Coarser levels are built in Zarr Vectors stores of version 0.9.2 that are no zip files.",
    });
  const own = pyramid === true ? {} : pyramid;
  checkPyramid(own);
  return { signal, limits, maxMemory, onProgress, ...own };
}

/** Whether an address is that of a zip file, or of something in one. */
export const isZip = (target: string): boolean => /\.(zip|ozx)(\||$)/i.test(target);

/** Where levels are built, those of the source are not lost, and are not read. */
export const finest = (query: Query = {}): Query =>
  (query.level ?? query.maxVertices ?? query.resolution) === undefined ? { ...query, level: 0 } : query;

/** An error says that the store itself is there. */
export async function addLevels(
  report: ConvertReport,
  { store, at }: Location,
  options: PyramidOptions,
): Promise<ConvertReport> {
  const { buildPyramid } = await import("../pyramid/build.js");
  try {
    return { ...report, ...(await buildPyramid(store, at, options)) };
  } catch (error) {
    if (!(error instanceof OctavoError)) throw error;
    const { where, reason, cause } = error;
    const Kind = error.constructor as new (message: string, details: object) => OctavoError;
    throw new Kind(`level 0 is written, its coarser levels were not finished: ${error.message}`, {
      where,
      reason,
      cause,
      hint: error.hint ?? "The store can be used as it is; octavo pyramid builds its levels.",
    });
  }
}
