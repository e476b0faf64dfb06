/**
 * A store of 0.9.2 that is small enough to know by heart, as files to break. A graph of two objects, 5 and 9, in two chunks:
 *
 *   chunk 0.0   (1,1) 5   (2,2) 5   (3,3) 9        chunk 1.0   (11,1) 5   (12,2) 5
 *
 * with links (1,1)–(2,2) and (2,2)–(11,1), an attribute for everything, owners, groups, and a level 1 in one chunk whose two vertices
 * stand for the chunks and which has links to and from level 0. `tinyPoints` are four points, one in each bin of a chunk.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { concat } from "../src/bytes/concat.js";
import { Blobs, Cell } from "../src/format/zarr-vectors/payload/blobs.js";
import { FragmentIndex } from "../src/format/zarr-vectors/payload/fragment-index.js";
import { Int64 } from "../src/format/zarr-vectors/payload/int64.js";
import { Key } from "../src/store/key.js";
import { memoryStore } from "../src/store/memory.js";
import type { Store } from "../src/store/types.js";
import { fixtures } from "./fixtures.js";

// biome-ignore lint/suspicious/noExplicitAny: documents are broken on purpose
type Document = any;

/** The files of a store. */
export class Files extends Map<string, Uint8Array> {
  document(key: string, change?: (document: Document) => void): Document {
    const own = this.has(key) ? JSON.parse(Buffer.from(this.get(key)!).toString()) : {};
    change?.(own);
    if (change !== undefined) this.set(key, Buffer.from(JSON.stringify(own)));
    return own;
  }

  /** The attributes of a node. */
  attributes(path: string, change: (attributes: Document) => void): void {
    this.document(path === "" ? "zarr.json" : `${path}/zarr.json`, (own) => change(own.attributes));
  }

  /** What the root or a level says of itself. */
  root(change: (own: Document) => void): void {
    this.attributes("", ({ zarr_vectors }) => change(zarr_vectors));
  }
  level(level: number, change: (own: Document) => void): void {
    this.attributes(`${level}`, ({ zarr_vectors_level }) => change(zarr_vectors_level));
  }

  group(path: string, attributes: object = {}): void {
    this.document(path === "" ? "zarr.json" : `${path}/zarr.json`, (own) =>
      Object.assign(own, { zarr_format: 3, node_type: "group", attributes }),
    );
  }

  array(path: string, shape: readonly number[], type: string, chunk: readonly number[], attributes: object): void {
    const vlen = type === "variable_length_bytes";
    this.document(`${path}/zarr.json`, (own) =>
      Object.assign(own, {
        zarr_format: 3,
        node_type: "array",
        shape,
        data_type: type,
        chunk_grid: { name: "regular", configuration: { chunk_shape: chunk } },
        chunk_key_encoding: { name: "default", configuration: { separator: "/" } },
        fill_value: vlen ? "" : 0,
        codecs: vlen
          ? [{ name: "vlen-bytes", configuration: {} }]
          : [{ name: "bytes", configuration: { endian: "little" } }],
        attributes,
        storage_transformers: [],
      }),
    );
  }

  /** A per-chunk array with its cells, by chunk. */
  cells(
    path: string,
    grid: readonly number[],
    payloads: { readonly [chunk: string]: Uint8Array },
    attributes: object,
  ): void {
    this.array(
      path,
      grid,
      "variable_length_bytes",
      grid.map(() => 1),
      {
        nonempty_chunks: Object.keys(payloads).sort(),
        ...attributes,
      },
    );
    for (const [chunk, payload] of Object.entries(payloads)) this.cell(path, chunk, payload);
  }
  cell(path: string, chunk: string, payload: Uint8Array): void {
    this.set(`${path}/c/${chunk.replaceAll(".", "/")}`, Cell.encode(payload));
  }

  /** A list of blobs in one chunk. */
  blobs(path: string, list: readonly Uint8Array[], attributes: object = {}): void {
    this.array(path, [list.length], "variable_length_bytes", [list.length], attributes);
    this.set(`${path}/c/0`, Blobs.encodeChunk(Blobs.of(list)));
  }

  /** Rows of numbers in one chunk. */
  dense(path: string, type: "float32" | "int64", values: readonly number[], attributes: object = {}): void {
    this.array(path, [values.length], type, [values.length], attributes);
    this.set(`${path}/c/0`, type === "int64" ? Int64.encode(values) : floats(values));
  }

