/**
 * A store, opened: its root is read, everything else when it is asked for, and once. From 0.9 on opening costs one request (and
 * one listing, where the store can list); a level costs its document, and the first look at its nodes that of `vertices`,
 * which is needed to read it anyway, and of `object_index`.
 *
 * The levels are those that the store lists. Where it cannot list, the root's multiscales document names them.
 */
import { isJsonObject, type JsonObject } from "../../../bytes/json.js";
import { Corrupt, NotFound, OctavoError, Unsupported } from "../../../errors.js";
import { withLimits } from "../../../limits.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type { FormatOptions } from "../../../model/format.js";
import { Key, Prefix } from "../../../store/key.js";
import { type Overlay, overlay } from "../../../store/overlay.js";
import { packedStore } from "../../../store/packed.js";
import type { Store } from "../../../store/types.js";
import { readDocument } from "../../zarr/document.js";
import { urlOf as nodeUrl } from "../../zarr/node.js";
import { parseV3 } from "../../zarr/parse.js";
import type { Consolidated } from "../../zarr/types.js";
import type { Dialect, LevelMeta, LevelNodes, RootMeta } from "../types.js";
import { dialectOf, refuseLinksOf08 } from "./dialect.js";
import { isMarked } from "./log-mark.js";
import { blobArrays } from "./nodes-blob-arrays.js";
import { type BlobTree, blobNodes } from "./nodes-blobs.js";
import { cellNodes } from "./nodes-cells.js";
import { type Documents, documentsOf, urlOf } from "./nodes-documents.js";
import { blobFiles } from "./nodes-files.js";
import { oncePerKey } from "./once.js";
import { parseLevel } from "./parse-level.js";
import { isRoot, levelOf, parseRoot } from "./parse-root.js";
import { compareVersions, NEWEST } from "./version.js";

export interface OpenStoreOptions extends ReadOptions {
  /** Off: what is in its place, whatever a log says; for who is in a transaction. */
  readonly log?: boolean | undefined;
  /** Take what consolidated metadata say for a hint; off, every document is read. */
  readonly consolidated?: boolean | undefined;
}

/** A store, opened: its documents, before anything is made of them. */
export interface OpenedStore {
  readonly store: Store;
  readonly at: Prefix;
  readonly url: string;
  readonly root: RootMeta;
  /** The root tells the documents of all nodes. */
  readonly consolidated: boolean;
  /** The numbers of the levels, ascending; there may be gaps. */
  readonly levels: readonly number[];
  /** What a person should know; grows while the store is read. */
  readonly notes: readonly string[];
  /** The document of a level; NotFound where there is no such level, Corrupt where it has no document. */
  level(level: number, options?: ReadOptions): Promise<LevelMeta>;
  /** What a level is made of. */
  nodes(level: number, options?: ReadOptions): Promise<LevelNodes>;
  /** What is below `parametric`, where that is there. */
  parametric(options?: ReadOptions): Promise<LevelNodes | undefined>;
  /** Names below a path; undefined where neither the store nor consolidated metadata can tell. */
  names(path: string, options?: ReadOptions): Promise<readonly string[] | undefined>;
  /** The headers of other formats that were kept, by format: `headers/trk` … */
  headers(options?: ReadOptions): Promise<ReadonlyMap<string, JsonObject>>;
  /**
   * Whether there have been commits since it was opened, so that what is read now may be a mixture. Who cannot write asks only
   * where there have been commits before: a server of data that nobody edits gets no such requests.
   */
  changed(options?: ReadOptions): Promise<boolean>;
  /** The store as it is now. */
  reopen(): Promise<OpenedStore>;
}

/** A root that was found, before it is parsed. */
export interface FoundRoot {
  readonly attributes: JsonObject;
  /** The document that they come from, for people. */
  readonly where: string;
  readonly files: boolean;
  readonly consolidated?: Consolidated | undefined;
  /** Opens the store, without asking again for what was read. */
  open(): Promise<OpenedStore>;
}
type Found = Omit<FoundRoot, "open">;

