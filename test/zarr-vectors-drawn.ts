/**
 * The store that the seed of Zarr Vectors 0.7 draws, with everything that is in the picture: a graph of two objects in two
 * chunks, a coarser level, and each of the thirteen names. Every blob is an array of its own, as all software of that time had it.
 *
 *     object 0:  0 ── 1                    object 1:  2 ─┼─ 3 ── 4
 *     chunk 0.0.0, x below 10 ───────────────────────────┘   chunk 1.0.0
 */
import { stringifyJson, type WritableJson } from "../src/bytes/json.js";
import { encodeUtf8 } from "../src/bytes/text.js";
import { FragmentIndex } from "../src/format/zarr-vectors/payload/fragment-index.js";
import { Int64 } from "../src/format/zarr-vectors/payload/int64.js";
import { Key } from "../src/store/key.js";
import { memoryStore } from "../src/store/memory.js";
import type { Store } from "../src/store/types.js";

const f32 = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);
const i64 = (...values: number[]) => Int64.encode(values);
const u8 = (...values: number[]) => Uint8Array.from(values);
/** A manifest of single fragments, each as [x, y, z, fragment]. */
const manifest = (...blocks: number[][]) =>
  u8(blocks.length, 0, 0, 0, ...blocks.flatMap(([x, y, z, f]) => [...i64(x!, y!, z!), 0, ...i64(f!)]));

export const manifests = [manifest([0, 0, 0, 0]), manifest([0, 0, 0, 1], [1, 0, 0, 0])] as const;

type Attributes = { readonly [key: string]: WritableJson };

