import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { fixtures } from "../../../../test/fixtures.js";
import { OctavoError } from "../../../errors.js";
import type { Finding } from "../../../model/format.js";
import { fileStore } from "../../../store/file.js";
import { Key, Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import type { Store } from "../../../store/types.js";
import { createValues, openValues } from "../values.js";
import { parseSharding } from "./parse.js";
import { repairSharded } from "./repair.js";
import type { Sharding } from "./types.js";
import { verifySharded } from "./verify.js";

const root = fixtures("precomputed");
const json = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));
const at = Prefix.of("a");
const flat: Sharding = {
  hash: "identity",
  preshiftBits: 0,
  minishardBits: 1,
  shardBits: 1,
  indexEncoding: "raw",
  dataEncoding: "raw",
};
const bytes = (text: string) => new TextEncoder().encode(text);
const u64 = (...values: (bigint | number)[]) => new Uint8Array(BigUint64Array.from(values, BigInt).buffer);

async function verify(store: Store, place: Prefix, sharding: Sharding): Promise<Finding[]> {
  const out: Finding[] = [];
  for await (const finding of verifySharded(store, place, sharding)) out.push(finding);
  return out;
}
const rulesOf = (findings: readonly Finding[]) => findings.map(({ rule }) => rule.slice("sharded/".length)).sort();

/** Shards of two minishards, by hand: values, then an index for each minishard: rows of id, start, size. */
function shardOf(data: string, ...minishards: (readonly (readonly [number | bigint, number, number])[])[]): Uint8Array {
  const body = bytes(data);
  let position = body.length;
  const entries: number[] = [];
  const indexes = minishards.map((rows) => {
    let [id, end] = [0n, 0];
    const ids = rows.map(([own]) => {
      const delta = BigInt.asUintN(64, BigInt(own) - id);
      id = BigInt(own);
      return delta;
    });
    const gaps = rows.map(([, start, size]) => {
      const gap = BigInt.asUintN(64, BigInt(start - end));
      end = start + size;
      return gap;
    });
    const index = u64(...ids, ...gaps, ...rows.map(([, , size]) => size));
    entries.push(position, position + index.length);
    position += index.length;
    return index;
  });
  return Buffer.concat([u64(...entries), body, ...indexes]);
}

const expected: Record<string, string[]> = {
  "01_truncated_shard_index": ["shard-index"],
  "02_truncated_minishard_index": ["minishard-range"],
  "03_minishard_range_past_eof": ["minishard-range"],
  "04_minishard_end_before_start": ["minishard-range"],
  "05_minishard_offset_overflow": ["minishard-range"],
  "06_minishard_index_len_not_24n": ["minishard-index"],
  "10_overlapping_ranges": ["overlap"],
  "11_duplicate_id": ["duplicate", "overlap"],
  "12_id_in_wrong_minishard": ["overlap", "placement"],
  "13_bad_gzip_minishard_index": ["minishard-index"],
  "14_gzip_crc_mismatch": ["minishard-index"],
  "16_gzip_two_members": ["minishard-index"],
  "17_raw_index_under_gzip_spec": ["minishard-index"],
  "19_gzip_bomb_data": ["value"],
  "21_zero_length_gzip_value": ["value"],
  "23_index_overlaps_shard_index": ["value-range"],
};

test("every damaged fixture has its finding, and an error among them", async () => {
  for (const name of readdirSync(join(root, "corrupt")).filter((name) => name !== "expected.json")) {
    const sharding = parseSharding(json(`corrupt/${name}/info`).sharding, name);
    const findings = await verify(fileStore(join(root, "corrupt", name)), Prefix.root, sharding);
    const errors = findings.filter(({ severity }) => severity === "error");
    expect([name, rulesOf(errors)]).toEqual([name, expected[name]]);
  }
});

test("what is sound has no error, whoever wrote it; what is unusual is said", async () => {
  for (const [set, some] of [
    ["kv", 7],
    ["odd", 1],
  ] as const)
    for (const [i, name] of readdirSync(join(root, set)).entries()) {
      if (name === "expected.json" || i % some !== 0) continue;
      const sharding = parseSharding(json(`${set}/${name}/info`).sharding, name);
      const findings = await verify(fileStore(join(root, set, name)), Prefix.root, sharding);
      expect([name, findings.filter(({ severity }) => severity !== "info")]).toEqual([name, []]);
      if (name === "shared_range") expect(rulesOf(findings)).toEqual(["shared"]);
      if (name === "gzip_of_empty_minishard_index") expect(rulesOf(findings)).toEqual(["empty-index"]);
    }
});

async function damaged(): Promise<Store> {
  const store = memoryStore();
  const set = (name: string, value: Uint8Array) => store.set(Key.of(`a/${name}`), value);
  // shard 0: ids 0, 4 | 1, 5; shard 1: ids 2, 6 | 3, 7
  await set(
    "0.shard",
    shardOf(
      "aabbccddWASTE",
      [
        [4, 2, 2],
        [0, 0, 2],
        [4, 4, 2],
      ],
      [
        [1, 6, 2],
        [2, 0, 2],
      ],
    ),
  );
  await set(
    "1.index",
    shardOf(
      "xyz",
      [[6, 1, 1]],
      [
        [3, 0, 1],
        [7, 2, 1],
      ],
    ).subarray(0, 32),
  );
  await set(
    "1.data",
    shardOf(
      "xyz",
      [[6, 1, 1]],
      [
        [3, 0, 1],
        [7, 2, 1],
      ],
    ).subarray(32),
  );
  await set("2.shard", bytes("nobody reads this"));
  return store;
}

