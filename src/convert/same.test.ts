/** The result of a conversion is the same whatever memory there is, and however many workers. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { workerUrl } from "../../test/worker-url.js";
import { scene } from "../../test/zarr-vectors-scenes.js";
import { Unsupported } from "../errors.js";
import { createArray, writeRegion } from "../format/zarr/index.js";
import { createZarrVectors, openZarrVectors } from "../format/zarr-vectors/index.js";
import type { Dataset } from "../model/dataset.js";
import { ndarray } from "../model/elements.js";
import type { Geometry } from "../model/vectors.js";
import { convert, fileStore, Key, open, Prefix } from "../node.js";
import { isPrivate } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import { createPool, type Pool } from "../worker/pool.js";
import { converter } from "./index.js";
import type { ConvertToOptions } from "./options.js";

let folder = "";
let pool: Pool;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "octavo-same-"));
  pool = createPool({ size: 2, workerUrl: await workerUrl() });
});
afterAll(async () => {
  await pool.close();
  rmSync(folder, { recursive: true, force: true });
});

/** `owned`: how many objects there are; the other parts have none. */
async function vectors(geometry: Geometry, count: number, owned = count): Promise<Dataset> {
  const store = memoryStore();
  const writer = await createZarrVectors(store, Prefix.root, { geometry, dims: 3, chunkShape: 10 });
  const { objects, ids, objectColumns, ...rows } = scene(geometry, 7, count);
  await writer.add({
    ...rows,
    objects: objects!.map((object) => (object < owned ? object : -1)),
    ids: ids!.slice(0, owned),
    objectColumns: owned < count ? new Map() : objectColumns!,
  });
  await writer.commit();
  return openZarrVectors(store, Prefix.root);
}

async function volume(): Promise<Dataset> {
  const array = await createArray(memoryStore(), Prefix.root, { shape: [40, 40, 8], dtype: "uint16" });
  await writeRegion(
    array,
    undefined,
    ndarray(
      [40, 40, 8],
      new Uint16Array(12800).map((_, i) => i % 999),
    ),
  );
  return array;
}

const at = Prefix.of("out");

/** What a conversion writes: a file is one value, a store all that is in it. */
async function written(source: Dataset, name: string, options: ConvertToOptions): Promise<Record<string, string>> {
  if (/\.(trk|ptree)$/.test(name)) {
    const file = join(folder, name);
    await convert(source, file, { ...options, overwrite: true });
    return { file: readFileSync(file).toString("base64") };
  }
  const store = memoryStore();
  await converter(open, async () => ({ store, at }))(source, name, options);
  const found: Record<string, string> = {};
  for await (const { key } of store.list(at))
    if (!isPrivate(key)) found[key] = Buffer.from((await store.get(key))!).toString("base64");
  return found;
}

const levels = { chunkShape: [20, 20, 20], pyramid: { levels: 2, keep: 0.5 } } as const;
const TARGETS: readonly [string, () => Promise<Dataset>, ConvertToOptions][] = [
  ["store.zv", () => vectors("streamlines", 100), { chunkShape: "auto" as never }],
  ["points.zv", () => vectors("points", 200), { chunkShape: [10, 10, 10] }],
  ["graph.zv", () => vectors("graph", 40), { chunkShape: [20, 20, 20] }],
  ["graph, parts without objects.zv", () => vectors("graph", 40, 12), { chunkShape: [20, 20, 20] }],
  ["meshes.zv", () => vectors("mesh", 40), { chunkShape: [20, 20, 20] }],
  ["skeletons.zv", () => vectors("skeletons", 40), { chunkShape: [7, 7, 7] }],
  ["levels of streamlines", () => vectors("streamlines", 40), levels],
  ["levels of points", () => vectors("points", 200), levels],
  ["levels of a graph", () => vectors("graph", 40), levels],
  ["levels of meshes", () => vectors("mesh", 40), levels],
  ["skeletons", () => vectors("skeletons", 100), { to: "precomputed", sharded: true }],
  ["annotations", () => vectors("points", 200), { to: "precomputed" }],
  ["paths.trk", () => vectors("streamlines", 200), {}],
  ["points.ptree", () => vectors("points", 500), {}],
  ["array", volume, { chunkShape: [7, 9, 8] }],
  ["volume", volume, { to: "precomputed", chunkShape: [16, 16, 8] }],
];

describe("the same bytes", () => {
  it.each(TARGETS)("%s", async (name, make, options) => {
    const source = await make();
    const ways: ConvertToOptions[] = [{}, { maxMemory: 100_000 }, { maxMemory: 1 << 20, pool }, { pool }];
    const results: Record<string, string>[] = [];
    for (const way of ways) results.push(await written(source, name, { ...options, ...way }));
    expect(Object.keys(results[0]!).length).toBeGreaterThan(0);
    for (const other of results.slice(1)) expect(other).toEqual(results[0]);
  });
});

describe("files that are read whole", () => {
  it("are refused where they would take more memory than there may be", async () => {
    const text = Array.from({ length: 2000 }, (_, i) => `v ${i} 0 0\n`).join("");
    await fileStore(folder).set(Key.of("a.obj"), new TextEncoder().encode(`${text}f 1 2 3\n`));
    const [from, to] = [join(folder, "a.obj"), join(folder, "a.zv")];
    const refused = convert(from, join(folder, "a.ply"), { maxMemory: 20_000 });
    await expect(refused).rejects.toThrow(Unsupported);
    await expect(refused).rejects.toThrow(
      /is read whole, which takes about \d+ bytes of memory, and 20000 may be used/,
    );
    expect((await convert(from, to, { maxMemory: 20_000 })).vertices).toBe(2000); // what becomes a store is not held
  });
});
