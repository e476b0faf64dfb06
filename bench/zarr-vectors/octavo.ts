/**
 * Octavo on the benchmark's stores: octavo.ts INPUTS STORE KIND COUNT CASE, with the cases, the boxes and the choice of objects of
 * peer.py, and the same line of JSON.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadZstd, loadZstdDecoder } from "../../src/codec/zstd.js";
import { readNpy } from "../../src/format/interchange/npy.js";
import { validateZarrVectors } from "../../src/format/zarr-vectors/validate/validate.js";
import { type BatchParts, createZarrVectors } from "../../src/format/zarr-vectors/write/write.js";
import type { Column } from "../../src/model/attributes.js";
import { typed } from "../../src/model/elements.js";
import type { Batch, Query, VectorDataset } from "../../src/model/vectors.js";
import { open } from "../../src/node.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { hash32, type InputName } from "./inputs.js";

const [inputs, store, kind, size, what] = process.argv.slice(2) as [string, string, string, string, string];
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

const peak = (): number => process.resourceUsage().maxRSS / 1024;

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

const load = <T extends Float32Array | Uint32Array>(name: InputName): T =>
  typed(readNpy(readFileSync(join(inputs, name)), { resultBytes: 2 ** 32 })) as T;
const column = (name: string, values: Float32Array): [string, Column] => [
  name,
  { info: { name, dtype: { kind: "float", size: 4, endian: "little" }, channels: 1 }, values },
];

/** Everything in one batch, as the reference takes it. */
function batch(): BatchParts {
  if (kind === "points") {
    return {
      positions: load<Float32Array>("points_5m.npy").subarray(0, 3 * count),
      vertexColumns: new Map([
        column("a0", load<Float32Array>("points_5m_a0.npy").subarray(0, count)),
        column("a1", load<Float32Array>("points_5m_a1.npy").subarray(0, count)),
      ]),
    };
  }
  if (kind === "streamlines") {
    const parts = load<Uint32Array>("streamlines_100k_offsets.npy").subarray(0, count + 1);
    const rows = Int32Array.from({ length: count }, (_, row) => row);
    return {
      positions: load<Float32Array>("streamlines_100k_vertices.npy").subarray(0, 3 * parts[count]!),
      parts,
      objects: rows,
      ids: BigInt64Array.from(rows as unknown as ArrayLike<bigint>, BigInt),
    };
  }
  const size = count > 300_000 ? "1m" : "250k";
  return {
    positions: load<Float32Array>(`mesh_${size}_vertices.npy`),
    objects: Int32Array.of(0),
    ids: BigInt64Array.of(0n),
    links: { width: 3, ends: load<Uint32Array>(`mesh_${size}_faces.npy`), columns: new Map() },
  };
}

const cases: { readonly [what: string]: () => Promise<object> } = {
  async write() {
    await loadZstd();
    const input = batch();
    const before = peak();
    const [times] = await timed(async () => {
      const writer = await createZarrVectors(
        fileStore(store),
        Prefix.root,
        {
          geometry: kind as "points" | "streamlines" | "mesh",
          dims: 3,
          chunkShape: 125,
          bounds: { min: [0, 0, 0], max: [1000, 1000, 1000] },
        },
        { overwrite: true },
      );
      await writer.add(input);
      await writer.commit();
    });
    return { ...times, base: before };
  },
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
  async validate() {
    const [times, errors] = await timed(async () => {
      const found: string[] = [];
      for await (const { severity, message } of validateZarrVectors(fileStore(store), Prefix.root))
        if (severity === "error") found.push(message);
      return found;
    });
    return { ...times, ok: errors.length === 0, errors: errors.slice(0, 3) };
  },
};

await loadZstdDecoder(); // the reference's import brings its codecs along
const [base, startup] = [peak(), performance.now() / 1e3];
const answer = await cases[what]!();
console.log(JSON.stringify({ kind, count, case: what, startup, base, ...answer, peak: peak() }));
