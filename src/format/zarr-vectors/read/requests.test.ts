/** What the reference's stores cost over HTTP, from a server that lists nothing: documents once, then the cells in question. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fixtures } from "../../../../test/fixtures.js";
import { chunksIn } from "../../../query/candidates.js";
import { Region } from "../../../query/region.js";
import { fileStore } from "../../../store/file.js";
import { httpStore } from "../../../store/http.js";
import { Key, Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import { serveStore, type TestServer } from "../../../testing/http-server.js";
import { createZarrVectors, editZarrVectors, openZarrVectors } from "../index.js";

let server: TestServer;
beforeAll(async () => {
  server = await serveStore(fileStore(join(fixtures("zarr-vectors"), "v0.9.2")));
});
afterAll(() => server.close());

/** A store over HTTP, and what it was asked for since the last look. */
async function opened(name: string) {
  server.log.length = 0;
  const dataset = await openZarrVectors(httpStore(`${server.url}/${name}/store.zarrvectors`), Prefix.root);
  const asked = (): string[] => server.log.splice(0).map((line) => line.split("store.zarrvectors/")[1]!);
  return { dataset, asked };
}

const documents = (asked: readonly string[]): string[] => asked.filter((path) => path.endsWith("zarr.json")).sort();
const cells = (asked: readonly string[]): string[] => asked.filter((path) => !path.endsWith("zarr.json")).sort();

