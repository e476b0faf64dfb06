/** The parts of a dataset are written one after the other into a folder: all of them, or nothing stays. */
import { Conflict, InvalidInput, Unsupported } from "../errors.js";
import { deleteNode } from "../format/zarr/edit.js";
import type { Dataset } from "../model/dataset.js";
import type { Counts, Selection } from "../model/vectors.js";
import { Key, Prefix } from "../store/key.js";
import type { Location, LocationOptions } from "../store/open.js";
import { type FeedOptions, feedOf } from "./feed.js";
import type { converter } from "./index.js";
import { isZip } from "./levels.js";
import { LossesOfParts, refuseLosses } from "./losses.js";
import type { SplitOptions, SplitReport } from "./split.js";
import { extensionOf, namesFor } from "./split-names.js";
import { planSplit } from "./split-plan.js";

interface Means {
  readonly openLocation: (url: string, options?: LocationOptions) => Promise<Location>;
  readonly convert: ReturnType<typeof converter>;
}

export async function splitInto(
  dataset: Dataset,
  folder: string,
  options: SplitOptions,
  { openLocation, convert }: Means,
): Promise<SplitReport> {
  if (dataset.kind !== "vectors")
    throw new Unsupported(`${dataset.url} is ${dataset.kind === "array" ? "an array" : "a group"}, and no geometry`, {
      where: dataset.url,
    });
  const { by: _, size: _s, clip: _c, onProgress, to = "zarr-vectors", dryRun, ...rest } = options;
  const { signal, overwrite } = rest;
  const nameOf = namesFor(extensionOf(to));
  if (isZip(folder)) throw new InvalidInput(`${folder} is a zip file, and the parts go to a folder`, { where: folder });
  const { store, at, file } = await openLocation(folder, rest);
  if (file !== undefined)
    throw new InvalidInput(`${folder} is a file, and the parts go to a folder`, { where: folder });
  if (overwrite !== true) {
    const { keys, prefixes } = await store.children(at, { signal });
    if (keys.length + prefixes.length > 0)
      throw new Conflict(`${folder} is not empty`, {
        where: folder,
        hint: "Choose another folder, or overwrite (--overwrite).",
      });
  }
  const { parts, notes, ...plan } = await planSplit(dataset, options);
  refuseLosses(options, plan.losses);
  const losses = new LossesOfParts();
  const outputs: { name: string; vertices: number; objects: number }[] = [];
  const begun: string[] = [];
  try {
    for (const [done, { name: text, selection, isCut }] of parts.entries()) {
      signal?.throwIfAborted();
      onProgress?.({ done, total: parts.length, unit: "files" });
      const cut = isCut ? await countOf(selection, rest) : undefined;
      if (cut?.vertices === 0) continue;
      const name = nameOf(text);
      if (dryRun === true) {
        const exact = selection.query.where !== undefined; // of which indexes know nothing
        const { vertices, objects } = cut ?? (await selection.count({ ...rest, exact }));
        outputs.push({ name, vertices, objects });
        continue;
      }
      begun.push(name);
      const report = await convert(selection, below(folder, name), { ...rest, to });
      outputs.push({ name, vertices: report.vertices ?? 0, objects: report.objects ?? 0 });
      losses.add(report.losses);
    }
  } catch (error) {
    for (const name of begun) {
      await deleteNode(store, Prefix.join(at, name));
      await store.delete(Key.join(at, name));
    }
    throw error;
  }
  return { outputs, losses: [...plan.losses, ...losses.sentences()], notes };
}

/** How much a cut leaves, with each piece of a path as an object. */
async function countOf({ dataset, query }: Selection, options: FeedOptions): Promise<Omit<Counts, "exact">> {
  let [vertices, objects] = [0, 0];
  for await (const batch of (await feedOf(dataset, query, { ...options, apart: true })).batches({ attributes: [] })) {
    if (batch.repeats === true) continue;
    vertices += batch.positions.length / batch.dims;
    objects += batch.ids.length;
  }
  return { vertices, objects };
}

/** The address of a name in a folder; what is behind "?" in a web address belongs to the store. */
function below(folder: string, name: string): string {
  const [address = "", query = ""] = /^[a-z][a-z0-9+.-]+:/i.test(folder) ? folder.split(/(?=\?)/) : [folder];
  return `${address.replace(/\/$/, "")}/${name}${query}`;
}
