/** The page of laz.test.ts: files of LAZ and COPC over HTTP, with laz-perf.wasm from beside the script. */
import { open } from "../../src/index.js";
import type { VectorDataset } from "../../src/model/vectors.js";

async function askLaz(): Promise<unknown[]> {
  const said: unknown[] = [];
  for (const name of ["points.laz", "octree.copc.laz"]) {
    const dataset = (await open(new URL(`/${name}`, location.href).href)) as VectorDataset;
    const all = await dataset.select().read();
    const box = dataset.select({ box: [10, 10, 10, 30, 40, 40] });
    said.push({
      version: dataset.version,
      levels: dataset.levels.map(({ vertices }) => vertices),
      points: all.positions.length / 3,
      inside: (await box.read()).positions.length / 3,
      requests: (await box.plan()).requests,
    });
  }
  return said;
}

Object.assign(globalThis, { askLaz });
