/** Coarser levels as a part of a conversion: there, refused before anything is written, or missing from a store that is whole. */
import { describe, expect, it } from "vitest";
import { scene } from "../../test/zarr-vectors-scenes.js";
import { Unsupported } from "../errors.js";
import { createZarrVectors, openZarrVectors, zarrVectors } from "../format/zarr-vectors/index.js";
import type { VectorDataset } from "../model/vectors.js";
import { convert, open } from "../node.js";
import { Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import type { Location } from "../store/open.js";
import type { Store } from "../store/types.js";
import { faultyStore, injected, type Operation } from "../testing/observe.js";
import { converter } from "./index.js";

const at = Prefix.of("a.zv");

async function tracts(count = 20, chunkShape = 10): Promise<VectorDataset> {
  const store = memoryStore();
  const writer = await createZarrVectors(store, at, { geometry: "streamlines", dims: 3, chunkShape });
  await writer.add(scene("streamlines", 3, count));
  await writer.commit();
  return openZarrVectors(store, at);
}

const into = (store: Store) => converter(open, async (): Promise<Location> => ({ store, at }) as Location);

async function errorsOf(store: Store): Promise<string[]> {
  const found: string[] = [];
  for await (const { severity, message } of zarrVectors.validate(store, at))
    if (severity === "error") found.push(message);
  return found;
}

describe("coarser levels", () => {
  it.each([
    ["a store", {}],
    ["a part of one", { query: { limit: 12 } }],
  ])("are built of %s, and told", async (_, part) => {
    const store = memoryStore();
    const source = await tracts();
    const { levels, losses } = await into(store)(source, "a.zv", { ...part, pyramid: { levels: 2, keep: 0.5 } });
    expect(losses).toEqual([]);
    const again = await into(memoryStore())(await openZarrVectors(store, at), "a.zv", { ...part, pyramid: true });
    expect(again.losses).toEqual([]); // the levels that it had are built anew
    const target = await openZarrVectors(store, at);
    const counts = await Promise.all([0, 1, 2].map((level) => target.select({ level }).count()));
    expect(counts.map(({ objects }) => objects)).toEqual("query" in part ? [12, 6, 3] : [20, 10, 5]);
    expect(levels).toMatchObject(counts.slice(1).map(({ vertices, objects }) => ({ vertices, objects })));
    expect(await errorsOf(store)).toEqual([]);
  });

  it("are as many as it takes where nothing is said", async () => {
    const store = memoryStore();
    expect((await into(store)(await tracts(), "a.zv", { pyramid: true })).levels).toHaveLength(1);
    expect((await into(store)(await tracts(), "a.zv", { overwrite: true })).levels).toBeUndefined();
  });

  it("are refused where they cannot be, before anything is written", async () => {
    const source = await tracts();
    const wrong = [
      ["a.trk", {}],
      ["a.ptree", {}],
      ["a", { to: "trk" }],
      ["a", { to: "precomputed" }],
      ["a", { to: "zarr2" }],
      ["a.zv.zip", {}],
      ["a.zv", { formatVersion: "0.7.0" }],
    ] as const;
    for (const [target, options] of wrong) {
      const store = memoryStore();
      const tried = into(store)(source, target, { ...options, pyramid: true });
      await expect(tried).rejects.toThrow(`${target} cannot be written with the option pyramid`);
      await expect(tried).rejects.toBeInstanceOf(Unsupported);
      expect(await store.children(Prefix.root)).toEqual({ keys: [], prefixes: [] });
    }
    await expect(convert(source, "memory:levels/a.zv", { pyramid: { factor: 1 } })).rejects.toThrow("above 1, found 1");
    await expect(open("memory:levels/a.zv")).rejects.toThrow();
  });

  it("that fail at any write leave level 0, which is whole", async () => {
    const source = await tracts(3, 100);
    const writes = ({ kind }: Operation): boolean => ["set", "commit", "delete"].includes(kind);
    const counted = async (pyramid: true | undefined): Promise<number> => {
      let count = 0;
      const watched = faultyStore(memoryStore(), (operation) => void (writes(operation) && count++));
      await into(watched)(source, "a.zv", { pyramid });
      return count;
    };
    const [before, all] = [await counted(undefined), await counted(true)];
    expect(all - before).toBeGreaterThan(20);
    let missing = 0;
    for (const n of [1, 2, 3, 4, 5, 6, 20].map((more) => before + more)) {
      const store = memoryStore();
      let count = 0;
      const failing = faultyStore(store, (operation) => {
        if (writes(operation) && ++count >= n) throw injected(operation); // from then on nothing works, as after a kill
      });
      const error = await into(failing)(source, "a.zv", { pyramid: true }).then(
        () => undefined,
        (thrown: Error) => thrown,
      );
      const { levels } = await openZarrVectors(store, at);
      if (levels.length === 1) missing++; // else the journal is there, from which readers have them
      if (error === undefined) expect(levels).toHaveLength(2);
      else expect(error.message).toMatch(/^level 0 is written, its coarser levels were not finished: the test/);
      expect(await errorsOf(store)).toEqual([]);
      const { positions } = await (await openZarrVectors(store, at)).select({ level: 0 }).read();
      expect(positions).toEqual((await source.select({ level: 0 }).read()).positions);
    }
    expect(missing).toBe(4);
  });

  it("that are interrupted reject with the signal's reason and leave level 0", async () => {
    const store = memoryStore();
    const stop = new AbortController();
    const reason = new Error("enough");
    const pyramid = { onProgress: () => stop.abort(reason) };
    await expect(into(store)(await tracts(), "a.zv", { pyramid, signal: stop.signal })).rejects.toBe(reason);
    expect((await openZarrVectors(store, at)).levels).toHaveLength(1);
    expect(await errorsOf(store)).toEqual([]);
  });
});
