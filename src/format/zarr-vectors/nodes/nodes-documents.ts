/**
 * The documents of a tree of Zarr v3 nodes, each read once.
 *
 * Consolidated metadata in the root is a hint. What it describes is taken from there; what it does not mention is looked for
 * all the same. Who meets something that does not fit (a directory that leaves its grid, a cell that is named and absent, a cell
 * that does not decode, a chunk that somebody else names and the directory does not) asks for the node `fresh`: its own
 * document is read, and counts from then on. Names below a group are those that the store lists, wherever it can list.
 */
import { type Limits, withLimits } from "../../../limits.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { Key, Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { parseV3 } from "../../zarr/parse.js";
import type { Consolidated, NodeMeta } from "../../zarr/types.js";
import { oncePerKey } from "./once.js";

export interface Documents {
  readonly store: Store;
  readonly at: Prefix;
  readonly limits: Limits;
  /** The node at a path below the root; undefined where there is none. */
  node(path: string, options?: ReadOptions): Promise<NodeMeta | undefined>;
  /** The same, and not kept: for the documents of blobs, of which there are as many as chunks. */
  passing(path: string, options?: ReadOptions): Promise<NodeMeta | undefined>;
  /** The same, from its own document where it came from consolidated metadata; undefined where it did not. */
  fresh(path: string, options?: ReadOptions): Promise<{ readonly node: NodeMeta | undefined } | undefined>;
  /** The document itself, never from consolidated metadata. */
  bytes(path: string, options?: ReadOptions): Promise<Uint8Array | undefined>;
  /** Names directly below; undefined where neither the store nor consolidated metadata can tell. */
  names(path: string, options?: ReadOptions): Promise<readonly string[] | undefined>;
}

/** Where a node lies, for people and for keys. */
export const placeOf = (documents: Pick<Documents, "at">, path: string): Prefix => Prefix.join(documents.at, path);
export const urlOf = ({ store, at }: Pick<Documents, "store" | "at">, path: string): string =>
  `${store.url}/${at}${path}`;

export function documentsOf(
  store: Store,
  at: Prefix,
  consolidated: Consolidated | undefined,
  options: ReadOptions,
): Documents {
  const limits = withLimits(options.limits);
  const get = (path: string, signal: AbortSignal | undefined): Promise<Uint8Array | undefined> =>
    store.get(Key.join(placeOf({ at }, path), "zarr.json"), { signal, most: limits.metadataBytes });
  const load = async (path: string, signal: AbortSignal | undefined): Promise<NodeMeta | undefined> => {
    const bytes = await get(path, signal);
    return bytes && parseV3(bytes, limits, `${urlOf({ store, at }, path)}/zarr.json`);
  };
  const read = oncePerKey(load);
  let hints = consolidated;
  const parsed = new Map<string, NodeMeta>();

  return {
    store,
    at,
    limits,
    async node(path, options) {
      const known = hints && (parsed.get(path) ?? hints.get(path)?.meta());
      if (known === undefined) return read(path, options?.signal);
      parsed.set(path, known);
      return known;
    },
    async passing(path, options) {
      return hints?.get(path)?.meta() ?? load(path, options?.signal);
    },
    async fresh(path, options) {
      if (hints?.has(path) !== true) return undefined;
      hints = undefined; // what is stale in one place is not to be trusted in another
      return { node: await read(path, options?.signal) };
    },
    bytes: (path, options) => get(path, options?.signal),
    async names(path, options) {
      const prefix = path === "" ? at : placeOf({ at }, path);
      if (store.can.list) {
        const { prefixes } = await store.children(prefix, { signal: options?.signal });
        return prefixes.map((name) => name.slice(prefix.length, -1));
      }
      if (consolidated === undefined) return undefined;
      const start = path === "" ? "" : `${path}/`;
      const below = [...consolidated.keys()].filter((name) => name.startsWith(start) && Key.is(name));
      return [...new Set(below.map((name) => name.slice(start.length).split("/")[0]!))].sort();
    },
  };
}
