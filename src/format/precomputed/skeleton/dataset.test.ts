import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { fixtures } from "../../../../test/fixtures.js";
import { Conflict, Corrupt, InvalidInput, NotFound, Unsupported } from "../../../errors.js";
import type { Finding } from "../../../model/format.js";
import { fileStore } from "../../../store/file.js";
import { httpStore } from "../../../store/http.js";
import { Key, Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import type { Store } from "../../../store/types.js";
import { serveStore } from "../../../testing/http-server.js";
import { recordingStore } from "../../../testing/observe.js";
import { precomputed } from "../index.js";
import { writeSegmentProperties } from "../properties/write.js";
import type { Sharding } from "../sharded/types.js";
import type { SkeletonDataset } from "./dataset.js";
import type { SkeletonAttribute } from "./info.js";
import { openSkeletons } from "./read.js";
import type { Skeleton } from "./skeleton.js";
import { createSkeletons } from "./write.js";

const root = join(fixtures("precomputed"), "skeletons");
const expected = JSON.parse(readFileSync(join(root, "expected.json"), "utf8"));
const sharding: Sharding = {
  hash: "murmur3",
  preshiftBits: 0,
  minishardBits: 2,
  shardBits: 1,
  indexEncoding: "gzip",
  dataEncoding: "gzip",
};

const open = async (store: Store): Promise<SkeletonDataset> =>
  (await precomputed.open(store, Prefix.root)) as SkeletonDataset;
const findings = async (store: Store): Promise<Finding[]> => {
  const found: Finding[] = [];
  for await (const one of precomputed.validate(store, Prefix.root)) found.push(one);
  return found;
};

for (const folder of ["unsharded", "sharded_cv_mm3", "sharded_ts_mm3"])
  test(`golden skeletons, ${folder}: by id, as a dataset, and checked`, async () => {
    const store = fileStore(join(root, folder, "skeletons"));
    const skeletons = await openSkeletons(store);
    for (const [id, one] of Object.entries<Record<string, number[][]>>(expected.skeletons)) {
      const read = (await skeletons.get(BigInt(id)))!;
      expect([...read.vertices]).toEqual(one.vertices!.flat());
      expect([...read.attributes.get("direction")!]).toEqual(one.direction!.flat());
    }
    expect(await skeletons.get(5n)).toBeUndefined();

    const dataset = await open(store);
    expect(await dataset.objectIds()).toEqual(BigUint64Array.from(expected.ids, BigInt).sort());
    const all = await dataset.select().read();
    expect(all.ids.length).toBe(10);
    const one = await dataset.select({ object: [9007199254740993n] }).read();
    const golden = expected.skeletons["9007199254740993"];
    expect(one.ids).toEqual(BigUint64Array.of(9007199254740993n));
    // The transform of the info: x is scaled by 4 and moved by 100.5, z scaled by 40.
    expect([...one.positions]).toEqual(
      golden.vertices.flatMap(([x, y, z]: number[]) => [4 * x! + 100.5, 4 * y! - 20, 40 * z!]),
    );
    expect([...one.links!.ends]).toEqual(golden.edges.flat());
    expect([...one.vertexColumns.get("delta")!.values]).toEqual(golden.delta.flat());
    await expect(dataset.select({ object: [5n] }).read()).rejects.toThrow(NotFound);
    expect((await findings(store)).map(({ rule }) => rule)).toEqual(["precomputed/undrawn"]);
  });

const attributes: SkeletonAttribute[] = [
  { id: "radius", type: "float32", components: 1 },
  { id: "kind", type: "uint8", components: 1 },
];

/** A path of a few vertices, with a branch. */
const skeletonAt = (x: number): Skeleton => ({
  vertices: Float32Array.of(x, 0, 0, x + 4, 0, 0, x + 4, 4, 0, x + 4, -4, 0),
  edges: Uint32Array.of(0, 1, 1, 2, 1, 3),
  attributes: new Map<string, Float32Array | Uint8Array>([
    ["radius", Float32Array.of(x, 1, 2, 3)],
    ["kind", Uint8Array.of(1, 2, 3, 255)],
  ]),
});

async function written(store: Store, form: Sharding | null, count = 20): Promise<void> {
  const writer = await createSkeletons(store, Prefix.root, { attributes, sharding: form });
  for (let i = count - 1; i >= 0; i--) await writer.put(BigInt(i) * 2n ** 58n + 1n, skeletonAt(10 * i));
  await writer.commit();
}

for (const form of [null, sharding])
  test(`what is written is read again, ${form === null ? "a file each" : "sharded"}`, async () => {
    const store = memoryStore();
    await written(store, form);
    const skeletons = await openSkeletons(store);
    for (let i = 0; i < 20; i++)
      expect(await skeletons.get(BigInt(i) * 2n ** 58n + 1n)).toEqual({ ...skeletonAt(10 * i), unread: 0 });
    expect((await findings(store)).map(({ rule }) => rule)).toEqual(["precomputed/undrawn"]);
    await expect(written(store, form)).rejects.toThrow(Conflict);
  });

test("a region finds what a look at everything finds", async () => {
  const store = memoryStore();
  await written(store, sharding);
  const dataset = await open(store);
  const crosses = (x: number, [x0, y0, , x1, y1]: readonly number[]): boolean =>
    (x0! <= x + 4 && x1! >= x && y0! <= 0 && y1! >= 0) || (x0! <= x + 4 && x1! >= x + 4 && y0! <= 4 && y1! >= -4);
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: -40, max: 840 }),
      fc.integer({ min: 0, max: 160 }),
      fc.integer({ min: -24, max: 24 }),
      fc.integer({ min: 1, max: 20 }), // a box without height can touch an edge in one point, of which clip leaves nothing
      async (x, width, y, height) => {
        const box = [x, y, -1, x + width, y + height, 1].map((quarters) => quarters / 4);
        const read = await dataset.select({ box }).read();
        const there = Array.from({ length: 20 }, (_, i) => i).filter((i) => crosses(10 * i, box));
        expect([...read.ids]).toEqual(there.map((i) => BigInt(i) * 2n ** 58n + 1n));
        const clip = await dataset.select({ box, clip: true }).read();
        expect([...clip.ids]).toEqual([...read.ids]);
      },
    ),
    { numRuns: 40 },
  );
});

