/** Octavo's side of one measurement: octavo.ts OP COUNT ENCODING FOLDER INPUTS; prints one JSON object. */
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Sharding } from "../../src/format/precomputed/sharded/types.js";
import { Skeleton } from "../../src/format/precomputed/skeleton/skeleton.js";
import { createValues, openValues } from "../../src/format/precomputed/values.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";

const [op, count, encoding, folder, source] = process.argv.slice(2) as [string, string, "raw" | "gzip", string, string];
const sharding: Sharding = {
  hash: "murmur3",
  preshiftBits: 0,
  minishardBits: 6,
  shardBits: Number(count) >= 1e6 ? 4 : 1,
  indexEncoding: "gzip",
  dataEncoding: encoding,
};
const input = (name: string): ArrayBuffer => {
  const bytes = readFileSync(join(source, name));
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
};

async function write(): Promise<Record<string, number>> {
  const ids = new BigUint64Array(input("ids.u64"));
  const offsets = new Uint32Array(input("offsets.u32"));
  const lengths = new Uint32Array(input("lengths.u32"));
  const pool = new Uint8Array(input("pool.bin"));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const scratch = { store: fileStore(join(folder, "../scratch"), { durability: "none" }) };
  return measured(async () => {
    const writer = await createValues(fileStore(folder), Prefix.root, sharding, { scratch });
    for (let i = 0; i < ids.length; i++)
      await writer.put(ids[i]!, pool.subarray(offsets[i]!, offsets[i]! + lengths[i]!));
    return { ...(await writer.commit()) };
  });
}

async function read(): Promise<Record<string, number>> {
  const sample = new BigUint64Array(input("sample.u64"));
  const reader = await openValues(fileStore(folder), Prefix.root, sharding);
  return measured(async () => {
    let bytes = 0;
    for await (const { values } of reader.getMany(sample)) for (const value of values) bytes += value!.length;
    return { bytes };
  });
}

async function list(): Promise<Record<string, number>> {
  const reader = await openValues(fileStore(folder), Prefix.root, sharding);
  return measured(async () => {
    let count = 0;
    for await (const ids of reader.ids()) count += ids.length;
    return { count };
  });
}

async function scan(): Promise<Record<string, number>> {
  const reader = await openValues(fileStore(folder), Prefix.root, sharding);
  return measured(async () => {
    let [count, bytes] = [0, 0];
    for await (const { values } of reader.entries())
      for (const value of values) {
        count++;
        bytes += value.length;
      }
    return { count, bytes };
  });
}

async function decode(): Promise<Record<string, number>> {
  const lengths = new Uint32Array(input("skeletons.u32"));
  const data = new Uint8Array(input("skeletons.bin"));
  let end = 0;
  const values = Array.from(lengths, (length) => {
    end += length;
    return data.slice(end - length, end);
  });
  return measured(async () => {
    const found = values.map((value) => Skeleton.parse(value, [RADIUS], "a skeleton"));
    return { count: found.reduce((sum, { vertices }) => sum + vertices.length / 3, 0) };
  });
}
const RADIUS = { id: "radius", type: "float32", components: 1 } as const;

async function measured(work: () => Promise<Record<string, number>>): Promise<Record<string, number>> {
  const start = process.memoryUsage.rss();
  const [wall, cpu] = [performance.now(), process.cpuUsage()];
  const result = await work();
  const used = process.cpuUsage(cpu);
  const seconds = (performance.now() - wall) / 1000;
  const peak = Math.max(start, process.resourceUsage().maxRSS * 1024);
  return { ...result, wall: seconds, cpu: (used.user + used.system) / 1e6, memory: peak - start };
}

const operations = { write, read, list, scan, decode };
console.log(JSON.stringify(await operations[op as keyof typeof operations]()));
