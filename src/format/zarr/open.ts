/**
 * Finding out what is at a place, and opening it. The documents that are there decide, asked for in this order:
 *
 * | round | asked for together                | found means                                                        |
 * |-------|-----------------------------------|--------------------------------------------------------------------|
 * | 1     | `zarr.json`                       | v3                                                                 |
 * | 2     | `.zarray` `.zgroup`               | v2; then `.zattrs`, and `.zmetadata` for a group                   |
 * | 3     | `__zmeta__` `.zmetadata` `meta`   | v0 · a v2 group that has only consolidated metadata · v1, if it    |
 * |       |                                   | says zarr_format 1 (any other file may be called `meta`)           |
 *
 * A document that is there but damaged is Corrupt, never "not found"; detection still names the version.
 */
import { isJsonObject, type Json, parseJson } from "../../bytes/json.js";
import { NotFound, OctavoError } from "../../errors.js";
import { type Limits, withLimits } from "../../limits.js";
import { forEachConcurrent } from "../../model/concurrent.js";
import type { Child, ReadOptions } from "../../model/dataset.js";
import type { FormatOptions, Match } from "../../model/format.js";
import { Key, Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { arrayNode, groupNode, urlOf, type ZarrGroup, type ZarrNode } from "./node.js";
import { parseV3 } from "./parse-v3.js";
import type { GroupMeta, NodeMeta, ZarrVersion } from "./types.js";

/** How to open a node. */
export interface OpenOptions extends ReadOptions {
  /** Trust consolidated metadata about the nodes below; true unless told otherwise. */
  readonly consolidated?: boolean | undefined;
}

type DetectOptions = OpenOptions & Pick<FormatOptions, "get">;

/** What is there, before it is parsed. */
interface Found {
  readonly version: ZarrVersion;
  /** Throws Corrupt or Unsupported where the documents are. */
  parse(): NodeMeta;
}

/** What a page of v3 data does without. */
const parserV2 = () => import("./parse-v2.js");

/** `versions` are the ones worth asking for; below a group only its own can be. */
async function find(
  store: Store,
  at: Prefix,
  options: DetectOptions = {},
  versions: readonly ZarrVersion[] = [3, 2, 1, 0],
): Promise<Found | undefined> {
  const limits = withLimits(options.limits);
  const keyOf = (name: string): Key => Key.join(at, name);
  const where = (name: string): string => `${store.url}/${keyOf(name)}`;
  const { signal, get: read = store.get.bind(store) } = options;
  const get = (name: string): Promise<Uint8Array | undefined> =>
    read(keyOf(name), { signal, most: limits.metadataBytes });

  if (versions.includes(3)) {
    const document = await get("zarr.json");
    if (document !== undefined) return { version: 3, parse: () => parseV3(document, limits, where("zarr.json")) };
  }
  const hasV2 = versions.includes(2);
  if (hasV2) {
    const [array, group] = await Promise.all([get(".zarray"), get(".zgroup")]);
    if (array !== undefined) {
      const [attributes, { parseV2Array }] = await Promise.all([get(".zattrs"), parserV2()]);
      return { version: 2, parse: () => parseV2Array(array, attributes, limits, where(".zarray")) };
    }
    if (group !== undefined) {
      const [attributes, below, { parseV2Group, parseV2Consolidated }] = await Promise.all([
        get(".zattrs"),
        get(".zmetadata"),
        parserV2(),
      ]);
      const parse = (): GroupMeta => ({
        ...parseV2Group(group, attributes, limits, where(".zgroup")),
        consolidated: below && parseV2Consolidated(below, limits, where(".zmetadata")).consolidated,
      });
      return { version: 2, parse };
    }
  }
  const [v0, below, v1] = await Promise.all([
    versions.includes(0) ? get("__zmeta__") : undefined,
    hasV2 ? get(".zmetadata") : undefined,
    versions.includes(1) ? getMeta(store, keyOf("meta"), limits, options) : undefined,
  ]);
  if (below !== undefined) {
    const { parseV2Consolidated } = await parserV2();
    return { version: 2, parse: () => parseV2Consolidated(below, limits, where(".zmetadata")) };
  }
  if (v0 === undefined && v1 === undefined) return undefined;
  const { parseV0, parseV1 } = await import("./parse-v0.js"); // 3 kB with its pickles, which few pages need
  if (v1 !== undefined) {
    const attributes = await get("attrs");
    return { version: 1, parse: () => parseV1(v1, attributes, limits, where("meta")) };
  }
  const attributes = await get("__zattr__");
  return { version: 0, parse: () => parseV0(v0!, attributes, limits, where("__zmeta__")) };
}

/** The document of v1, if this is one. Its name is so common that its size is looked at first. */
async function getMeta(store: Store, key: Key, limits: Limits, options: OpenOptions): Promise<Uint8Array | undefined> {
  const stat = await store.stat(key, { signal: options.signal });
  if (stat === undefined || stat.size > limits.metadataBytes) return undefined;
  const bytes = await store.get(key, { signal: options.signal });
  const text = new TextDecoder().decode(bytes);
  return /"zarr_format"\s*:\s*1\b|"compression_opts"\s*:/.test(text) ? bytes : undefined;
}

/** The array or group at a place; NotFound if there is none. */
export async function openZarr(store: Store, at: Prefix = Prefix.root, options: OpenOptions = {}): Promise<ZarrNode> {
  const found = await find(store, at, options);
  if (found === undefined) throw nothing(store, at);
  return nodeOf(store, at, found.parse(), options);
}

function nodeOf(store: Store, at: Prefix, meta: NodeMeta, options: OpenOptions): ZarrNode {
  if (meta.node === "array") return arrayNode(store, at, meta);
  return groupNode(store, at, options.consolidated === false ? { ...meta, consolidated: undefined } : meta);
}

function nothing(store: Store, at: Prefix): NotFound {
  const where = urlOf(store, at);
  return new NotFound(`${where} is no Zarr array or group: it has no zarr.json, .zarray, .zgroup, meta or __zmeta__`, {
    where,
  });
}

/** What is at a place, if it is Zarr; also where its metadata is damaged. */
export async function detectZarr(store: Store, at: Prefix, options: DetectOptions = {}): Promise<Match | undefined> {
  const found = await find(store, at, options);
  return (
    found && {
      format: "zarr",
      version: String(found.version),
      summary: `Zarr v${found.version} ${kindOf(found)}`,
      open: async () => nodeOf(store, at, found.parse(), options),
    }
  );
}

function kindOf(found: Found): string {
  try {
    return found.parse().node;
  } catch (error) {
    if (error instanceof OctavoError) return "with metadata that cannot be read";
    throw error;
  }
}

/** A node below a group, by its path. What consolidated metadata does not mention is still looked for. */
export async function openBelow(group: ZarrGroup, path: string, options: OpenOptions = {}): Promise<ZarrNode> {
  const { store, meta } = group;
  const at = Prefix.join(group.at, path);
  const known = meta.consolidated?.get(path.replace(/\/$/, ""))?.meta();
  const found = known ?? (await find(store, at, options, [meta.version]))?.parse();
  if (found === undefined) throw nothing(store, at);
  return nodeOf(store, at, found, options);
}

export async function listChildren(group: ZarrGroup, options: OpenOptions = {}): Promise<Child[] | undefined> {
  const { store, at, meta } = group;
  const kinds = new Map<string, Child["kind"]>();
  if (meta.consolidated !== undefined) {
    for (const [path, { node }] of meta.consolidated) {
      const [name, ...rest] = path.split("/");
      if (rest.length === 0) kinds.set(name!, node);
      else if (!kinds.has(name!)) kinds.set(name!, "group"); // between here and there
    }
  } else {
    if (!store.can.list) return undefined;
    const { prefixes } = await store.children(at, { signal: options.signal });
    await forEachConcurrent(prefixes, 16, async (prefix) => {
      const kind = await kindAt(store, prefix, meta.version, options);
      if (kind !== undefined) kinds.set(prefix.slice(at.length, -1), kind);
    });
  }
  return [...kinds].map(([name, kind]) => ({ name, kind })).sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function kindAt(
  store: Store,
  at: Prefix,
  version: 2 | 3,
  options: OpenOptions,
): Promise<Child["kind"] | undefined> {
  const limits = withLimits(options.limits);
  const get = (name: string) => store.get(Key.join(at, name), { signal: options.signal, most: limits.metadataBytes });
  if (version === 2) {
    const [array, group] = await Promise.all([get(".zarray"), get(".zgroup")]);
    return array !== undefined ? "array" : group !== undefined ? "group" : undefined;
  }
  const document = await get("zarr.json");
  return document && (nodeType(document, limits) === "group" ? "group" : "array");
}

/** A damaged document must not hide its neighbours; opening the node will say what is wrong with it. */
function nodeType(document: Uint8Array, limits: Limits): Json | undefined {
  try {
    const value = parseJson(document, limits, "zarr.json", { tokens: true });
    return isJsonObject(value) ? value.node_type : undefined;
  } catch (error) {
    if (error instanceof OctavoError) return undefined;
    throw error;
  }
}
