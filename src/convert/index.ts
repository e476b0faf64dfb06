/** `convert`: a dataset, a part of it, or what is at an address, to another address. */
import { Conflict, Corrupt, InvalidInput, NotFound, Unsupported } from "../errors.js";
import type { ZarrGroup } from "../format/zarr/index.js";
import { refuseOverlap } from "../format/zarr/room.js";
import type { ArrayDataset, Dataset, GroupDataset } from "../model/dataset.js";
import type { Query, Selection, VectorDataset } from "../model/vectors.js";
import type { OpenOptions } from "../open.js";
import type { PyramidOptions } from "../pyramid/index.js";
import { Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import type { Location, LocationOptions } from "../store/open.js";
import type { ScratchFile } from "../store/scratch.js";
import type { Store } from "../store/types.js";
import type { ZipWriteStore } from "../store/zip-write.js";
import { type ConvertReport, convertArray } from "./arrays.js";
import { type Feed, feedOf } from "./feed.js";
import type { ManyOptions } from "./feed-many.js";
import { convertToFile, fileKind, sinkAt } from "./files.js";
import type { Input } from "./inputs.js";
import { jobOf } from "./job.js";
import { elsewhere, finest, isZip, levelsWanted, withLevels, withLinks } from "./levels.js";
import { refuseLosses, withSkipped } from "./losses.js";
import {
  arrayOptions,
  type ConvertToOptions,
  FORMATS,
  holdsLevels,
  isMany,
  isParticleFile,
  particleOptions,
  publishOptions,
  refuse,
  vectorOptions,
  volumeOptions,
} from "./options.js";
import { refuseSlice, sliced } from "./slice.js";
import type { Tracts } from "./tracts.js";
import { convertTree } from "./tree.js";
import { convertVectors } from "./vectors.js";
import { convertVolume } from "./volumes.js";

/** Where a conversion may put things meanwhile; what is there is gone with it. */
export interface Temporary {
  file(): ScratchFile;
  folder(): Promise<{ readonly store: Store; remove(): Promise<void> }>;
}

type Opener<T, O> = (url: string, options?: O) => Promise<T>;

/** `convert` for the addresses that `openLocation` understands; without a place for temporary things, memory is it. */
export function converter(
  open: Opener<Dataset, OpenOptions>,
  openLocation: Opener<Location, LocationOptions>,
  temporary?: Temporary,
) {
  const openedFrom = async (source: Source, options: OpenOptions): Promise<Dataset | Selection | readonly Input[]> => {
    if (typeof source !== "string" && !Array.isArray(source)) return source as Dataset | Selection;
    const addresses: readonly string[] = typeof source === "string" ? [source] : source;
    if (addresses.length === 0) throw new InvalidInput("there is nothing to convert: the list of addresses is empty");
    const [only] = addresses as [string];
    const { inputsOf, isPattern } = await import("./inputs.js");
    if (addresses.length > 1 || isPattern(only)) return inputsOf(openLocation, addresses, options);
    try {
      return await open(only, { ...options, related: true });
    } catch (error) {
      if (error instanceof NotFound) return inputsOf(openLocation, addresses, options); // perhaps a folder of files
      throw error;
    }
  };
  const work = async (
    source: Source,
    target: string,
    {
      query: part,
      slice,
      attributes,
      ascii,
      onBad,
      pyramid,
      resume,
      part: share,
      finish,
      ...options
    }: ConvertToOptions & Pick<ManyOptions, "onBad" | "merge">,
  ): Promise<ConvertReport> => {
    if (options.to !== undefined && !FORMATS.includes(options.to))
      throw new InvalidInput(
        `there is no format ${JSON.stringify(options.to)} to write; there are: ${FORMATS.join(", ")}`,
      );
    const kind = fileKind(target, options.to);
    const reading = { ...options, attributes, onBad };
    const sharing = { resume: resume || undefined, part: share, finish: finish || undefined };
    const opened = await openedFrom(source, reading);
    const [dataset, query] = "batches" in opened ? [opened.dataset, opened.query] : [opened, part];
    refuseSlice(dataset, slice);
    const levels = levelsWanted(target, holdsLevels(dataset, target, options), pyramid, options);
    // Of what is written in parts, coarser levels come when all are there. Links between levels come when anybody can see them.
    const [early, late] = share === undefined && finish !== true ? [levels, undefined] : [undefined, levels];
    const more = levels?.crossLinks && ((report: ConvertReport, to: Location) => withLinks(report, to, levels));
    const tracts = await (await import("./tracts.js")).tractsOf(openLocation, options);
    const feed = (tellFiles = false): Promise<Feed> =>
      feedFrom(dataset, levels === undefined ? query : finest(query), {
        ...reading,
        tracts,
        tellFiles,
        apart: kind === undefined && !isParticleFile(target, options.to),
      });
    /** Into a store, in one go or as a share of the work. */
    const inStore = (work: (location: Location) => Promise<ConvertReport>): Promise<ConvertReport> =>
      into(openLocation, target, options, async (location) => {
        const { inStage } = await import("./stage.js");
        const job = await jobOf(openLocation, dataset, {
          ...options,
          query,
          slice,
          attributes,
          pyramid,
          skipBad: onBad && true,
        });
        const { signal, overwrite } = options;
        if (early !== undefined && isZip(target) && resume !== true)
          return elsewhere(location, await placeFor(temporary), async (to) => {
            const report = await work(to);
            return more ? more(report, to) : report;
          });
        return inStage(location, job, { ...sharing, signal, overwrite }, work, {
          unseen: late && ((report, to) => withLevels(report, to, late)),
          last: more ? (report) => more(report, location) : undefined,
        });
      });
    if (kind !== undefined || isParticleFile(target, options.to)) refuseSharing(target, sharing);
    if (isParticleFile(target, options.to)) {
      refuse({ ascii }, `${target} is no text`);
      if ("format" in dataset && dataset.format === "tree")
        throw new Unsupported(`${dataset.url} is a packed tree, which has no positions`, {
          where: dataset.url,
          hint: "octavo tree build with --positions FILE.npy, in the order of the tree, joins both.",
        });
      const { convertToParticles } = await import("./particles.js");
      const data = await feed();
      const sink = await sinkAt(openLocation, target, options);
      return convertToParticles(data, sink, { ...particleOptions(data, options), scratch: temporary?.file });
    }
    if (kind?.id === "npy" && !isMany(dataset) && dataset.kind === "array") {
      const { convertToNpy } = await import("./npy.js");
      return convertToNpy(sliced(dataset, slice), await sinkAt(openLocation, target, options), options);
    }
    if (kind !== undefined) {
      const data = await feed();
      const sink = await sinkAt(openLocation, target, options);
      const gzip = /\.gz$/i.test(target);
      const { reference } = tracts ?? {};
      return convertToFile(data, kind, sink, { ...options, ascii, reference, gzip, scratch: temporary?.file });
    }
    refuse({ ascii }, `${target} is no single file, and is not written`);
    if (isMany(dataset) || [query, attributes, tracts].some((asked) => asked !== undefined)) {
      const data = await feed(true);
      return inStore(({ store, at }) => feedInto(data, store, at, options, temporary, early));
    }
    const { link } = options;
    const linked =
      link === undefined
        ? undefined
        : await (await import("./precomputed/link.js")).linker(openLocation, link, target, dataset, options);
    if (share !== undefined && dataset.kind === "array" && (options.scales ?? 1) > 1)
      throw new Unsupported(`${target} cannot be written in parts with coarser scales, which are made of all of it`, {
        where: target,
      });
    const report = await inStore(({ store, at }) => convertInto(dataset, store, at, { ...options, slice }, early));
    if (share === undefined) await linked?.();
    return report;
  };
  return async (
    source: Source,
    target: string,
    { skipBad, ...options }: ConvertToOptions & Pick<ManyOptions, "merge"> = {},
  ): Promise<ConvertReport> => {
    if (skipBad !== true) return work(source, target, options);
    const skipped: string[] = [];
    const onBad = ({ message }: Error): void => {
      refuseLosses(options, [message]);
      skipped.push(message);
    };
    return withSkipped(await work(source, target, { ...options, onBad }), skipped);
  };
}

/** What `convert` takes: a dataset, a part of one, an address or several; of files also a folder, or a pattern with "*". */
export type Source = Dataset | Selection | string | readonly string[];

/** What is converted, as one level. */
export async function feedFrom(
  source: Dataset | readonly Input[],
  query: Query = {},
  { tracts, ...options }: ManyOptions & { readonly tracts?: Tracts | undefined } = {},
): Promise<Feed> {
  const { attach, within = (feed: Feed) => feed } = tracts ?? {};
  if (!isMany(source)) {
    const dataset = geometryOf(source);
    return within(await feedOf((await attach?.(dataset)) ?? dataset, query, options));
  }
  if (attach !== undefined)
    throw new Unsupported(`values are attached to the streamlines of one dataset, and there are ${source.length}`);
  const many =
    options.merge !== undefined
      ? (await import("./feed-merged.js")).feedOfMerged
      : (await import("./feed-many.js")).feedOfMany;
  return within(await many(source, query, options));
}

/** One file is written by one process, from its beginning to its end. */
function refuseSharing(where: string, sharing: Pick<ConvertToOptions, "resume" | "part" | "finish">): void {
  const [name] = Object.entries(sharing).find(([, given]) => given !== undefined) ?? [];
  if (name === undefined) return;
  throw new Unsupported(`${where} is one file, which is written in one go: ${name} means nothing there`, {
    where,
    hint: "Write several files, each of some of the input, and put them together: octavo merge.",
  });
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
  const { store, file } = location;
  if (file !== undefined)
    throw new InvalidInput(`${target} is the name of a file, or a file is there, and what is written is a folder`, {
      where: target,
      hint: "Give it another name, or choose what is written with --to.",
    });
  try {
    const result = await work(location);
    await store.close?.();
    return result;
  } catch (error) {
    await (store as Partial<ZipWriteStore>).abort?.();
    throw error;
  }
}

function geometryOf(dataset: Dataset): VectorDataset {
  if (dataset.kind === "vectors") return dataset;
  const { url: where, kind } = dataset;
  const hint = "Arrays become .npy; octavo get writes them as .csv and .json as well.";
  throw new Unsupported(`${where} is ${kind === "array" ? "an array" : "a group"}, and only geometry is written so`, {
    where,
    hint,
  });
}

const placeFor = async (temporary: Temporary | undefined) =>
  (await temporary?.folder()) ?? { store: memoryStore(), remove: async () => {} };

/** What is not in a store becomes one first, where the target wants to ask for it again and again. */
export async function feedInto(
  feed: Feed,
  store: Store,
  at: Prefix,
  options: ConvertToOptions,
  temporary: Temporary | undefined,
  pyramid: PyramidOptions | undefined,
): Promise<ConvertReport> {
  const { writeFeed } = await import("./feed-store.js");
  for (const one of feed.origins ?? [feed]) refuseOverlap(one, store, at);
  if ((options.to ?? "zarr-vectors") === "zarr-vectors")
    return writeFeed(feed, store, at, vectorOptions(feed, options), pyramid);
  const { openZarrVectors } = await import("../format/zarr-vectors/index.js");
  const { signal, limits, maxMemory } = options;
  const place = await placeFor(temporary);
  try {
    const { losses, notes = [] } = await writeFeed(feed, place.store, Prefix.root, { signal, limits, maxMemory });
    refuseLosses(options, losses);
    const dataset = await openZarrVectors(place.store, Prefix.root, { signal, limits });
    const report = await convertInto({ ...dataset, url: feed.url }, store, at, options);
    return { ...report, losses: [...losses, ...report.losses], notes: [...notes, ...(report.notes ?? [])] };
  } finally {
    await place.remove();
  }
}

async function convertInto(
  dataset: Dataset,
  store: Store,
  at: Prefix,
  { slice, ...options }: ConvertToOptions,
  pyramid?: PyramidOptions,
): Promise<ConvertReport> {
  if (dataset.kind === "vectors" && options.to === "precomputed") {
    const { convertToPrecomputed } = await import("./precomputed/index.js");
    return convertToPrecomputed(dataset, store, at, publishOptions(dataset, options));
  }
  if (dataset.kind === "vectors") return convertVectors(dataset, store, at, vectorOptions(dataset, options), pyramid);
  if (dataset.kind === "group")
    return (await convertTree(treeOf(dataset), store, at, arrayOptions(dataset, options))).report;
  const lost = levelsLost(dataset);
  refuseLosses(options, lost);
  const part = sliced(dataset, slice);
  const report =
    options.to === "precomputed"
      ? await convertVolume(part, store, at, volumeOptions(dataset, options))
      : (await convertArray(part, store, at, arrayOptions(dataset, options))).report;
  report.losses.push(...lost);
  return report;
}

/** Only one scale is converted at a time. */
function levelsLost(array: ArrayDataset): string[] {
  const { url, levels = [] } = array;
  if (levels.length < 2 || levels[0] !== array) return [];
  return [`${url}: its ${levels.length - 1} coarser scales, which can be made again from it`];
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
  if (!isZip(file)) return;
  try {
    await (await openLocation(file, options)).store.close?.();
  } catch (error) {
    if (error instanceof NotFound) return;
    if (!(error instanceof Corrupt)) throw error; // a file that is no zip file is there all the same
  }
  throw new Conflict(`${file} is already there`, {
    where: file,
    hint: "Choose another name, or overwrite (--overwrite).",
  });
}