/** Looks for a root; undefined where there is no store of this format. A document that is there but damaged is Corrupt. */
export async function findRoot(
  store: Store,
  at: Prefix = Prefix.root,
  options: OpenStoreOptions & Pick<FormatOptions, "get"> = {},
): Promise<FoundRoot | undefined> {
  const limits = withLimits(options.limits);
  const { signal, get: read = store.get.bind(store) } = options;
  const get = (name: string) => read(Key.join(at, name), { signal, most: limits.metadataBytes });
  const where = (name: string): string => `${store.url}/${at}${name}`;
  const found = (root: Found): FoundRoot => ({ ...root, open: () => openFound(store, at, root, options) });
  const document = await get("zarr.json");
  if (document === undefined) {
    const old = await get(".zattrs");
    const attributes = old && readDocument(old, limits, where(".zattrs"));
    return attributes && isRoot(attributes) ? found({ attributes, where: where(".zattrs"), files: true }) : undefined;
  }
  const node = parseV3(document, limits, where("zarr.json"));
  if (!isRoot(node.attributes)) return undefined;
  if (node.node === "array")
    throw new Corrupt(`${where("zarr.json")} should be a group, found an array`, { where: where("zarr.json") });
  const consolidated = options.consolidated === false ? undefined : node.consolidated;
  return found({ attributes: node.attributes, where: where("zarr.json"), files: false, consolidated });
}

/** The store at a place; NotFound where there is none. */
export async function openStore(
  store: Store,
  at: Prefix = Prefix.root,
  options: OpenStoreOptions = {},
): Promise<OpenedStore> {
  const found = await findRoot(store, at, options);
  if (found !== undefined) return found.open();
  const where = nodeUrl(store, at);
  throw new NotFound(`${where} is no Zarr Vectors store: neither zarr.json nor .zattrs has the key zarr_vectors`, {
    where,
  });
}

/**
 * The generation that is read. There is no log of what is never edited: stores before 0.9, and those with consolidated metadata.
 * Who cannot write either believes the root, too, when it does not speak of a log.
 * The root was read before the log, so of a store that has one it is read again.
 */
async function openFound(below: Store, at: Prefix, first: Found, options: OpenStoreOptions): Promise<OpenedStore> {
  const { version } = parseRoot(first.attributes, first.where);
  const edited =
    !first.files &&
    first.consolidated === undefined &&
    compareVersions(version, "0.9.0") >= 0 &&
    (below.can.write || isMarked(first.attributes));
  const layer = edited && options.log !== false ? await overlay(below, at, options) : undefined;
  if (layer === undefined || layer.generation === 0)
    return openGeneration(below, layer?.store ?? published(below, at, first), at, first, layer, options);
  const again = await findRoot(layer.store, at, { ...options, get: undefined });
  return openGeneration(below, layer.store, at, again ?? first, layer, options);
}

/** A store that was published is read through its pack, unless its files are at hand. */
function published(store: Store, at: Prefix, { consolidated, attributes }: Found): Store {
  const { octavo_pack: pack } = attributes;
  if (consolidated === undefined || !isJsonObject(pack) || "pathOf" in store) return store;
  const { key, head } = pack;
  const sound = typeof key === "string" && Key.is(key) && typeof head === "number" && Number.isSafeInteger(head);
  return sound && head > 0 ? packedStore(store, at, { key, head }) : store;
}

