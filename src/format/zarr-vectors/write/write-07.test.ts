/** Format 0.7.0: the same batches say the same as in 0.9.2, in the tree that the seed draws, with the codecs that it names. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import "../../../../test/properties.js";
import { columnsOf, info, KINDS, scene } from "../../../../test/zarr-vectors-scenes.js";
import { toldLevel } from "../../../../test/zarr-vectors-told.js";
import { InvalidInput, Unsupported } from "../../../errors.js";
import { Key, Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import { zarrVectors } from "../index.js";
import type { VectorDescription } from "./description.js";
import { type BatchParts, createZarrVectors, type VectorWriter } from "./write.js";

const at = Prefix.of("a.zarrvectors");

async function write(
  description: VectorDescription,
  batch: BatchParts,
  more: (writer: VectorWriter) => void = () => {},
) {
  const store = memoryStore();
  const writer = await createZarrVectors(store, at, description);
  await writer.add(batch);
  more(writer);
  const dataset = await writer.commit();
  const keys: string[] = [];
  for await (const { key } of store.list(at)) keys.push(key.slice(at.length));
  const document = async (path: string) =>
    JSON.parse(new TextDecoder().decode(await store.get(Key.join(at, `${path}/zarr.json`))));
  return { store, dataset, keys: keys.sort(), document };
}

describe("format 0.7.0", () => {
  it.each(KINDS)("%s say the same as in 0.9.2, and validate", async (geometry) => {
    const settings = fc.record({
      seed: fc.nat(),
      dims: fc.integer({ min: 2, max: 4 }),
      codecs: fc.constantFrom(undefined, "zstd", "none", "gzip"),
    });
    await fc.assert(
      fc.asyncProperty(settings, async ({ seed, dims, codecs }) => {
        const batch = scene(geometry, seed, 6, dims);
        const groups = (writer: VectorWriter) =>
          writer.groups(
            [[0, 3n], [], { start: 1, stop: 4 }],
            columnsOf([info("g", { kind: "bool", size: 1 }), Uint8Array.of(1, 0, 1)]),
          );
        const description = { geometry, dims, chunkShape: 10, codecs } as VectorDescription;
        const old = await write({ ...description, formatVersion: "0.7.0" }, batch, groups);
        const current = await write(description, batch, groups);
        expect(old.dataset.version).toBe("0.7.0");
        expect(await toldLevel(old.dataset, 0)).toEqual(await toldLevel(current.dataset, 0));
        const errors = [];
        for await (const found of zarrVectors.validate(old.store, at))
          if (found.severity === "error") errors.push(found);
        expect(errors).toEqual([]);
      }),
      { numRuns: 6 },
    );
  });

  it("is the tree of the seed", async () => {
    const { keys, document } = await write(
      { geometry: "graph", dims: 3, chunkShape: 10, formatVersion: "0.7.0" },
      scene("graph", 3),
      (writer) => writer.groups([[0, 1]], columnsOf([info("g", { kind: "bool", size: 1 }), Uint8Array.of(1)])),
    );
    const families = new Set(keys.map((key) => key.replace(/\/-?\d+\.-?\d+\.-?\d+\//, "/<chunk>/")));
    expect([...families].sort()).toEqual(
      [
        "zarr.json",
        "0/zarr.json",
        ...["0/vertices", "0/vertex_fragments", "0/link_fragments", "0/links/0"].flatMap(blobs),
        ...["0/vertex_attributes/uid", "0/vertex_attributes/dir", "0/link_attributes/w/0"].flatMap(blobs),
        ...["0/object_index", "0/object_index/manifests"].map((path) => `${path}/zarr.json`),
        "0/object_index/manifests/c/0",
        ...["0/object_attributes/score", "0/object_attributes/name", "0/group_attributes/g", "0/groups"].flatMap(data),
        ...["c/0", "zarr.json"].map((name) => `0/groups/offsets/${name}`),
        ...["0/cross_chunk_links/0", "0/cross_chunk_link_attributes/w/0"].flatMap(data),
        ...[
          "links",
          "link_attributes",
          "link_attributes/w",
          "vertex_attributes",
          "object_attributes",
          "group_attributes",
        ].map(group),
        ...["cross_chunk_links", "cross_chunk_link_attributes", "cross_chunk_link_attributes/w"].map(group),
      ].sort(),
    );
    const index = await document("0/object_index");
    expect(index.attributes).toEqual({
      zv_array: "object_index",
      num_objects: 6,
      sid_ndim: 3,
      layout: "vlen_manifests_v1",
    });
    const codecs = async (path: string) => {
      const key = keys.find((own) => own.startsWith(path) && own.endsWith("/c/0"))!;
      return (await document(key.replace(/\/c\/0$/, ""))).codecs;
    };
    const blosc = (typesize: number, shuffle: string) => [
      { name: "bytes" },
      { name: "blosc", configuration: { typesize, cname: "zstd", clevel: 5, shuffle, blocksize: 0 } },
      { name: "crc32c" },
    ];
    expect(await codecs("0/vertices/")).toMatchObject(blosc(4, "shuffle"));
    expect(await codecs("0/vertex_attributes/uid/")).toMatchObject(blosc(2, "shuffle"));
    expect(await codecs("0/vertex_fragments/")).toMatchObject(blosc(8, "shuffle"));
    expect(await codecs("0/links/0/")).toMatchObject(blosc(8, "bitshuffle"));
    expect(await codecs("0/cross_chunk_links/0/")).toMatchObject(blosc(8, "bitshuffle"));
    expect((await document("0/object_index/manifests")).codecs[1]).toMatchObject(blosc(8, "shuffle")[1]!);
  });

  it("has a row for every id where ids are preserved, and a mask for rows without values", async () => {
    const ids = BigInt64Array.of(1n, 4n, 5n, 6n, 7n, 8n);
    const batch = { ...scene("polylines", 5), ids };
    const { dataset, store, document } = await write(
      { geometry: "polylines", dims: 3, chunkShape: 10, formatVersion: "0.7.0", ids: "preserve" },
      batch,
    );
    expect((await document("0/object_index")).attributes.num_objects).toBe(9);
    expect((await document("0/object_attributes/score")).attributes).toMatchObject({
      has_present_mask: true,
      shape: [9],
    });
    expect(await store.get(Key.join(at, "0/object_attributes/score/present_mask/c/0"))).toBeDefined();
    expect([...(await dataset.objectIds())]).toEqual([...ids]);
    const { objectColumns } = await dataset.select({ object: [4] }).read();
    expect(objectColumns.get("score")!.values[0]).toBe((batch.objectColumns!.get("score")!.values as Float32Array)[1]);
  });

  it("refuses ids that are no rows, shards, and copies of links", async () => {
    const old = { geometry: "polylines", dims: 3, chunkShape: 10, formatVersion: "0.7.0" } as const;
    const sparse = { ...scene("polylines", 5), ids: BigInt64Array.of(1n, 4n, 5n, 6n, 7n, 8n) };
    await expect(write(old, sparse)).rejects.toThrow(InvalidInput);
    expect([...(await (await write({ ...old, ids: "dense" }, sparse)).dataset.objectIds())]).toHaveLength(6);
    await expect(write({ ...old, sharding: 2 }, sparse)).rejects.toThrow(Unsupported);
    const copies = { ...old, geometry: "graph", links: { store: "duplicate" } } as const;
    await expect(write(copies, scene("graph", 1))).rejects.toThrow(Unsupported);
  });

  it.each(["0.7.0", "0.9.2"] as const)(
    "Draco in %s: positions are rounded, everything stays in its row",
    async (formatVersion) => {
      const batch = scene("mesh", 11);
      const { dataset, document } = await write(
        { geometry: "mesh", dims: 3, chunkShape: 10, formatVersion, encoding: "draco", quantizationBits: 14 },
        batch,
      );
      expect((await document("0/vertices")).attributes.encoding).toBe("draco");
      const found = await dataset.select().read();
      const uid = found.vertexColumns.get("uid")!.values as Int16Array;
      for (const [v, own] of uid.entries())
        for (let d = 0; d < 3; d++)
          expect(Math.abs(found.positions[3 * v + d]! - batch.positions[3 * own + d]!)).toBeLessThan(0.01);
      const faces = (ends: Uint32Array, name: (end: number) => number) =>
        Array.from({ length: ends.length / 3 }, (_, f) => [...ends.subarray(3 * f, 3 * f + 3)].map(name).join()).sort();
      expect(faces(found.links!.ends, (end) => uid[end]!)).toEqual(faces(batch.links!.ends, (end) => end));
      await expect(write({ geometry: "points", dims: 2, encoding: "draco" }, scene("points", 1, 2, 2))).rejects.toThrow(
        Unsupported,
      );
    },
  );
});

const blobs = (path: string): string[] => [`${path}/zarr.json`, `${path}/<chunk>/zarr.json`, `${path}/<chunk>/c/0`];
const data = (path: string): string[] => [`${path}/zarr.json`, `${path}/data/zarr.json`, `${path}/data/c/0`];
const group = (path: string): string => `0/${path}/zarr.json`;
