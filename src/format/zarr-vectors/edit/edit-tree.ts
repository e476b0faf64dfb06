/**
 * A store under edit, as a tree of nodes: every array and document is opened once, changed in memory, and written by `flush`.
 * All reading and writing goes through the transaction, which so knows what the edit depends on.
 */
import { isJsonObject, type JsonObject, parseJson } from "../../../bytes/json.js";
import { encodeUtf8 } from "../../../bytes/text.js";
import { Unsupported } from "../../../errors.js";
import { withLimits } from "../../../limits.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { Key, Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { parseV3 } from "../../zarr/parse.js";
import type { ArrayMeta } from "../../zarr/types.js";
import { documentText } from "../nodes/document-text.js";
import { type OpenedStore, openStore } from "../nodes/open-nodes.js";
import { compareVersions } from "../nodes/version.js";
import { type CellsEdit, editCells } from "./edit-cells.js";
import { editRows, type RowsEdit } from "./edit-rows.js";

/** A group's document under edit. */
export interface GroupEdit {
  attributes: JsonObject;
  readonly rest: JsonObject;
}

export interface Tree {
  readonly opened: OpenedStore;
  readonly options: ReadOptions;
  group(path: string): Promise<GroupEdit | undefined>;
  makeGroup(path: string, attributes?: JsonObject): Promise<GroupEdit>;
  /** A per-chunk array of a level; "0" and "vertices". */
  cells(level: string, path: string): Promise<CellsEdit | undefined>;
  makeCells(level: string, path: string, like: ArrayMeta, attributes: JsonObject): CellsEdit;
  rows(path: string): Promise<RowsEdit | undefined>;
  makeRows(path: string, meta: ArrayMeta): RowsEdit;
  /** What is below a group. */
  names(path: string): Promise<readonly string[]>;
  /** Everything below a path goes, with what was changed there. */
  remove(path: string): Promise<void>;
  /** The bytes of a group's document as they will be. */
  encoded(path: string): Promise<Uint8Array | undefined>;
  flush(): Promise<void>;
}

