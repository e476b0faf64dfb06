/** Geometry that is converted says the same: every golden store, of every version, to both versions that are written. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import "../../test/properties.js";
import { fixtures } from "../../test/fixtures.js";
import { KINDS, scene } from "../../test/zarr-vectors-scenes.js";
import { toldBetween, toldLevel, toldStore } from "../../test/zarr-vectors-told.js";
import { Conflict, InvalidInput } from "../errors.js";
import { openZarrVectors, type ZarrVectors, zarrVectors } from "../format/zarr-vectors/index.js";
import { createZarrVectors } from "../format/zarr-vectors/write/write.js";
import { fileStore } from "../store/file.js";
import { Key, Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import type { Store } from "../store/types.js";
import { failNth, faultyStore } from "../testing/observe.js";
import { type ConvertVectorsOptions, convertVectors } from "./vectors.js";

const folder = fixtures("zarr-vectors");
const stores = readdirSync(folder)
  .filter((version) => version !== "corrupt")
  .flatMap((version) => readdirSync(join(folder, version)).map((name) => `${version}/${name}`))
  .filter((path) => existsSync(join(folder, path, "store.zarrvectors")));
/** One store of each name: that of the newest version. */
const newest = [...new Map(stores.map((path) => [path.split("/")[1], path])).values()];
const golden = (path: string): Promise<ZarrVectors> =>
  openZarrVectors(fileStore(join(folder, path, "store.zarrvectors")));
const at = Prefix.of("out.zarrvectors");

async function converted(source: ZarrVectors, options: ConvertVectorsOptions = {}, store: Store = memoryStore()) {
  const report = await convertVectors(source, store, at, options);
  return { store, report, dataset: await openZarrVectors(store, at) };
}

/** Bounds may be made to fit; everything else is the same. */
async function expectSame(found: ZarrVectors, wanted: ZarrVectors): Promise<void> {
  const vertices = (level: { readonly vertices?: unknown }) => ({ ...level, vertices: undefined });
  const [a, b] = [await toldStore(found), await toldStore(wanted)];
  expect({ ...a, levels: a.levels.map(vertices) }).toEqual({ ...b, levels: b.levels.map(vertices) });
  for (const { level } of wanted.levels) {
    expect(await toldLevel(found, level)).toEqual(await toldLevel(wanted, level));
    for (const other of wanted.opened.levels.filter((number) => number !== level))
      expect(await toldBetween(found, level, other - level)).toEqual(await toldBetween(wanted, level, other - level));
  }
}

const rulesOf = async (store: Store, where: Prefix): Promise<Set<string>> => {
  const rules = new Set<string>();
  for await (const { severity, rule } of zarrVectors.validate(store, where)) if (severity === "error") rules.add(rule);
  return rules;
};

describe("a store of any version", () => {
  it.each(stores)("%s is the same in 0.9.2", async (path) => {
    const source = await golden(path);
    const { store, dataset, report } = await converted(source);
    expect(dataset.version).toBe("0.9.2");
    expect(report.losses).toEqual(
      path.includes("draco") ? [expect.stringMatching(/0\/vertices: the Draco encoding/)] : [],
    );
    await expectSame(dataset, source);
    const before = await rulesOf(source.opened.store, source.opened.at);
    // Without the index that its sharding deleted, its fragments are taken for bins.
    if (path === "v0.3/points_sharded_legacy") before.add("zarr-vectors/bin-fragments");
    expect([...(await rulesOf(store, at))].filter((rule) => !before.has(rule))).toEqual([]);
  });

  it.each(newest)("%s is the same in 0.7.0, and back in 0.9.2", async (path) => {
    const source = await golden(path);
    if (path === "v0.9.2/points_sparse_ids") {
      await expect(converted(source, { formatVersion: "0.7.0" })).rejects.toThrow(InvalidInput);
      return;
    }
    const { dataset, report } = await converted(source, { formatVersion: "0.7.0" });
    expect(dataset.version).toBe("0.7.0");
    expect(report.losses).toHaveLength(path.includes("draco") ? 1 : 0);
    await expectSame(dataset, source);
    const { dataset: back } = await converted(dataset);
    await expectSame(back, source);
  });
});

