import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fixtures } from "../../../../test/fixtures.js";
import { loadDracoEncoder } from "../../../codec/draco-encode.js";
import { Corrupt, LimitExceeded, NotFound, Unsupported } from "../../../errors.js";
import type { Finding } from "../../../model/format.js";
import { Affine } from "../../../space/transform.js";
import { fileStore } from "../../../store/file.js";
import { httpStore } from "../../../store/http.js";
import { Key, Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import type { Store } from "../../../store/types.js";
import { serveStore } from "../../../testing/http-server.js";
import { recordingStore } from "../../../testing/observe.js";
import { precomputed } from "../index.js";
import { writeInfo } from "../info.js";
import { writeSegmentProperties } from "../properties/write.js";
import type { Sharding } from "../sharded/types.js";
import { createValues } from "../values.js";
import type { MeshDataset } from "./dataset.js";
import { MeshInfo } from "./info.js";
import { LegacyFragment, LegacyManifest, type Mesh } from "./legacy.js";
import { Manifest } from "./manifest.js";
import { openMeshes } from "./read.js";

const root = join(fixtures("precomputed"), "meshes");
const expected = JSON.parse(readFileSync(join(root, "expected.json"), "utf8"));

const open = async (store: Store): Promise<MeshDataset> => (await precomputed.open(store, Prefix.root)) as MeshDataset;
const findings = async (store: Store): Promise<Finding[]> => {
  const found: Finding[] = [];
  for await (const one of precomputed.validate(store, Prefix.root)) found.push(one);
  return found;
};
/** Of each mesh below: its triangle goes from corner to corner of the cell, and is not cut in the middle at lod 1. */
const SPLIT = "precomputed/fragment-split";
const rulesOf = async (store: Store): Promise<string[]> => (await findings(store)).map(({ rule }) => rule);

/** What cloud-volume says of a mesh; it computes in float32. */
interface Golden {
  readonly vertices: number;
  readonly faces: number;
  readonly min: number[];
  readonly max: number[];
  readonly vertex_sum: number[];
}

function expectMesh({ positions, faces }: Mesh, golden: Golden): void {
  expect([positions.length / 3, faces.length / 3]).toEqual([golden.vertices, golden.faces]);
  for (let axis = 0; axis < 3; axis++) {
    const own = [...positions].filter((_, i) => i % 3 === axis);
    expect(Math.min(...own)).toBeCloseTo(golden.min[axis]!, 3);
    expect(Math.max(...own)).toBeCloseTo(golden.max[axis]!, 3);
    const sum = own.reduce((a, b) => a + b, 0);
    expect(Math.abs(sum / golden.vertex_sum[axis]! - 1)).toBeLessThan(1e-6);
  }
}

for (const folder of ["multires_unsharded_q10", "multires_sharded_q16"])
  test(`golden meshes, ${folder}: every lod as cloud-volume reads it, as a dataset, and checked`, async () => {
    const store = fileStore(join(root, folder, "mesh"));
    const meshes = await openMeshes(store);
    const golden: [string, { lods: Golden[]; manifest: Record<string, number[]> }][] = Object.entries(
      expected[folder].cloudvolume,
    );
    expect(golden.length).toBe(4);
    for (const [id, { lods, manifest }] of golden) {
      const own = meshes.outlineOf(BigInt(id), (await meshes.values.get(BigInt(id)))!);
      expect(own.manifest!.gridOrigin).toEqual(manifest.grid_origin);
      expect(own.manifest!.lods.map(({ sizes }) => [...sizes])).toEqual(manifest.fragment_sizes);
      expect(own.levels).toBe(lods.length);
      for (const [lod, one] of lods.entries()) {
        const mesh = (await meshes.get(BigInt(id), lod))!;
        expectMesh(mesh, one);
        const box = own.box(lod)!;
        expect(mesh.positions.every((value, i) => value >= box[i % 3]! && value <= box[3 + (i % 3)]!)).toBe(true);
      }
    }
    expect(await meshes.get(6n)).toBeUndefined();

    const dataset = await open(store);
    expect(dataset.levels.map(({ binShape }) => binShape)).toEqual([
      [4, 4, 8],
      [8, 8, 16],
      [16, 16, 32],
    ]);
    const all = golden.map(([id]) => BigInt(id)).sort((a, b) => (a < b ? -1 : 1));
    expect([...(await dataset.objectIds())]).toEqual(all);
    // The other meshes have fewer levels, and show their coarsest.
    const coarse = await dataset.select({ level: 2 }).read();
    const faces = golden.reduce((sum, [, { lods }]) => sum + lods.at(-1)!.faces, 0);
    expect(coarse.links!.ends.length).toBe(3 * faces);
    const near = await dataset.select({ box: [20, 280, 320, 80, 360, 480] }).read();
    expect([...near.ids]).toEqual([77n]);
    await expect(dataset.select({ object: [6n] }).read()).rejects.toThrow(NotFound);
    expect(await findings(store)).toEqual([]);
  });

const sharding: Sharding = {
  hash: "murmur3",
  preshiftBits: 0,
  minishardBits: 1,
  shardBits: 1,
  indexEncoding: "gzip",
  dataEncoding: "gzip",
};
const info = {
  kind: "multi",
  quantizationBits: 10,
  transform: Affine.scale([4, 4, 8], [100, 0, 0]),
  lodScaleMultiplier: 1,
  sharding: null,
  segmentProperties: undefined,
} as const;

/** A triangle from the lower to the upper corner of its cell, on a grid of 10 bits. */
const corners = Int32Array.of(0, 0, 0, 1023, 0, 0, 0, 1023, 1023);
const fragment = async (positions = corners): Promise<Uint8Array> =>
  (await loadDracoEncoder()).encode({ positions, faces: Uint32Array.of(0, 1, 2) });

/** Lod 0 has the cells 0 0 0 and 1 0 0, lod 1 the cell 0 0 0. */
function manifestAt(x: number, size: number): Manifest {
  return {
    chunkShape: [2, 4, 8],
    gridOrigin: [x, 0, 0],
    lods: [
      { scale: 1, offset: [0, 0, 0], cells: Uint32Array.of(0, 1, 0, 0, 0, 0), sizes: Uint32Array.of(size, size) },
      { scale: 2, offset: [0.5, 0, 0], cells: Uint32Array.of(0, 0, 0), sizes: Uint32Array.of(size) },
    ],
  };
}

async function written(store: Store, form: Sharding | null, count = 6): Promise<void> {
  const bytes = await fragment();
  const names = { nameOf: (id: bigint) => `${id}.index`, idOf: () => undefined, beforeOf: (id: bigint) => `${id}` };
  const writer = await createValues(store, Prefix.root, form, { names });
  for (let i = 0; i < count; i++) {
    const three = Uint8Array.from([...bytes, ...bytes, ...bytes]);
    await writer.put(BigInt(i) * 2n ** 60n + 1n, Manifest.encode(manifestAt(10 * i, bytes.length)), three);
  }
  await writer.commit();
  await writeInfo(store, Prefix.root, MeshInfo.format({ ...info, sharding: form }));
}

for (const form of [null, sharding])
  test(`vertices are where the formula puts them, ${form === null ? "in files" : "sharded"}`, async () => {
    const store = memoryStore();
    await written(store, form);
    const meshes = await openMeshes(store);
    const fine = (await meshes.get(2n ** 60n + 1n))!;
    // x: 100 + 4 · (10 + 2 · (cell + 0 or 1)); y: 4 · 4; z: 8 · 8
    const sorted = (positions: Mesh["positions"]): number[][] =>
      Array.from({ length: positions.length / 3 }, (_, i) => [...positions.subarray(3 * i, 3 * i + 3)]).sort(
        (a, b) => a[0]! - b[0]! || a[1]! - b[1]!,
      );
    expect(sorted(fine.positions)).toEqual([
      [140, 0, 0],
      [140, 16, 64],
      [148, 0, 0],
      [148, 0, 0],
      [148, 16, 64],
      [156, 0, 0],
    ]);
    expect([...fine.faces].sort()).toEqual([0, 1, 2, 3, 4, 5]);
    // The offset of lod 1 is half a unit, and its cells are twice as long.
    expect(sorted((await meshes.get(2n ** 60n + 1n, 1))!.positions)).toEqual([
      [142, 0, 0],
      [142, 32, 128],
      [158, 0, 0],
    ]);
    expect(await rulesOf(store)).toEqual(new Array(6).fill(SPLIT));

    const dataset = await open(store);
    expect(dataset.levels.length).toBe(2);
    for (let x = 90; x < 360; x += 7) {
      const read = await dataset.select({ box: [x, 0, 0, x + 3, 0, 0] }).read(); // along the edges at y = 0
      const there = [0, 1, 2, 3, 4, 5].filter((i) => x <= 116 + 40 * i && x + 3 >= 100 + 40 * i);
      expect([...read.ids], `${x}`).toEqual(there.map((i) => BigInt(i) * 2n ** 60n + 1n));
    }
  });

test("a region reads the manifests, and of the geometry only what may be there", async () => {
  const store = memoryStore();
  await written(store, null);
  const watched = recordingStore(store);
  const dataset = await open(watched);
  watched.log.length = 0;
  expect((await dataset.select({ box: [100, 0, 0, 116, 1, 1] }).read()).ids.length).toBe(1);
  const read = watched.log.filter(({ kind }) => kind === "get").map(({ at }) => at);
  expect(read.filter((name) => !name.endsWith(".index"))).toEqual(["1"]);
  expect(read.filter((name) => name.endsWith(".index")).length).toBe(6);
});

test("over HTTP, a sharded mesh takes four requests, and files that cannot be listed are read by name", async () => {
  const store = memoryStore();
  await written(store, sharding);
  const server = await serveStore(store);
  onTestFinished(() => server.close());
  const watched = recordingStore(httpStore(server.url));
  const meshes = await openMeshes(watched);
  watched.log.length = 0;
  expect((await meshes.get(1n, 1))!.faces.length).toBe(3);
  expect(watched.log.length).toBe(4); // shard index, minishard index, manifest, fragments

  const files = memoryStore();
  await written(files, null);
  const other = await serveStore(files);
  onTestFinished(() => other.close());
  const dataset = await open(httpStore(other.url));
  expect(dataset.notes.length).toBe(1);
  expect((await dataset.select({ object: [1n], level: 7 }).read()).positions.length).toBe(9);
  await expect(dataset.select().read()).rejects.toThrow(Unsupported);
});

test("a plan counts manifests and fragments", async () => {
  const store = memoryStore();
  await written(store, null);
  const [manifest, three] = [28 + 40 + 48, 3 * (await fragment()).length];
  const plan = await (await open(store)).select({ object: [1n, 1n] }).plan();
  expect(plan).toEqual({ requests: 2, bytes: manifest + three, exact: false });
});

test("a mesh without geometry is there, but nowhere", async () => {
  const store = memoryStore();
  await written(store, null, 3);
  await store.set(Key.of("9.index"), Manifest.encode(manifestAt(0, 0))); // no file of fragments is needed
  const dataset = await open(store);
  expect((await dataset.select({ object: [9n] }).read()).positions.length).toBe(0);
  expect((await dataset.objectIds()).length).toBe(4);
  const ids = async (query: object): Promise<bigint[]> => [...(await dataset.select(query).read()).ids];
  const three = [1n, 2n ** 60n + 1n, 2n ** 61n + 1n];
  expect(await ids({ box: [-1e6, -1e6, -1e6, 1e6, 1e6, 1e6] })).toEqual(three);
  expect(await ids({ sphere: [0, 0, 0, 1e6] })).toEqual(three);
  expect((await ids({ nearest: [0, 0, 0, 10] })).sort()).toEqual(three);
  expect(await ids({ nearest: [190, 0, 0, 1] })).toEqual([2n ** 61n + 1n]);
  expect(await rulesOf(store)).toEqual(new Array(3).fill(SPLIT));
});

async function legacy(store: Store): Promise<void> {
  const triangle = (x: number): Mesh => ({
    positions: Float32Array.of(x, 0, 0, x + 1, 0, 0, x, 1, 0),
    faces: Uint32Array.of(0, 1, 2),
  });
  await store.set(Key.of("7:0"), LegacyManifest.encode(["7:0:a", "7:0:b"]));
  await store.set(Key.of("7:0:a"), LegacyFragment.encode(triangle(0)));
  await store.set(Key.of("7:0:b"), LegacyFragment.encode(triangle(5)));
  await store.set(Key.of("18446744073709551615:0"), LegacyManifest.encode(["c"]));
  await store.set(Key.of("c"), LegacyFragment.encode(triangle(100)));
  await store.set(Key.of("8:0"), LegacyManifest.encode([]));
  await writeInfo(store, Prefix.root, { "@type": "neuroglancer_legacy_mesh", segment_properties: "props" });
  await writeSegmentProperties(store, Prefix.of("props"), {
    ids: BigUint64Array.of(7n),
    properties: [{ id: "name", type: "label", values: ["seven"] }],
  });
}

test("meshes of the older form are read, found and checked", async () => {
  const store = memoryStore();
  await legacy(store);
  const dataset = await open(store);
  expect([...(await dataset.objectIds())]).toEqual([7n, 8n, 2n ** 64n - 1n]);
  const seven = await dataset.select({ object: [7n] }).read();
  expect([...seven.positions]).toEqual([0, 0, 0, 1, 0, 0, 0, 1, 0, 5, 0, 0, 6, 0, 0, 5, 1, 0]);
  expect([...seven.links!.ends]).toEqual([0, 1, 2, 3, 4, 5]);
  expect(seven.objectColumns.get("name")!.values).toEqual(["seven"]);
  expect([...(await dataset.select({ box: [90, 0, 0, 101, 1, 1] }).read()).ids]).toEqual([2n ** 64n - 1n]);
  expect(await dataset.select({ object: [7n] }).plan()).toEqual({
    requests: 3,
    bytes: LegacyManifest.encode(["7:0:a", "7:0:b"]).length + 2 * 52,
    exact: true,
  });
  expect(await findings(store)).toEqual([]);
  const match = await precomputed.detect(store, Prefix.root);
  expect(match?.summary).toBe("Neuroglancer precomputed, meshes");

  await store.delete(Key.of("7:0:b"));
  await store.set(Key.of("8:0"), new TextEncoder().encode("{}"));
  await store.delete(Key.of("props/info"));
  expect((await findings(store)).map(({ rule, where }) => [rule, where])).toEqual([
    ["precomputed/segment-properties", "memory:/info"],
    ["precomputed/fragment-decodes", "memory:/7"],
    ["precomputed/value-decodes", "memory:/8"],
  ]);
  await expect((await openMeshes(store)).get(7n)).rejects.toThrow(/7:0:b is not there/);
});

test("damage of a manifest or a fragment is found where it is, and does not hide what is sound", async () => {
  const store = memoryStore();
  await written(store, null);
  const bytes = await fragment();
  const manifest = manifestAt(0, bytes.length);
  const swapped = { ...manifest.lods[0]!, scale: 0, cells: Uint32Array.of(3, 0, 0, 0, 0, 0) };
  await store.set(Key.of("1.index"), Manifest.encode({ ...manifest, lods: [swapped, manifest.lods[1]!] }));
  const id = (i: bigint): bigint => i * 2n ** 60n + 1n;
  await store.set(Key.of(`${id(1n)}.index`), new Uint8Array(30));
  await store.set(Key.of(`${id(2n)}`), Uint8Array.from([...bytes, ...new Uint8Array(2 * bytes.length)]));
  await store.set(Key.of(`${id(3n)}`), bytes);
  await store.delete(Key.of(`${id(4n)}`));
  expect((await findings(store)).map(({ rule, where }) => [rule, where])).toEqual([
    ["precomputed/undrawn", "memory:/1"],
    ["precomputed/fragment-parent", "memory:/1"],
    ["precomputed/fragment-order", "memory:/1"],
    [SPLIT, "memory:/1"],
    ["precomputed/value-decodes", `memory:/${id(1n)}`],
    ["precomputed/fragment-decodes", `memory:/${id(2n)}`],
    ["precomputed/fragment-decodes", `memory:/${id(2n)}`],
    ["precomputed/fragment-decodes", `memory:/${id(3n)}`],
    ["precomputed/fragment-decodes", `memory:/${id(3n)}`],
    ["precomputed/fragment-decodes", `memory:/${id(4n)}`],
    ["precomputed/fragment-decodes", `memory:/${id(4n)}`],
    [SPLIT, `memory:/${id(5n)}`],
  ]);
  const meshes = await openMeshes(store);
  for (const i of [1n, 2n, 3n, 4n]) await expect(meshes.get(id(i)), `${i}`).rejects.toThrow(Corrupt);
  expect((await meshes.get(id(5n)))!.faces.length).toBe(6);
  const dataset = await open(store);
  expect(dataset.levels.length).toBe(2);
  expect((await dataset.select({ object: [id(5n)] }).read()).ids.length).toBe(1);
  await expect(dataset.select().read()).rejects.toThrow(Corrupt);
  await expect(meshes.get(id(5n), 0, { limits: { chunkBytes: 2 * bytes.length - 1 } })).rejects.toThrow(LimitExceeded);
  // 100 points in one place have few bytes; either fragment is allowed, both are not.
  const dense = await fragment(new Int32Array(300));
  await store.set(Key.of(`${id(5n)}.index`), Manifest.encode(manifestAt(0, dense.length)));
  await store.set(Key.of(`${id(5n)}`), Uint8Array.from([...dense, ...dense, ...dense]));
  expect((await meshes.get(id(5n), 1, { limits: { chunkBytes: 3000 } }))!.positions.length).toBe(300);
  await expect(meshes.get(id(5n), 0, { limits: { chunkBytes: 3000 } })).rejects.toThrow(/at most 3000 bytes at lod 0/);
});

test("positions outside of the fragment, point clouds and floats are refused", async () => {
  const store = memoryStore();
  const encoder = await loadDracoEncoder();
  await writeInfo(store, Prefix.root, MeshInfo.format(info));
  const meshes = await openMeshes(store);
  for (const [bytes, error] of [
    [await fragment(Int32Array.of(0, 0, 0, 1024, 0, 0, 0, 5, 0)), /from 0 to 1023, found 1024/],
    [await fragment(Int32Array.of(0, 0, 0, -1, 0, 0, 0, 5, 0)), /found -1/],
    [encoder.encode({ positions: corners }), /should be triangles/],
  ] as const) {
    await store.set(Key.of("5.index"), Manifest.encode({ ...manifestAt(0, bytes.length) }));
    await store.set(Key.of("5"), Uint8Array.from([...bytes, ...bytes, ...bytes]));
    await expect(meshes.get(5n)).rejects.toThrow(error);
  }
});

test("fragments that a shard does not have are Corrupt, never other bytes", async () => {
  const store = memoryStore();
  const form = { ...sharding, minishardBits: 0, shardBits: 0 };
  const writer = await createValues(store, Prefix.root, form);
  await writer.put(1n, Manifest.encode(manifestAt(0, 2 ** 31)), await fragment());
  await writer.commit();
  await writeInfo(store, Prefix.root, MeshInfo.format({ ...info, sharding: form }));
  await expect((await openMeshes(store)).get(1n, 1)).rejects.toThrow(/bytes before it/);
  expect(await rulesOf(store)).toContain("precomputed/fragment-decodes");
});

test('"sharding": null is read, warned of and repaired; an info that is none is a finding', async () => {
  const store = memoryStore();
  await written(store, null, 1);
  await writeInfo(store, Prefix.root, { ...MeshInfo.format(info), sharding: null });
  expect(await rulesOf(store)).toEqual(["precomputed/undrawn", SPLIT]);
  expect((await precomputed.repair!(store, Prefix.root)).fixed.length).toBe(1);
  expect(await rulesOf(store)).toEqual([SPLIT]);
  await writeInfo(store, Prefix.root, { ...MeshInfo.format(info), vertex_quantization_bits: 12 });
  expect(await rulesOf(store)).toEqual(["precomputed/info"]);
  await expect(open(store)).rejects.toThrow(Corrupt);
  await expect(openMeshes(memoryStore())).rejects.toThrow(NotFound);
});
