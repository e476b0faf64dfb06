import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Conflict, InvalidInput, LimitExceeded, NotFound } from "../../../errors.js";
import type { Finding } from "../../../model/format.js";
import { Key, Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import type { Store } from "../../../store/types.js";
import { precomputed } from "../index.js";
import { chooseSharding } from "../sharded/choose.js";
import type { Sharding } from "../sharded/types.js";
import type { Mesh } from "./legacy.js";
import { Manifest } from "./manifest.js";
import { openMeshes } from "./read.js";
import { createMeshes, type MeshDescription, type MeshesWritten } from "./write.js";

const TRANSFORM = [4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 40, 0];

async function write(store: Store, meshes: readonly Mesh[], description: MeshDescription): Promise<MeshesWritten> {
  const writer = await createMeshes(store, Prefix.root, description);
  for (const [i, mesh] of meshes.entries()) await writer.put(BigInt(i) + 1n, mesh);
  return writer.commit();
}

async function findings(store: Store): Promise<Finding[]> {
  const found: Finding[] = [];
  for await (const one of precomputed.validate(store, Prefix.root)) found.push(one);
  return found;
}

const triangle: Mesh = {
  positions: Float32Array.of(0, 0, 0, 8, 0, 0, 0, 8, 4),
  faces: Uint32Array.of(0, 1, 2),
};

/** A closed surface with bumps. */
function ball(n: number, radius = 1000, at = [5000, -700, 0]): Mesh {
  const positions: number[] = [];
  const faces: number[] = [];
  const point = (a: number, b: number): void => {
    const r = radius * (1 + 0.1 * Math.sin(5 * a) * Math.cos(4 * b));
    const xyz = [Math.sin(a) * Math.cos(b), Math.sin(a) * Math.sin(b), Math.cos(a) / 10];
    positions.push(...xyz.map((value, axis) => r * value + at[axis]!));
  };
  point(0, 0);
  for (let i = 1; i < n; i++) for (let j = 0; j < n; j++) point((i / n) * Math.PI, (j / n) * 2 * Math.PI);
  point(Math.PI, 0);
  const vertex = (i: number, j: number): number =>
    i === 0 ? 0 : i === n ? 1 + (n - 1) * n : 1 + (i - 1) * n + (j % n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      if (i < n - 1) faces.push(vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1));
      if (i > 0) faces.push(vertex(i, j), vertex(i + 1, j + 1), vertex(i, j + 1));
    }
  return { positions: Float64Array.from(positions), faces: Uint32Array.from(faces) };
}

const cornersOf = ({ positions, faces }: Mesh, face: number): number[][] =>
  [0, 1, 2].map((k) => [...positions.subarray(3 * faces[3 * face + k]!).subarray(0, 3)]);

/** The sums over faces of their area, and of the space below them. */
function measure(mesh: Mesh): { readonly area: number; readonly volume: number } {
  let [area, volume] = [0, 0];
  for (let i = 0; i < mesh.faces.length / 3; i++) {
    const [a, b, c] = cornersOf(mesh, i) as [number[], number[], number[]];
    const [u, v] = [b.map((value, k) => value - a[k]!), c.map((value, k) => value - a[k]!)];
    const normal = [0, 1, 2].map((k) => u[(k + 1) % 3]! * v[(k + 2) % 3]! - u[(k + 2) % 3]! * v[(k + 1) % 3]!);
    area += Math.hypot(...normal) / 2;
    volume += normal.reduce((sum, value, k) => sum + value * a[k]!, 0) / 6;
  }
  return { area, volume };
}

/** Edges that meet none in the other direction at the same two places. */
function openEdges(mesh: Mesh): number {
  const seen = new Map<string, number>();
  for (let i = 0; i < mesh.faces.length / 3; i++) {
    const names = cornersOf(mesh, i).map(String);
    for (let k = 0; k < 3; k++) {
      const [a, b] = [names[k]!, names[(k + 1) % 3]!];
      const [name, way] = a < b ? [`${a} ${b}`, 1] : [`${b} ${a}`, -1];
      seen.set(name, (seen.get(name) ?? 0) + way);
    }
  }
  return [...seen.values()].filter((count) => count !== 0).length;
}