describe("generated stores", () => {
  it.each(KINDS)("%s say the same after any conversion", async (geometry) => {
    const wanted = fc.record({
      seed: fc.nat(),
      dims: fc.integer({ min: 2, max: 3 }),
      sharedFragments:
        geometry === "graph" || geometry === "skeletons" || geometry === "mesh" ? fc.constant(false) : fc.boolean(),
      formatVersion: fc.constantFrom("0.9.2" as const, "0.7.0" as const),
      chunkShape: fc.constantFrom(undefined, 7.5, 40),
      maxMemory: fc.constantFrom(undefined, 1024),
    });
    await fc.assert(
      fc.asyncProperty(wanted, async ({ seed, dims, sharedFragments, ...options }) => {
        const description = { geometry, dims, chunkShape: 10, sharedFragments };
        const writer = await createZarrVectors(memoryStore(), at, description);
        await writer.add(scene(geometry, seed, 6, dims));
        writer.groups([[0, 5], { start: 1, stop: 3 }]);
        const source = await writer.commit();
        const { dataset, report } = await converted(source, options);
        expect(dataset.version).toBe(options.formatVersion);
        expect(report.losses).toEqual([]);
        const fragments = options.chunkShape === undefined;
        expect(await toldLevel(dataset, 0, { fragments })).toEqual(await toldLevel(source, 0, { fragments }));
      }),
      { numRuns: 10 },
    );
  });
});