export async function openTree(store: Store, at: Prefix, options: ReadOptions): Promise<Tree> {
  const opened = await openStore(store, at, { ...options, consolidated: false, log: false });
  const { root, url } = opened;
  if (compareVersions(root.version, "0.9.0") < 0)
    throw new Unsupported(`${url} is of version ${root.version}, and edits are made from 0.9 on`, {
      where: url,
      hint: "Convert the store to 0.9.2 first: octavo convert.",
    });
  const limits = withLimits(options.limits);
  const groups = new Map<string, { edit: GroupEdit; before: string }>();
  const arrays = new Map<string, Promise<CellsEdit | undefined>>();
  const tables = new Map<string, Promise<RowsEdit | undefined>>();
  const placeOf = (path: string): Prefix => (path === "" ? at : Prefix.join(at, path));
  const documentOf = (path: string): Promise<Uint8Array | undefined> =>
    store.get(Key.join(placeOf(path), "zarr.json"), { signal: options.signal, most: limits.metadataBytes });

  async function metaOf(path: string): Promise<ArrayMeta | undefined> {
    const bytes = await documentOf(path);
    const node = bytes && parseV3(bytes, limits, `${url}/${path}/zarr.json`);
    return node?.node === "array" ? node : undefined;
  }
  async function openCells(level: string, path: string): Promise<CellsEdit | undefined> {
    const full = `${level}/${path}`;
    const meta = await metaOf(full);
    if (meta === undefined) return undefined;
    const nodes = await opened.nodes(Number(level), options);
    return editCells(store, placeOf(full), meta, await nodes.cells(path, options), options);
  }

  const tree: Tree = {
    opened,
    options,
    async group(path) {
      const known = groups.get(path);
      if (known !== undefined) return known.edit;
      const bytes = await documentOf(path);
      if (bytes === undefined) return undefined;
      const document = parseJson(bytes, limits, `${url}/${path}/zarr.json`, { tokens: true }) as JsonObject;
      const { attributes = {}, ...rest } = document;
      const edit = { attributes: attributes as JsonObject, rest };
      groups.set(path, { edit, before: textOf(edit) });
      return edit;
    },
    async makeGroup(path, attributes = {}) {
      const found = await tree.group(path);
      if (found !== undefined) return found;
      const edit = { attributes, rest: { zarr_format: 3, node_type: "group" } };
      groups.set(path, { edit, before: "" });
      return edit;
    },
    cells(level, path) {
      const full = `${level}/${path}`;
      const known = arrays.get(full) ?? openCells(level, path);
      arrays.set(full, known);
      return known;
    },
    makeCells(level, path, like, attributes) {
      const full = `${level}/${path}`;
      const origin = like.attributes.chunk_grid_origin;
      const own = origin === undefined ? attributes : { chunk_grid_origin: origin, ...attributes };
      const edit = editCells(store, placeOf(full), { ...like, attributes: own }, undefined, options);
      arrays.set(full, Promise.resolve(edit));
      return edit;
    },
    rows(path) {
      const known =
        tables.get(path) ?? metaOf(path).then((meta) => meta && editRows(store, placeOf(path), meta, false, options));
      tables.set(path, known);
      return known;
    },
    makeRows(path, meta) {
      const edit = editRows(store, placeOf(path), meta, true, options);
      tables.set(path, Promise.resolve(edit));
      return edit;
    },
    async names(path) {
      const { prefixes } = await store.children(placeOf(path), { signal: options.signal });
      return prefixes.map((prefix) => prefix.slice(placeOf(path).length, -1));
    },
    async remove(path) {
      const keys: Key[] = [];
      for await (const { key } of store.list(placeOf(path), { signal: options.signal })) keys.push(key);
      for (const key of keys) await store.delete(key, { signal: options.signal });
      for (const known of [arrays, tables, groups])
        for (const name of known.keys()) if (`${name}/`.startsWith(`${path}/`)) known.delete(name);
    },
    async encoded(path) {
      const edit = await tree.group(path);
      if (edit === undefined) return undefined;
      // Who asks relies on these bytes: what others have spelled in another way is written again, although it says the same.
      groups.set(path, { edit, before: "" });
      return encodeUtf8(textOf(edit), "a zarr.json");
    },
    async flush() {
      for (const edit of [...arrays.values(), ...tables.values()]) await (await edit)?.flush();
      for (const [path, { edit, before }] of groups) {
        const text = textOf(edit);
        if (text === before) continue;
        await store.set(Key.join(placeOf(path), "zarr.json"), encodeUtf8(text, "a zarr.json"), {
          signal: options.signal,
        });
        groups.set(path, { edit, before: text });
      }
    },
  };
  await refuseWhatIsNotEdited(tree);
  return tree;
}

/** Adds a family to what the level says it has. */
export async function present(tree: Tree, level: string, family: string): Promise<void> {
  const document = (await tree.group(level))!;
  const own = document.attributes.zarr_vectors_level as JsonObject;
  const arrays = (own.arrays_present as readonly string[] | undefined) ?? [];
  if (arrays.includes(family)) return;
  document.attributes = { ...document.attributes, zarr_vectors_level: { ...own, arrays_present: [...arrays, family] } };
}

async function refuseWhatIsNotEdited(tree: Tree): Promise<void> {
  const { opened } = tree;
  if (isJsonObject((await tree.group(""))!.rest.consolidated_metadata))
    throw new Unsupported(
      `${opened.url} has consolidated metadata, and so is for readers, who look for no edits of it`,
      {
        where: opened.url,
        hint: "Convert it to a store of its own, and edit that.",
      },
    );
  for (const level of opened.levels) {
    const [nodes, meta] = await Promise.all([opened.nodes(level, tree.options), opened.level(level, tree.options)]);
    const where = `${opened.url}/${meta.path}`;
    const refuse = (why: string) => new Unsupported(`${where} ${why}, which Octavo reads but does not edit`, { where });
    if (nodes.dialect.manifests === "dense") throw refuse("has dense manifests");
    if ((await nodes.attributes("geometry_index", tree.options)) !== undefined) throw refuse("has several geometries");
    const vertices = await nodes.attributes("vertices", tree.options);
    if (vertices?.encoding === "draco") throw refuse("has vertices encoded by Draco");
  }
}

const textOf = ({ attributes, rest }: GroupEdit): string => documentText({ attributes, ...rest });
