/** Shares of a conversion: what they come to together is what one run writes, byte for byte; and what is missing is told. */
import { describe, expect, it } from "vitest";
import { scene } from "../../test/zarr-vectors-scenes.js";
import { NotFound } from "../errors.js";
import { createArray, createGroup, writeRegion } from "../format/zarr/index.js";
import { createZarrVectors, openZarrVectors } from "../format/zarr-vectors/index.js";
import type { Dataset } from "../model/dataset.js";
import { ndarray } from "../model/elements.js";
import type { Geometry } from "../model/vectors.js";
import { open } from "../node.js";
import { detect } from "../open.js";
import { isPrivate, Key, Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import type { Location } from "../store/open.js";
import type { Store } from "../store/types.js";
import { recordingStore } from "../testing/observe.js";
import { converter } from "./index.js";
import type { ConvertToOptions } from "./options.js";
import { partOf } from "./staged.js";

const at = Prefix.of("out");
const into = (store: Store) =>
  converter(open, async (url): Promise<Location> => {
    if (url !== "out") throw new NotFound(`${url} has no address`);
    return { store, at };
  });

async function vectors(geometry: Geometry, count = 20): Promise<Dataset> {
  const store = memoryStore();
  const writer = await createZarrVectors(store, at, { geometry, dims: 3, chunkShape: 10, ids: "sparse" });
  await writer.add(scene(geometry, 3, count));
  await writer.commit();
  return openZarrVectors(store, at);
}

async function volume(): Promise<Dataset> {
  const array = await createArray(memoryStore(), at, { shape: [24, 20, 8], dtype: "uint8", chunkShape: [8, 8, 8] });
  await writeRegion(
    array,
    undefined,
    ndarray(
      [24, 20, 8],
      new Uint8Array(24 * 20 * 8).map((_, i) => i % 251),
    ),
  );
  return array;
}

async function tree(): Promise<Dataset> {
  const store = memoryStore();
  const group = await createGroup(store, at, { attributes: { a: 1 } });
  const array = await createArray(store, Prefix.of("out/b"), { shape: [40], dtype: "int16", chunkShape: [4] });
  await writeRegion(
    array,
    undefined,
    ndarray(
      [40],
      new Int16Array(40).map((_, i) => i + 1),
    ),
  );
  return group;
}

const LEVELS = { levels: 2, keep: 0.5 };
const CASES: readonly [string, () => Promise<Dataset>, ConvertToOptions][] = [
  ["a store, copied", () => vectors("streamlines"), {}],
  ["a store in other chunks", () => vectors("streamlines"), { chunkShape: [20, 20, 20] }],
  ["a store in shards", () => vectors("graph"), { chunkShape: [5, 5, 5], shardShape: [2, 2, 2] }],
  ["a store of the older version", () => vectors("mesh"), { formatVersion: "0.7.0", chunkShape: [20, 20, 20] }],
  ["points", () => vectors("points"), { chunkShape: [4, 4, 4] }],
  ["a store with levels", () => vectors("streamlines"), { chunkShape: [20, 20, 20], pyramid: LEVELS }],
  ["a copied store with levels", () => vectors("graph"), { pyramid: LEVELS }],
  ["a selection with levels", () => vectors("points"), { query: { limit: 12 }, pyramid: LEVELS }],
  ["a selection", () => vectors("skeletons"), { query: { limit: 12 } }],
  ["skeletons", () => vectors("skeletons"), { to: "precomputed" }],
  ["skeletons in shards", () => vectors("streamlines", 60), { to: "precomputed", sharded: true, ids: "dense" }],
  ["meshes", () => vectors("mesh"), { to: "precomputed", ids: "dense" }],
  ["annotations", () => vectors("points", 60), { to: "precomputed" }],
  ["an array, copied", volume, {}],
  ["an array in other chunks", volume, { chunkShape: [5, 10, 4], maxMemory: 4000 }],
  ["an array of version 2", volume, { to: "zarr2", chunkShape: [5, 10, 4] }],
  ["a tree", tree, {}],
  ["a volume", volume, { to: "precomputed", chunkShape: [8, 8, 8] }],
  ["a volume in shards", volume, { to: "precomputed", chunkShape: [4, 4, 4], sharded: true }],
];

async function contents(store: Store): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { key } of store.list(at))
    if (!isPrivate(key)) found[key] = Buffer.from((await store.get(key))!).toString("base64");
  return found;
}