  remove(prefix: string): void {
    for (const key of [...this.keys()]) if (key === prefix || key.startsWith(`${prefix}/`)) this.delete(key);
  }

  async store(): Promise<Store> {
    const store = memoryStore();
    for (const [key, bytes] of this) await store.set(Key.of(key), bytes);
    return store;
  }
}

export const floats = (values: readonly number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer);
export const rows = (values: readonly number[]): Uint8Array => Int64.encode(values);
/** K = 1 group that begins at byte 0, then rows. */
export const ragged = (values: readonly number[]): Uint8Array => concat([Int64.encode([1, 0]), Int64.encode(values)]);
export const ranges = (...counts: number[]): Uint8Array => FragmentIndex.encode(FragmentIndex.ofRanges(counts));
/** Blocks of mode 0: [x, y, fragment] each. */
export function manifest(...blocks: [number, number, number][]): Uint8Array {
  const out = new DataView(new ArrayBuffer(4 + 25 * blocks.length));
  out.setUint32(0, blocks.length, true);
  for (const [i, [x, y, fragment]] of blocks.entries()) {
    const at = 4 + 25 * i;
    out.setBigInt64(at, BigInt(x), true);
    out.setBigInt64(at + 8, BigInt(y), true);
    out.setBigInt64(at + 17, BigInt(fragment), true);
  }
  return new Uint8Array(out.buffer);
}

function rootOf(kind: string, levels: number, more: object): object {
  const datasets = Array.from({ length: levels }, (_, level) => ({
    path: `${level}`,
    coordinateTransformations: [
      { type: "scale", scale: [2 ** level, 2 ** level] },
      { type: "translation", translation: [5 * 2 ** level, 5 * 2 ** level] },
    ],
  }));
  const axes = ["x", "y"].map((name) => ({ name, type: "space" }));
  return {
    zarr_vectors: {
      zv_version: "0.9.2",
      chunk_shape: [10, 10],
      bounds: [
        [1, 1],
        [12, 3],
      ],
      geometry_types: [kind],
      format_capabilities: [],
      links_convention: kind === "graph" ? "explicit" : "implicit_sequential",
      ...more,
    },
    multiscales: [{ version: "0.4", name: "default", axes, datasets }],
    ome: { version: "0.6" },
  };
}

const levelOf = (level: number, vertices: number, more: object): object => ({
  zarr_vectors_level: {
    level,
    vertex_count: vertices,
    object_sparsity: 1,
    coarsening_method: level === 0 ? "none" : "manual",
    parent_level: level === 0 ? null : level - 1,
    arrays_present: ["vertices", "vertex_fragments"],
    ...more,
  },
});

const VERTICES = { zv_array: "vertices", dtype: "float32", encoding: "raw" };
const family = (delta: number, records: number, directed: boolean): object => ({
  zv_array: "links_family",
  level_delta: delta,
  link_width: 2,
  sid_ndim: 2,
  directed,
  store: "canonical",
  num_links: records,
  num_physical_records: records,
});
const linkArray = (perm: boolean, delta: number): object => ({
  zv_array: "links",
  dtype: "int64",
  has_perm: perm,
  link_width: 2,
  level_delta: delta,
});
const index = (present: number): object => ({
  zv_array: "object_index",
  num_objects: 2,
  num_present: present,
  sid_ndim: 2,
  layout: "vlen_manifests_v2",
  object_ids_sorted: true,
});
const float = (name: string): object => ({ name, dtype: "float32", row_shape: [] });

