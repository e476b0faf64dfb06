/**
 * The seed document on the structure of a store, statement by statement, as far as no other test shows them. docs/conformance.md
 * lists all of them under these numbers.
 */
import { describe, expect, it } from "vitest";
import { copyOf, folderOf } from "../../../test/zarr-vectors-copy.js";
import { drawnStore, manifests } from "../../../test/zarr-vectors-drawn.js";
import { defaultLimits } from "../../limits.js";
import { fileStore } from "../../store/file.js";
import { httpStore } from "../../store/http.js";
import { Key, Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import type { Store } from "../../store/types.js";
import { serveStore } from "../../testing/http-server.js";
import { recordingStore } from "../../testing/observe.js";
import { openZarrVectors } from "./index.js";
import { FragmentIndex } from "./payload/fragment-index.js";
import type { ZarrVectors } from "./read/dataset.js";
import { linksBetween } from "./read/link-levels.js";

const golden = (path: string): Promise<ZarrVectors> => openZarrVectors(fileStore(folderOf(path)));
const without = async (store: Store, path: string): Promise<void> => {
  for await (const { key } of store.list(Prefix.of(path))) await store.delete(key);
};

describe("the structure of a store", () => {
  it("V1 V3 V5 V34 V35 the root, the levels and the arrays say in zarr.json what they are", async () => {
    const { axes, levels, opened, bounds } = await openZarrVectors(await drawnStore());
    expect(axes).toEqual(["x", "y", "z"].map((name) => ({ name, type: "space", unit: "micrometer" })));
    expect(bounds).toEqual({ min: [0, 0, 0], max: [20, 10, 10] });
    expect(levels.map(({ level, vertices, binShape }) => [level, vertices, ...binShape])).toEqual([
      [0, 5, 10, 10, 10],
      [1, 2, 20, 20, 20],
    ]);
    expect(opened.root).toMatchObject({
      version: "0.7.0",
      geometryTypes: ["graph"],
      capabilities: ["multiscale_links"],
    });
    expect((await (await opened.nodes(0)).attributes("vertices"))?.zv_array).toBe("vertices");
  });

  it("V4 a store needs no level but the one that is asked for", async () => {
    const store = await drawnStore();
    await without(store, "0");
    const dataset = await openZarrVectors(store);
    expect(dataset.notes.join()).toMatch(/names level 0, which is not there/);
    expect((await dataset.select({ level: 1 }).read()).positions).toHaveLength(6);
    await expect(dataset.select({ level: 0 }).read()).rejects.toMatchObject({ kind: "invalid-input" });
  });

  it("V2 V6 V7 V23 a blob for each chunk, named by its coordinates", async () => {
    const nodes = await (await openZarrVectors(await drawnStore())).opened.nodes(0);
    for (const path of ["vertices", "vertex_fragments", "links/0", "link_fragments", "vertex_attributes/a"]) {
      const { coords } = await (await nodes.cells(path))!.directory();
      expect([...coords]).toEqual([0, 0, 0, 1, 0, 0]);
    }
  });

  it("V8 V10 V13 V18 V19 links within chunks and across, with their attributes row by row", async () => {
    const dataset = await openZarrVectors(await drawnStore());
    const { links, positions } = await dataset.select().read();
    const edges = Array.from({ length: 3 }, (_, l) => {
      const [a, b] = links!.ends.subarray(2 * l, 2 * l + 2);
      return [positions[3 * a!], positions[3 * b!], links!.columns.get("w")!.values[l]];
    });
    expect(edges.sort(([a], [b]) => Number(a) - Number(b))).toEqual([
      [1, 2, 0.5],
      [9, 11, 0.75],
      [11, 12, 0.25],
    ]);
    const [cell] = await (await (await dataset.opened.nodes(0)).cells("link_fragments"))!.read(Int32Array.of(0, 0, 0));
    expect(FragmentIndex.parse(cell!, 1, defaultLimits, "it").count).toBe(1);
  });

  it("V9 V21 links from a level to the next", async () => {
    const { opened } = await openZarrVectors(await drawnStore());
    const found: number[][] = [];
    for await (const { chunks, vertices } of linksBetween(opened, 0, 1))
      for (let l = 0; l < vertices.length / 2; l++)
        found.push([...chunks.subarray(6 * l, 6 * l + 6), ...vertices.subarray(2 * l, 2 * l + 2)]);
    expect(found).toEqual([
      [0, 0, 0, 0, 0, 0, 0, 0],
      [0, 0, 0, 0, 0, 0, 1, 0],
      [0, 0, 0, 0, 0, 0, 2, 1],
      [1, 0, 0, 0, 0, 0, 1, 1],
    ]);
  });

  it("V11 V12 attributes of vertices follow the vertices, those of fragments the fragments", async () => {
    const dataset = await openZarrVectors(await drawnStore());
    const { positions, vertexColumns, fragments } = await dataset.select().read();
    expect([...positions].filter((_, i) => i % 3 === 0)).toEqual([1, 2, 9, 11, 12]);
    expect([...(vertexColumns.get("a")!.values as Float32Array)].map((a) => Math.fround(a * 10))).toEqual(
      [1, 2, 3, 4, 5].map(Math.fround),
    );
    expect([...fragments!.offsets]).toEqual([0, 2, 3, 5]);
    expect([...fragments!.columns.get("f")!.values]).toEqual([7, 8, 9]);
  });

  it("V15 V16 V17 attributes of objects, groups, and attributes of groups", async () => {
    const dataset = await openZarrVectors(await drawnStore());
    const { ids, objectColumns } = await dataset.select().read();
    expect([...ids].map((id, row) => [id, objectColumns.get("o")!.values[row]])).toEqual([
      [0n, 10],
      [1n, 20],
    ]);
    expect(await dataset.groups()).toEqual([
      { group: 0, size: 1 },
      { group: 1, size: 2 },
    ]);
    expect([...(await dataset.groupMembers(0))]).toEqual([1n]);
    expect([...(await dataset.groupColumns()).get("g")!.values]).toEqual([3, 4]);
  });

  it("V20 a coarser level may have larger chunks", async () => {
    const { levels } = await openZarrVectors(await drawnStore());
    expect(levels.map(({ chunkShape }) => chunkShape)).toEqual([
      [10, 10, 10],
      [20, 20, 20],
    ]);
  });

  it("V22 V24 V25 an older Zarr is no store, and records are framed by the format, not by a codec", async () => {
    const store = memoryStore();
    await store.set(Key.of(".zgroup"), new TextEncoder().encode('{"zarr_format": 2}'));
    await expect(openZarrVectors(store)).rejects.toMatchObject({ kind: "not-found" });
    const nodes = await (await openZarrVectors(await drawnStore())).opened.nodes(0);
    expect(await nodes.blob("object_index/data")).toEqual(Uint8Array.of(...manifests[0], ...manifests[1]));
  });

  it.each(["v0.7.0-vlen/points_compressed_blosc", "v0.7.0-vlen/points_compressed_zstd"])("V26 %s", async (path) => {
    const dataset = await golden(path);
    const { positions, dims } = await dataset.select().read();
    expect(positions.length / dims).toBe(dataset.levels[0]!.vertices);
  });

  it("V27 the same store from a folder, from memory and over HTTP", async () => {
    const folder = await golden("v0.9.2/points_compressed_zstd");
    const copy = await copyOf("v0.9.2/points_compressed_zstd");
    const server = await serveStore(copy);
    try {
      const expected = await folder.select().read({ attributes: [] });
      for (const store of [copy, httpStore(server.url)]) {
        const { positions } = await (await openZarrVectors(store)).select().read({ attributes: [] });
        expect(positions).toEqual(expected.positions);
      }
    } finally {
      await server.close();
    }
  });

  it("V32 every name of the list is read", async () => {
    const store = recordingStore(await drawnStore());
    const dataset = await openZarrVectors(store);
    await dataset.select().read();
    await dataset.groups();
    await dataset.groupColumns();
    for await (const { width } of linksBetween(dataset.opened, 0, 1)) expect(width).toBe(2);
    await (await (await dataset.opened.nodes(0)).cells("link_fragments"))!.directory();
    const asked = new Set(store.log.flatMap(({ at }) => /^0\/([a-z_]+)\//.exec(at)?.[1] ?? []));
    const attributes = ["vertex", "fragment", "link", "object", "group", "cross_chunk_link"];
    expect([...asked]).toEqual(
      expect.arrayContaining([
        ...["vertices", "vertex_fragments", "link_fragments", "links", "object_index", "groups", "cross_chunk_links"],
        ...attributes.map((of) => `${of}_attributes`),
      ]),
    );
  });

  it("V33 levels are whole numbers, with the old prefix in old stores; other names are no levels", async () => {
    const store = await drawnStore();
    for (const name of ["01", "level_0", "headers", "-1", "1.0"])
      await store.set(Key.of(`${name}/zarr.json`), new TextEncoder().encode('{"zarr_format":3,"node_type":"group"}'));
    expect((await openZarrVectors(store)).levels.map(({ path }) => path)).toEqual(["0", "1"]);
    expect((await golden("v0.4/points_objects_groups")).levels.map(({ path }) => path)).toEqual(["resolution_0"]);
  });
});
