/** Coarser levels as a part of a conversion: there with the store, or refused before anything is written. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scene } from "../../test/zarr-vectors-scenes.js";
import { Unsupported } from "../errors.js";
import { createZarrVectors, openZarrVectors, type ZarrVectors, zarrVectors } from "../format/zarr-vectors/index.js";
import { linksBetween } from "../format/zarr-vectors/read/link-levels.js";
import type { VectorDataset } from "../model/vectors.js";
import { convert, diff, open } from "../node.js";
import { Key, Prefix } from "../store/key.js";
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

const idsOf = async (url: string, level: number) => ((await open(url)) as ZarrVectors).objectIds(level);

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

  it("have the new ids where objects get some, each the same object as on level 0", async () => {
    const store = memoryStore();
    const options = { query: { object: [3, 9, 10, 1] }, ids: "dense", pyramid: { levels: 1, keep: 1 } } as const;
    const { losses } = await into(store)(await tracts(), "a.zv", options);
    expect(losses).toEqual([expect.stringMatching(/the ids of objects, which are 0, 1, 2 … now/)]);
    expect(await errorsOf(store)).toEqual([]);
    const target = await openZarrVectors(store, at);
    for (const id of [0, 1, 2, 3]) {
      const [fine, coarse] = await Promise.all([0, 1].map((level) => target.select({ level, object: [id] }).read()));
      expect(coarse!.positions.length).toBeGreaterThan(0);
      expect(coarse!.positions.subarray(0, 3)).toEqual(fine!.positions.subarray(0, 3)); // ends stay
    }
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

  it("that fail at any write leave nothing of the store, or all of it", async () => {
    const source = await tracts(3, 100);
    const writes = ({ kind }: Operation): boolean => ["set", "commit", "delete"].includes(kind);
    let all = 0;
    await into(faultyStore(memoryStore(), (operation) => void (writes(operation) && all++)))(source, "a.zv", {
      pyramid: true,
      chunkShape: [50, 50, 50],
    });
    for (const n of [10, all >> 1, all - 12, all - 2, all - 1, all]) {
      const store = memoryStore();
      let count = 0;
      const failing = faultyStore(store, (operation) => {
        if (writes(operation) && ++count === n) throw injected(operation);
      });
      const options = { pyramid: true, chunkShape: [50, 50, 50] } as const;
      await expect(into(failing)(source, "a.zv", options)).rejects.toThrow("the test");
      await expect(openZarrVectors(store, at)).rejects.toThrow("is no Zarr Vectors store");
    }
  });

  it("that are interrupted reject with the signal's reason and leave nothing", async () => {
    const store = memoryStore();
    const stop = new AbortController();
    const reason = new Error("enough");
    const pyramid = { onProgress: () => stop.abort(reason) };
    await expect(into(store)(await tracts(), "a.zv", { pyramid, signal: stop.signal })).rejects.toBe(reason);
    await expect(openZarrVectors(store, at)).rejects.toThrow("is no Zarr Vectors store");
  });

  it("have the codecs and shards that are asked for, and no log is left", async () => {
    const store = memoryStore();
    const codecs = [{ name: "gzip", configuration: { level: 1 } }];
    const query = { limit: 15 }; // so that it is written anew
    await into(store)(await tracts(), "a.zv", { query, codecs, shardShape: [2, 2, 2], pyramid: { levels: 1 } });
    for (const level of [0, 1]) {
      const document = JSON.parse(
        new TextDecoder().decode(await store.get(Key.of(`a.zv/${level}/vertices/zarr.json`))),
      );
      expect(document.codecs[0].configuration.codecs.at(-1)).toEqual(codecs[0]);
    }
    expect((await store.children(Prefix.of("a.zv"))).prefixes).toEqual(["a.zv/0/", "a.zv/1/"]);
  });

  it.each([
    ["as it is", {}],
    ["in part", { query: { limit: 12 } }],
  ])("are built in a zip file as in a folder, with links between them, %s", async (_, part) => {
    const folder = mkdtempSync(join(tmpdir(), "octavo-levels-"));
    try {
      const [file, plain] = [join(folder, "a.zv.zip"), join(folder, "a.zv")];
      const options = { ...part, pyramid: { levels: 2, crossLinks: true } };
      const report = await convert(await tracts(), file, options);
      expect(report).toEqual(await convert(await tracts(), plain, options));
      expect((await diff(file, plain)).differences).toEqual([]);
      for (const made of [file, plain]) {
        const { opened, levels } = (await open(made)) as ZarrVectors;
        expect(levels).toHaveLength(3);
        let linked = 0;
        for await (const { vertices } of linksBetween(opened, 1, 1)) linked += vertices.length / 2;
        expect(linked).toBe(
          (await ((await open(plain)) as ZarrVectors).select({ level: 1, object: await idsOf(plain, 2) }).count())
            .vertices,
        );
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("of a store that has some are built anew, and those are not counted", async () => {
    const [source, again] = [memoryStore(), memoryStore()];
    const first = await into(source)(await tracts(), "a.zv", { pyramid: { levels: 3 } });
    for (const chunkShape of [undefined, [20, 20, 20]]) {
      const options = { pyramid: { levels: 1 }, overwrite: true, chunkShape };
      const report = await into(again)(await openZarrVectors(source, at), "a.zv", options);
      expect(report).toMatchObject({ vertices: first.vertices, objects: first.objects });
      expect((await openZarrVectors(again, at)).levels).toHaveLength(2);
      expect(await errorsOf(again)).toEqual([]);
    }
  });
});