test("a plan says that a region costs everything, and an object little", async () => {
  const store = memoryStore();
  await written(store, null);
  const watched = recordingStore(store);
  const dataset = await open(watched);
  const size = 8 + 48 + 24 + 20;
  expect(await dataset.select({ box: [0, 0, 0, 1, 1, 1] }).plan()).toEqual({
    requests: 20,
    bytes: 20 * size,
    exact: true,
  });
  expect(await dataset.select({ object: [1n, 1n, 2n ** 58n + 1n] }).plan()).toEqual({
    requests: 2,
    bytes: 2 * size,
    exact: true,
  });
  expect(watched.log.filter(({ kind, at }) => kind === "get" && at !== "info" && at !== ".octavo/head")).toEqual([]);
});

test("over HTTP, files that cannot be listed are read by name", async () => {
  const store = memoryStore();
  await written(store, null);
  const server = await serveStore(store);
  onTestFinished(() => server.close());
  const dataset = await open(httpStore(server.url));
  expect((await dataset.select({ object: [1n] }).read()).ids).toEqual(BigUint64Array.of(1n));
  await expect(dataset.select().read()).rejects.toThrow(Unsupported);
});

test("segment properties are attributes of the objects, tags are their groups", async () => {
  const store = memoryStore();
  const writer = await createSkeletons(store, Prefix.root, { attributes, segmentProperties: "props" });
  for (const id of [1n, 2n, 3n]) await writer.put(id, skeletonAt(Number(id)));
  await writer.commit();
  await writeSegmentProperties(store, Prefix.of("props"), {
    ids: BigUint64Array.of(3n, 1n),
    properties: [
      { id: "name", type: "label", values: ["three", "one"] },
      { id: "size", type: "number", dataType: "uint16", values: Uint16Array.of(3, 1) },
      { id: "kinds", type: "tags", tags: ["a", "b"], values: [[0, 1], []] },
    ],
  });
  const dataset = await open(store);
  const all = await dataset.select().read();
  expect(all.objectColumns.get("name")!.values).toEqual(["one", "", "three"]);
  expect([...all.objectColumns.get("size")!.values]).toEqual([1, 65535, 3]); // the value for "none"
  expect([...all.objectColumns.keys()]).toEqual(["name", "size"]); // tags are groups
  expect(await dataset.groups()).toEqual([
    { group: 0, size: 1 },
    { group: 1, size: 1 },
  ]);
  expect([...(await dataset.groupMembers(1))]).toEqual([3n]);
  expect((await dataset.groupColumns()).get("name")!.values).toEqual(["a", "b"]);
  expect([...(await dataset.select({ where: "group.name = 'b'" }).read()).ids]).toEqual([3n]);
  expect([...(await dataset.select({ where: "object.name = 'three'" }).read()).ids]).toEqual([3n]);
  expect((await findings(store)).map(({ rule }) => rule)).toEqual(["precomputed/undrawn"]);
  await store.delete(Key.of("props/info"));
  expect((await findings(store)).map(({ rule }) => rule)).toContain("precomputed/segment-properties");
});

