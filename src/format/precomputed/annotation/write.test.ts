import fc from "fast-check";
import { expect, test } from "vitest";
import { Conflict, InvalidInput } from "../../../errors.js";
import type { Finding } from "../../../model/format.js";
import { Morton } from "../../../space/morton.js";
import { httpStore } from "../../../store/http.js";
import { Key, Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import type { Store } from "../../../store/types.js";
import { serveStore } from "../../../testing/http-server.js";
import { faultyStore, recordingStore } from "../../../testing/observe.js";
import { precomputed } from "../index.js";
import { writeInfo } from "../info.js";
import type { AnnotationDataset } from "./dataset.js";
import { ANNOTATION_TYPES, AnnotationInfo, type AnnotationType } from "./info.js";
import { type Annotations, encodeList, encodeRecords, parseList } from "./list.js";
import { openAnnotations } from "./read.js";
import { type AnnotationDescription, type AnnotationWriteOptions, createAnnotations } from "./write.js";

const dimensions = [
  { name: "x", scale: 4e-9, unit: "m" },
  { name: "y", scale: 4e-9, unit: "m" },
  { name: "z", scale: 4e-8, unit: "m" },
];
const describe = (type: AnnotationType): AnnotationDescription => ({
  type,
  dimensions,
  properties: [
    { id: "flag", type: "uint8" },
    { id: "color", type: "rgba" },
    { id: "size", type: "float32", description: "how large" },
    { id: "kind", type: "uint16", enum: { values: [0, 7], labels: ["none", "some"] } },
  ],
  relationships: ["cell", "pre and post"],
});

/** Numbers that look random and are the same each time. */
function* random(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}

function annotations(type: AnnotationType, count: number, seed = 1): Annotations {
  const numbers = random(seed);
  const next = (low: number, high: number): number => Math.round((low + (high - low) * numbers.next().value) * 4) / 4;
  const offsets = [0];
  const points: number[] = [];
  for (let i = 0; i < count; i++) {
    const start = [next(0, 1000), next(0, 800), next(0, 100)];
    const own = [start];
    if (type === "ellipsoid") own.push([next(0, 20), next(1, 20), next(1, 9)]);
    else if (type !== "point")
      for (let n = type === "polyline" ? 3 : 1; n > 0; n--)
        own.push(start.map((value, axis) => value + next(-40, 40) / (axis + 1)));
    points.push(...own.flat());
    offsets.push(offsets.at(-1)! + own.length);
  }
  const column = <T>(of: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => of(i));
  return {
    ids: BigUint64Array.from(column((i) => (BigInt(i) * 2n ** 57n + BigInt(i)) & (2n ** 64n - 1n))),
    offsets: Uint32Array.from(offsets),
    points: Float32Array.from(points),
    properties: new Map<string, Uint8Array | Float32Array | Uint16Array>([
      ["flag", Uint8Array.from(column((i) => i))],
      ["color", Uint8Array.from(column((i) => [i, i + 1, i + 2, 255]).flat())],
      ["size", Float32Array.from(column((i) => i / 8))],
      ["kind", Uint16Array.from(column((i) => (i % 2) * 7))],
    ]),
    related: new Map([
      [
        "cell",
        {
          offsets: Uint32Array.from({ length: count + 1 }, (_, i) => i),
          ids: BigUint64Array.from(column((i) => 2n ** 63n + BigInt(i % 5))),
        },
      ],
    ]),
  };
}

async function write(store: Store, type: AnnotationType, count: number, options: AnnotationWriteOptions = {}) {
  const all = annotations(type, count);
  const writer = await createAnnotations(store, Prefix.root, describe(type), options);
  await writer.add(all);
  return { all, written: await writer.commit() };
}

const findings = async (store: Store): Promise<Finding[]> => {
  const found: Finding[] = [];
  for await (const one of precomputed.validate(store, Prefix.root)) found.push(one);
  return found;
};
const open = async (store: Store) => (await precomputed.open(store, Prefix.root)) as AnnotationDataset;

for (const type of ANNOTATION_TYPES)
  for (const sharded of [true, false])
    test(`${type} annotations are read again, ${sharded ? "sharded" : "in files"}; the store has nothing to find`, async () => {
      const store = memoryStore();
      const { all, written } = await write(store, type, 200, { limit: 16, sharded });
      expect(written.annotations).toBe(200);
      expect(written.levels.reduce((a, b) => a + b)).toBe(200);
      expect(written.levels.length).toBeGreaterThan(1);
      expect(await findings(store)).toEqual([]);
      const collection = await openAnnotations(store);
      expect(collection.info.properties.map(({ id }) => id)).toEqual(["size", "kind", "flag", "color"]);
      expect(collection.info.properties[1]!.enum).toEqual({ values: [0, 7], labels: ["none", "some"] });
      for (const i of [0, 1, 99, 199]) {
        const one = (await collection.get(all.ids[i]!))!;
        expect(one.points).toEqual(all.points.slice(3 * all.offsets[i]!, 3 * all.offsets[i + 1]!));
        expect([...one.properties.get("color")!]).toEqual([i & 255, (i + 1) & 255, (i + 2) & 255, 255]);
        expect([...one.properties.get("size")!]).toEqual([i / 8]);
        expect([...one.related!.get("cell")!.ids]).toEqual([2n ** 63n + BigInt(i % 5)]);
        expect([...one.related!.get("pre and post")!.ids]).toEqual([]);
      }
      expect((await collection.related("cell", 2n ** 63n + 3n))!.ids.length).toBe(40);
    });

test("each cell holds a random sample: at most the limit, each annotation in one level, the same density everywhere", async () => {
  const store = memoryStore();
  await write(store, "point", 2000, { limit: 20 });
  const { info, levels, form } = await openAnnotations(store);
  expect(info.spatial[0]!.gridShape).toEqual([1, 1, 1]);
  const seen = new Set<bigint>();
  let [left, right] = [0, 0];
  for (const [number, { values, gridShape, chunkSize, limit, codes }] of levels.entries()) {
    expect(gridShape.map((count, axis) => count * chunkSize[axis]!)).toEqual(
      info.upper.map((high, axis) => high - info.lower[axis]!),
    );
    for (const code of await codes(undefined)) {
      const list = parseList((await values.get(code))!, form, "x");
      expect(list.ids.length).toBeLessThanOrEqual(limit);
      for (const id of list.ids) {
        expect(seen.has(id)).toBe(false);
        seen.add(id);
      }
      const [x] = Morton.decode(code, gridShape)!;
      if (number === 2) for (let i = 0; i < list.ids.length; i++) list.points[3 * i]! < 500 ? left++ : right++;
      expect(x).toBeLessThan(gridShape[0]!);
    }
  }
  expect(seen.size).toBe(2000);
  expect(left / right).toBeGreaterThan(0.7);
  expect(left / right).toBeLessThan(1.4);
  // Not in the order of the input: a client that draws half of a cell draws all over it.
  const first = parseList((await levels[0]!.values.get(0n))!, form, "x");
  const sorted = [...first.ids].sort((a, b) => (a < b ? -1 : 1));
  expect([...first.ids]).not.toEqual(sorted);
});

test("a seed gives the same bytes each time, another seed others", async () => {
  const bytes = async (seed: number): Promise<string> => {
    const store = memoryStore();
    await write(store, "line", 300, { limit: 20, seed });
    const all: string[] = [];
    for await (const { key } of store.list(Prefix.root))
      all.push(`${key} ${Buffer.from((await store.get(key))!).toString("hex")}`);
    return all.sort().join("\n");
  };
  expect(await bytes(1)).toBe(await bytes(1));
  expect(await bytes(1)).not.toBe(await bytes(2));
});

/** Whether what the dataset shows of an annotation (a point, a path) has a point in a box. */
function touches(type: AnnotationType, { points, offsets }: Annotations, i: number, box: readonly number[]): boolean {
  const at = (p: number): number[] => [...points.subarray(3 * p, 3 * p + 3)];
  const [from, to] = [offsets[i]!, type === "ellipsoid" ? offsets[i]! + 1 : offsets[i + 1]!];
  if (to - from === 1) return at(from).every((value, axis) => value >= box[axis]! && value <= box[axis + 3]!);
  for (let p = from; p + 1 < to; p++) {
    let [near, far] = [0, 1];
    const [a, b] = [at(p), at(p + 1)];
    for (let axis = 0; axis < 3; axis++) {
      const step = b[axis]! - a[axis]!;
      const cuts = [(box[axis]! - a[axis]!) / step, (box[axis + 3]! - a[axis]!) / step].sort((x, y) => x - y);
      if (step === 0) {
        if (a[axis]! < box[axis]! || a[axis]! > box[axis + 3]!) far = -1;
      } else [near, far] = [Math.max(near, cuts[0]!), Math.min(far, cuts[1]!)];
    }
    if (near <= far) return true;
  }
  return false;
}

for (const type of ANNOTATION_TYPES)
  test(`a region of ${type} annotations is what a look at all of them finds`, async () => {
    const store = memoryStore();
    const { all } = await write(store, type, 400, { limit: 12 });
    const dataset = await open(store);
    const idsOf = (batch: Awaited<ReturnType<ReturnType<AnnotationDataset["select"]>["read"]>>): bigint[] =>
      [...(type === "point" ? (batch.vertexColumns.get("id")!.values as BigUint64Array) : batch.ids)].sort((a, b) =>
        (a as bigint) < (b as bigint) ? -1 : 1,
      ) as bigint[];
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(
          fc.integer({ min: -40, max: 1000 }),
          fc.integer({ min: -40, max: 800 }),
          fc.integer({ min: -9, max: 99 }),
        ),
        fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 60 })),
        async (low, size) => {
          const box = [...low, ...low.map((value, axis) => value + size[axis]!)];
          const expected = [...all.ids].filter((_, i) => touches(type, all, i, box)).sort((a, b) => (a < b ? -1 : 1));
          expect(idsOf(await dataset.select({ box }).read())).toEqual(expected);
        },
      ),
      { numRuns: 15 },
    );
    const whole = await dataset.select().read();
    expect(idsOf(whole)).toEqual([...all.ids].sort((a, b) => (a < b ? -1 : 1)));
    const size = type === "point" ? "size" : "object.size";
    expect(idsOf(await dataset.select({ where: `${size} > 49` }).read()).length).toBe(7);
  });

