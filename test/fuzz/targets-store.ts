/** Whole stores with one damaged value: zip files, arrays by damaged metadata, parts of damaged shards, the validator. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { concat } from "../../src/bytes/concat.js";
import { encodeUtf8 } from "../../src/bytes/text.js";
import { loadZstd } from "../../src/codec/zstd.js";
import { openZarr } from "../../src/format/zarr/open.js";
import { validateZarr } from "../../src/format/zarr/validate.js";
import { defaultLimits, type Limits } from "../../src/limits.js";
import { Key, Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import { packedStore } from "../../src/store/packed.js";
import type { Store } from "../../src/store/types.js";
import { zipStore } from "../../src/store/zip.js";
import { fixtures } from "../fixtures.js";
import type { Target } from "./driver.js";
import type { mutate } from "./mutate.js";
import { mutateJson } from "./mutate-json.js";
import { zip } from "./seeds.js";

const cap = 4 << 20;
const limits: Partial<Limits> = { metadataBytes: cap, chunkBytes: cap, resultBytes: cap };

type Use = (store: Store) => Promise<unknown>;

/** A golden array in memory whose value `name` is the input. */
const inArray = (name: string, array: string, value: string, use: Use, special?: typeof mutate): Target => ({
  name,
  cap,
  load: async () => {
    const folder = join(fixtures("zarr"), array);
    const store = memoryStore();
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile()) await store.set(Key.of(relative(folder, path)), new Uint8Array(readFileSync(path)));
    }
    const seed = (await store.get(Key.of(value)))!;
    const run = async (bytes: Uint8Array): Promise<unknown> => {
      await store.set(Key.of(value), bytes);
      return use(store);
    };
    return { seeds: [seed], run, ...(special && { mutate: special }) };
  },
});

const readAll: Use = async (store) => {
  const node = await openZarr(store, Prefix.root, { limits });
  return node.kind === "array" ? node.read(undefined, { limits }) : node.children({ limits });
};

const readPart: Use = async (store) => {
  const node = await openZarr(store, Prefix.root, { limits });
  return node.kind === "array" ? node.read([{ start: 1, stop: 30, step: 7 }, 3], { limits }) : undefined;
};

const validate: Use = async (store) => {
  for await (const _ of validateZarr(store, Prefix.root, { limits }));
};

/** Reads all that a pack names, in part and whole, with this head before two values. */
async function readPack(head: Uint8Array): Promise<void> {
  const store = memoryStore();
  await store.set(Key.of("pack"), concat([head, Uint8Array.of(1, 2, 3, 4, 5)]));
  for (const name of ["c", "d"]) await store.set(Key.of(name), new Uint8Array(10));
  const packed = packedStore(store, Prefix.root, { key: "pack", head: head.length });
  for (const name of ["a", "b", "c", "d"]) {
    await packed.get(Key.of(name));
    await packed.get(Key.of(name), { range: { suffix: 2 } });
  }
}
const HEAD = '{"pages":[[["a",3],["b",2]]],"tails":{"c":[10,"AAECAw=="]}}';

/** The head of the pack of a published store: its text, and its bytes. */
const packs: readonly Target[] = [
  {
    name: "pack-head",
    cap: defaultLimits.metadataBytes,
    load: async () => {
      const zstd = await loadZstd();
      const run = (text: Uint8Array): Promise<void> => readPack(zstd.compress(text, 3, true));
      return { seeds: [encodeUtf8(HEAD, "a head")], run, mutate: mutateJson };
    },
  },
  {
    name: "pack-head-bytes",
    cap: defaultLimits.metadataBytes,
    load: async () => ({
      seeds: [(await loadZstd()).compress(encodeUtf8(HEAD, "a head"), 3, true)],
      run: (bytes) => (bytes.length === 0 ? Promise.resolve() : readPack(bytes)),
    }),
  },
];

export const storeTargets: readonly Target[] = [
  ...packs,
  {
    name: "zip",
    cap,
    load: async () => {
      const run = async (bytes: Uint8Array): Promise<void> => {
        const store = memoryStore();
        await store.set(Key.of("it.zip"), bytes);
        const inside = await zipStore(store, Key.of("it.zip"), { limits });
        const inOrder = await zipStore(store, Key.of("it.zip"), { limits, most: 0 });
        for await (const { key, size = 0 } of inside.list(Prefix.root)) {
          const value = await inside.get(key);
          await inside.get(key, { range: { suffix: 2 } });
          const streamed = await inOrder.get(key, { range: { offset: 0, length: size } });
          if (Buffer.compare(value!, streamed!) !== 0) throw new Error("what is streamed differs");
        }
      };
      return { seeds: [zip], run };
    },
  },
  inArray("read-v0", "v0/doc_example_i4", "__zmeta__", readAll, mutateJson),
  inArray("read-v2", "v2/gzip_delta", ".zarray", readAll, mutateJson),
  inArray("read-v3", "v3/transpose", "zarr.json", readAll, mutateJson),
  inArray("read-v3-shards", "v3/sharded_zstd", "zarr.json", readAll, mutateJson),
  inArray("read-shard", "v3/sharded_index_start", "c/0/0", readPart),
  inArray("read-shard-nested", "v3/sharded_nested", "c/0/0", readPart),
  inArray("validate-v3", "v3/sharded_zstd", "zarr.json", validate, mutateJson),
  inArray("validate-v0", "v0/doc_example_i4", "__zdata__/0.0.blosc", validate),
];
