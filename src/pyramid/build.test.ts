/** A pyramid of every kind: what is promised of each level, by looking at all of it, and the reader's and validator's opinion. */
import { beforeAll, describe, expect, it } from "vitest";
import { workerUrl } from "../../test/worker-url.js";
import { columnsOf, info, KINDS, random, scene } from "../../test/zarr-vectors-scenes.js";
import { openZarrVectors, zarrVectors } from "../format/zarr-vectors/index.js";
import { createZarrVectors } from "../format/zarr-vectors/write/write.js";
import type { Batch, Geometry } from "../model/vectors.js";
import { isPrivate, Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import { createPool } from "../worker/pool.js";
import { buildPyramid, type Choice, type PyramidOptions } from "./build.js";

const at = Prefix.of("a.zv");
const f4 = { kind: "float", size: 4, endian: "little" } as const;

async function stored(geometry: Geometry, count = 40, groups = false) {
  const store = memoryStore();
  const batch = scene(geometry, 3, count);
  const width = batch.links?.width;
  const writer = await createZarrVectors(store, at, {
    geometry,
    dims: 3,
    chunkShape: 10,
    links: width === undefined ? undefined : { width },
  });
  await writer.add(batch);
  if (groups)
    writer.groups(
      [
        [0n, 1n, 2n, 3n],
        [10n, 11n],
      ],
      columnsOf([info("name", { kind: "string" }), ["a", "b"]]),
    );
  await writer.commit();
  return { store, batch };
}

const levelOf = async (store: ReturnType<typeof memoryStore>, level: number): Promise<Batch> =>
  (await openZarrVectors(store, at)).select({ level }).read();

async function errorsOf(store: ReturnType<typeof memoryStore>): Promise<string[]> {
  const found: string[] = [];
  for await (const { severity, rule, message } of zarrVectors.validate(store, at))
    if (severity !== "info") found.push(`${rule} ${message}`);
  return found;
}

describe.each(KINDS)("%s", (geometry) => {
  it("have coarser levels that are some of the finest, with ids, groups and attributes", async () => {
    const { store, batch } = await stored(geometry, 40, true);
    const before = await levelOf(store, 0);
    const { levels } = await buildPyramid(store, at, { levels: 2, error: 3, keep: 0.5 });
    expect(await errorsOf(store)).toEqual([]);
    expect(await levelOf(store, 0)).toEqual(before);
    const dataset = await openZarrVectors(store, at);
    expect(dataset.levels.map(({ level }) => level)).toEqual([0, 1, 2]);
    const where = new Map<number, string>();
    const uids = batch.vertexColumns!.get("uid")!.values as Int16Array;
    for (const [v, uid] of uids.entries()) where.set(uid, `${batch.positions.subarray(3 * v, 3 * v + 3)}`);
    let ids = new Set(before.ids);
    for (const [i, { vertices, objects, error, allowed }] of levels.entries()) {
      expect(error).toBeLessThanOrEqual(allowed);
      const own = await dataset.select({ level: i + 1 }).read();
      expect([own.positions.length / 3, own.ids.length]).toEqual([vertices, objects]);
      expect(objects).toBe(40 / 2 ** (i + 1));
      for (const id of own.ids) expect(ids.has(id)).toBe(true);
      ids = new Set(own.ids);
      const uid = own.vertexColumns.get("uid")!.values;
      for (const [v, value] of (uid as Int16Array).entries())
        expect(`${own.positions.subarray(3 * v, 3 * v + 3)}`).toBe(where.get(value));
      const score = own.objectColumns.get("score")!.values;
      for (const [row, id] of own.ids.entries())
        expect(score[row]).toBe(batch.objectColumns!.get("score")!.values[Number(id)]);
      expect(await dataset.groups(i + 1)).toHaveLength(2);
      expect([...(await dataset.groupMembers(0, i + 1))]).toEqual([0n, 1n, 2n, 3n].filter((id) => ids.has(id)));
      expect((await dataset.groupColumns(i + 1)).get("name")!.values).toEqual(["a", "b"]);
      if (own.links !== undefined && geometry !== "mesh") expect(own.links.ends.length > 0).toBe(true);
    }
  });

  it("can be built again, and others", async () => {
    const { store } = await stored(geometry);
    await buildPyramid(store, at, { levels: 3 });
    const first = await Promise.all([1, 2, 3].map((level) => levelOf(store, level)));
    await buildPyramid(store, at, { levels: 3 });
    expect(await Promise.all([1, 2, 3].map((level) => levelOf(store, level)))).toEqual(first);
    await buildPyramid(store, at, { levels: 1 });
    expect((await openZarrVectors(store, at)).levels).toHaveLength(2);
    expect(await errorsOf(store)).toEqual([]);
  });
});

describe("points without objects", () => {
  it.each(["pick", "mean"] as const)(
    "are one for each bin on every level, also where bins are larger than chunks (%s)",
    async (attributes) => {
      const store = memoryStore();
      const next = random(9);
      const count = 4000;
      const positions = Float32Array.from({ length: 3 * count }, () => 32 * next());
      const w = Float32Array.from({ length: count }, () => next());
      const writer = await createZarrVectors(store, at, { geometry: "points", dims: 3, chunkShape: 8, objects: false });
      await writer.add({ positions, vertexColumns: columnsOf([info("w", f4), w]) });
      await writer.commit();
      await buildPyramid(store, at, { levels: 3, error: 4, attributes });
      expect(await errorsOf(store)).toEqual([]);
      for (const [i, side] of [4, 8, 16].entries()) {
        const cell = (list: ArrayLike<number>, v: number): string =>
          [0, 1, 2].map((axis) => Math.floor(list[3 * v + axis]! / side)).join();
        const bins = new Map<string, number[]>();
        for (let v = 0; v < count; v++) bins.set(cell(positions, v), [...(bins.get(cell(positions, v)) ?? []), v]);
        const own = await levelOf(store, i + 1);
        const found = Array.from({ length: own.positions.length / 3 }, (_, v) => cell(own.positions, v));
        expect(found.sort()).toEqual([...bins.keys()].sort());
        for (let v = 0; v < own.positions.length / 3; v++) {
          const members = bins.get(cell(own.positions, v))!;
          const value = own.vertexColumns.get("w")!.values[v] as number;
          if (attributes === "mean")
            expect(value).toBeCloseTo(members.reduce((sum, member) => sum + w[member]!, 0) / members.length, 5);
          else expect(members.map((member) => w[member])).toContain(value);
        }
      }
    },
  );
});

describe("objects of one point each", () => {
  it("are thinned as points are, and keep their ids, attributes and groups", async () => {
    const next = random(9);
    const count = 4000;
    const positions = Float32Array.from({ length: 3 * count }, () => 32 * next());
    const w = Float32Array.from({ length: count }, () => next());
    const vertexColumns = columnsOf([info("w", f4), w]);
    const [plain, owned] = [memoryStore(), memoryStore()];
    const description = { geometry: "points", dims: 3, chunkShape: 8 } as const;
    const alone = await createZarrVectors(plain, at, { ...description, objects: false });
    await alone.add({ positions, vertexColumns });
    await alone.commit();
    const writer = await createZarrVectors(owned, at, { ...description, ids: "sparse" });
    const rows = Array.from({ length: count }, (_, row) => row);
    const ids = BigInt64Array.from(rows, (row) => 10n ** 15n - 7n * BigInt(row));
    await writer.add({
      positions,
      vertexColumns,
      parts: Uint32Array.from([...rows, count]),
      objects: Int32Array.from(rows),
      ids,
      objectColumns: columnsOf([info("twice", f4), w.map((value) => 2 * value)]),
    });
    writer.groups(
      [[...ids.filter((_, row) => row % 2 === 0)]],
      columnsOf([info("name", { kind: "string" }), ["even"]]),
    );
    await writer.commit();
    const reports = [plain, owned].map((store) => buildPyramid(store, at, { levels: 3, error: 4 }));
    const [one, two] = await Promise.all(reports);
    const expected = one!.levels.map((level) => ({ ...level, objects: level.vertices }));
    expect(two!.levels.slice(0, 2)).toEqual(expected.slice(0, 2));
    expect(two!.levels[2]).toMatchObject({ ...expected[2], error: expect.any(Number) }); // bins larger than chunks
    expect(await errorsOf(owned)).toEqual([]);
    const dataset = await openZarrVectors(owned, at);
    const rowOf = new Map(rows.map((row) => [ids[row]!, row]));
    for (const level of [1, 2, 3]) {
      const { positions: found, ids: left, objectColumns } = await levelOf(owned, level);
      const side = 2 ** (level + 1);
      const cells = (list: ArrayLike<number>): string[] =>
        Array.from({ length: list.length / 3 }, (_, v) =>
          [0, 1, 2].map((axis) => Math.floor(list[3 * v + axis]! / side)).join(),
        ).sort();
      expect(cells(found)).toEqual(cells((await levelOf(plain, level)).positions)); // of two in a bin either may stay
      for (const [i, id] of left.entries()) {
        const row = rowOf.get(id)!;
        expect([...found.subarray(3 * i, 3 * i + 3)]).toEqual([...positions.subarray(3 * row, 3 * row + 3)]);
        expect(objectColumns.get("twice")!.values[i]).toBe(2 * w[row]!);
      }
      const members = [...(await dataset.groupMembers(0, level))].sort();
      expect(members).toEqual([...left].filter((id) => rowOf.get(id)! % 2 === 0).sort());
    }
    const { levels } = await buildPyramid(owned, at, { levels: 1, keep: 0.5 });
    expect(levels[0]!.objects).toBe(count / 2);
  });
});

describe("objects that stay", () => {
  it("are the longest, the heaviest, some of every group, or those that reach everywhere", async () => {
    const { store, batch } = await stored("streamlines", 40, true);
    const length = (o: number): number => {
      let sum = 0;
      for (let v = batch.parts![o]! + 1; v < batch.parts![o + 1]!; v++)
        sum += Math.hypot(
          ...[0, 1, 2].map((axis) => batch.positions[3 * v + axis]! - batch.positions[3 * v - 3 + axis]!),
        );
      return sum;
    };
    const all = Array.from({ length: 40 }, (_, o) => o);
    const score = batch.objectColumns!.get("score")!.values as Float32Array;
    const best = (of: (o: number) => number): bigint[] =>
      [...all]
        .sort((a, b) => of(b) - of(a))
        .slice(0, 10)
        .map(BigInt)
        .sort((a, b) => Number(a - b));
    const built = async (by: Choice) => {
      await buildPyramid(store, at, { levels: 1, keep: 0.25, by });
      return [...(await levelOf(store, 1)).ids].sort((a, b) => Number(a - b));
    };
    expect(await built("length")).toEqual(best(length));
    expect(await built({ weight: "score" })).toEqual(best((o) => score[o]!));
    const grouped = await built("group");
    expect(grouped).toHaveLength(10);
    expect([grouped.some((id) => id < 4n), grouped.some((id) => id === 10n || id === 11n)]).toEqual([true, true]);
    expect(await built("coverage")).toHaveLength(10);
    await expect(built({ weight: "nothing" })).rejects.toThrow("has no object attribute nothing");
  });
});

it("a skeleton's branches are measured, not the way from the end of one to the next", async () => {
  const store = memoryStore();
  const writer = await createZarrVectors(store, at, { geometry: "skeletons", dims: 2, chunkShape: 1000 });
  const places = [[0, 0]];
  const ends: number[] = [];
  for (const [x, y] of [
    [1, 0],
    [0, 1],
    [-1, 0],
    [0, -1],
  ] as const)
    for (let step = 1; step <= 20; step++) {
      ends.push(places.length, step === 1 ? 0 : places.length - 1);
      places.push([step * x, step * y]);
    }
  const links = { width: 2, ends: Uint32Array.from(ends), columns: new Map() };
  await writer.add({ positions: Float32Array.from(places.flat()), ids: BigInt64Array.of(1n), links });
  await writer.commit();
  const { levels } = await buildPyramid(store, at, { levels: 1 });
  expect(levels).toEqual([{ level: 1, vertices: 5, objects: 1, allowed: 0.5, error: 0 }]);
});

describe("whatever the workers and the memory", () => {
  let url: URL;
  beforeAll(async () => {
    url = await workerUrl();
  });

  it.each([
    ["streamlines", 80],
    ["skeletons", 80],
    ["mesh", 20],
  ] as const)("levels of %s are the same to the byte", async (geometry, count) => {
    const { store: source } = await stored(geometry, count);
    const built = async (options: PyramidOptions) => {
      const store = memoryStore();
      for await (const { key } of source.list(at)) await store.set(key, (await source.get(key))!);
      const report = await buildPyramid(store, at, { levels: 2, keep: 0.75, by: "coverage", ...options });
      const files = new Map<string, string>();
      for await (const { key } of store.list(at))
        if (!isPrivate(key)) files.set(key, Buffer.from((await store.get(key))!).toString("base64"));
      return { report, files };
    };
    const expected = await built({});
    const pool = createPool({ size: 2, workerUrl: url });
    for (const options of [{ pool }, { maxMemory: 1 << 19 }, { pool, maxMemory: 1 << 19 }])
      expect(await built(options)).toEqual(expected);
    await pool.close();
  });
});

it("objects that share fragments share them on every level", async () => {
  const store = memoryStore();
  const description = { geometry: "polylines", dims: 2, chunkShape: 10, sharedFragments: true } as const;
  const writer = await createZarrVectors(store, at, description);
  const zigzag = Array.from({ length: 40 }, (_, i) => [i, i % 8 === 0 ? 5 : (i % 2) / 10]).flat();
  const [parts, objects] = [Uint32Array.of(0, 40, 80), Int32Array.of(0, 1)];
  const ids = BigInt64Array.of(3n, 4n);
  await writer.add({ positions: Float32Array.of(...zigzag, ...zigzag), parts, objects, ids });
  await writer.commit();
  const { levels } = await buildPyramid(store, at, { levels: 2, error: 0.5 });
  expect(await errorsOf(store)).toEqual([]);
  const dataset = await openZarrVectors(store, at);
  for (const [i, { vertices }] of levels.entries()) {
    expect((await dataset.describe(i + 1)).vertices).toBe(vertices / 2); // stored once
    expect((await levelOf(store, i + 1)).positions).toHaveLength(2 * vertices);
  }
});

it("a closed mesh in many chunks is closed on every level: no edge has one face", async () => {
  // A cube of which every side is a grid, drawn onto a sphere; corners that meet are one vertex.
  const [side, vertices, faces, known] = [20, [] as number[], [] as number[], new Map<string, number>()];
  const vertexAt = (place: readonly number[]): number => {
    const key = place.join();
    const number = known.get(key) ?? vertices.length / 3;
    if (number === vertices.length / 3) {
      const centred = place.map((value) => value - side / 2);
      const bump = 1 + 0.05 * Math.sin(place[0]! + 2 * place[1]! + 3 * place[2]!);
      vertices.push(...centred.map((value) => 50 + (40 * bump * value) / Math.hypot(...centred)));
    }
    known.set(key, number);
    return number;
  };
  for (const axis of [0, 1, 2])
    for (const end of [0, side])
      for (let i = 0; i < side; i++)
        for (let j = 0; j < side; j++) {
          const corner = (a: number, b: number): number => {
            const place = [0, 0, 0];
            [place[axis], place[(axis + 1) % 3], place[(axis + 2) % 3]] = [end, i + a, j + b];
            return vertexAt(place);
          };
          const [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
          faces.push(...(end === 0 ? [a, c, b, a, d, c] : [a, b, c, a, c, d]));
        }
  const store = memoryStore();
  const writer = await createZarrVectors(store, at, { geometry: "mesh", dims: 3, chunkShape: 12 });
  const links = { width: 3, ends: Uint32Array.from(faces), columns: new Map() };
  await writer.add({ positions: Float32Array.from(vertices), ids: BigInt64Array.of(7n), links });
  await writer.commit();
  const { levels } = await buildPyramid(store, at, { levels: 3, error: 0.5 });
  const counts = [vertices.length / 3, ...levels.map((own) => own.vertices)];
  expect(counts).toEqual([...new Set(counts)].sort((a, b) => b - a)); // fewer and fewer
  const dataset = await openZarrVectors(store, at);
  for (const level of [0, 1, 2, 3]) {
    const chunks = await (await dataset.source(level)).chunks();
    if (level < 2) expect(chunks.count).toBeGreaterThan(50);
    const { links: own } = await levelOf(store, level);
    const edges = new Map<string, number>();
    for (let face = 0; face < own!.ends.length; face += 3)
      for (let k = 0; k < 3; k++) {
        const ends = [own!.ends[face + k]!, own!.ends[face + ((k + 1) % 3)]!];
        // A closed surface has every edge once in each direction.
        edges.set(ends.join(), (edges.get(ends.join()) ?? 0) + 1);
      }
    for (const [edge, count] of edges) {
      const [a, b] = edge.split(",");
      if (count !== 1 || edges.get(`${b},${a}`) !== 1) expect({ level, edge, count }).toBe("once each way");
    }
  }
});
