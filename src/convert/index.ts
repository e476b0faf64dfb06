/** `convert`: a dataset, or what is at an address, to another address. */
import { Conflict, Corrupt, NotFound, Unsupported } from "../errors.js";
import type { WritableVersion, ZarrGroup } from "../format/zarr/index.js";
import type { ArrayDataset, Dataset, GroupDataset } from "../model/dataset.js";
import type { VectorDataset } from "../model/vectors.js";
import type { OpenOptions } from "../open.js";
import type { Prefix } from "../store/key.js";
import type { Location, LocationOptions } from "../store/open.js";
import type { Store } from "../store/types.js";
import type { ZipWriteStore } from "../store/zip-write.js";
import { type ConvertOptions, type ConvertReport, convertArray } from "./arrays.js";
import type { PublishOptions } from "./precomputed/publication.js";
import { convertTree } from "./tree.js";
import { type ConvertVectorsOptions, convertVectors } from "./vectors.js";
import { type ConvertVolumeOptions, convertVolume } from "./volumes.js";

/** The formats of arrays that can be written, by the name that `to` has. */
export const TARGETS = { zarr3: 3, zarr2: 2, zarr0: 0 } as const satisfies Record<string, WritableVersion>;

/** What the target is to be, and how to get there. */
export interface ConvertToOptions
  extends Omit<ConvertOptions, "version" | "codecs">,
    Omit<LocationOptions, "create">,
    Pick<ConvertVectorsOptions, "formatVersion" | "dtype" | "codecs" | "ids">,
    Pick<PublishOptions, "kind" | "keepTypes">,
    Pick<ConvertVolumeOptions, "encoding" | "sharded" | "scales" | "resolution"> {
  /** Of precomputed skeletons and meshes: the address of the volume of labels whose info shall name them. */
  readonly link?: string | undefined;
  /** "zarr3" for arrays, "zarr-vectors" for geometry unless told otherwise. */
  readonly to?: keyof typeof TARGETS | "zarr-vectors" | "precomputed" | undefined;
}

type Opener<T, O> = (url: string, options?: O) => Promise<T>;

/** `convert` for the addresses that `openLocation` understands. */
export function converter(open: Opener<Dataset, OpenOptions>, openLocation: Opener<Location, LocationOptions>) {
  return async (source: Dataset | string, target: string, options: ConvertToOptions = {}): Promise<ConvertReport> => {
    const dataset = typeof source === "string" ? await open(source, options) : source;
    const { link } = options;
    const linked =
      link === undefined
        ? undefined
        : await (await import("./precomputed/link.js")).linker(openLocation, link, target, dataset, options);
    const report = await into(openLocation, target, options, ({ store, at }) =>
      convertInto(dataset, store, at, options),
    );
    await linked?.();
    return report;
  };
}

/** Does some work at an address, which is made for it: a zip file is there when the work is done, or not at all. */
export async function into<T>(
  openLocation: Opener<Location, LocationOptions>,
  target: string,
  options: LocationOptions & { readonly overwrite?: boolean | undefined },
  work: (location: Location) => Promise<T>,
): Promise<T> {
  if (options.overwrite !== true) await refuseZip(openLocation, target, options);
  const location = await openLocation(target, { ...options, create: true });
  const { store } = location;
  try {
    const result = await work(location);
    await store.close?.();
    return result;
  } catch (error) {
    await (store as Partial<ZipWriteStore>).abort?.();
    throw error;
  }
}

async function convertInto(
  dataset: Dataset,
  store: Store,
  at: Prefix,
  options: ConvertToOptions,
): Promise<ConvertReport> {
  if (dataset.kind === "vectors" && options.to === "precomputed") {
    const { convertToPrecomputed } = await import("./precomputed/index.js");
    return convertToPrecomputed(dataset, store, at, publishOptions(dataset, options));
  }
  if (dataset.kind === "vectors") return convertVectors(dataset, store, at, vectorOptions(dataset, options));
  if (dataset.kind === "array" && options.to === "precomputed") {
    const report = await convertVolume(dataset, store, at, volumeOptions(dataset, options));
    return withoutLevels(dataset, report);
  }
  const wanted = arrayOptions(dataset, options);
  if (dataset.kind === "array") return withoutLevels(dataset, (await convertArray(dataset, store, at, wanted)).report);
  return (await convertTree(treeOf(dataset), store, at, wanted)).report;
}