test("a region asks for its cells only, and the plan says so before", async () => {
  const store = memoryStore();
  await write(store, "point", 2000, { limit: 20, sharded: false });
  const watched = recordingStore(store);
  const dataset = await open(watched);
  const query = { box: [0, 0, 0, 40, 40, 10] };
  const plan = await dataset.select(query).plan();
  watched.log.length = 0;
  await dataset.select(query).read();
  const gets = watched.log.filter(({ kind }) => kind === "get").length;
  expect(plan.requests).toBe(gets);
  const all = await dataset.select().plan();
  expect(all.requests).toBeGreaterThan(10 * gets);
});

test("over HTTP, cells in files are asked for by their names", async () => {
  const store = memoryStore();
  const { all } = await write(store, "line", 200, { limit: 16, sharded: false });
  const server = await serveStore(store);
  const dataset = await open(httpStore(server.url));
  expect((await dataset.select().read()).ids.length).toBe(200);
  const box = [0, 0, 0, 200, 200, 100];
  const found = await dataset.select({ box }).read();
  expect(found.ids.length).toBe([...all.ids].filter((_, i) => touches("line", all, i, box)).length);
  await server.close();
});

test("a point that two cells have is one point, and one that only its neighbour has is not lost", async () => {
  const store = memoryStore();
  const all = {
    ids: BigUint64Array.of(1n, 2n, 3n, 4n),
    offsets: Uint32Array.of(0, 1, 2, 3, 4),
    points: Float32Array.of(1, 1, 1, 4, 1, 1, 5, 1, 1, 4, 5, 5), // 2 and 4 lie between the cells
    properties: new Map(),
  };
  const bounds = { lower: [0, 0, 0], upper: [8, 8, 8] };
  const writer = await createAnnotations(store, Prefix.root, { type: "point", dimensions, bounds });
  await writer.add(all);
  await writer.commit();
  const { info, form } = await openAnnotations(store);
  const records = encodeRecords(all, form);
  await store.set(Key.of("cells/0_0_0"), encodeList(records, all.ids, Uint32Array.of(0, 1, 3)));
  await store.set(Key.of("cells/1_0_0"), encodeList(records, all.ids, Uint32Array.of(1, 2)));
  const level = { key: "cells", sharding: null, gridShape: [2, 1, 1], chunkSize: [4, 8, 8], limit: 9 };
  await writeInfo(store, Prefix.root, AnnotationInfo.format({ ...info, spatial: [level] }));
  const ids = async (box?: readonly number[]) =>
    [...((await (await open(store)).select({ box }).read()).vertexColumns.get("id")!.values as BigUint64Array)].sort();
  expect(await ids()).toEqual([1n, 2n, 3n, 4n]);
  expect(await ids([4, 0, 0, 4, 8, 8])).toEqual([2n, 4n]);
});