test("a triangle, byte by byte", async () => {
  const store = memoryStore();
  expect(await write(store, [triangle], { quantizationBits: 10 })).toMatchObject({ values: 1, files: 2, collapsed: 0 });
  const bytes = (await store.get(Key.of("1.index")))!;
  expect(bytes.length).toBe(28 + 20 + 16);
  const [floats, words] = [new Float32Array(bytes.slice().buffer), new Uint32Array(bytes.slice().buffer)];
  expect([...floats.subarray(0, 6)]).toEqual([8, 8, 8, 0, 0, 0]);
  expect(words[6]).toBe(1);
  // The area is that of a triangle of 8 by √(8² + 4²); the scale is its root.
  expect(floats[7]).toBeCloseTo(Math.sqrt(4 * Math.sqrt(80)), 5);
  expect([...floats.subarray(8, 11)]).toEqual([0, 0, 0]);
  const size = (await store.get(Key.of("1")))!.length;
  expect([...words.subarray(11)]).toEqual([1, 0, 0, 0, size]);
  expect(JSON.parse(new TextDecoder().decode(await store.get(Key.of("info"))))).toEqual({
    "@type": "neuroglancer_multilod_draco",
    vertex_quantization_bits: 10,
    transform: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0],
    lod_scale_multiplier: 1,
  });
  const read = (await (await openMeshes(store)).get(1n))!;
  const sorted = (mesh: Mesh): number[][] => cornersOf(mesh, 0).sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]!);
  const step = 8 / 1023;
  for (const [i, place] of sorted(read).entries())
    for (const [k, value] of place.entries())
      expect(Math.abs(value - sorted(triangle)[i]![k]!)).toBeLessThanOrEqual(step / 2);
  expect(await findings(store)).toEqual([]);
});

const point = fc.tuple(...[0, 1, 2].map(() => fc.double({ min: -100, max: 1000, noNaN: true })));

test("without cuts, every face is there, its corners within half a step", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(point, point, point), { minLength: 1, maxLength: 30 }),
      fc.constantFrom(10 as const, 16 as const),
      async (triangles, quantizationBits) => {
        const mesh = {
          positions: Float64Array.from(triangles.flat(2)),
          faces: Uint32Array.from({ length: 3 * triangles.length }, (_, i) => i),
        };
        const store = memoryStore();
        const { collapsed } = await write(store, [mesh], { quantizationBits, transform: TRANSFORM });
        const meshes = await openMeshes(store);
        const { manifest } = meshes.outlineOf(1n, (await meshes.values.get(1n))!);
        const read = (await meshes.get(1n))!;
        const steps = 2 ** quantizationBits - 1;
        if (read.faces.length === 0) {
          expect(collapsed).toBe(triangles.length);
          return;
        }
        // On the grid again, each face from its lowest corner on: as exact numbers.
        const grid = (value: number, k: number): number =>
          Math.round(((value - manifest!.gridOrigin[k]!) / manifest!.chunkShape[k]!) * steps);
        const named = (corners: number[][]): string => {
          const names = corners.map((corner) => corner.map(grid).join());
          const first = names.indexOf([...names].sort()[0]!);
          return [0, 1, 2].map((k) => names[(first + k) % 3]).join(" ");
        };
        const given = triangles.map(named);
        const back = (corner: number[]): number[] => corner.map((value, k) => value / [4, 4, 40][k]!);
        const whole = given.filter((name) => new Set(name.split(" ")).size === 3);
        const found = Array.from({ length: read.faces.length / 3 }, (_, i) => named(cornersOf(read, i).map(back)));
        expect(found.sort()).toEqual(whole.sort());
        expect(collapsed).toBe(given.length - whole.length);
      },
    ),
    { numRuns: 25 },
  );
});

