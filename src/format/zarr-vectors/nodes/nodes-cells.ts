/**
 * The nodes of a level from 0.9 on: Zarr v3 groups and arrays, per-chunk arrays as nodes-cell-array.ts has them.
 *
 * Names below a group are listed where the store can, or told by consolidated metadata. Where neither is there (a plain web
 * server), what the format fixes is tried: deltas of the levels that exist, attributes that the root declares. Declared is not
 * the same as complete, so a note says what could not be seen; offsets of links cannot be guessed, and asking for them is
 * Unsupported.
 */
import { isJsonObject } from "../../../bytes/json.js";
import { Corrupt, Unsupported } from "../../../errors.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { Key } from "../../../store/key.js";
import type { ArrayMeta } from "../../zarr/types.js";
import type { Cells, Dialect, LevelNodes, RootMeta } from "../types.js";
import { denseArray, vlenArray } from "./nodes-arrays.js";
import { type CellContext, cellArray } from "./nodes-cell-array.js";
import { placeOf, urlOf } from "./nodes-documents.js";
import { oncePerKey } from "./once.js";

export interface CellNodesContext extends CellContext {
  readonly root: RootMeta;
  readonly levels: readonly number[];
}

const DOMAINS = ["vertex", "fragment", "object", "link", "group"];

export function cellNodes(context: CellNodesContext, dialect: Dialect): LevelNodes {
  const { documents, level, root, levels, note } = context;
  const { store } = documents;
  const full = (path: string): string => (path === "" ? level : `${level}/${path}`);

  const arrayAt = async (path: string, options: ReadOptions | undefined): Promise<ArrayMeta | undefined> => {
    const node = await documents.node(full(path), options);
    if (node === undefined || node.node === "array") return node;
    const where = urlOf(documents, full(path));
    throw new Corrupt(`${where} should be an array, found a group`, { where });
  };
  const cells = oncePerKey(async (key, signal): Promise<Cells | undefined> => {
    const path = key.slice(key.indexOf(":") + 1);
    const meta = await arrayAt(path, { signal });
    return meta && cellArray(context, path, meta, { signal });
  });
  let generation = 0; // goes up when consolidated metadata turn out to be stale

  /** Those of the candidates that are there, asked for one by one. */
  const present = async (path: string, candidates: readonly string[], options: ReadOptions | undefined) => {
    const found = await Promise.all(candidates.map((name) => documents.node(full(`${path}/${name}`), options)));
    return candidates.filter((_, i) => found[i] !== undefined).sort();
  };
  const guess = async (path: string, options: ReadOptions | undefined): Promise<readonly string[]> => {
    const where = urlOf(documents, full(path));
    const domain = DOMAINS.find((name) => path === `${name}_attributes`);
    if (domain !== undefined) {
      const specs = root.attributeSpecs?.[domain];
      const declared = isJsonObject(specs) ? Object.keys(specs).filter(Key.is) : [];
      note(`The store cannot list: attributes of level ${level} that the root does not declare cannot be seen.`);
      return present(path, declared, options);
    }
    if ((await documents.node(full(path), options)) === undefined) return [];
    if (/^(links|link_attributes\/[^/]+)$/.test(path)) {
      const own = Number(level);
      const deltas = levels.map((other) => (other > own ? `+${other - own}` : `${other - own}`));
      return present(path, deltas, options);
    }
    if (/^(links|link_attributes\/[^/]+)\//.test(path))
      throw new Unsupported(
        `which links there are below ${where} only a listing can tell, and the store ${store.url} cannot list`,
        {
          where,
          reason: "list",
          hint: "Consolidated metadata would tell, too: `octavo publish` makes a copy that has them.",
        },
      );
    note(`The store cannot list what is below ${full(path)}: nothing of it can be seen.`);
    return [];
  };

  return {
    dialect,
    attributes: async (path, options) => (await documents.node(full(path), options))?.attributes,
    document: (path, options) => documents.bytes(full(path), options),
    children: async (path, options) => {
      const names = (await documents.names(full(path), options))?.filter((name) => !name.startsWith("."));
      // "c" has the chunks of an array, unless it is a node: an attribute may have that name.
      if (names?.includes("c") !== true || (await documents.node(full(`${path}/c`), options)) !== undefined)
        return names ?? guess(path, options);
      return names.filter((name) => name !== "c");
    },
    async cells(path, options) {
      if (options?.fresh === true && (await documents.fresh(full(path), options)) !== undefined) generation++;
      return cells(`${generation}:${path}`, options?.signal);
    },
    async blob(path, options) {
      const meta = await arrayAt(path, options);
      if (meta === undefined) return undefined;
      return (await denseArray(store, placeOf(documents, full(path)), meta).read(undefined, undefined, options))
        .data as Uint8Array;
    },
    async dense(path, options) {
      const meta = await arrayAt(path, options);
      return meta && denseArray(store, placeOf(documents, full(path)), meta);
    },
    async vlen(path, options) {
      const meta = await arrayAt(path, options);
      const where = urlOf(documents, full(path));
      return meta && vlenArray(store, placeOf(documents, full(path)), meta, where);
    },
  };
}