test("nothing at all, one annotation, and many in one place", async () => {
  const empty = memoryStore();
  await (await createAnnotations(empty, Prefix.root, describe("point"))).commit();
  expect(await findings(empty)).toEqual([]);
  expect((await (await open(empty)).select().read()).positions.length).toBe(0);

  const one = memoryStore();
  await write(one, "point", 1);
  expect(await findings(one)).toEqual([]);

  const heap = memoryStore();
  const writer = await createAnnotations(heap, Prefix.root, { type: "point", dimensions }, { limit: 2 });
  const count = 100;
  await writer.add({
    ids: BigUint64Array.from({ length: count }, (_, i) => BigInt(i)),
    offsets: Uint32Array.from({ length: count + 1 }, (_, i) => i),
    points: new Float32Array(3 * count),
    properties: new Map(),
  });
  const { levels } = await writer.commit();
  expect(levels.at(-1)).toBeGreaterThan(2); // the rest: finer cells would not help
  expect(await findings(heap)).toEqual([]);
});

test("what cannot be written is refused", async () => {
  const make = (over: Partial<AnnotationDescription>) =>
    createAnnotations(memoryStore(), Prefix.root, { ...describe("point"), ...over });
  await expect(make({ properties: [{ id: "Size", type: "uint8" }] })).rejects.toThrow(InvalidInput);
  await expect(make({ relationships: ["a", "a"] })).rejects.toThrow(InvalidInput);
  await expect(make({ dimensions: [] })).rejects.toThrow(InvalidInput);
  const writer = await make({});
  const all = annotations("point", 3);
  await expect(writer.add({ ...all, points: all.points.map(() => Number.NaN) })).rejects.toThrow(InvalidInput);
  await expect(writer.add({ ...all, properties: new Map() })).rejects.toThrow(InvalidInput);
  await writer.add(all);
  await writer.add(all);
  await expect(writer.commit()).rejects.toThrow(/comes twice/);
  const store = memoryStore();
  await write(store, "point", 3);
  await expect(write(store, "point", 3)).rejects.toThrow(Conflict);
  await write(store, "point", 100, { overwrite: true, limit: 4 });
  await write(store, "point", 3, { overwrite: true });
  const { prefixes } = await store.children(Prefix.root);
  expect(prefixes).toEqual(["by_id/", "rel_0/", "spatial0/"]); // the finer levels have gone with what they were of
  expect(await findings(store)).toEqual([]);
});