const sharded: Sharding = { ...chooseSharding({ count: 4, bytes: 1e6, compressed: true }).sharding, shardBits: 1 };
const FORMS = [
  [10, null],
  [10, sharded],
  [16, null],
  [16, { ...sharded, dataEncoding: "gzip" }],
] as const;

test.each(FORMS)(
  "several levels, %i bits: closed, the same shape, a quarter of the faces each; %j",
  async (bits, sharding) => {
    const store = memoryStore();
    const mesh = ball(60);
    const given = measure({ ...mesh, positions: mesh.positions.map((value, i) => value * (i % 3 === 2 ? 40 : 4)) });
    const description = { quantizationBits: bits, levels: 3, transform: TRANSFORM, sharding };
    await write(store, [mesh, triangle, mesh], description);
    const meshes = await openMeshes(store);
    const outline = meshes.outlineOf(1n, (await meshes.values.get(1n))!);
    expect(outline.levels).toBe(3);
    const { lods } = outline.manifest!;
    expect(lods[2]!.sizes.length).toBe(1);
    expect(lods[1]!.sizes.length).toBe(8);
    let cut = 0;
    for (let lod = 0; lod < 3; lod++) {
      expect(Manifest.orphan(outline.manifest!, lod)).toBeUndefined();
      const read = await outline.read(lod);
      const { area, volume } = measure(read);
      expect(Math.abs(area / given.area - 1)).toBeLessThan(0.01 * 2 ** lod);
      expect(Math.abs(volume / given.volume - 1)).toBeLessThan(0.01 * 2 ** lod);
      expect(openEdges(read)).toBe(0);
      const faces = read.faces.length / 3;
      expect(faces).toBeGreaterThan(mesh.faces.length / 3 / 4 ** lod - 100);
      expect(faces).toBeLessThan((2 * mesh.faces.length) / 3 / 4 ** lod);
      if (lod > 0) expect(lods[lod]!.scale / lods[lod - 1]!.scale).toBeCloseTo(2, 1);
      cut += faces;
    }
    expect(cut).toBeGreaterThan(mesh.faces.length / 3);
    expect((await meshes.get(3n, 1))!.positions).toEqual((await meshes.get(1n, 1))!.positions);
    expect(await findings(store)).toEqual([]);
  },
);

test("one level, as told, has cells all the same; a second one leaves out parts that it does not resolve", async () => {
  const count = 2 ** 15 + 1;
  // Triangles far from each other.
  const positions = Float32Array.from({ length: 9 * count }, (_, i) => {
    const [face, corner, axis] = [Math.floor(i / 9), Math.floor(i / 3) % 3, i % 3];
    return 10 * (Math.floor(face / 33 ** axis) % 33) + (corner === axis ? 1 : 0);
  });
  const mesh = { positions, faces: Uint32Array.from({ length: 3 * count }, (_, i) => i) };
  for (const levels of [1, undefined]) {
    const store = memoryStore();
    await write(store, [mesh], { levels });
    const meshes = await openMeshes(store);
    const outline = meshes.outlineOf(1n, (await meshes.values.get(1n))!);
    expect([outline.levels, outline.manifest!.lods[0]!.sizes.length]).toEqual([levels ?? 2, 8]);
    expect((await outline.read()).faces.length).toBeGreaterThanOrEqual(3 * count);
    if (levels === undefined) expect((await outline.read(1)).faces.length).toBeLessThan(1.1 * count);
  }
});

test("the same meshes are the same bytes", async () => {
  const stores = [memoryStore(), memoryStore()];
  for (const store of stores) await write(store, [ball(40)], { levels: 3 });
  for (const name of ["1", "1.index", "info"])
    expect(await stores[0]!.get(Key.of(name))).toEqual(await stores[1]!.get(Key.of(name)));
});

