import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fixtures } from "../../../../test/fixtures.js";
import { murmur3OfId } from "../../../bytes/hash/murmur3.js";
import { Corrupt, InvalidInput, LimitExceeded, OctavoError, Unsupported } from "../../../errors.js";
import { fileStore } from "../../../store/file.js";
import { httpStore } from "../../../store/http.js";
import { Key, Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import { serveStore, type TestServer } from "../../../testing/http-server.js";
import { openValues, type ValueReader } from "../values.js";
import { parseSharding } from "./parse.js";
import { placeAll, shardName, shardOfName } from "./place.js";
import { Minishard, ShardIndex } from "./shard-index.js";
import type { Sharding } from "./types.js";

const root = fixtures("precomputed");
const json = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));
const hex = (bytes: Uint8Array | undefined) => (bytes === undefined ? undefined : Buffer.from(bytes).toString("hex"));
const infoOf = (folder: string): Sharding => parseSharding(json(`${folder}/info`).sharding, folder);
const open = (folder: string) => openValues(fileStore(join(root, folder)), Prefix.root, infoOf(folder));
const raw: Sharding = {
  hash: "identity",
  preshiftBits: 0,
  minishardBits: 1,
  shardBits: 0,
  indexEncoding: "raw",
  dataEncoding: "raw",
};

async function idsOf(reader: ValueReader, order?: "id"): Promise<bigint[]> {
  const out: bigint[] = [];
  for await (const ids of reader.ids({ order })) out.push(...ids);
  return out;
}

async function entriesOf(reader: ValueReader, order?: "id"): Promise<[string, string][]> {
  const out: [string, string][] = [];
  for await (const { ids, values } of reader.entries({ order }))
    for (let i = 0; i < ids.length; i++) out.push([`${ids[i]}`, hex(values[i])!]);
  return out;
}

const byId = (a: [string, string], b: [string, string]) => (BigInt(a[0]) < BigInt(b[0]) ? -1 : 1);

test("37 hashes are those of the three peers", () => {
  const vectors: Record<string, string> = json("odd/expected.json").murmur_vectors_hex_of_low64;
  expect(Object.keys(vectors).length).toBe(37);
  for (const [id, hash] of Object.entries(vectors))
    expect(murmur3OfId(BigInt(id)).toString(16).padStart(16, "0")).toBe(hash);
});

test("places are what bigints say, for any bits", () => {
  const ids = BigUint64Array.of(
    0n,
    1n,
    2n ** 32n - 1n,
    2n ** 32n,
    2n ** 53n + 1n,
    2n ** 63n,
    2n ** 64n - 1n,
    0x123456789abcdefn,
  );
  for (const hash of ["identity", "murmur3"] as const)
    for (const preshiftBits of [0, 1, 9, 31, 32, 33, 63, 64])
      for (const [minishardBits, shardBits] of [
        [0, 0],
        [1, 63],
        [32, 32],
        [31, 33],
        [3, 13],
        [0, 64],
        [8, 2],
      ] as const) {
        const placed = placeAll(ids, { ...raw, hash, preshiftBits, minishardBits, shardBits });
        ids.forEach((id, i) => {
          const shifted = id >> BigInt(preshiftBits);
          const hashed = hash === "murmur3" ? murmur3OfId(shifted) : shifted;
          const shard = BigInt.asUintN(shardBits, hashed >> BigInt(minishardBits));
          expect(BigInt(placed.minishard[i]!)).toBe(BigInt.asUintN(minishardBits, hashed));
          expect((BigInt(placed.shardHigh[i]!) << 32n) | BigInt(placed.shardLow[i]!)).toBe(shard);
        });
      }
});

test("shards are named with as many digits as the largest needs", () => {
  const name = (shardBits: number, low: number, high = 0) =>
    shardName({ low, high }, { ...raw, minishardBits: 0, shardBits });
  expect([name(0, 0), name(1, 1), name(4, 15), name(5, 3), name(13, 0xe41)]).toEqual(["0", "1", "f", "03", "0e41"]);
  expect(name(63, 1, 0x40000000)).toBe("4000000000000001");
  const back = (text: string, shardBits: number) => shardOfName(text, { ...raw, minishardBits: 0, shardBits });
  expect(back("0e41", 13)).toEqual({ low: 0xe41, high: 0 });
  expect(back("ffffffffffffffff", 64)).toEqual({ low: 0xffffffff, high: 0xffffffff });
  for (const wrong of ["e41", "00e41", "2000", "0E41", "", "info", "0x41"]) expect(back(wrong, 13)).toBeUndefined();
});

