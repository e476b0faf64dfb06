/** A published store says the same as its source, whatever that was, and nothing of it is left where publishing failed. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fixtures } from "../../../../test/fixtures.js";
import { KINDS, scene } from "../../../../test/zarr-vectors-scenes.js";
import { toldBetween, toldLevel, toldStore } from "../../../../test/zarr-vectors-told.js";
import { Conflict, InvalidInput, Unsupported } from "../../../errors.js";
import { fileStore } from "../../../store/file.js";
import { Key, Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import type { Store } from "../../../store/types.js";
import { withoutListing, wrap } from "../../../store/wrap.js";
import { failNth, faultyStore } from "../../../testing/observe.js";
import { editZarrVectors, openZarrVectors, type ZarrVectors, zarrVectors } from "../index.js";
import { createZarrVectors } from "../write/write.js";
import { planPublish, publishZarrVectors } from "./publish.js";
import { shardShape } from "./publish-array.js";

const folder = fixtures("zarr-vectors");
const stores = readdirSync(folder)
  .filter((version) => version !== "corrupt")
  .flatMap((version) => readdirSync(join(folder, version)).map((name) => `${version}/${name}`))
  .filter((path) => existsSync(join(folder, path, "store.zarrvectors")));
/** All of 0.9.2, and of each older version one; converting has its own tests. */
const golden = stores.filter((path) => path.startsWith("v0.9.2/") || path.endsWith("/pyramid_streamlines"));
const source = (path: string): Promise<ZarrVectors> =>
  openZarrVectors(fileStore(join(folder, path, "store.zarrvectors")));
const at = Prefix.of("web");
/** As a browser has it: nothing is listed, nothing written. */
const web = (store: Store): Store =>
  wrap(store, { can: { list: false, write: false, conditional: false }, ...withoutListing("web") });

async function keysOf(store: Store): Promise<Key[]> {
  const keys: Key[] = [];
  for await (const { key } of store.list(Prefix.root)) keys.push(key);
  return keys.sort();
}

async function expectSame(found: ZarrVectors, wanted: ZarrVectors): Promise<void> {
  const bare = (told: Awaited<ReturnType<typeof toldStore>>) => ({
    ...told,
    levels: told.levels.map((level) => ({ ...level, vertices: undefined })),
  });
  expect(bare(await toldStore(found))).toEqual(bare(await toldStore(wanted)));
  for (const { level } of wanted.levels) {
    expect(await toldLevel(found, level)).toEqual(await toldLevel(wanted, level));
    for (const other of wanted.opened.levels.filter((number) => number !== level))
      expect(await toldBetween(found, level, other - level)).toEqual(await toldBetween(wanted, level, other - level));
  }
}

/** An Octavo store of this kind, which is published as it is. */
async function made(geometry: (typeof KINDS)[number], objects = 6): Promise<ZarrVectors> {
  const writer = await createZarrVectors(memoryStore(), Prefix.root, { geometry, dims: 3, chunkShape: 10 });
  await writer.add(scene(geometry, 7, objects, 3));
  writer.groups([[0, 5], { start: 1, stop: 3 }]);
  return writer.commit();
}

