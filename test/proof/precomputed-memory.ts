/** Precomputed data for R11: writing many times the cap of sharded annotations stays under the cap and 100 MB. */
import { createAnnotations } from "../../src/format/precomputed/index.js";
import { Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import type { Store } from "../../src/store/types.js";
import { inFolder, start } from "./processes.js";
import type { Outcome } from "./row.js";

const MB = 1e6;
const BATCH = 500;
const POINTS = 200;
const BYTES = 12 + 12 * POINTS; // of an annotation: its points and their number, and its id

/** Writes so many annotations; how many bytes of memory that takes over the start. Code that loads with the first does not count. */
export async function writeMany(store: Store, count: number, maxMemory: number): Promise<number> {
  await write(memoryStore(), BATCH, maxMemory);
  const before = process.resourceUsage().maxRSS;
  await write(store, count, maxMemory);
  return (process.resourceUsage().maxRSS - before) * 1024;
}

async function write(store: Store, count: number, maxMemory: number): Promise<void> {
  const dimensions = ["x", "y", "z"].map((name) => ({ name, scale: 1e-9, unit: "m" }));
  const description = { type: "polyline", dimensions, relationships: ["cell"] } as const;
  const writer = await createAnnotations(store, Prefix.root, description, { maxMemory, limit: 500 });
  const offsets = Uint32Array.from({ length: BATCH + 1 }, (_, i) => POINTS * i);
  const points = new Float32Array(3 * POINTS * BATCH);
  for (let first = 0; first < count; first += BATCH) {
    for (let i = 0; i < points.length; i++) {
      const row = first + Math.floor(i / 3 / POINTS);
      points[i] = ((row * 7919 * (1 + (i % 3))) % 10_007) + (i % 7); // short ones, all over a cube
    }
    const ids = BigUint64Array.from({ length: BATCH }, (_, i) => BigInt(first + i));
    const cells = BigUint64Array.from(ids, (id) => id % 1009n);
    const related = new Map([["cell", { offsets: Uint32Array.from({ length: BATCH + 1 }, (_, i) => i), ids: cells }]]);
    await writer.add({ ids, offsets, points, properties: new Map(), related });
  }
  await writer.commit();
}

/** `times` as much as the cap. */
export async function manyAnnotations(cap: number, times: number): Promise<Outcome> {
  const count = Math.ceil((times * cap) / BYTES / BATCH) * BATCH;
  const peak = await inFolder(async (folder) =>
    Number(await (await start("precomputed-memory", folder, String(count), String(cap))).done),
  );
  const broken =
    peak <= cap + 100 * MB ? [] : [`${Math.round(peak / MB)} MB over the start with a cap of ${cap / MB} MB`];
  return {
    tried: `${count.toLocaleString("en-US")} annotations, ${Math.round((count * BYTES) / MB)} MB, under ${cap / MB} MB`,
    broken,
    note: `peak ${Math.round(peak / MB)} MB over the start`,
  };
}