test("a triangle over many cells is there in all of them, whole", async () => {
  const store = memoryStore();
  const huge = { positions: Float32Array.of(0, 0, 5, 640, 0, 5, 0, 640, 5), faces: Uint32Array.of(0, 1, 2) };
  await write(store, [huge], { chunkShape: [10, 10, 10], quantizationBits: 10, levels: 2 });
  const meshes = await openMeshes(store);
  const { manifest } = meshes.outlineOf(1n, (await meshes.values.get(1n))!);
  expect(manifest!.lods[0]!.sizes.length).toBeGreaterThan((64 * 64) / 2);
  const read = (await meshes.get(1n))!;
  expect(measure(read).area).toBeCloseTo((640 * 640) / 2, 3);
  expect(await findings(store)).toEqual([]);
  const tight = await createMeshes(
    memoryStore(),
    Prefix.root,
    { chunkShape: [1, 1, 1] },
    { limits: { chunkBytes: 1e6 } },
  );
  await expect(tight.put(1n, huge)).rejects.toThrow(LimitExceeded);
  const tiny = await createMeshes(memoryStore(), Prefix.root, { chunkShape: [1e-3, 1, 1] });
  await expect(tiny.put(1n, huge)).rejects.toThrow(InvalidInput);
});

test("meshes that are small, flat, far away or nothing", async () => {
  const store = memoryStore();
  const none: Mesh = { positions: new Float32Array(), faces: new Uint32Array() };
  const same: Mesh = { positions: new Float32Array(9).fill(3), faces: Uint32Array.of(0, 1, 2, 0, 0, 1) };
  const far: Mesh = {
    ...triangle,
    positions: Float64Array.from(triangle.positions, (value) => 123456789 + value / 64),
  };
  const loose: Mesh = { ...triangle, positions: Float64Array.of(...triangle.positions, 1e9, 1e9, 1e9) };
  const line: Mesh = { positions: Float32Array.of(0, 0, 0, 1, 1, 1, 2, 2, 2), faces: Uint32Array.of(0, 1, 2) };
  const written = await write(store, [none, same, far, loose, line], { levels: 4 });
  expect(written).toMatchObject({ values: 5, collapsed: 2 });
  const meshes = await openMeshes(store);
  for (const id of [1n, 2n]) expect((await meshes.get(id))!.faces.length).toBe(0);
  const read = (await meshes.get(3n))!;
  for (let axis = 0; axis < 3; axis++) {
    const own = [...read.positions].filter((_, i) => i % 3 === axis);
    const given = [...far.positions].filter((_, i) => i % 3 === axis);
    expect(Math.abs(Math.max(...own) - Math.max(...given))).toBeLessThan(1e-3);
    expect(Math.abs(Math.min(...own) - Math.min(...given))).toBeLessThan(1e-3);
  }
  expect(Math.max(...(await meshes.get(4n))!.positions)).toBeLessThan(9);
  expect((await meshes.get(5n))!.faces.length).toBe(3);
  expect(await meshes.get(9n)).toBeUndefined();
  expect(await findings(store)).toEqual([]);
});

test.each([
  ["NaN", { ...triangle, positions: Float32Array.of(0, 0, 0, 8, Number.NaN, 0, 0, 8, 4) }],
  ["infinity", { ...triangle, positions: Float32Array.of(0, 0, 0, 8, Number.POSITIVE_INFINITY, 0, 0, 8, 4) }],
  ["what float32 cannot hold", { ...triangle, positions: Float64Array.of(0, 0, 0, 8, 1e300, 0, 0, 8, 4) }],
  ["a face that points nowhere", { ...triangle, faces: Uint32Array.of(0, 1, 3) }],
  ["half a face", { ...triangle, faces: Uint32Array.of(0, 1) }],
  ["half a vertex", { ...triangle, positions: new Float32Array(8) }],
])("%s is refused, in both forms, and the next mesh is stored", async (_name, mesh) => {
  for (const kind of ["multi", "legacy"] as const) {
    const store = memoryStore();
    const writer = await createMeshes(store, Prefix.root, { kind });
    await expect(writer.put(1n, mesh)).rejects.toThrow(InvalidInput);
    await writer.put(1n, triangle);
    await writer.commit();
    expect((await (await openMeshes(store)).get(1n))!.faces.length).toBe(3);
  }
});