describe("a published store says the same as its source", () => {
  test.each(golden)("%s", async (path) => {
    const wanted = await source(path);
    const store = memoryStore();
    const { losses, keys } = await publishZarrVectors(wanted, store, at);
    expect(losses).toEqual(
      path.endsWith("_draco") ? [expect.stringMatching(/the Draco encoding: positions are stored raw/)] : [],
    );
    expect(await keysOf(store)).toHaveLength(keys);
    await expectSame(await openZarrVectors(web(store), at), wanted);
    const rules = async (from: Store, where: Prefix): Promise<string[]> => {
      const found = new Set<string>();
      for await (const { severity, rule } of zarrVectors.validate(from, where))
        if (severity === "error") found.add(rule);
      return [...found];
    };
    const wrong = await rules(store, at);
    const before = wrong.length === 0 ? [] : await rules(wanted.opened.store, wanted.opened.at);
    expect(wrong.filter((rule) => !before.includes(rule))).toEqual([]);
  });

  test.each(KINDS)("%s of Octavo's own, taken as they are, with and without the pack", async (geometry) => {
    const wanted = await made(geometry);
    const store = memoryStore();
    const report = await publishZarrVectors(wanted, store, at);
    expect(report).toMatchObject({ copiedFrom: undefined, losses: [] });
    await expectSame(await openZarrVectors(web(store), at), wanted);
    const pack = (await keysOf(store)).find((key) => key.endsWith(".pack"))!;
    await store.delete(pack);
    await expectSame(await openZarrVectors(web(store), at), wanted);
  });

  test("a published store is published again, also where it cannot be listed", async () => {
    const wanted = await made("streamlines");
    const [first, second] = [memoryStore(), memoryStore()];
    await publishZarrVectors(wanted, first, at);
    await publishZarrVectors(await openZarrVectors(web(first), at), second, at);
    await expectSame(await openZarrVectors(web(second), at), wanted);
  });
});

test("what would be written is told beforehand", async () => {
  const { arrays, copiedFrom } = await planPublish(await made("mesh"));
  expect(copiedFrom).toBeUndefined();
  expect(arrays!.find(({ path }) => path === "0/vertices")).toMatchObject({ keys: 1 });
  expect(arrays!.every(({ keys, chunks }) => keys <= chunks)).toBe(true);
  expect(await planPublish(await source("v0.9.2/mesh_3d"))).toEqual({ copiedFrom: "0.9.2", arrays: undefined });
});

test("shards hold all there is, until that is too much", () => {
  expect(shardShape([8, 8, 8], [1, 1, 1], 90e6)).toEqual([8, 8, 8]);
  expect(shardShape([8, 8, 8], [1, 1, 1], 900e6)).toEqual([4, 4, 4]);
  expect(shardShape([1000, 1000, 1], [1, 1, 1], 1)).toEqual([125, 250, 1]);
  expect(shardShape([100_000], [512], 5e6)).toEqual([100_352]);
  expect(shardShape([1], [1], 1e12)).toEqual([1]);
});

describe("a published store", () => {
  test("is refused by edits, and becomes one for edits by converting it", async () => {
    const store = memoryStore();
    await publishZarrVectors(await made("polylines"), store, at);
    const edit = await editZarrVectors(store, at);
    edit.delete([0]);
    const refused = edit.commit();
    await expect(refused).rejects.toThrow(Unsupported);
    await expect(refused).rejects.toThrow(/for readers/);
  });

  test("is not written over what is there, nor over its source", async () => {
    const store = memoryStore();
    const wanted = await made("points");
    await publishZarrVectors(wanted, store, at);
    await expect(publishZarrVectors(wanted, store, at)).rejects.toThrow(Conflict);
    await publishZarrVectors(wanted, store, at, { overwrite: true });
    await expect(
      publishZarrVectors(wanted, wanted.opened.store, Prefix.of("inside"), { overwrite: true }),
    ).rejects.toThrow(InvalidInput);
  });

  test.each([
    ["as it is", () => made("lines"), 3],
    ["from an older version", () => source("v0.7.0-vlen/lines_3d"), 17],
  ] as const)("is there whole or not at all, whichever operation fails: %s", async (_, from, step) => {
    const wanted = await from();
    let failures = 0;
    for (let n = 1; ; n += step) {
      const below = memoryStore();
      const failed = await publishZarrVectors(wanted, faultyStore(below, failNth(n)), at).then(
        () => false,
        () => true,
      );
      if (!failed) break;
      failures++;
      // The last operation takes the journal away, when everything is there.
      if ((await below.get(Key.join(at, "zarr.json"))) !== undefined)
        await expectSame(await openZarrVectors(web(below), at), wanted);
      await publishZarrVectors(wanted, below, at, { overwrite: true });
      expect((await openZarrVectors(web(below), at)).version).toBe("0.9.2");
    }
    expect(failures).toBeGreaterThan(3);
  });
});