async function openGeneration(
  below: Store,
  store: Store,
  at: Prefix,
  found: Found,
  layer: Overlay | undefined,
  options: OpenStoreOptions,
): Promise<OpenedStore> {
  const url = nodeUrl(store, at);
  const root = parseRoot(found.attributes, found.where);
  const documents = documentsOf(store, at, found.consolidated, options);
  const notes = [...root.notes];
  const note = (sentence: string): void => {
    if (!notes.includes(sentence)) notes.push(sentence);
  };
  const { levels, paths } = await findLevels(documents, root, note, options);

  const treeAt = (path: string): BlobTree => (found.files ? blobFiles(documents, path) : blobArrays(documents, path));
  const containerAt = async (path: string, options: ReadOptions | undefined): Promise<Dialect["container"]> => {
    if (found.files) return "files";
    const vertices = await documents.node(`${path}/vertices`, options);
    if (vertices !== undefined) return vertices.node === "array" ? "cells" : "blobs";
    return compareVersions(root.version, "0.9.0") < 0 ? "blobs" : "cells";
  };
  /** Who may not list may be refused what is not there. What the level does not name either is taken for absent then. */
  const indexOf = async ({ path, arraysPresent }: LevelMeta, options: ReadOptions) => {
    try {
      return await documents.node(`${path}/object_index`, options);
    } catch (error) {
      const refused = error instanceof OctavoError && error.reason === "forbidden";
      if (!refused || arraysPresent.includes("object_index")) throw error;
      note(
        `The store forbids to look for ${path}/object_index, which the level does not name: it is taken for absent.`,
      );
      return undefined;
    }
  };
  const nodesAt = async (
    path: string,
    container: Dialect["container"],
    meta: LevelMeta | undefined,
    options: ReadOptions,
  ) => {
    const where = urlOf(documents, path);
    const said = compareVersions(root.version, "0.9.0") < 0;
    if (said !== (container !== "cells") && compareVersions(root.version, NEWEST) <= 0)
      note(`The store says version ${root.version}, but is laid out as those ${said ? "from 0.9 on" : "before 0.9"}.`);
    const rank = root.axes.length + (meta?.chunkAttribute === undefined ? 0 : 1);
    const evidence = { version: root.version, capabilities: root.capabilities, container, where };
    if (container === "cells") {
      const index = meta && (await indexOf(meta, options))?.attributes;
      const context = { documents, level: path, rank, deferred: meta?.presenceDeferred === true, note, root, levels };
      return cellNodes(context, dialectOf({ ...evidence, names: undefined, index, denseAttributes: true }));
    }
    if (!store.can.list && found.consolidated === undefined)
      throw new Unsupported(
        `${where} is of version ${root.version}, which has no directory of its chunks, and the store ${store.url} cannot list`,
        { where, reason: "list", hint: "Convert the store to 0.9.2, or read it from a store that can list." },
      );
    const tree = treeAt(path);
    const { groups: names } = await tree.names("", options);
    const index = names.includes("object_index") ? await readIndex(tree, where, options) : undefined;
    const [attribute] = (await tree.names("object_attributes", options)).groups;
    const denseAttributes =
      attribute !== undefined && (await tree.dense(`object_attributes/${attribute}`, options)) !== undefined;
    const dialect = dialectOf({ ...evidence, names, index, denseAttributes });
    if (names.includes("cross_chunk_links") && container === "blobs") await checkLinks(tree, options);
    return blobNodes(tree, dialect, rank);
  };

  /** The attributes of an object index; undefined where it is lost: `shard_store` of 0.3 deleted the blobs of every one. */
  const readIndex = async (tree: BlobTree, where: string, options: ReadOptions): Promise<JsonObject | undefined> => {
    const [index, { groups, blobs }] = await Promise.all([
      tree.attributes("object_index", options),
      tree.names("object_index", options),
    ]);
    if (groups.includes("pending"))
      throw new Unsupported(
        `${where} has changes of its object index in object_index/pending, which Octavo does not read`,
        { where },
      );
    const gone = !["data", "offsets", "manifests"].some((name) => blobs.includes(name));
    const lost = gone && index?.sid_ndim !== undefined && (await tree.names("vertices", options)).shards.length > 0;
    if (lost) note(`The object index of ${where} is lost: which vertices belong to an object cannot be told.`);
    return lost ? undefined : index;
  };

  const pathOf = (level: number): string => {
    const path = paths.get(level);
    if (path !== undefined) return path;
    throw new NotFound(`${url} has no level ${level}, only ${levels.join(", ") || "none"}`, { where: url });
  };
  const level = oncePerKey(async (number, signal): Promise<LevelMeta> => {
    const path = pathOf(Number(number));
    const where = `${urlOf(documents, path)}/${found.files ? ".zattrs" : "zarr.json"}`;
    const attributes = found.files
      ? await treeAt(path).attributes("", { signal })
      : (await documents.node(path, { signal }))?.attributes;
    if (attributes === undefined) throw new Corrupt(`level ${number} of ${url} has no document at ${where}`, { where });
    const meta = parseLevel(attributes, Number(number), path, root, where);
    meta.notes.forEach(note);
    return meta;
  });
  const nodes = oncePerKey(async (number, signal): Promise<LevelNodes> => {
    const [meta, container] = await Promise.all([
      level(number, signal),
      containerAt(pathOf(Number(number)), { signal }),
    ]);
    return nodesAt(meta.path, container, meta, { signal });
  });
  const parametric = oncePerKey(async (_, signal): Promise<LevelNodes | undefined> => {
    const attributes = found.files
      ? await treeAt("parametric").attributes("", { signal })
      : (await documents.node("parametric", { signal }))?.attributes;
    if (attributes === undefined) return undefined;
    const [first] = levels;
    const container = await containerAt(first === undefined ? "0" : pathOf(first), { signal });
    return nodesAt("parametric", container, undefined, { signal });
  });

  const opened: OpenedStore = {
    store,
    at,
    url,
    root,
    consolidated: found.consolidated !== undefined,
    levels,
    notes,
    level: (number, options) => level(String(number), options?.signal),
    nodes: (number, options) => nodes(String(number), options?.signal),
    parametric: (options) => parametric("", options?.signal),
    names: (path, options) => documents.names(path, options),
    changed: async (options) =>
      layer !== undefined && (layer.generation > 0 || below.can.write) && layer.changed(options),
    reopen: () => openStore(below, at, options),
    async headers(options) {
      const names = await documents.names("headers", options);
      if (names === undefined) {
        if ((await documents.node("headers", options)) !== undefined)
          note("The store cannot list the headers that it has.");
        return new Map();
      }
      const tree = treeAt("headers");
      const attributes = await Promise.all(names.map((name) => tree.attributes(name, options)));
      return new Map(names.map((name, i) => [name, attributes[i] ?? {}]));
    },
  };
  // The number 0.8 says nothing about the layout: it is refused now rather than in the middle of a query.
  if (root.version.startsWith("0.8") && levels.length > 0) await opened.nodes(levels[0]!, options);
  return opened;
}