describe("requests over HTTP", () => {
  test.each(["polylines_2d", "pyramid_points", "mesh_3d"])(
    "opening %s is its root and its finest level, however many levels",
    async (name) => {
      const { dataset, asked } = await opened(name);
      expect(asked()).toEqual(["zarr.json", "0/zarr.json"]);
      const [finest, ...coarser] = dataset.levels;
      expect(finest).toEqual(await dataset.describe(0));
      for (const outline of coarser) {
        expect(outline).toMatchObject({ vertices: undefined, chunkShape: undefined });
        expect(await dataset.describe(outline.level)).toMatchObject({ binShape: outline.binShape });
      }
    },
  );

  test("whether there have been commits is asked where the root speaks of a log, and not of the cache of a browser", async () => {
    const store = memoryStore();
    const at = Prefix.of("edited");
    const from = fileStore(join(fixtures("zarr-vectors"), "v0.9.2/polylines_2d/store.zarrvectors"));
    for await (const { key } of from.list(Prefix.root)) await store.set(Key.join(at, key), (await from.get(key))!);
    const edited = await serveStore(store);
    try {
      const caches = new Map<string, RequestCache | undefined>();
      const watching: typeof fetch = (url, init) => {
        caches.set(String(url).split("edited/")[1]!, init?.cache);
        return fetch(url, init);
      };
      await openZarrVectors(httpStore(`${edited.url}/edited`, { fetch: watching }));
      expect([...caches.keys()]).toEqual(["zarr.json", "0/zarr.json"]);
      const edit = await editZarrVectors(store, at);
      edit.delete([0]);
      await edit.commit();
      caches.clear();
      const dataset = await openZarrVectors(httpStore(`${edited.url}/edited`, { fetch: watching }));
      expect(caches.get(".octavo/head")).toBe("no-cache");
      expect(await dataset.objectIds()).not.toContain(0n);
    } finally {
      await edited.close();
    }
  });

  test("the first object is the documents, its ids and its manifest; then two for each chunk, the next one only these", async () => {
    const { dataset, asked } = await opened("polylines_2d");
    asked();
    const [first, second] = await chunksOf("polylines_2d");
    await dataset.select({ object: [0] }).read();
    const paths = asked();
    expect(documents(paths)).toEqual([
      "0/object_index/manifests/zarr.json",
      "0/object_index/object_ids/zarr.json",
      "0/object_index/zarr.json",
      "0/vertex_fragments/zarr.json",
      "0/vertices/zarr.json",
    ]);
    expect(cells(paths)).toEqual(
      ["0/object_index/manifests/c/0", ...cellsOf(first!), "0/object_index/object_ids/c/0"].sort(),
    );
    await dataset.select({ object: [1] }).read();
    const fresh = cellsOf(second!).filter((path) => !cellsOf(first!).includes(path));
    expect(asked().sort()).toEqual(fresh.sort());
    await dataset.select({ object: [1, 0] }).read();
    expect(asked()).toEqual([]);
  });

  /** The chunks of the first two objects, by another way: a store that lists. */
  async function chunksOf(name: string): Promise<string[][]> {
    const dataset = await openZarrVectors(
      fileStore(join(fixtures("zarr-vectors"), "v0.9.2", name, "store.zarrvectors")),
    );
    const source = await dataset.source(0);
    const table = await source.chunks();
    const { offsets, chunk } = await source.objects!.place(Uint32Array.of(0, 1));
    return [0, 1].map((i) => [
      ...new Set(
        Array.from(chunk.subarray(offsets[i], offsets[i + 1]), (c) =>
          table.coords.subarray(c * table.rank, (c + 1) * table.rank).join("/"),
        ),
      ),
    ]);
  }
  const cellsOf = (chunks: readonly string[]): string[] =>
    chunks.flatMap((chunk) => [`0/vertices/c/${chunk}`, `0/vertex_fragments/c/${chunk}`]);

  test("a box is the level, its arrays, and their cells in the chunks that it meets", async () => {
    const { dataset, asked } = await opened("points_2d_negative_origin");
    asked();
    const box = { min: [-1e9, -1e9], max: [0, 0] };
    await dataset.select({ box: [...box.min, ...box.max] }).read();
    const paths = asked();
    const table = await (await dataset.source(0)).chunks();
    const met = chunksIn(table, Region.of({ box }, 2), 2);
    expect(met.length).toBeLessThan(table.count);
    expect(cells(paths)).toHaveLength(2 * met.length);
    expect(documents(paths)).toEqual([
      "0/object_index/zarr.json", // is not there
      "0/vertex_fragments/zarr.json",
      "0/vertices/zarr.json",
    ]);
  });

  test("paths are read without their links; graphs and meshes say what is missing", async () => {
    for (const name of ["lines_3d", "polylines_2d"]) {
      const { dataset, asked } = await opened(name);
      expect((await dataset.select().read()).positions.length).toBeGreaterThan(0);
      expect(asked().filter((path) => path.includes("links"))).toEqual([]);
    }
    for (const name of ["graph_2d", "mesh_3d"]) {
      const { dataset } = await opened(name);
      await expect(dataset.select().read()).rejects.toMatchObject({
        kind: "unsupported",
        reason: "list",
        hint: expect.stringContaining("octavo publish"),
      });
    }
  });

  test("attributes that the root declares are asked for by name, and nothing else is looked for", async () => {
    const { dataset, asked } = await opened("crs_headers_units");
    asked();
    expect((await dataset.schema()).vertex.map(({ name }) => name)).toEqual(["v"]);
    expect(documents(asked()).filter((path) => path.includes("_attributes/"))).toEqual([
      "0/vertex_attributes/v/zarr.json",
    ]);
  });
});

test("what Octavo writes is asked without a listing: attributes are declared, and joints of paths follow from manifests", async () => {
  const store = memoryStore();
  const writer = await createZarrVectors(store, Prefix.root, {
    geometry: "streamlines",
    chunkShape: 10,
    bounds: { min: [0, 0], max: [40, 40] },
  });
  const dtype = { kind: "float", size: 4, endian: "little" } as const;
  await writer.add({
    positions: Float32Array.of(1, 1, 38, 38, 5, 30, 5, 35), // the first crosses chunks in which it has no vertex
    parts: Uint32Array.of(0, 2, 4),
    objects: Int32Array.of(0, 1),
    ids: BigInt64Array.of(3n, 4n),
    vertexColumns: new Map([["fa", { info: { name: "fa", dtype, channels: 1 }, values: Float32Array.of(1, 2, 3, 4) }]]),
  });
  await writer.commit();
  const web = await serveStore(store);
  try {
    const dataset = await openZarrVectors(httpStore(web.url), Prefix.root);
    const { ids, vertexColumns } = await dataset.select({ box: [18, 18, 22, 22] }).read();
    expect([...ids]).toEqual([3n]);
    expect([...(vertexColumns.get("fa")?.values ?? [])]).toEqual([1, 2]);
  } finally {
    await web.close();
  }
});