/** Losses, however much of each: a part tells what it has seen itself. */
const kindsOf = (losses: readonly string[]): Set<string> =>
  new Set(losses.map((loss) => loss.replace(/^part \d+ of \d+: /, "").replace(/\d+(\.\d+)?/g, "0")));

describe("parts", () => {
  it.each(CASES)("%s: together they are what one run writes", async (_, make, options) => {
    const source = await make();
    const [whole, shared] = [memoryStore(), memoryStore()];
    const once = await into(whole)(source, "out", options);
    const part = (index: number) => into(shared)(source, "out", { ...options, part: { index, of: 3 } });
    const keys = [await part(2), await part(3), await part(1)].map((report) => report.part!.keys);
    await expect(open("out")).rejects.toThrow(NotFound);
    const before = await contents(shared);
    await part(3); // again
    expect(await contents(shared)).toEqual(before);
    const sum = keys.reduce((total, own) => total + own);
    if (sum > 4) expect(Math.max(...keys)).toBeLessThan(sum);
    const report = await into(shared)(source, "out", { ...options, finish: true });
    expect(await contents(shared)).toEqual(await contents(whole));
    expect(kindsOf(report.losses)).toEqual(kindsOf(once.losses));
    expect(report.levels).toEqual(once.levels);
    expect([report.vertices, report.objects]).toEqual([once.vertices, once.objects]);
  });

  it("are told by number where they are missing or differ, and nothing is visible", async () => {
    const source = await vectors("streamlines");
    const store = memoryStore();
    const convert = into(store);
    await expect(convert(source, "out", { finish: true })).rejects.toThrow(
      "out has no parts that could be put together",
    );
    await convert(source, "out", { part: { index: 2, of: 4 } });
    await expect(convert(source, "out", { finish: true })).rejects.toThrow(
      "not complete: parts 1, 3, 4 of 4 are missing",
    );
    await expect(convert(source, "out")).rejects.toThrow("holds an interrupted conversion");
    await expect(convert(source, "out", { part: { index: 1, of: 5 } })).rejects.toThrow("it is in 4 parts, and this");
    const other = { chunkShape: [20, 20, 20], part: { index: 1, of: 4 } };
    await expect(convert(source, "out", other)).rejects.toThrow("option chunkShape was not given, and is [20,20,20]");
    for (const index of [1, 3]) await convert(source, "out", { part: { index, of: 4 } });
    // The same address, and other data: nobody can see that before it is read.
    await convert({ ...(await vectors("streamlines", 31)), url: source.url }, "out", { part: { index: 4, of: 4 } });
    await expect(convert(source, "out", { finish: true })).rejects.toThrow("part 4 of 4 came to other metadata");
    await convert(source, "out", { part: { index: 4, of: 4 } });
    const [key] = Object.keys(await contents(store)).filter((name) => name.includes("/vertices/c/"));
    const bytes = (await store.get(Key.of(key!)))!;
    await store.set(Key.of(key!), bytes.subarray(1));
    await expect(convert(source, "out", { finish: true })).rejects.toThrow(/which part \d wrote with \d+ bytes, has/);
    await store.set(Key.of(key!), bytes);
    await convert(source, "out", { finish: true });
    expect(Object.keys(await contents(store)).filter((name) => /octavo/.test(name))).toEqual([]);
  });

  it("are not asked of single files, and not mixed with what is there", async () => {
    const source = await vectors("streamlines");
    const file = into(memoryStore())(source, "out.trk", { part: { index: 1, of: 2 } });
    await expect(file).rejects.toThrow("out.trk is one file, which is written in one go");
    const store = memoryStore();
    await into(store)(source, "out");
    await expect(into(store)(source, "out", { part: { index: 1, of: 2 } })).rejects.toThrow("is not empty");
    await expect(into(store)(source, "out", { part: { index: 3, of: 2 } })).rejects.toThrow("found 3 of 2");
  });

  it("get coarser levels when they are put together", async () => {
    const source = await vectors("streamlines");
    const store = memoryStore();
    const options = { pyramid: { levels: 2 } };
    for (const index of [1, 2]) await into(store)(source, "out", { ...options, part: { index, of: 2 } });
    const { levels } = await into(store)(source, "out", { ...options, finish: true });
    expect(levels).toHaveLength(2);
    expect((await openZarrVectors(store, at)).levels).toHaveLength(3);
  });

  it("are of about the same size, and everything of a chunk is in one", () => {
    const counts = new Uint32Array(4);
    for (let i = 0; i < 4000; i++) {
      const cell = `${i % 20}/${Math.floor(i / 20)}/7`;
      const [part] = ["vertices", "vertex_fragments", "vertex_attributes/fa"].map((array) =>
        partOf(Key.of(`out/0/${array}/c/${cell}`), at, 4),
      );
      expect(partOf(Key.of(`out/0/vertices/c/${cell}`), at, 4)).toBe(part);
      counts[part!]!++;
    }
    expect(Math.min(...counts)).toBeGreaterThan(900);
  });

  it.each([
    [2, [2, 2, 2], 4],
    [3, [2, 2, 2], 3],
    [3, [1, 7, 1], 3],
    [3, [5, 5, 5], 43],
    [4, [1, 6, 6], 10],
    [8, [2, 2, 2], 2],
    [8, [4, 4, 4], 10],
  ])("%d of few chunks, %j: at most %d each", (parts, [x, y, z], most) => {
    const counts = new Uint32Array(parts);
    for (let i = 0; i < x! * y! * z!; i++) {
      const cell = `${i % x!}/${Math.floor(i / x!) % y!}/${Math.floor(i / (x! * y!))}`;
      counts[partOf(Key.of(`out/0/vertices/c/${cell}`), at, parts)]!++;
    }
    expect(Math.max(...counts)).toBeLessThanOrEqual(most);
  });

  it("that wait are told where somebody looks for the store", async () => {
    const source = await vectors("streamlines");
    const store = memoryStore();
    for (const index of [3, 1]) await into(store)(source, "out", { part: { index, of: 3 } });
    const asked = detect({ store, at });
    await expect(asked).rejects.toThrow("a conversion in 3 parts that is not finished: parts 1, 3 are there");
    await expect(asked).rejects.toMatchObject({ hint: "Run --part 2/3, then --finish." });
    await into(store)(source, "out", { part: { index: 2, of: 3 } });
    await expect(detect({ store, at })).rejects.toMatchObject({ hint: "Put them together: --finish." });
  });
});