describe("what is asked for", () => {
  it("ids become 0, 1, 2 …, also in groups, and the report says so", async () => {
    const source = await golden("v0.9.2/points_sparse_ids");
    const { dataset, report } = await converted(source, { formatVersion: "0.7.0", ids: "dense" });
    expect([...(await dataset.objectIds())]).toEqual([0n, 1n, 2n]);
    expect(report.losses).toEqual([expect.stringMatching(/: 0: the ids of objects, which are 0 to 2 now: 5 is 0$/)]);
    const { positions } = await source.select().read();
    expect([...(await dataset.select().read()).positions]).toEqual([...positions]);
    const streamed = await converted(source, { ids: "dense", chunkShape: [1000, 1000, 1000] });
    expect([...(await streamed.dataset.objectIds())]).toEqual([0n, 1n, 2n]);
    expect(streamed.report.losses).toEqual([
      expect.stringMatching(/: the ids of objects, which are 0, 1, 2 … now: 5 is 0$/),
    ]);
  });

  it("other chunks of Draco's positions are raw, and the report says so", async () => {
    const source = await golden("v0.9.2/mesh_draco");
    const { report } = await converted(source, { chunkShape: source.levels[0]!.chunkShape!.map((size) => 2 * size) });
    expect(report.losses).toContainEqual(expect.stringMatching(/: the Draco encoding: positions are stored raw/));
  });

  it.each([
    "v0.9.2/lines_3d",
    "v0.9.2/graph_2d",
    "v0.9.2/mesh_two_objects",
    "v0.7.0-vlen/streamlines_3d",
    "v0.5.0-early/points_objects_groups",
    "v0.9.2/skeleton_segment_ids",
  ])("%s in other chunks says the same of its finest level", async (path) => {
    const source = await golden(path);
    const chunkShape = source.levels[0]!.chunkShape!.map((size) => size / 1.5);
    const { dataset, report } = await converted(source, { chunkShape });
    expect(dataset.levels[0]!.chunkShape).toEqual(chunkShape);
    expect(await toldLevel(dataset, 0)).toEqual(await toldLevel(source, 0));
    expect(report.losses).toEqual([]);
    const marks = async (of: ZarrVectors) => {
      const { fragments } = await of.select().read();
      const segments = fragments?.columns.get("segment_id")?.values ?? [];
      return Array.from(segments as ArrayLike<unknown>, (id, f) =>
        `${id}`.repeat(fragments!.offsets[f + 1]! - fragments!.offsets[f]!),
      ).sort();
    };
    expect((await marks(dataset)).join("")).toBe((await marks(source)).join(""));
    expect((await dataset.schema()).fragment.length).toBeGreaterThanOrEqual((await source.schema()).fragment.length);
  });

  it.each(stores.filter((path) => path.includes("pyramid")))(
    "%s keeps all its levels in other chunks",
    async (path) => {
      const source = await golden(path);
      const [base] = source.levels;
      for (const options of [
        { chunkShape: base!.chunkShape!.map((size) => 2 * size) },
        { chunkShape: "auto" as const, dtype: "float64" as const },
        { chunkShape: base!.chunkShape, formatVersion: "0.7.0" as const },
      ]) {
        const { store, dataset, report } = await converted(source, options);
        expect(dataset.levels.map(({ level }) => level)).toEqual(source.levels.map(({ level }) => level));
        for (const { level, binShape, parent, method, vertices } of source.levels) {
          const own = dataset.levels.find((found) => found.level === level)!;
          const scale = binShape.map((size, axis) => size / base!.binShape[axis]!);
          expect(own.binShape.map((size, axis) => size / dataset.levels[0]!.binShape[axis]!)).toEqual(scale);
          // There fragments are shared although nothing says so.
          if (!path.includes("handbuilt")) expect(own.vertices).toBe(vertices);
          if (level > 0) expect([own.parent, own.method]).toEqual([parent ?? level - 1, method ?? "manual"]);
          expect(await toldLevel(dataset, level, { fragments: false })).toEqual(
            await toldLevel(source, level, { fragments: false }),
          );
          const ids = async (of: ZarrVectors) => (await of.source(level)).objects?.ids();
          expect(await ids(dataset)).toEqual(await ids(source));
        }
        const lost = report.losses.filter((loss) => !/links from level to level/.test(loss));
        expect(lost).toEqual([]);
        const before = await rulesOf(source.opened.store, source.opened.at);
        expect([...(await rulesOf(store, at))].filter((rule) => !before.has(rule))).toEqual([]);
      }
    },
  );

  it("what is left out with new chunks is in the report", async () => {
    const { report } = await converted(await golden("v0.9.2/pyramid_points"), { chunkShape: [1000, 1000, 1000] });
    expect(report.losses).toEqual([expect.stringMatching(/: the links from level to level/)]);
  });

  it("codecs and shards", async () => {
    const { store, dataset } = await converted(await golden("v0.7.0-vlen/mesh_3d"), {
      codecs: "gzip",
      sharding: [2, 2, 2],
    });
    const document = new TextDecoder().decode((await store.get(Key.join(at, "0/vertices/zarr.json")))!);
    expect(document).toContain("sharding_indexed");
    expect(document).toContain("gzip");
    await expectSame(dataset, await golden("v0.7.0-vlen/mesh_3d"));
  });

  it("what is there stays, unless it may go", async () => {
    const source = await golden("v0.3/lines_3d");
    const { store } = await converted(source);
    await expect(converted(source, {}, store)).rejects.toThrow(Conflict);
    await expectSame((await converted(source, { overwrite: true }, store)).dataset, source);
  });

  it("a conversion that fails leaves nothing that could be opened", async () => {
    const source = await golden("v0.7.0-vlen/streamlines_3d");
    for (const nth of [3, 20, 60]) {
      const inner = memoryStore();
      const store = faultyStore(inner, failNth(nth));
      await expect(convertVectors(source, store, at)).rejects.toThrow();
      await expect(openZarrVectors(inner, at)).rejects.toThrow();
    }
  });
});
