/** Layouts that are refused by name, and what other writers do that is right, or not. */
import { describe, expect, test } from "vitest";
import { change, copyOf } from "../../../../test/zarr-vectors-copy.js";
import type { Json, JsonObject } from "../../../bytes/json.js";
import { encodeUtf8 } from "../../../bytes/text.js";
import { Key } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { Blobs } from "../payload/blobs.js";
import { openStore } from "./open-nodes.js";

const key = (text: string) => Key.of(text);
const attributesOf = (document: { [key: string]: Json }) => document.attributes as { [key: string]: Json };

test("an array whose rank is not that of the level is Corrupt", async () => {
  const copy = await copyOf("v0.9.2/graph_2d");
  await copy.set(
    key("0/vertices/zarr.json"),
    (await (await copyOf("v0.9.2/mesh_3d")).get(key("0/vertices/zarr.json")))!,
  );
  await expect((await (await openStore(copy)).nodes(0)).cells("vertices")).rejects.toMatchObject({ kind: "corrupt" });
  const blobs = await copyOf("v0.7.0-vlen/points_by_attribute");
  await change(blobs, "0/zarr.json", (document) => {
    delete (attributesOf(document).zarr_vectors_level as { [key: string]: Json }).chunk_attribute_name;
  });
  const vertices = (await (await (await openStore(blobs)).nodes(0)).cells("vertices"))!;
  await expect(vertices.directory()).rejects.toMatchObject({ kind: "corrupt" });
});

describe("layouts of 0.8 are refused by name", () => {
  const layouts: readonly [string, JsonObject, string][] = [
    ["one array for each tuple", {}, "0.0.0.1.0.0"],
    ["partitioned_v1", { layout: "partitioned_v1" }, "0.0.0"],
    ["sharded_v1", { layout: "sharded_v1" }, "k2"],
  ];
  test.each(layouts)("%s", async (word, attributes, child) => {
    const copy = await copyOf("v0.7.0-vlen/lines_3d");
    await change(copy, "zarr.json", (root) => {
      (attributesOf(root).zarr_vectors as { [key: string]: Json }).zv_version = "0.8.0";
    });
    const blob = (await copy.get(key("0/cross_chunk_links/0/data/zarr.json")))!;
    await copy.delete(key("0/cross_chunk_links/0/data/zarr.json"));
    await copy.delete(key("0/cross_chunk_links/0/data/c/0"));
    await copy.set(key(`0/cross_chunk_links/0/${child}/zarr.json`), blob);
    await change(copy, "0/cross_chunk_links/0/zarr.json", (group) => {
      group.attributes = attributes;
    });
    await expect(openStore(copy)).rejects.toMatchObject({
      kind: "unsupported",
      message: expect.stringContaining(word),
    });
  });
  test("and 0.8.0 without cross-chunk links is read", async () => {
    const copy = await copyOf("v0.7.0-vlen/points_by_attribute");
    await change(copy, "zarr.json", (root) => {
      (attributesOf(root).zarr_vectors as { [key: string]: Json }).zv_version = "0.8.0";
    });
    expect((await (await openStore(copy)).nodes(0)).dialect).toMatchObject({ container: "blobs", manifests: "vlen" });
  });
});

describe("what other writers do", () => {
  const cellsOf = async (store: Store, path: string) => {
    const cells = (await (await (await openStore(store)).nodes(0)).cells(path))!;
    const { coords } = await cells.directory();
    return cells.read(coords);
  };
  test("the old name of the element type", async () => {
    const copy = await copyOf("v0.9.2/graph_2d");
    const before = await cellsOf(copy, "vertices");
    await change(copy, "0/vertices/zarr.json", (document) => {
      document.data_type = "bytes";
      document.fill_value = [];
    });
    expect(await cellsOf(copy, "vertices")).toEqual(before);
  });
  test("several cells in one chunk", async () => {
    const copy = await copyOf("v0.9.2/graph_2d"); // of 2 × 2 chunks, of which 0.1 is empty
    const before = await cellsOf(copy, "vertices");
    const cells = [before[0]!, new Uint8Array(0), before[1]!, before[2]!];
    await change(copy, "0/vertices/zarr.json", (document) => {
      document.chunk_grid = { name: "regular", configuration: { chunk_shape: [2, 2] } };
    });
    for (const at of ["0/0", "1/0", "1/1"]) await copy.delete(key(`0/vertices/c/${at}`));
    await copy.set(key("0/vertices/c/0/0"), Blobs.encodeChunk(Blobs.of(cells)));
    expect(await cellsOf(copy, "vertices")).toEqual(before);
  });
  test("codecs in the way, shards in shards, elements that are no bytes", async () => {
    const vlen = { name: "vlen-bytes" };
    const shards = (codecs: Json): Json => [
      {
        name: "sharding_indexed",
        configuration: {
          chunk_shape: [1, 1],
          codecs,
          index_codecs: [{ name: "bytes", configuration: { endian: "little" } }],
        },
      },
    ];
    for (const [kind, edit] of [
      ["unsupported", { codecs: [{ name: "transpose", configuration: { order: [1, 0] } }, vlen] }],
      ["unsupported", { codecs: shards(shards([vlen])) }],
      ["corrupt", { data_type: "uint8", fill_value: 0, codecs: [{ name: "bytes" }] }],
    ] as const) {
      const copy = await copyOf("v0.9.2/graph_2d");
      await change(copy, "0/vertices/zarr.json", (document) => void Object.assign(document, edit));
      await expect((await (await openStore(copy)).nodes(0)).cells("vertices")).rejects.toMatchObject({ kind });
    }
  });
  test("dense manifests, of 0.9.4", async () => {
    const copy = await copyOf("v0.9.2/graph_2d");
    await change(copy, "0/object_index/zarr.json", (document) => {
      attributesOf(document).layout = "dense_manifests_v1";
    });
    expect((await (await openStore(copy)).nodes(0)).dialect.manifests).toBe("dense");
  });
  test("a legacy shard whose index lies", async () => {
    const index = "resolution_0/vertices/shard_000000.idx";
    for (const text of [
      '{"0.0.0": [0, 999]}',
      '{"0.0.0": [0]}',
      '{"0.0.0": [-1, 4]}',
      '{"0.0": [0, 4]}',
      "[]",
      '{"x": [0, 4]}',
    ]) {
      const copy = await copyOf("v0.3/points_sharded_legacy");
      await copy.set(key(index), encodeUtf8(text, "it"));
      await expect(cellsOf(copy, "vertices"), text).rejects.toMatchObject({ kind: "corrupt" });
    }
    const copy = await copyOf("v0.3/points_sharded_legacy");
    await copy.delete(key(index));
    await expect(cellsOf(copy, "vertices")).rejects.toMatchObject({ kind: "corrupt" });
  });
});

test("an index with changes still pending is refused", async () => {
  const copy = await copyOf("v0.3/lines_3d");
  await copy.set(key("resolution_0/object_index/pending/0"), new Uint8Array(8));
  await expect((await openStore(copy)).nodes(0)).rejects.toMatchObject({ kind: "unsupported" });
});