/** `ragged`: the object index is one array of blobs, as the other seed has it; else `data` and `offsets`. */
export async function drawnStore({ ragged = false } = {}): Promise<Store> {
  const store = memoryStore();
  const document = (path: string, json: Attributes) =>
    store.set(Key.of(`${path}zarr.json`), encodeUtf8(stringifyJson({ zarr_format: 3, ...json }), path));
  const group = (path: string, attributes: Attributes = {}) => document(path, { node_type: "group", attributes });
  const array = (path: string, length: number, more: Attributes) =>
    document(`${path}/`, {
      node_type: "array",
      shape: [length],
      chunk_grid: { name: "regular", configuration: { chunk_shape: [length] } },
      chunk_key_encoding: { name: "default", configuration: { separator: "/" } },
      attributes: {},
      ...more,
    });
  const blob = async (path: string, bytes: Uint8Array): Promise<void> => {
    await array(path, bytes.length, { data_type: "uint8", fill_value: 0, codecs: [{ name: "bytes" }] });
    await store.set(Key.of(`${path}/c/0`), bytes);
  };
  /** A group and its blobs: one for each chunk, or `data`. */
  const blobs = async (path: string, attributes: Attributes, values: { readonly [name: string]: Uint8Array }) => {
    await group(`${path}/`, attributes);
    for (const [name, bytes] of Object.entries(values)) await blob(`${path}/${name}`, bytes);
  };

  await group("", {
    zarr_vectors: {
      zv_version: "0.7.0",
      chunk_shape: [10, 10, 10],
      bounds: [
        [0, 0, 0],
        [20, 10, 10],
      ],
      geometry_types: ["graph"],
      links_convention: "explicit",
      format_capabilities: ["multiscale_links"],
    },
    multiscales: [
      {
        version: "0.4",
        axes: ["x", "y", "z"].map((name) => ({ name, type: "space", unit: "micrometer" })),
        datasets: [
          { path: "0", coordinateTransformations: [{ type: "scale", scale: [1, 1, 1] }] },
          { path: "1", coordinateTransformations: [{ type: "scale", scale: [2, 2, 2] }] },
        ],
      },
    ],
  });
  const level = { object_sparsity: 1, arrays_present: ["vertices"] };
  await group("0/", { zarr_vectors_level: { level: 0, vertex_count: 5, ...level } });
  const vertices = { zv_array: "vertices", dtype: "float32", encoding: "raw" };
  await blobs("0/vertices", vertices, { "0.0.0": f32(1, 1, 1, 2, 1, 1, 9, 1, 1), "1.0.0": f32(11, 1, 1, 12, 1, 1) });
  await blobs("0/vertex_fragments", { zv_array: "vertex_fragments" }, { "0.0.0": index(2, 1), "1.0.0": index(2) });
  await blobs(
    "0/links/0",
    { zv_array: "links", dtype: "int64", link_width: 2, num_links: 2, level_delta: 0 },
    { "0.0.0": i64(0, 1), "1.0.0": i64(0, 1) },
  );
  await blobs(
    "0/links/+1",
    { zv_array: "links", dtype: "int64", link_width: 2, level_delta: 1 },
    { "0.0.0": i64(1, 0, 0, 0, 1, 0, 2, 1) },
  );
  await blobs("0/link_fragments", {}, { "0.0.0": index(1), "1.0.0": index(1) });
  await blobs(
    "0/vertex_attributes/a",
    { zv_array: "attribute", name: "a", dtype: "float32" },
    { "0.0.0": f32(0.1, 0.2, 0.3), "1.0.0": f32(0.4, 0.5) },
  );
  await blobs(
    "0/fragment_attributes/f",
    { zv_array: "fragment_attribute", name: "f", dtype: "uint8" },
    { "0.0.0": u8(7, 8), "1.0.0": u8(9) },
  );
  await blobs(
    "0/link_attributes/w/0",
    { zv_array: "link_attribute", name: "w", dtype: "float32" },
    { "0.0.0": f32(0.5), "1.0.0": f32(0.25) },
  );
  const objectIndex = { zv_array: "object_index", num_objects: 2, sid_ndim: 3 };
  if (ragged) {
    await group("0/object_index/", { ...objectIndex, layout: "vlen_manifests_v1" });
    await array("0/object_index/manifests", 2, {
      data_type: "variable_length_bytes",
      fill_value: "",
      codecs: [{ name: "vlen-bytes", configuration: {} }],
    });
    const elements = manifests.flatMap((bytes) => [bytes.length, 0, 0, 0, ...bytes]);
    await store.set(Key.of("0/object_index/manifests/c/0"), u8(2, 0, 0, 0, ...elements));
  } else {
    const [first, second] = manifests;
    await blobs("0/object_index", objectIndex, { data: u8(...first, ...second), offsets: i64(0, first.length) });
  }
  await blobs(
    "0/object_attributes/o",
    { zv_array: "object_attribute", name: "o", dtype: "uint8", shape: [2], num_channels: 1 },
    { data: u8(10, 20) },
  );
  await blobs("0/groups", { zv_array: "groups", num_groups: 2 }, { data: i64(1, 0, 1), offsets: i64(0, 8) });
  await blobs(
    "0/group_attributes/g",
    { zv_array: "groupings_attribute", name: "g", dtype: "uint8", shape: [2], num_channels: 1 },
    { data: u8(3, 4) },
  );
  await blobs(
    "0/cross_chunk_links/0",
    { zv_array: "cross_chunk_links", link_width: 2, num_links: 1, level_delta: 0, sid_ndim: 3 },
    { data: i64(0, 0, 0, 2, 1, 0, 0, 0) },
  );
  await blobs(
    "0/cross_chunk_links/+1",
    { zv_array: "cross_chunk_links", link_width: 2, num_links: 1, level_delta: 1, sid_ndim: 3 },
    { data: i64(1, 0, 0, 1, 0, 0, 0, 1) },
  );
  await blobs(
    "0/cross_chunk_link_attributes/w/0",
    { zv_array: "cross_chunk_link_attribute", name: "w", dtype: "float32", num_links: 1, shape: [1] },
    { data: f32(0.75) },
  );

  await group("1/", {
    zarr_vectors_level: { level: 1, vertex_count: 2, parent_level: 0, chunk_shape: [20, 20, 20], ...level },
  });
  await blobs("1/vertices", vertices, { "0.0.0": f32(1.5, 1, 1, 11, 1, 1) });
  await blobs("1/vertex_fragments", { zv_array: "vertex_fragments" }, { "0.0.0": index(1, 1) });
  const coarse = [manifest([0, 0, 0, 0]), manifest([0, 0, 0, 1])] as const;
  await blobs("1/object_index", objectIndex, {
    data: u8(...coarse[0], ...coarse[1]),
    offsets: i64(0, coarse[0].length),
  });
  return store;
}

/** Fragments of so many rows each, one after the other. */
const index = (...counts: number[]) => FragmentIndex.encode(FragmentIndex.ofRanges(counts));