test("order, duplicates, places, waste, forms and names are found and repaired, dry first", async () => {
  const store = await damaged();
  const before = await verify(store, at, flat);
  expect(rulesOf(before)).toEqual(["duplicate", "name", "old-form", "order", "placement", "shared", "waste"]);
  const dry = await repairSharded(store, at, flat, { dryRun: true });
  expect(rulesOf(dry.fixed)).toEqual(["duplicate", "old-form", "order", "placement", "waste"]);
  expect(rulesOf(dry.left)).toEqual(["name", "shared"]);
  expect(rulesOf(await verify(store, at, flat))).toEqual(rulesOf(before));
  expect(rulesOf((await repairSharded(store, at, flat)).fixed)).toEqual(rulesOf(dry.fixed));
  expect(rulesOf(await verify(store, at, flat))).toEqual(["name"]);
  const values: [bigint, string][] = [];
  for await (const { ids, values: own } of (await openValues(store, at, flat)).entries({ order: "id" }))
    for (let i = 0; i < ids.length; i++) values.push([ids[i]!, new TextDecoder().decode(own[i])]);
  expect(values).toEqual([
    [0n, "aa"],
    [1n, "dd"],
    [2n, "aa"],
    [3n, "x"],
    [4n, "bb"],
    [6n, "y"],
    [7n, "z"],
  ]);
  expect(await repairSharded(store, at, flat)).toMatchObject({ fixed: [] });
});

test("what is lost is left as it is, and said", async () => {
  const store = memoryStore();
  const lost = shardOf(
    "aabb",
    [
      [4, 2, 2],
      [0, 0, 99],
    ],
    [[1, 0, 2]],
  );
  await store.set(Key.of("a/0.shard"), lost);
  await store.set(Key.of("a/1.shard"), new Uint8Array());
  const { fixed, left } = await repairSharded(store, at, flat);
  expect(rulesOf(fixed)).toEqual(["no-bytes"]);
  expect(rulesOf(left)).toEqual(["order", "value-range"]);
  expect(await store.get(Key.of("a/0.shard"))).toEqual(new Uint8Array(lost));
  expect(await store.get(Key.of("a/1.shard"))).toBeUndefined();
});

test("half of a pair, both forms, and values that do not decode", async () => {
  const store = memoryStore();
  const gzip: Sharding = { ...flat, dataEncoding: "gzip" };
  const writer = await createValues(store, at, gzip);
  for (let id = 0n; id < 8n; id++) await writer.put(id, bytes(`value ${id}`));
  await writer.commit();
  expect(await verify(store, at, gzip)).toEqual([]);
  await store.set(Key.of("a/0.data"), bytes(""));
  const shard = (await store.get(Key.of("a/1.shard")))!;
  shard[32 + 12]! ^= 1;
  await store.set(Key.of("a/1.shard"), shard);
  const findings = await verify(store, at, gzip);
  expect(rulesOf(findings)).toEqual(["pair", "value"]);
  expect(findings[1]!.message).toMatch(/^the value of 2 in memory:\/a\/1.shard cannot be read: /);
  await store.delete(Key.of("a/0.shard"));
  expect(rulesOf(await verify(store, at, gzip))).toEqual(["pair", "value"]);
});

test("damage that the archive does not have: ranges, wraps, bombs, trailing bytes, a gzip that is cut", async () => {
  const gzip = { ...flat, indexEncoding: "gzip", dataEncoding: "gzip", shardBits: 0 } as const;
  const raw = { ...flat, shardBits: 0 };
  const index = gzipSync(u64(1, 0, 30));
  const value = gzipSync(bytes("x".repeat(100)));
  const around = (data: Uint8Array, own: Uint8Array) =>
    Buffer.concat([u64(0, 0, data.length, data.length + own.length), data, own]);
  const cases: [string, Sharding, Uint8Array, string[]][] = [
    ["past the end", raw, shardOf("aa", [], [[1, 1_000_000_000, 2]]), ["value-range"]],
    [
      "a size beyond 2^63",
      raw,
      shardOf(
        "aa",
        [],
        [
          [1, 0, 2 ** 63],
          [3, 0, 2],
        ],
      ),
      ["value-range"],
    ],
    [
      "ids that descend",
      raw,
      shardOf(
        "aabbcc",
        [],
        [
          [9, 0, 2],
          [3, 2, 2],
          [7, 4, 2],
        ],
      ),
      ["order"],
    ],
    ["bytes after the member", gzip, around(value, Buffer.concat([index, bytes("trailing")])), ["minishard-index"]],
    [
      "an index of 192 MB",
      gzip,
      around(value, gzipSync(new Uint8Array(192_000_000), { level: 1 })),
      ["minishard-index"],
    ],
    ["a value that is cut", gzip, around(value.subarray(0, 20), gzipSync(u64(1, 0, 20))), ["value"]],
    ["no bytes", raw, new Uint8Array(), ["no-bytes"]],
  ];
  for (const [name, sharding, shard, rules] of cases) {
    const store = memoryStore();
    await store.set(Key.of("a/0.shard"), shard);
    const errors = (await verify(store, at, sharding)).filter(({ severity }) => severity === "error");
    expect([name, rulesOf(errors)]).toEqual([name, rules]);
    const reader = await openValues(store, at, sharding);
    if (name === "ids that descend") expect(await reader.get(7n)).toEqual(bytes("cc"));
    else await expect(reader.get(1n), name).rejects.toThrow(OctavoError);
  }
});
