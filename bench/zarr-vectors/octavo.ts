/**
 * Octavo on the benchmark's stores: octavo.ts STORE KIND COUNT CASE, with the cases, the boxes and the choice of objects of
 * peer.py, and the same line of JSON.
 */
import { loadZstdDecoder } from "../../src/codec/zstd.js";
import type { Batch, Query, VectorDataset } from "../../src/model/vectors.js";
import { open } from "../../src/node.js";
import { hash32 } from "./inputs.js";

const [store, kind, size, what] = process.argv.slice(2) as [string, string, string, string];
const count = Number(size);
const EDGE = 1000 * 0.01 ** (1 / 3);
const corners =
  kind === "mesh"
    ? [
        [800, 392, 392],
        [392, 800, 392],
      ]
    : [
        [300, 300, 300],
        [500, 500, 500],
      ];
const [first, second] = corners.map((low) => [...low, ...low.map((v) => v + EDGE)]) as [number[], number[]];

interface Times {
  readonly wall: number;
  readonly cpu: number;
}

async function timed<T>(run: () => Promise<T>): Promise<[Times, T]> {
  const [wall, cpu] = [performance.now(), process.cpuUsage()];
  const result = await run();
  const { user, system } = process.cpuUsage(cpu);
  return [{ wall: (performance.now() - wall) / 1e3, cpu: (user + system) / 1e6 }, result];
}

const opened = async (): Promise<VectorDataset> => {
  const dataset = await open(store);
  if (dataset.kind !== "vectors") throw new Error(`${store} is no store of vectors`);
  return dataset;
};

const found = ({ positions, dims, objects, links }: Batch) => ({
  vertices: positions.length / dims,
  parts: objects.length,
  ...(kind === "mesh" && { faces: links!.ends.length / links!.width }),
});

const cases: { readonly [what: string]: () => Promise<object> } = {
  async read() {
    const [times, result] = await timed(async () => (await opened()).select().read());
    return { ...times, ...found(result) };
  },
  // The mesh is one object, of which the reference answers what lies in the box.
  async box() {
    const query = (box: number[]): Query => (kind === "mesh" ? { box, clip: "vertices" } : { box });
    let dataset: VectorDataset | undefined;
    const [times, result] = await timed(async () => {
      dataset = await opened();
      return dataset.select(query(first)).read();
    });
    const [warm] = await timed(() => dataset!.select(query(second)).read());
    return { ...times, ...found(result), warm };
  },
  async object() {
    const dataset = await opened();
    const read = (id: number) => timed(() => dataset.select({ object: [id] }).read());
    const [cold] = await read(count >> 1);
    const runs: [Times, Batch][] = [];
    for (let i = 0; i < 10; i++) runs.push(await read(hash32(i, 31) % count));
    const best = (of: keyof Times): number => Math.min(...runs.map(([times]) => times[of]));
    return { wall: best("wall"), cpu: best("cpu"), ...found(runs[0]![1]), cold };
  },
  async objects() {
    const ids = new Set(Array.from({ length: 1000 }, (_, i) => hash32(i, 30) % count));
    const [times, result] = await timed(async () => (await opened()).select({ object: ids }).read());
    return { ...times, ...found(result), ids: ids.size };
  },
};

const peak = (): number => process.resourceUsage().maxRSS / 1024;
await loadZstdDecoder(); // the reference's import brings its codecs along
const [base, startup] = [peak(), performance.now() / 1e3];
const answer = await cases[what]!();
console.log(JSON.stringify({ kind, count, case: what, startup, base, ...answer, peak: peak() }));