async function filesOf(store: Store): Promise<Map<string, string>> {
  const all = new Map<string, string>();
  for await (const { key } of store.list(Prefix.root))
    all.set(key, Buffer.from((await store.get(key))!).toString("base64"));
  return new Map([...all].sort());
}

for (const type of ANNOTATION_TYPES)
  test(`${type} annotations are written to the same bytes in however little memory, and in however many batches`, async () => {
    for (const sharded of [true, false]) {
      const store = memoryStore();
      await write(store, type, 500, { limit: 12, sharded });
      const all = annotations(type, 500);
      const piecewise = recordingStore(memoryStore());
      const options = { limit: 12, sharded, maxMemory: 9000 };
      const writer = await createAnnotations(piecewise, Prefix.root, describe(type), options);
      for (let from = 0; from < 500; from += 125) await writer.add(slice(all, from, from + 125));
      await writer.commit();
      expect(piecewise.log.filter(({ kind, at }) => kind === "set" && at.includes("/spill-")).length).toBeGreaterThan(
        9,
      );
      expect(await filesOf(piecewise)).toEqual(await filesOf(store));
    }
  });

function slice(all: Annotations, from: number, to: number): Annotations {
  const [first, last] = [all.offsets[from]!, all.offsets[to]!];
  const cell = all.related!.get("cell")!;
  return {
    ids: all.ids.slice(from, to),
    offsets: all.offsets.slice(from, to + 1).map((offset) => offset - first),
    points: all.points.slice(3 * first, 3 * last),
    properties: new Map(
      [...all.properties].map(([id, values]) => {
        const channels = values.length / all.ids.length;
        return [id, values.slice(channels * from, channels * to)];
      }),
    ),
    related: new Map([
      ["cell", { offsets: cell.offsets.slice(0, to - from + 1), ids: cell.ids.slice(from, to) }], // one each
    ]),
  };
}

test("what is given up, or fails on the way, leaves nothing", async () => {
  const below = memoryStore();
  const all = annotations("line", 300);
  const begin = (store: Store) =>
    createAnnotations(store, Prefix.root, describe("line"), { limit: 12, maxMemory: 9000 });
  const writer = await begin(below);
  await writer.add(all);
  expect((await filesOf(below)).size).toBeGreaterThan(0); // put aside
  await writer.abort();
  await writer.abort();
  expect(await filesOf(below)).toEqual(new Map());
  await expect(writer.add(all)).rejects.toThrow(/already been committed or aborted/);
  await expect(writer.commit()).rejects.toThrow(/already been committed or aborted/);

  const failing = await begin(
    faultyStore(below, ({ kind, at }) => {
      if (kind === "write" && at.startsWith("spatial2/")) throw new Conflict("no more");
    }),
  );
  await failing.add(all);
  await expect(failing.commit()).rejects.toThrow("no more");
  expect(await filesOf(below)).toEqual(new Map());

  let puts = 0;
  const torn = await begin(
    faultyStore(below, ({ kind, at }) => {
      if (kind === "set" && at.includes("spill-") && ++puts === 3) throw new Conflict("not aside");
    }),
  );
  await expect(torn.add(all)).rejects.toThrow("not aside");
  await expect(torn.commit()).rejects.toThrow(/has failed/);
  expect(await filesOf(below)).toEqual(new Map());
});
