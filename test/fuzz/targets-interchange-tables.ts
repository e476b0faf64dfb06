/** Tables and point clouds: a small file of each kind, opened and read whole, also by who goes on without what is damaged. */
import { file as arrow } from "../../src/format/interchange/arrow.js";
import { file as csv, tsv, xyz } from "../../src/format/interchange/csv.js";
import { file as las, laz } from "../../src/format/interchange/las.js";
import { file as npy, npz } from "../../src/format/interchange/npy-table.js";
import { file as parquet } from "../../src/format/interchange/parquet.js";
import type { FileFormat } from "../../src/format/interchange/types.js";
import { defaultLimits } from "../../src/limits.js";
import type { ReadOptions } from "../../src/model/dataset.js";
import { dataOf, openBytes, written } from "../interchange.js";
import { LAYERS, OCTREE, POINTS } from "../laz.js";
import * as PARQUET from "../parquet.js";
import type { Target } from "./driver.js";

const cap = 1 << 24;
const limits = { ...defaultLimits, metadataBytes: cap, chunkBytes: cap, resultBytes: cap };

const TABLES = [
  'id,x,y,z,n,t,b\n5,0.1,2,3,-7,"a,""b""",true\n18446744073709551615,4,5.25,1e+300,8,é,false\n',
  "start_x start_y end_x end_y size\n1 2 3 4 5\n6 7 8 9 NA\n",
  'position;w\n"[1, 2, 3]";5\n"(4 5.5 6)";\n',
];

async function use(file: FileFormat, name: string, bytes: Uint8Array): Promise<void> {
  for (const onBad of [undefined, () => {}]) {
    const dataset = await openBytes(file, name, bytes, { limits, onBad });
    await dataset.select().read({ limits });
  }
}

const opened = (text: string) => openBytes(csv, "a.csv", new TextEncoder().encode(text));
const made = (file: FileFormat) => async (): Promise<Uint8Array[]> =>
  Promise.all(TABLES.map(async (text) => (await written(file, await dataOf(await opened(text)))).bytes));

const target = (name: string, file: FileFormat, seeds: () => Promise<Uint8Array[]>): Target => ({
  name: `interchange ${name}`,
  cap: 6 * cap,
  load: async () => ({ seeds: await seeds(), run: (bytes) => use(file, `a.${name}`, bytes) }),
});

/** The octree alone: its nodes are chunks of LAZ. */
const copc: FileFormat = {
  async open(input, options) {
    const content = await laz.open(input, options);
    const index = async (now: ReadOptions) => {
      const all = await content.index(now);
      return { ...all, until: undefined, vertices: all.vertices.subarray(0, 0) };
    };
    return { ...content, levels: undefined, index };
  },
};

export const tableTargets: readonly Target[] = [
  target("csv", csv, async () => TABLES.map((text) => new TextEncoder().encode(text))),
  target("tsv", tsv, async () =>
    ["x\ty\tz\tt\n1\t2\t3\ta b\n4\t5\t6\t\n"].map((text) => new TextEncoder().encode(text)),
  ),
  target("xyz", xyz, async () =>
    ["1 2 3\n-4 5e1 .6\n", "# a\n1 2 3 4 5 6\n"].map((text) => new TextEncoder().encode(text)),
  ),
  target("parquet", parquet, async () => [...(await made(parquet)()), ...Object.values(PARQUET)]),
  target("arrow", arrow, made(arrow)),
  target("npy", npy, made(npy)),
  target("npz", npz, made(npz)),
  target("las", las, async () => (await made(las)()).slice(0, 1)),
  target("laz", laz, async () => [POINTS, LAYERS]),
  target("copc", copc, async () => [OCTREE]),
];
