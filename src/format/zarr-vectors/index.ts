/** Zarr Vectors: multiscale points, lines, streamlines, graphs, skeletons and meshes, of every version. */
import { withLimits } from "../../limits.js";
import type { Format, FormatOptions, RepairOptions, RepairReport } from "../../model/format.js";
import { Key, Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import type { EditOptions, VectorTransaction } from "./edit/edit.js";
import type { OpenStoreOptions } from "./nodes/open-nodes.js";
import type { PublishOptions, PublishReport } from "./publish/publish.js";
import type { ZarrVectors } from "./read/dataset.js";
import type { VectorDescription } from "./write/description.js";
import type { VectorWriteOptions, VectorWriter } from "./write/write.js";

export type { Parametric, ParametricObject } from "../../model/vectors.js";
export type { ScratchPlace } from "../../store/scratch.js";
export type { EditOptions, VectorCommitted, VectorTransaction } from "./edit/edit.js";
export type { AddedValues, AttributeRows } from "./edit/edit-attributes.js";
export type { OpenedStore, OpenStoreOptions } from "./nodes/open-nodes.js";
export type { PublishOptions, PublishReport } from "./publish/publish.js";
export type { ZarrVectors } from "./read/dataset.js";
export type { LevelMeta, LinksConvention, RootMeta } from "./types.js";
export type { VectorDescription, WrittenVersion } from "./write/description.js";
export type {
  BatchParts,
  GroupMembers,
  LevelDescription,
  VectorLevelWriter,
  VectorWriteOptions,
  VectorWriter,
} from "./write/write.js";
export type { Dropped } from "./write/write-batch.js";

/**
 * Opens a store of any version; `open` does the same from an address. Its documents are read, no data. What a reader should know
 * before trusting it is in `notes`. NotFound where there is none; Unsupported, by name, where its version or a capability that it
 * requires is not known. The dataset keeps up with commits: each question is answered from one state of the store.
 */
export async function openZarrVectors(
  store: Store,
  at: Prefix = Prefix.root,
  options: OpenStoreOptions = {},
): Promise<ZarrVectors> {
  const { openStore, vectorDataset } = await import("./open.js");
  return vectorDataset(await openStore(store, at, options), options);
}

/**
 * Begins a new store. Batches are added in any order, as queries give them; what does not fit into memory is put aside. `commit`
 * writes the root's document last: before that there is nothing that a reader would take for a store. Conflict where something
 * is, unless it may be overwritten; a batch that breaks a policy of the description is refused whole.
 */
export async function createZarrVectors(
  store: Store,
  at: Prefix,
  description: VectorDescription,
  options: VectorWriteOptions = {},
): Promise<VectorWriter> {
  return (await import("./write/write.js")).createZarrVectors(store, at, description, options);
}

/**
 * Begins edits of a store, from 0.9 on: objects, vertices, attributes, groups, chunks. Nothing happens before `commit`, and then all
 * of it or nothing: a crash at any moment leaves the store as before or as after. Who edits at the same time loses nothing; what
 * both have changed is done again on top of the other. Older stores are Unsupported: `convert` brings them to 0.9.2.
 */
export async function editZarrVectors(
  store: Store,
  at: Prefix = Prefix.root,
  options: EditOptions = {},
): Promise<VectorTransaction> {
  return (await import("./edit/edit.js")).editZarrVectors(store, at, options);
}

/**
 * Writes again what follows from the rest of a store, as one transaction: directories of chunks, counts, owners of fragments, bounds,
 * transactions that were interrupted. Data are never made up: what only their owner can decide is in `left`. With `dryRun` nothing
 * is written.
 */
export async function repairZarrVectors(
  store: Store,
  at: Prefix = Prefix.root,
  options: RepairOptions = {},
): Promise<RepairReport> {
  return (await import("./validate/repair.js")).repairZarrVectors(store, at, options);
}

/** Writes the web form of a store: for readers, who then need one request to open it and a few for each question. */
export async function publishZarrVectors(
  source: ZarrVectors,
  store: Store,
  at: Prefix = Prefix.root,
  options: PublishOptions = {},
): Promise<PublishReport> {
  return (await import("./publish/publish.js")).publishZarrVectors(source, store, at, options);
}

/** Whether the document of a root is there and has the word. What reads it decides; pages that look at arrays never load that. */
async function maybeRoot(store: Store, at: Prefix, options: FormatOptions = {}): Promise<boolean> {
  const { signal, get = store.get.bind(store) } = options;
  const call = { signal, most: withLimits(options.limits).metadataBytes };
  const document = (await get(Key.join(at, "zarr.json"), call)) ?? (await get(Key.join(at, ".zattrs"), call));
  return document !== undefined && new TextDecoder().decode(document).includes("zarr_vectors");
}

/** Zarr Vectors as a format: how `open`, `detect`, `validate` and `repair` of the library and the command line know it. */
export const zarrVectors: Format = {
  id: "zarr-vectors",
  name: "Zarr Vectors",
  async detect(store, at, options) {
    if (!(await maybeRoot(store, at, options))) return undefined;
    const { detectZarrVectors } = await import("./open.js");
    return detectZarrVectors(store, at, options);
  },
  open: openZarrVectors,
  async *validate(store, at, options) {
    const { validateZarrVectors } = await import("./validate/validate.js");
    yield* validateZarrVectors(store, at, options);
  },
  repair: repairZarrVectors,
};