/** Only one scale is converted at a time. */
function withoutLevels(array: ArrayDataset, report: ConvertReport): ConvertReport {
  const { url, levels = [] } = array;
  if (levels.length > 1 && levels[0] === array)
    report.losses.push(`${url}: its ${levels.length - 1} coarser scales, which can be made again from it`);
  return report;
}

/** What the options mean for geometry that becomes precomputed. */
export function publishOptions({ url: where }: { readonly url: string }, options: ConvertToOptions): PublishOptions {
  const {
    to: _,
    formatVersion,
    dtype,
    codecs,
    chunkShape,
    shardShape,
    encoding,
    scales,
    resume,
    link: _l,
    ...rest
  } = options;
  const foreign = { formatVersion, dtype, codecs, chunkShape, shardShape, encoding, scales, resume };
  refuse(
    foreign,
    `${where} cannot become precomputed geometry`,
    "It has kind, sharded, resolution, ids and keepTypes.",
  );
  return rest;
}

/** What the options mean for volumes. */
export function volumeOptions(
  { url: where }: { readonly url: string },
  options: ConvertToOptions,
): ConvertVolumeOptions {
  const { to: _, formatVersion, dtype, ids, codecs, shardShape, resume, kind, keepTypes, link, ...rest } = options;
  const foreign = { formatVersion, dtype, ids, codecs, shardShape, resume, kind, keepTypes, link };
  refuse(foreign, `${where} cannot become a volume`, "Volumes have encoding, sharded, scales and resolution.");
  return rest;
}

/** Unsupported where one of these options is given. */
function refuse(foreign: { readonly [name: string]: unknown }, what: string, hint?: string): void {
  const [name] = Object.entries(foreign).find(([, value]) => value !== undefined && value !== false) ?? [];
  if (name !== undefined)
    throw new Unsupported(`${what} with the option ${name}, which means nothing there`, { ...(hint && { hint }) });
}

/** What the options mean for arrays. */
export function arrayOptions({ url: where }: { readonly url: string }, options: ConvertToOptions): ConvertOptions {
  const { to = "zarr3" } = options;
  if (to === "precomputed")
    throw new Unsupported(`${where} is a group, and a volume is one array at several scales`, {
      where,
      hint: "Convert its arrays one by one.",
    });
  const { formatVersion, dtype, ids, ...rest } = withoutPublishing(options, `${where} cannot become Zarr`);
  if (to === "zarr-vectors" || formatVersion !== undefined || dtype !== undefined || ids !== undefined)
    throw new Unsupported(`${where} has no geometry, so it cannot become Zarr Vectors`, { where });
  return { ...rest, version: TARGETS[to] };
}

/** What the options mean for geometry. */
export function vectorOptions(dataset: VectorDataset, options: ConvertToOptions): ConvertVectorsOptions {
  const { to = "zarr-vectors" } = options;
  const where = dataset.url;
  if (to !== "zarr-vectors") throw new Unsupported(`${where} is geometry, and ${to} holds arrays`, { where });
  const { resume, shardShape, ...rest } = withoutPublishing(options, `${where} cannot become Zarr Vectors`);
  if (resume === true)
    throw new Unsupported(`the conversion of ${where} cannot be resumed`, { where, hint: "Begin anew: overwrite." });
  return { ...rest, sharding: shardShape };
}

/** The options without those of precomputed data, which nobody may have given. */
function withoutPublishing(options: ConvertToOptions, otherwise: string) {
  const { to, encoding, sharded, scales, resolution, kind, keepTypes, link, ...rest } = options;
  refuse({ encoding, sharded, scales, resolution, kind, keepTypes, link }, otherwise);
  return rest;
}

/** The group that can be converted whole; Unsupported where there is none. */
export function treeOf(group: GroupDataset): ZarrGroup {
  if (group.format === "zarr") return group as ZarrGroup;
  throw new Unsupported(`${group.url} is a group of ${group.format}, and only those of Zarr can be converted whole`, {
    where: group.url,
    hint: "Convert its arrays one by one.",
  });
}

/** A zip file under way knows nothing of the one that it would replace. */
async function refuseZip(openLocation: Opener<Location, LocationOptions>, target: string, options: LocationOptions) {
  const [file = ""] = target.split("|");
  if (!/\.(zip|ozx)$/i.test(file)) return;
  try {
    await (await openLocation(file, options)).store.close?.();
  } catch (error) {
    if (error instanceof NotFound) return;
    if (!(error instanceof Corrupt)) throw error; // a file that is no zip file is there all the same
  }
  throw new Conflict(`${file} is already there`, { where: file, hint: "Choose another name, or overwrite." });
}