export function tinyGraph(): Files {
  const files = new Files();
  const grid = [2, 1];
  files.group("", rootOf("graph", 2, { format_capabilities: ["multiscale_links", "preserved_object_ids"] }));
  files.group("0", levelOf(0, 5, { fragments_tile: true }));
  files.cells("0/vertices", grid, { "0.0": floats([1, 1, 2, 2, 3, 3]), "1.0": floats([11, 1, 12, 2]) }, VERTICES);
  files.cells("0/vertex_fragments", grid, { "0.0": ranges(2, 1), "1.0": ranges(2) }, { zv_array: "vertex_fragments" });
  files.group("0/vertex_attributes");
  files.cells("0/vertex_attributes/w", grid, { "0.0": floats([0, 1, 2]), "1.0": floats([3, 4]) }, float("w"));
  files.cells(
    "0/vertex_attributes/kind",
    grid,
    { "0.0": Uint8Array.of(0, 1, 0), "1.0": Uint8Array.of(1, 1) },
    { name: "kind", dtype: "uint8", row_shape: [], encoding: "dictionary", categories: ["a", "b"], ordered: false },
  );
  files.group("0/fragment_attributes");
  files.cells(
    "0/fragment_attributes/object_id",
    grid,
    { "0.0": rows([5, 9]), "1.0": rows([5]) },
    { name: "object_id", dtype: "int64", row_shape: [] },
  );
  files.cells("0/fragment_attributes/f", grid, { "0.0": floats([1, 2]), "1.0": floats([3]) }, float("f"));
  files.group("0/object_index", index(2));
  files.blobs("0/object_index/manifests", [manifest([0, 0, 0], [1, 0, 0]), manifest([0, 0, 1])]);
  files.dense("0/object_index/object_ids", "int64", [5, 9]);
  files.group("0/object_attributes");
  files.dense("0/object_attributes/s", "float32", [0.5, 1.5], {
    zv_array: "object_attribute",
    name: "s",
    dtype: "float32",
  });
  files.blobs("0/groups", [rows([5, 9]), rows([9])], { zv_array: "groups", num_groups: 2 });
  files.group("0/group_attributes");
  files.dense("0/group_attributes/g", "float32", [1, 2], {
    zv_array: "groupings_attribute",
    name: "g",
    dtype: "float32",
  });
  files.group("0/links");
  files.group("0/links/0", family(0, 2, false));
  files.cells("0/links/0/0.0", grid, { "0.0": rows([0, 1]) }, linkArray(false, 0));
  files.cells("0/links/0/+1.0", grid, { "0.0": ragged([0, 1, 0]) }, linkArray(true, 0));
  files.cells("0/link_fragments", grid, { "0.0": ranges(1) }, {});
  files.group("0/link_attributes");
  files.group("0/link_attributes/l");
  files.group("0/link_attributes/l/0");
  files.cells("0/link_attributes/l/0/0.0", grid, { "0.0": floats([7]) }, float("l"));
  files.cells("0/link_attributes/l/0/+1.0", grid, { "0.0": floats([8]) }, float("l"));
  files.group("0/links/+1", family(1, 5, true));
  files.cells(
    "0/links/+1/0.0",
    grid,
    { "0.0": ragged([0, 0, 1, 0, 2, 0]), "1.0": ragged([0, 1, 1, 1]) },
    linkArray(false, 1),
  );

  files.group("1", levelOf(1, 2, { chunk_shape: [20, 20], preserves_object_ids: true, inherited_num_objects: 2 }));
  files.cells("1/vertices", [1, 1], { "0.0": floats([2, 2, 11.5, 1.5]) }, VERTICES);
  files.cells("1/vertex_fragments", [1, 1], { "0.0": ranges(1, 1) }, { zv_array: "vertex_fragments" });
  files.group("1/object_index", index(1));
  files.blobs("1/object_index/manifests", [manifest([0, 0, 0], [0, 0, 1]), manifest()]);
  files.dense("1/object_index/object_ids", "int64", [5, 9]);
  files.group("1/links");
  files.group("1/links/-1", family(-1, 1, true));
  files.cells("1/links/-1/+1.0", [1, 1], { "0.0": ragged([1, 0]) }, linkArray(false, -1));
  return files;
}

export function tinyPoints(): Files {
  const files = new Files();
  files.group(
    "",
    rootOf("point_cloud", 1, {
      base_bin_shape: [5, 5],
      bounds: [
        [1, 1],
        [6, 6],
      ],
    }),
  );
  files.group("0", levelOf(0, 4, {}));
  files.cells("0/vertices", [1, 1], { "0.0": floats([1, 1, 1, 6, 6, 1, 6, 6]) }, VERTICES);
  files.cells("0/vertex_fragments", [1, 1], { "0.0": ranges(1, 1, 1, 1) }, { zv_array: "vertex_fragments" });
  return files;
}

/** A golden store, by its name. */
export function golden(name: string): Files {
  const folder = join(fixtures("zarr-vectors"), name, "store.zarrvectors");
  if (!existsSync(folder)) throw new Error(`no golden store ${name}`);
  const files = new Files();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files.set(relative(folder, path), readFileSync(path));
  }
  return files;
}