test("drawable attributes are float32, and what that rounds is counted", async () => {
  const store = memoryStore();
  const writer = await createSkeletons(
    store,
    Prefix.root,
    { attributes: [{ id: "n", type: "uint32", components: 1 }] },
    { drawable: true },
  );
  const one = { vertices: new Float32Array(6), edges: new Uint32Array() };
  await writer.put(1n, { ...one, attributes: new Map([["n", Uint32Array.of(7, 2 ** 24 + 1)]]) });
  await expect(writer.put(2n, { ...one, attributes: new Map([["n", Float32Array.of(1, 2)]]) })).rejects.toThrow(
    InvalidInput,
  );
  expect(await writer.commit()).toMatchObject({ values: 1, rounded: 1, warnings: [] });
  const skeletons = await openSkeletons(store);
  expect(skeletons.info.undrawn).toEqual([]);
  expect((await skeletons.get(1n))!.attributes.get("n")).toEqual(Float32Array.of(7, 2 ** 24));
});

test("an aborted writer leaves nothing, and the info is the last to come", async () => {
  const store = recordingStore(memoryStore());
  const writer = await createSkeletons(store, Prefix.root, {});
  await writer.put(1n, { vertices: new Float32Array(3), edges: new Uint32Array(), attributes: new Map() });
  await writer.abort();
  expect((await store.children(Prefix.root)).keys).toEqual([]);
  await written(store, sharding);
  const sets = store.log.filter(({ kind }) => kind === "set" || kind === "commit");
  expect(sets.at(-1)!.at).toBe("info");
});

test("damage is found where it is, and does not hide what is sound", async () => {
  const store = memoryStore();
  await written(store, null);
  await store.set(Key.of("1"), new Uint8Array(7));
  const bytes = (await store.get(Key.of(`${2n ** 58n + 1n}`)))!;
  await store.set(Key.of(`${2n ** 58n + 1n}`), Uint8Array.of(...bytes, 1, 2));
  expect((await findings(store)).map(({ rule, where }) => [rule, where])).toEqual([
    ["precomputed/undrawn", "memory:/info"],
    ["precomputed/value-decodes", "memory:/1"],
    ["precomputed/value-rest", `memory:/${2n ** 58n + 1n}`],
  ]);
  await expect((await open(store)).select().read()).rejects.toThrow(Corrupt);
  expect((await (await open(store)).select({ object: [2n ** 59n + 1n] }).read()).ids.length).toBe(1);
  await store.set(Key.of("info"), new TextEncoder().encode('{"@type": "neuroglancer_skeletons", "transform": 5}'));
  expect((await findings(store)).map(({ rule }) => rule)).toEqual(["precomputed/info"]);
});

test("opening says what it is", async () => {
  const match = await precomputed.detect(fileStore(join(root, "unsharded/skeletons")), Prefix.root);
  expect(match?.summary).toBe("Neuroglancer precomputed, skeletons");
  expect(await precomputed.detect(memoryStore(), Prefix.root)).toBeUndefined();
  const foreign = memoryStore();
  await foreign.set(Key.of("info"), new TextEncoder().encode('{"name": "x"}'));
  expect(await precomputed.detect(foreign, Prefix.root)).toBeUndefined();
  await expect(precomputed.open(foreign, Prefix.root)).rejects.toThrow(NotFound);
  await foreign.set(Key.of("info"), new TextEncoder().encode('{"redirect": "https://host/x"}'));
  await expect(precomputed.open(foreign, Prefix.root)).rejects.toThrow(/elsewhere: "https:\/\/host\/x"/);
});

test('"sharding": null is read, warned of and repaired', async () => {
  const store = memoryStore();
  const writer = await createSkeletons(store, Prefix.root, {});
  await writer.put(1n, { vertices: new Float32Array(3), edges: new Uint32Array(), attributes: new Map() });
  await writer.commit();
  const key = Key.of("info");
  const info = JSON.parse(new TextDecoder().decode((await store.get(key))!));
  await store.set(key, new TextEncoder().encode(JSON.stringify({ ...info, sharding: null })));
  expect((await open(store)).notes).toEqual(['Neuroglancer does not open an info with "sharding": null.']);
  expect((await findings(store)).map(({ rule }) => rule)).toEqual(["precomputed/undrawn"]);
  expect((await precomputed.repair!(store, Prefix.root)).fixed.length).toBe(1);
  expect(JSON.parse(new TextDecoder().decode((await store.get(key))!))).toEqual(info);
  expect(await findings(store)).toEqual([]);
});
