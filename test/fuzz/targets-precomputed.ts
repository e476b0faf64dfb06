/** Precomputed: sharding specifications, the two indexes of a shard, and whole shards as readers and `verify` meet them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, parseJson } from "../../src/bytes/json.js";
import { openValues, parseSharding, type Sharding, verifyValues } from "../../src/format/precomputed/index.js";
import { coderFor } from "../../src/format/precomputed/sharded/coder.js";
import { ENTRY, Minishard, ShardIndex } from "../../src/format/precomputed/sharded/shard-index.js";
import { defaultLimits, type Limits } from "../../src/limits.js";
import { Key, Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import { fixtures } from "../fixtures.js";
import type { Decoder, Target } from "./driver.js";
import { mutateJson } from "./mutate-json.js";

const cap = 1 << 24;
const limits: Limits = { ...defaultLimits, metadataBytes: cap, chunkBytes: cap, resultBytes: cap };

const stores = (pattern: RegExp): string[] => {
  const kv = join(fixtures("precomputed"), "kv");
  return readdirSync(kv).flatMap((name) => (pattern.test(name) ? [join(kv, name)] : []));
};
const shardingAt = (store: string): Sharding =>
  parseSharding(JSON.parse(readFileSync(join(store, "info"), "utf8")).sharding, store);
const shardsAt = (store: string): Uint8Array[] =>
  readdirSync(store).flatMap((file) =>
    file.endsWith(".shard") ? [new Uint8Array(readFileSync(join(store, file)))] : [],
  );

const target = (name: string, load: () => Promise<Decoder>): Target => ({ name, cap, load });

/** The indexes of all minishards of some shards, as they are stored. */
function minishardIndexes(pattern: RegExp): Uint8Array[] {
  return stores(pattern).flatMap((store) => {
    const base = ENTRY * 2 ** shardingAt(store).minishardBits;
    return shardsAt(store).flatMap((shard) =>
      Array.from({ length: base / ENTRY }, (_, i) => {
        const place = ShardIndex.entry(shard, i, base, "it");
        return place && shard.slice(place.offset, place.offset + place.length);
      }).filter((bytes) => bytes !== undefined),
    );
  });
}

async function readAll(store: ReturnType<typeof memoryStore>, sharding: Sharding): Promise<void> {
  const reader = await openValues(store, Prefix.root, sharding, { limits });
  for (const id of [0n, 1n, 2n ** 53n + 1n, 2n ** 64n - 1n]) await reader.get(id);
  for await (const _ of reader.entries());
}

const whole = (name: string, pattern: RegExp): Target =>
  target(name, async () => {
    const store = stores(pattern)[0]!;
    const sharding = { ...shardingAt(store), shardBits: 0 };
    return {
      seeds: shardsAt(store),
      async run(bytes) {
        const place = memoryStore();
        await place.set(Key.of("0.shard"), bytes);
        for await (const _ of verifyValues(place, Prefix.root, sharding, { limits }));
        await readAll(place, sharding);
      },
    };
  });

export const precomputedTargets: readonly Target[] = [
  target("pc-sharding", async () => ({
    seeds: stores(/p[05]_m/).map((store) => new Uint8Array(readFileSync(join(store, "info")))),
    mutate: mutateJson,
    run(bytes) {
      const info = parseJson(bytes, limits, "info");
      return parseSharding(isJsonObject(info) ? info.sharding : info, "info");
    },
  })),
  target("pc-shard-index", async () => ({
    seeds: stores(/_m4_s4_iraw/)
      .flatMap(shardsAt)
      .map((shard) => shard.slice(0, ENTRY * 16)),
    run: (bytes) =>
      Array.from({ length: Math.floor(bytes.length / ENTRY) }, (_, i) => ShardIndex.entry(bytes, i, 256, "it")),
  })),
  target("pc-minishard-index", async () => ({
    seeds: minishardIndexes(/ts_.*_iraw/),
    run(bytes) {
      const index = Minishard.parse(bytes, 256, "it");
      return [Minishard.find(index, 1, 0), Array.from(index.ids, (_, i) => Minishard.stretch(index, i, "it"))];
    },
  })),
  target("pc-minishard-index-gzip", async () => {
    const coder = await coderFor({ indexEncoding: "gzip", dataEncoding: "raw" });
    return {
      seeds: minishardIndexes(/ts_.*_igzip/).slice(0, 60),
      run: async (bytes) => Minishard.parse(await coder.decodeIndex(bytes, limits, async () => 10_000), 256, "it"),
    };
  }),
  whole("pc-shard-raw", /^ts_id_p0_m0_s0_iraw_draw/),
  whole("pc-shard-gzip", /^ts_mm3_p0_m0_s0_igzip_dgzip/),
];