test("a minishard index, byte for byte", () => {
  const u64 = (...values: bigint[]) => new Uint8Array(BigUint64Array.from(values).buffer);
  const bytes = u64(5n, 2n ** 64n - 2n, 2n ** 63n, 10n, 0n, 2n ** 64n - 6n, 7n, 3n, 1n);
  const index = Minishard.parse(bytes, 32, "it");
  expect([...index.ids]).toEqual([5n, 3n, 2n ** 63n + 3n]);
  expect([...index.starts]).toEqual([42, 49, 46]);
  expect([...index.sizes]).toEqual([7, 3, 1]);
  expect(index.ascending).toBe(false);
  expect([Minishard.find(index, 3, 0), Minishard.find(index, 3, 0x80000000), Minishard.find(index, 4, 0)]).toEqual([
    1, 2, -1,
  ]);
  expect(Minishard.encode(BigUint64Array.of(5n), Float64Array.of(10), Float64Array.of(7))).toEqual(u64(5n, 10n, 7n));
  expect(() => Minishard.parse(new Uint8Array(25), 0, "it")).toThrow(/multiple of 24 bytes, found 25/);
  const entry = u64(77n, 77n, 3n, 27n, 9n, 8n, 2n ** 64n - 8n, 2n ** 64n - 1n);
  expect(ShardIndex.entry(entry, 0, 64, "it")).toBeUndefined();
  expect(ShardIndex.entry(entry, 1, 64, "it")).toEqual({ offset: 67, length: 24 });
  for (const number of [2, 3]) expect(() => ShardIndex.entry(entry, number, 64, "it")).toThrow(Corrupt);
});

test("ids and offsets are exact to 2^64 − 1, whatever they add up to", () => {
  const ids = BigUint64Array.of(2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n);
  const gaps = Float64Array.of(2 ** 40, 0, 5, 0, 0);
  const sizes = Float64Array.of(2 ** 33 + 1, 0, 1, 2, 3);
  const index = Minishard.parse(Minishard.encode(ids, gaps, sizes), 16, "it");
  expect([...index.ids]).toEqual([...ids]);
  expect([...index.sizes]).toEqual([...sizes]);
  expect(index.starts[2]).toBe(16 + 2 ** 40 + 2 ** 33 + 6);
});

test("golden stores read equal (the conformance run takes all of them): one by one, together, listed and streamed", async () => {
  const { insertion_order: order, values_hex: values, missing_ids: missing } = json("kv/expected.json");
  const all: [string, string][] = order.map((id: string) => [id, values[id]]).sort(byId);
  const folders = readdirSync(join(root, "kv")).filter((name) => name !== "expected.json");
  expect(folders.length).toBeGreaterThan(60);
  for (const folder of folders.filter((_, i) => i % 5 === 0)) {
    const reader = await open(`kv/${folder}`);
    for (const [id, value] of all.slice(0, 12)) expect(hex(await reader.get(BigInt(id)))).toBe(value);
    for (const id of missing) expect(await reader.get(BigInt(id))).toBeUndefined();
    const asked = BigUint64Array.from([...all.map(([id]) => id), ...missing, all[3]![0]], BigInt);
    const found: (string | undefined)[] = [];
    for await (const { rows, values } of reader.getMany(asked))
      for (let i = 0; i < rows.length; i++) found[rows[i]!] = hex(values[i]);
    expect(found).toEqual([...asked].map((id) => values[`${id}`]));
    expect((await idsOf(reader)).map(String).sort()).toEqual(all.map(([id]) => id).sort());
    expect((await idsOf(reader, "id")).map(String)).toEqual(all.map(([id]) => id));
    expect((await entriesOf(reader)).sort(byId)).toEqual(all);
    expect(await entriesOf(reader, "id")).toEqual(all);
  }
});

test("what is legal and unusual reads as it should", async () => {
  const cases: Record<string, { want?: Record<string, string> }> = json("odd/expected.json");
  const folders = readdirSync(join(root, "odd")).filter((name) => name !== "expected.json");
  expect(folders.length).toBeGreaterThan(6);
  for (const folder of folders) {
    const want = Object.entries(cases[folder]!.want!).sort(byId);
    const reader = await open(`odd/${folder}`);
    for (const [id, value] of want) expect(hex(await reader.get(BigInt(id)))).toBe(value);
    expect((await entriesOf(reader)).sort(byId)).toEqual(want);
  }
});

