/** A level in the order of its objects says the same as the level, whatever fits into memory; and so does what is converted with little of it. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fixtures } from "../../test/fixtures.js";
import { columnsOf, info, scene } from "../../test/zarr-vectors-scenes.js";
import { toldBatch } from "../../test/zarr-vectors-told.js";
import { createZarrVectors, openZarrVectors, type ZarrVectors } from "../format/zarr-vectors/index.js";
import type { BatchParts } from "../format/zarr-vectors/write/write.js";
import type { Geometry, Query } from "../model/vectors.js";
import { type Asked, select } from "../query/select.js";
import { fileStore } from "../store/file.js";
import { Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import { scratchIn } from "../store/scratch.js";
import { recordingStore } from "../testing/observe.js";
import { byObject } from "./by-object.js";
import { convertVectors } from "./vectors.js";

const little = { limits: { keptBytes: 100 } };

async function written(geometry: Geometry, more: object, ...batches: readonly BatchParts[]): Promise<ZarrVectors> {
  const writer = await createZarrVectors(memoryStore(), Prefix.root, { geometry, dims: 3, chunkShape: 10, ...more });
  for (const batch of batches) await writer.add(batch);
  return writer.commit();
}

const golden = (name: string): Promise<ZarrVectors> =>
  openZarrVectors(fileStore(join(fixtures("zarr-vectors"), "v0.9.2", name, "store.zarrvectors")));

/** Points with ids, some of which belong to nobody. */
function mixed(): BatchParts {
  const all = scene("points", 3, 8);
  return { ...all, objects: all.objects!.map((object) => (object % 3 === 1 ? -1 : object)) };
}

const sources: Readonly<Record<string, () => Promise<ZarrVectors>>> = {
  streamlines: () => written("streamlines", {}, scene("streamlines", 1, 30)),
  lines: () => written("lines", {}, scene("lines", 2, 30)),
  "points of objects and of nobody": () => written("points", {}, mixed()),
  "objects that share fragments": () => {
    const one = scene("polylines", 5);
    return written("polylines", { sharedFragments: true }, one, { ...one, ids: one.ids!.map((id) => id + 100n) });
  },
  "attributes of fragments": () => {
    const all = scene("streamlines", 7);
    const mark = Int16Array.from({ length: all.parts!.length - 1 }, (_, i) => 5 * i);
    const columns = columnsOf([info("mark", { kind: "int", size: 2, endian: "little" }), mark]);
    return written("streamlines", {}, { ...all, fragments: { offsets: all.parts!, columns } });
  },
  "manifests of every mode": () => golden("manifest_modes"),
  "sparse ids": () => golden("pyramid_points_objects_sparse"),
};

async function whole(dataset: { select(query: Query): Asked }) {
  return toldBatch(await dataset.select({}).read());
}

describe("the order of objects", () => {
  it.each(Object.keys(sources))("%s", async (name) => {
    const dataset = await sources[name]!();
    const source = await dataset.source(0);
    const place = recordingStore(memoryStore());
    const scratch = scratchIn({ store: place }, 1000);
    const ordered = (await byObject(source, scratch, little))!;
    expect((await ordered.chunks()).count).toBeGreaterThan(1);
    const { levels, axes } = dataset;
    const same = { select: (query: object) => select({ levels, axes, source: async () => ordered }, query) };
    expect(await whole(same)).toEqual(await whole(dataset));
    let vertices = 0;
    for await (const { positions, dims } of same.select({}).batches({ batchVertices: 4 }))
      vertices += positions.length / dims;
    expect(vertices).toBe((await dataset.select({}).count()).vertices);
    await scratch.clear();
    for await (const { key } of place.list(Prefix.root)) expect.fail(`${key} is left`);
  });

  it("is left as it is where it fits, and where links would be cut", async () => {
    const scratch = scratchIn({ store: memoryStore() }, 1000);
    const paths = await (await sources.streamlines!()).source(0);
    expect(await byObject(paths, scratch, {})).toBeUndefined();
    const graph = await (await written("graph", {}, scene("graph", 1))).source(0);
    expect(await byObject(graph, scratch, little)).toBeUndefined();
  });

  it("reads each chunk once, however little memory there is", async () => {
    const store = recordingStore(memoryStore());
    const dataset = await written("streamlines", { sharding: "none" }, scene("streamlines", 1, 60));
    const { store: from } = dataset.opened;
    for await (const { key } of from.list(Prefix.root)) await store.set(key, (await from.get(key))!);
    const source = await openZarrVectors(store);
    const plenty = memoryStore();
    await convertVectors(source, plenty, Prefix.root, { chunkShape: [15, 15, 15] });
    store.log.length = 0;
    const scarce = memoryStore();
    await convertVectors(await openZarrVectors(store), scarce, Prefix.root, {
      chunkShape: [15, 15, 15],
      maxMemory: 5000,
    });
    const read = store.log
      .filter(({ kind, at }) => kind === "get" && at.startsWith("0/vertices/c/"))
      .map(({ at }) => at);
    expect(new Set(read).size).toBe(read.length);
    for await (const { key } of plenty.list(Prefix.root))
      expect([key, await scarce.get(key)]).toEqual([key, await plenty.get(key)]);
  });
});
