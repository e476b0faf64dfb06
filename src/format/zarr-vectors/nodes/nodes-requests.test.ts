/** What reading costs where nothing can be listed, what consolidated metadata save, and what happens when they are stale. */
import { describe, expect, test } from "vitest";
import { change, copyOf } from "../../../../test/zarr-vectors-copy.js";
import { type Json, type JsonObject, parseJson } from "../../../bytes/json.js";
import { Unsupported } from "../../../errors.js";
import { defaultLimits } from "../../../limits.js";
import { Key, Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { withoutListing, wrap } from "../../../store/wrap.js";
import { recordingStore } from "../../../testing/observe.js";
import { openStore } from "./open-nodes.js";

const key = (text: string) => Key.of(text);
const parse = (bytes: Uint8Array): JsonObject => parseJson(bytes, defaultLimits, "it", { tokens: true }) as JsonObject;

const web = (store: Store) =>
  recordingStore(wrap(store, { ...withoutListing(store.url), can: { list: false, write: false, conditional: false } }));

const attributesOf = (document: { [key: string]: Json }) => document.attributes as { [key: string]: Json };

/** Puts the documents of all nodes into the root's, as they are now. */
async function consolidate(store: Store): Promise<void> {
  const metadata: { [path: string]: Json } = {};
  for await (const { key: at } of store.list(Prefix.root))
    if (at.endsWith("/zarr.json")) metadata[at.slice(0, -"/zarr.json".length)] = parse((await store.get(at))!);
  await change(store, "zarr.json", (root) => {
    root.consolidated_metadata = { kind: "inline", must_understand: false, metadata };
  });
}

describe("without a listing", () => {
  test("each document and each cell is asked for once", async () => {
    const store = web(await copyOf("v0.9.2/points_compressed_zstd"));
    const opened = await openStore(store);
    const asked = () => store.log.splice(0).map(({ kind, at }) => `${kind} ${at}`);
    expect(asked()).toEqual(["get zarr.json"]);
    expect(opened.levels).toEqual([0]);
    const nodes = await opened.nodes(0);
    expect(asked().sort()).toEqual(["get 0/object_index/zarr.json", "get 0/vertices/zarr.json", "get 0/zarr.json"]);
    await opened.level(0);
    const vertices = (await nodes.cells("vertices"))!;
    const { coords, count } = await vertices.directory();
    const fragments = (await nodes.cells("vertex_fragments"))!;
    await fragments.directory();
    expect(asked()).toEqual(["get 0/vertex_fragments/zarr.json"]);
    await vertices.read(coords.slice(0, 3));
    expect(asked()).toEqual(["get 0/vertices/c/0/0/0"]);
    await vertices.read(coords);
    await fragments.read(coords);
    expect(asked()).toHaveLength(2 * count);
    expect((await vertices.read(Int32Array.of(5, 5, 5)))[0]).toBeUndefined(); // not even asked for
    expect(await vertices.cost(coords)).toEqual({ requests: count, bytes: 0, exact: false });
    expect(asked()).toEqual([]);
  });
  test("of a shard its index once, then only what is wanted", async () => {
    const store = web(await copyOf("v0.9.2/points_sharded_zstd"));
    const nodes = await (await openStore(store)).nodes(0);
    const vertices = (await nodes.cells("vertices"))!;
    const { coords, count, rank } = await vertices.directory();
    store.log.length = 0;
    const one = coords.slice(0, rank);
    const plan = await vertices.cost(one);
    expect(plan).toMatchObject({ requests: 2, exact: true });
    const [first] = await vertices.read(one);
    expect(store.log.map(({ range }) => range !== undefined && ("suffix" in range ? "index" : "cell"))).toEqual([
      "index",
      "cell",
    ]);
    store.log.length = 0;
    const all = await vertices.read(coords);
    expect(all[0]).toEqual(first);
    expect(all).toHaveLength(count);
    expect(store.log.filter(({ range }) => "suffix" in range!)).toHaveLength(7); // of the other shards
    expect(store.log).toHaveLength(7 + 8); // and one request for the cells of each
  });
  test("a directory that is missing, or still to be written, cannot be made up", async () => {
    const store = await copyOf("corrupt/v092/nonempty_chunks_absent");
    const nodes = await (await openStore(web(store))).nodes(0);
    await expect((await nodes.cells("vertices"))!.directory()).rejects.toMatchObject({
      kind: "unsupported",
      reason: "list",
    });
  });
  test("names are guessed where the format fixes them", async () => {
    const declared = await openStore(web(await copyOf("v0.9.2/crs_headers_units")));
    expect(await (await declared.nodes(0)).children("vertex_attributes")).toEqual(["v"]);
    expect(declared.notes.join()).toMatch(/that the root does not declare cannot be seen/);
    expect(await (await declared.nodes(0)).children("object_attributes")).toEqual([]);

    const pyramid = await openStore(web(await copyOf("v0.9.2/pyramid_implicit_links")));
    const nodes = await pyramid.nodes(0);
    expect(await nodes.children("links")).toEqual(["+1", "+2"]);
    await expect(nodes.children("links/+1")).rejects.toMatchObject({ kind: "unsupported", reason: "list" });
  });
  test("stores before 0.9 cannot be read, and say why", async () => {
    for (const path of ["v0.7.0-vlen/lines_3d", "v0.3/lines_3d"]) {
      const opened = await openStore(web(await copyOf(path)));
      if (path.startsWith("v0.3")) expect(opened.notes.join()).toMatch(/cannot be told/);
      else await expect(opened.nodes(0)).rejects.toMatchObject({ kind: "unsupported", reason: "list" });
    }
  });
});

describe("consolidated metadata", () => {
  test("save every request for a document", async () => {
    const copy = await copyOf("v0.9.2/graph_2d");
    await consolidate(copy);
    const store = web(copy);
    const nodes = await (await openStore(store)).nodes(0);
    expect(await nodes.children("links")).toEqual(["0"]);
    expect(await nodes.children("links/0")).toEqual(["+1.+1", "0.+1", "0.0"]);
    const cells = (await nodes.cells("links/0/0.+1"))!;
    const { coords } = await cells.directory();
    await cells.read(coords);
    expect(store.log.map(({ at }) => at)).toEqual(["zarr.json", "0/links/0/0.+1/c/1/0"]);
  });
  test("of a store before 0.9 tell what is there", async () => {
    const copy = await copyOf("v0.7.0-vlen/mesh_3d");
    await consolidate(copy);
    const nodes = await (await openStore(web(copy))).nodes(0);
    expect(await nodes.children("vertex_attributes")).toEqual(["c"]);
    const vertices = (await nodes.cells("vertices"))!;
    const { coords, count } = await vertices.directory();
    expect(await vertices.read(coords)).toHaveLength(count);
  });
  test("that name a chunk that is gone give way to the document", async () => {
    const copy = await copyOf("v0.9.2/graph_2d");
    await consolidate(copy);
    await copy.delete(key("0/vertices/c/0/0"));
    const dropFirst = (document: { [key: string]: Json }) => {
      attributesOf(document).nonempty_chunks = ["1.0", "1.1"];
    };
    await change(copy, "0/vertices/zarr.json", dropFirst);
    await change(copy, "0/vertex_fragments/zarr.json", dropFirst);
    const nodes = await (await openStore(web(copy))).nodes(0);
    const vertices = (await nodes.cells("vertices"))!;
    const stale = await vertices.directory();
    expect(stale.count).toBe(3);
    expect((await vertices.read(stale.coords)).map((payload) => payload === undefined)).toEqual([true, false, false]);
    expect((await vertices.directory()).count).toBe(2);
  });
  test("that do not name a chunk give way when they are doubted", async () => {
    const copy = await copyOf("v0.9.2/graph_2d");
    await change(copy, "0/link_fragments/zarr.json", (document) => {
      attributesOf(document).nonempty_chunks = ["0.0"];
    });
    await consolidate(copy);
    await change(copy, "0/link_fragments/zarr.json", (document) => {
      attributesOf(document).nonempty_chunks = ["0.0", "1.0", "1.1"];
    });
    const nodes = await (await openStore(web(copy))).nodes(0);
    expect((await (await nodes.cells("link_fragments"))!.directory()).count).toBe(1);
    expect((await (await nodes.cells("link_fragments", { fresh: true }))!.directory()).count).toBe(3);
    expect((await (await nodes.cells("link_fragments"))!.directory()).count).toBe(3);
    const ignoring = await openStore(web(copy), Prefix.root, { consolidated: false });
    expect((await (await (await ignoring.nodes(0)).cells("link_fragments"))!.directory()).count).toBe(3);
  });
  test("with another grid or other codecs give way", async () => {
    for (const edit of [
      (document: { [key: string]: Json }) => {
        document.shape = [1, 1];
      },
      (document: { [key: string]: Json }) => {
        document.codecs = [{ name: "vlen-bytes" }, { name: "zstd", configuration: { level: 0, checksum: false } }];
      },
    ]) {
      const copy = await copyOf("v0.9.2/graph_2d");
      const honest = (await copy.get(key("0/vertices/zarr.json")))!;
      await change(copy, "0/vertices/zarr.json", edit);
      await consolidate(copy);
      await copy.set(key("0/vertices/zarr.json"), honest);
      const vertices = (await (await (await openStore(web(copy))).nodes(0)).cells("vertices"))!;
      const { coords, count } = await vertices.directory();
      expect(count).toBe(3);
      expect(await vertices.read(coords)).toHaveLength(3);
    }
  });
  test("that are right do not excuse damage", async () => {
    const copy = await copyOf("v0.9.2/graph_2d");
    await consolidate(copy);
    await copy.delete(key("0/vertices/c/0/0"));
    const vertices = (await (await (await openStore(web(copy))).nodes(0)).cells("vertices"))!;
    await expect(vertices.read((await vertices.directory()).coords)).rejects.toMatchObject({ kind: "corrupt" });
  });
});

describe("directories", () => {
  test("still to be written are not believed", async () => {
    const copy = await copyOf("v0.9.2/graph_2d");
    await change(copy, "0/zarr.json", (document) => {
      attributesOf(document).zarr_vectors_presence = "deferred";
    });
    for (const name of ["vertices", "vertex_fragments"])
      await change(copy, `0/${name}/zarr.json`, (document) => {
        attributesOf(document).nonempty_chunks = ["0.0"];
      });
    const opened = await openStore(copy);
    expect((await (await (await opened.nodes(0)).cells("vertices"))!.directory()).count).toBe(3);
    expect(opened.notes.join()).toMatch(/still to be written/);
  });
  test("of shards are found in their indexes", async () => {
    const copy = await copyOf("v0.9.2/points_sharded_zstd");
    const before = await (await (await (await openStore(copy)).nodes(0)).cells("vertices"))!.directory();
    await change(copy, "0/vertices/zarr.json", (document) => void delete attributesOf(document).nonempty_chunks);
    const after = await (await (await (await openStore(copy)).nodes(0)).cells("vertices"))!.directory();
    expect(after).toEqual(before);
  });
  test("with negative coordinates and another origin, found by listing", async () => {
    const copy = await copyOf("v0.9.2/points_2d_negative_origin");
    const before = await (await (await (await openStore(copy)).nodes(0)).cells("vertices"))!.directory();
    await change(copy, "0/vertices/zarr.json", (document) => void delete attributesOf(document).nonempty_chunks);
    const after = await (await (await (await openStore(copy)).nodes(0)).cells("vertices"))!.directory();
    expect(after).toEqual(before);
    expect(Math.min(...after.coords)).toBeLessThan(0);
  });
  test("name what another forbids to look for: that is absence", async () => {
    const copy = await copyOf("v0.9.2/graph_2d");
    await change(copy, "0/vertices/zarr.json", (document) => {
      attributesOf(document).nonempty_chunks = ["0.0", "1.0"]; // the fragments of 1.1 are of nothing, say
    });
    const secret = wrap(copy, {
      get: async (at, options) => {
        if (at === "0/vertices/c/1/1") throw new Unsupported("403", { reason: "forbidden" });
        return copy.get(at, options);
      },
    });
    const opened = await openStore(web(secret));
    expect((await (await (await opened.nodes(0)).cells("vertices"))!.directory()).count).toBe(2);
    expect(opened.notes).toEqual([]);
  });
  test("whose level does not name an index, neither: a forbidden one is absent", async () => {
    const copy = await copyOf("v0.9.2/points_compressed_zstd");
    const secret = (level: Store) =>
      web(
        wrap(level, {
          get: async (at, options) => {
            if (at === "0/object_index/zarr.json") throw new Unsupported("403", { reason: "forbidden" });
            return level.get(at, options);
          },
        }),
      );
    const opened = await openStore(secret(copy));
    expect((await opened.nodes(0)).dialect.manifests).toBe("none");
    expect(opened.notes.join()).toMatch(/forbids to look for/);
    await expect((await openStore(secret(await copyOf("v0.9.2/graph_2d")))).nodes(0)).rejects.toThrow("403");
  });
  test("outside their grid, or of another rank, are Corrupt", async () => {
    for (const keys of [["0.2"], ["-1.0"], ["0.0.0"], ["0"], ["00.0"], ["0.x"], [0]]) {
      const copy = await copyOf("v0.9.2/graph_2d");
      await change(copy, "0/vertices/zarr.json", (document) => {
        attributesOf(document).nonempty_chunks = keys;
      });
      const nodes = await (await openStore(copy)).nodes(0);
      await expect(nodes.cells("vertices"), `${keys}`).rejects.toMatchObject({ kind: "corrupt" });
    }
  });
});

test("who leaves does not take the others along, and a failure is not kept", async () => {
  const copy = await copyOf("v0.9.2/graph_2d");
  let broken = true;
  const store = wrap(copy, {
    get: async (at, options) => {
      await new Promise((done) => setTimeout(done, 5));
      if (broken && at === "0/zarr.json") throw new Error("the line is down");
      return copy.get(at, options);
    },
  });
  const opened = await openStore(store);
  await expect(opened.level(0)).rejects.toThrow("the line is down");
  broken = false;
  const controller = new AbortController();
  const leaving = opened.level(0, { signal: controller.signal });
  const staying = opened.level(0);
  controller.abort(new Error("enough"));
  await expect(leaving).rejects.toThrow("enough");
  expect((await staying).vertexCount).toBe(12);
});