test("an index of its own file and the data beside it, as shards once were", async () => {
  const [folder] = readdirSync(join(root, "kv")).filter((name) => name.startsWith("ts_mm3_p0_m1_s1_igzip"));
  const { values_hex: values } = json("kv/expected.json");
  const store = memoryStore();
  for (const name of ["0", "1"]) {
    const bytes = readFileSync(join(root, "kv", folder!, `${name}.shard`));
    await store.set(Key.of(`a/${name}.index`), bytes.subarray(0, 32));
    await store.set(Key.of(`a/${name}.data`), bytes.subarray(32));
  }
  const reader = await openValues(store, Prefix.of("a"), infoOf(`kv/${folder}`));
  expect(Object.fromEntries(await entriesOf(reader))).toEqual(values);
  expect(hex(await reader.get(9007199254740993n))).toBe(values["9007199254740993"]);
  await store.delete(Key.of("a/0.data"));
  await expect(entriesOf(await openValues(store, Prefix.of("a"), infoOf(`kv/${folder}`)))).rejects.toThrow(
    /is not there, but its index is/,
  );
});

test("ids of a range, and ids that are none", async () => {
  const [folder] = readdirSync(join(root, "kv"));
  const reader = await open(`kv/${folder}`);
  const some: bigint[] = [];
  for await (const ids of reader.ids({ range: { from: 2n ** 53n, to: 2n ** 63n }, order: "id" })) some.push(...ids);
  expect(some[0]).toBe(2n ** 53n);
  expect(some.at(-1)).toBe(2n ** 63n - 1n);
  const last: bigint[] = [];
  for await (const { ids } of reader.entries({ range: { from: 2n ** 64n - 1n } })) last.push(...ids);
  expect(last).toEqual([2n ** 64n - 1n]);
  for (const id of [-1n, 2n ** 64n]) await expect(reader.get(id)).rejects.toThrow(InvalidInput);
});

test("damage is an error where it is met, never absence, and a bomb is refused", async () => {
  const cases: Record<string, { why: string; tensorstore: Record<string, string> }> = json("corrupt/expected.json");
  for (const folder of readdirSync(join(root, "corrupt")).filter((name) => name !== "expected.json")) {
    const reader = await open(`corrupt/${folder}`);
    const before = process.memoryUsage().rss;
    for (const id of [0n, 1n, 3n, 4n, 5n, 7n, 9n]) {
      const theirs = cases[folder]!.tensorstore[`${id}`]!;
      const ours = await reader.get(id).catch((error) => error);
      if (theirs.startsWith("ERR") && !/^(07|08|23)/.test(folder))
        expect(ours, `${folder} ${id}`).toBeInstanceOf(OctavoError);
      else if (theirs === "missing") expect(ours, `${folder} ${id}`).toBeUndefined();
      else if (/^(18|19)/.test(folder) && id === 1n) expect(ours).toBeInstanceOf(LimitExceeded);
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(200 << 20);
  }
});

test("a shard of no bytes is damage, and so is a value before the beginning", async () => {
  const store = memoryStore();
  await store.set(Key.of("0.shard"), new Uint8Array());
  await expect((await openValues(store, Prefix.root, raw)).get(1n)).rejects.toThrow(Corrupt);
  const before = await open("corrupt/23_index_overlaps_shard_index");
  await expect(before.get(1n)).rejects.toThrow(/beyond 2\^53/);
});

let server: TestServer;
const folder = "kv/ts_mm3_p9_m4_s4_igzip_dgzip";
beforeAll(async () => {
  server = await serveStore(fileStore(join(root, folder)));
});
afterAll(() => server.close());

test("over HTTP: three requests for the first value, one for the next of its minishard, none for what is not there", async () => {
  const sharding = infoOf(folder);
  const reader = await openValues(httpStore(server.url), Prefix.root, sharding);
  const requests = async (work: () => Promise<unknown>) => {
    const before = server.log.length;
    await work();
    return server.log.length - before;
  };
  // 9 bits do not count: 511 and 3 are in one minishard
  expect(await requests(() => reader.get(3n))).toBe(3);
  expect(await requests(() => reader.get(511n))).toBe(1);
  expect(await requests(() => reader.get(4n))).toBe(0);
  const cold = await openValues(httpStore(server.url), Prefix.root, sharding);
  expect(await requests(() => Promise.all([cold.get(1n), cold.get(2n), cold.get(3n)]))).toBe(5);
  const many = await openValues(httpStore(server.url), Prefix.root, sharding);
  const some = BigUint64Array.of(0n, 1n, 2n, 3n, 7n, 8n, 31n, 32n);
  expect(
    await requests(async () => {
      for await (const _ of many.getMany(some));
    }),
  ).toBe(3);
  expect((await idsOf(many)).length).toBe(72);
  const far = await openValues(httpStore(server.url), Prefix.root, { ...sharding, shardBits: 30 });
  await expect(idsOf(far)).rejects.toThrow(Unsupported);
});