describe("resumed", () => {
  it.each(CASES)("%s: what is there is not written again", async (_, make, options) => {
    const source = await make();
    const whole = memoryStore();
    await into(whole)(source, "out", options);
    const expected = await contents(whole);
    const data = Object.keys(expected).filter((key) => !/(zarr\.json|\.z\w+|info)$/.test(key));
    for (const share of [0.5, 1]) {
      const store = memoryStore();
      // As a process that was killed leaves it: a journal, some of the data, things put aside.
      const failed = into(wall(store))(source, "out", { ...options, resume: true });
      await expect(failed).rejects.toThrow("the wall");
      const there = data.slice(0, Math.ceil(share * data.length)) as Key[];
      for (const key of there) await store.set(key, (await whole.get(key))!);
      await store.set(Key.of("out/.octavo/spill-x/0"), Uint8Array.of(1));
      const watched = recordingStore(store);
      await into(watched)(source, "out", { ...options, resume: true });
      expect(await contents(store)).toEqual(expected);
      const again = watched.log.filter(
        ({ kind, at: key }) => ["set", "write"].includes(kind) && there.includes(key as Key),
      );
      expect(again).toEqual([]);
    }
  });

  it("only the same conversion goes on", async () => {
    const source = await vectors("streamlines");
    const store = memoryStore();
    await expect(into(wall(store))(source, "out", { resume: true })).rejects.toThrow("the wall");
    const other = { ...source, url: "memory:other" } as Dataset;
    await expect(into(store)(other, "out", { resume: true })).rejects.toThrow("not this one: its input out is none of");
    await expect(into(store)(source, "out", { resume: true, dtype: "float64" })).rejects.toThrow(
      'its option dtype was not given, and is "float64"',
    );
    await expect(into(store)(source, "out")).rejects.toThrow("holds an interrupted conversion");
    await into(store)(source, "out", { overwrite: true });
    await expect(into(store)(source, "out", { resume: true })).rejects.toThrow("already holds a");
  });
});

/** Nothing but the journal gets through. */
function wall(store: Store): Store {
  const refuse = async (): Promise<never> => {
    throw new Error("the wall");
  };
  return { ...store, set: (key, ...rest) => (/octavo/.test(key) ? store.set(key, ...rest) : refuse()), write: refuse };
}