async function checkLinks(tree: BlobTree, options: ReadOptions): Promise<void> {
  for (const delta of (await tree.names("cross_chunk_links", options)).groups) {
    const path = `cross_chunk_links/${delta}`;
    const [attributes, { groups }] = await Promise.all([tree.attributes(path, options), tree.names(path, options)]);
    refuseLinksOf08(attributes ?? {}, groups, tree.where(path));
  }
}

async function findLevels(
  documents: Documents,
  root: RootMeta,
  note: (sentence: string) => void,
  options: ReadOptions,
): Promise<{ levels: readonly number[]; paths: ReadonlyMap<number, string> }> {
  const paths = new Map<number, string>();
  const listed = documents.store.can.list ? await documents.names("", options) : undefined;
  for (const name of listed ?? root.levels?.map(String) ?? (await documents.names("", options)) ?? []) {
    const level = levelOf(name);
    if (level !== undefined) paths.set(level, name);
  }
  for (const level of root.levels ?? [])
    if (!paths.has(level)) note(`The root's multiscales document names level ${level}, which is not there.`);
  if (listed === undefined && root.levels === undefined && paths.size === 0)
    note("Which levels there are cannot be told: the root does not name them, and the store cannot list.");
  return { levels: [...paths.keys()].sort((a, b) => a - b), paths };
}