test.each([
  [{ quantizationBits: 12 as 10 }],
  [{ levels: 0 }],
  [{ levels: 17 }],
  [{ chunkShape: [1, 1] }],
  [{ chunkShape: [1, 0, 1] }],
  [{ lodScaleMultiplier: 0 }],
  [{ transform: [1, 0, 0, 1] }],
  [{ transform: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0] }],
])("%j is refused before anything is written", async (description) => {
  const store = memoryStore();
  await expect(createMeshes(store, Prefix.root, description)).rejects.toThrow(InvalidInput);
});

test("the older form: float32 in nanometres, a document and a file", async () => {
  const store = memoryStore();
  const none: Mesh = { positions: new Float32Array(), faces: new Uint32Array() };
  const written = await write(store, [triangle, none], {
    kind: "legacy",
    transform: TRANSFORM,
    segmentProperties: "props",
  });
  expect(written).toMatchObject({ values: 2, files: 4, collapsed: 0 });
  const text = async (name: string): Promise<string> => new TextDecoder().decode(await store.get(Key.of(name)));
  expect(await text("1:0")).toBe('{"fragments":["1:0:1"]}');
  expect(await text("info")).toBe('{"@type":"neuroglancer_legacy_mesh","segment_properties":"props"}');
  const bytes = (await store.get(Key.of("1:0:1")))!;
  expect(new Uint32Array(bytes.slice(0, 4).buffer)[0]).toBe(3);
  expect([...new Float32Array(bytes.slice(4, 40).buffer)]).toEqual([0, 0, 0, 32, 0, 0, 0, 32, 160]);
  expect([...new Uint32Array(bytes.slice(40).buffer)]).toEqual([0, 1, 2]);
  const meshes = await openMeshes(store);
  expect((await meshes.get(2n))!.faces.length).toBe(0);
});

test.each(["multi", "legacy"] as const)("%s: nothing is overwritten, twice or left behind", async (kind) => {
  const store = memoryStore();
  const writer = await createMeshes(store, Prefix.root, { kind });
  await writer.put(1n, triangle);
  await expect(writer.put(1n, triangle)).rejects.toThrow(InvalidInput);
  await writer.abort();
  expect((await store.children(Prefix.root)).keys).toEqual([]);
  await write(store, [triangle, triangle], { kind });
  await expect(createMeshes(store, Prefix.root, { kind })).rejects.toThrow(Conflict);
  const again = await createMeshes(store, Prefix.root, { kind }, { overwrite: true });
  await again.put(7n, triangle);
  await again.commit();
  const meshes = await openMeshes(store);
  expect(await meshes.get(1n)).toBeUndefined();
  expect((await meshes.get(7n))!.faces.length).toBe(3);
});

test("an older folder needs no info, and its parts may be compressed", async () => {
  const store = memoryStore();
  await write(store, [triangle, triangle], { kind: "legacy" });
  await store.delete(Key.of("info"));
  const part = (await store.get(Key.of("2:0:1")))!;
  await store.set(Key.of("2:0:1.gz"), gzipSync(part));
  await store.delete(Key.of("2:0:1"));
  const meshes = await openMeshes(store);
  for (const id of [1n, 2n]) expect((await meshes.get(id))!.positions).toEqual(triangle.positions);
  expect(await meshes.get(3n)).toBeUndefined();
  await expect(openMeshes(store, Prefix.of("elsewhere"))).rejects.toThrow(NotFound);
});
