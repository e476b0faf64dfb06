import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { fixtures } from "../../../../test/fixtures.js";
import { Conflict, Corrupt, InvalidInput, LimitExceeded } from "../../../errors.js";
import { fileStore } from "../../../store/file.js";
import { Key, Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import type { Store } from "../../../store/types.js";
import { faultyStore } from "../../../testing/observe.js";
import { createValues, editValues, openValues } from "../values.js";
import { compactSharded } from "./edit.js";
import { parseSharding } from "./parse.js";
import type { Sharding } from "./types.js";

const root = fixtures("precomputed");
const json = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));
const at = Prefix.of("a");
const raw: Sharding = {
  hash: "murmur3",
  preshiftBits: 0,
  minishardBits: 2,
  shardBits: 2,
  indexEncoding: "raw",
  dataEncoding: "raw",
};
const folders = mkdtempSync(join(tmpdir(), "octavo-sharded-"));
afterAll(() => rmSync(folders, { recursive: true }));
const bytes = (text: string) => new TextEncoder().encode(text);
const text = (value: Uint8Array | undefined) => value && new TextDecoder().decode(value);

async function keys(store: Store): Promise<string[]> {
  const out: string[] = [];
  for await (const { key } of store.list(Prefix.root)) out.push(key);
  return out;
}

async function all(store: Store, sharding: Sharding): Promise<Map<bigint, string>> {
  const out = new Map<bigint, string>();
  for await (const { ids, values } of (await openValues(store, at, sharding)).entries({ order: "id" }))
    for (let i = 0; i < ids.length; i++) out.set(ids[i]!, text(values[i])!);
  return out;
}

test("shards without compression are tensorstore's, byte for byte; with it they say the same", async () => {
  const { insertion_order: order, values_hex: values, stores } = json("kv/expected.json");
  const names = readdirSync(join(root, "kv")).filter((name) => name.startsWith("ts_"));
  let exact = 0;
  for (const [i, name] of names.entries()) {
    const sharding = parseSharding(stores[name].spec, name);
    if (i % 4 > 0 && /gzip/.test(name)) continue; // the interop run takes all of them
    for (const maxMemory of [undefined, 2000]) {
      const store = memoryStore();
      const writer = await createValues(store, at, sharding, { maxMemory });
      for (const id of order) await writer.put(BigInt(id), new Uint8Array(Buffer.from(values[id], "hex")));
      const written = await writer.commit();
      const files = readdirSync(join(root, "kv", name)).filter((file) => file !== "info");
      expect(written).toMatchObject({ values: order.length, files: files.length });
      expect((await store.children(at)).keys).toEqual(files.map((file) => `a/${file}`).sort());
      if (sharding.dataEncoding === "gzip" || sharding.indexEncoding === "gzip") {
        const theirs = new Map(order.map((id: string) => [BigInt(id), Buffer.from(values[id], "hex").toString()]));
        expect([...(await all(store, sharding))].sort()).toEqual([...theirs].sort());
        continue;
      }
      exact++;
      for (const file of files)
        expect(
          Buffer.from((await store.get(Key.of(`a/${file}`)))!).equals(readFileSync(join(root, "kv", name, file))),
        ).toBe(true);
    }
  }
  expect(exact).toBeGreaterThan(6);
});

test("what is put comes back, in any order, for any sharding, in little memory", async () => {
  const drawn = fc.record({
    sharding: fc.record({
      hash: fc.constantFrom("identity" as const, "murmur3" as const),
      preshiftBits: fc.integer({ min: 0, max: 64 }),
      minishardBits: fc.integer({ min: 0, max: 5 }),
      shardBits: fc.integer({ min: 0, max: 59 }),
      indexEncoding: fc.constantFrom("raw" as const, "gzip" as const),
      dataEncoding: fc.constantFrom("raw" as const, "gzip" as const),
    }),
    values: fc.uniqueArray(
      fc.tuple(
        fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        fc.uint8Array({ maxLength: 60 }),
        fc.uint8Array({ maxLength: 9 }),
      ),
      {
        selector: ([id]) => id,
        maxLength: 40,
      },
    ),
    maxMemory: fc.integer({ min: 64, max: 4000 }),
  });
  await fc.assert(
    fc.asyncProperty(drawn, async ({ sharding, values, maxMemory }) => {
      const store = memoryStore();
      const writer = await createValues(store, at, sharding, { maxMemory });
      for (const [id, value, before] of values) await writer.put(id, value, before);
      await writer.commit();
      expect((await keys(store)).every((key) => key.endsWith(".shard"))).toBe(true);
      const reader = await openValues(store, at, sharding);
      for (const [id, value, before] of values) {
        expect(await reader.get(id)).toEqual(value);
        if (before.length > 0) expect(await reader.before(id, before.length, before.length)).toEqual(before);
      }
      const listed: bigint[] = [];
      for await (const ids of reader.ids()) listed.push(...ids);
      expect(listed.length).toBe(values.length);
    }),
    { numRuns: 60 },
  );
});

test("an id that comes twice is refused, and nothing stays; also when the two are far apart", async () => {
  for (const maxMemory of [1 << 20, 300]) {
    const store = memoryStore();
    const writer = await createValues(store, at, raw, { maxMemory });
    for (let id = 0n; id < 50n; id++) await writer.put(id, bytes(`value ${id}`));
    await writer.put(7n, bytes("again"));
    await expect(writer.commit()).rejects.toThrow(new InvalidInput("the id 7 came twice for memory:/a/"));
    expect(await keys(store)).toEqual([]);
    await expect(writer.put(8n, bytes(""))).rejects.toThrow(/has failed/);
    await writer.abort();
  }
});

test("what is there is not overwritten unless told, and then as a whole", async () => {
  const store = memoryStore();
  const first = await createValues(store, at, raw);
  for (let id = 0n; id < 40n; id++) await first.put(id, bytes(`old ${id}`));
  await first.commit();
  await expect(createValues(store, at, raw)).rejects.toThrow(Conflict);
  const aborted = await createValues(store, at, raw, { overwrite: true });
  await aborted.put(1n, bytes("new"));
  await aborted.abort();
  expect((await all(store, raw)).get(39n)).toBe("old 39");
  const second = await createValues(store, at, raw, { overwrite: true });
  await second.put(1n, bytes("new"));
  await second.commit();
  expect([...(await all(store, raw))]).toEqual([[1n, "new"]]);
  await expect(second.put(2n, bytes(""))).rejects.toThrow(/already been committed/);
  await expect(second.put(2n ** 64n, bytes(""))).rejects.toThrow(InvalidInput);
});

test("values are added, replaced and deleted in one transaction, and what lies before them goes with them", async () => {
  const store = fileStore(join(folders, "edit"), { durability: "none" });
  const writer = await createValues(store, at, raw);
  for (let id = 0n; id < 30n; id++) await writer.put(id, bytes(`value ${id}`), bytes(`<fragments of ${id}>`));
  await writer.commit();
  const edit = await editValues(store, at, raw);
  await edit.put(5n, bytes("replaced"));
  await edit.put(100n, bytes("added"), bytes("with something before"));
  await edit.put(6n, bytes("not for long"));
  await edit.delete(6n);
  await edit.delete(7n);
  await edit.put(7n, bytes("after all"));
  await edit.delete(12345n);
  expect((await all(store, raw)).get(5n)).toBe("value 5");
  await edit.commit();
  const now = await all(store, raw);
  expect([now.size, now.get(5n), now.get(6n), now.get(7n), now.get(8n), now.get(100n)]).toEqual([
    30,
    "replaced",
    undefined,
    "after all",
    "value 8",
    "added",
  ]);
  const reader = await openValues(store, at, raw);
  for (const id of [0n, 8n, 29n]) {
    const before = `<fragments of ${id}>`;
    expect(text(await reader.before(id, before.length, before.length))).toBe(before);
  }
  expect(text(await reader.before(100n, 21, 4))).toBe("with");
  const rest = await editValues(store, at, raw);
  for (const id of now.keys()) await rest.delete(id);
  expect(await rest.commit()).toEqual({ values: 0, bytes: 0, files: 0 });
  expect((await store.children(at)).keys).toEqual([]);
});

test("a multi-resolution mesh keeps its fragments through edits and compaction", async () => {
  const folder = join(root, "meshes");
  const mesh = readdirSync(folder, { recursive: true, encoding: "utf8" }).find((name) => name.endsWith("1.shard"))!;
  const name = mesh.slice(0, mesh.lastIndexOf("/"));
  const sharding = parseSharding(json(`meshes/${name}/info`).sharding, name);
  const theirs = await openValues(fileStore(join(folder, name)), Prefix.root, sharding);
  const store = memoryStore();
  for (const file of readdirSync(join(folder, name)).filter((file) => file.endsWith(".shard")))
    await store.set(Key.of(`a/${file}`), readFileSync(join(folder, name, file)));
  const edit = await editValues(store, at, sharding);
  for (let id = 1000n; id < 1050n; id++) await edit.put(id, bytes("more"));
  await edit.commit();
  const compacted = await compactSharded(store, at, sharding);
  expect(compacted.before).toBe(compacted.bytes);
  const ours = await openValues(store, at, sharding);
  let fragments = 0;
  for await (const { ids, values } of theirs.entries())
    for (let i = 0; i < ids.length; i++) {
      expect(await ours.get(ids[i]!)).toEqual(values[i]);
      const sizes = fragmentBytes(values[i]!);
      fragments += sizes;
      expect(await ours.before(ids[i]!, sizes, sizes)).toEqual(await theirs.before(ids[i]!, sizes, sizes));
    }
  expect(fragments).toBeGreaterThan(10_000);
  const dropped = await compactSharded(store, at, sharding, { unreferenced: "drop" });
  expect(dropped.before - dropped.bytes - fragments).toBeLessThan(100); // the indexes are compressed
  expect(dropped.before - dropped.bytes).toBeGreaterThanOrEqual(fragments);
});

/** The sum of the fragments' sizes that a manifest names. */
function fragmentBytes(manifest: Uint8Array): number {
  const view = new DataView(manifest.buffer, manifest.byteOffset, manifest.length);
  const lods = view.getUint32(24, true);
  let at = 28 + 20 * lods;
  let sum = 0;
  for (let lod = 0; lod < lods; lod++) {
    const count = view.getUint32(28 + 16 * lods + 4 * lod, true);
    at += 12 * count;
    for (let i = 0; i < count; i++, at += 4) sum += view.getUint32(at, true);
  }
  return sum;
}

test("shards of two files become one, gaps and what belongs to nobody go, shared bytes stay whole", async () => {
  const store = memoryStore();
  const u64 = (...values: bigint[]) => new Uint8Array(BigUint64Array.from(values).buffer);
  const flat: Sharding = { ...raw, hash: "identity", minishardBits: 0, shardBits: 0 };
  const index = u64(1n, 4n, 3n, 2n ** 64n - 3n, 3n, 3n); // ids 1 and 5 share three bytes at 3
  await store.set(Key.of("a/0.index"), u64(9n, 57n));
  await store.set(Key.of("a/0.data"), Buffer.concat([bytes("???abc???"), index, bytes("nobody's")]));
  expect([...(await all(store, flat))]).toEqual([
    [1n, "abc"],
    [5n, "abc"],
  ]);
  expect(await compactSharded(store, at, flat)).toEqual({ values: 2, bytes: 16 + 12 + 48, files: 1, before: 16 + 65 });
  expect((await store.children(at)).keys).toEqual(["a/0.shard"]);
  expect(await compactSharded(store, at, flat, { unreferenced: "drop" })).toMatchObject({ bytes: 16 + 6 + 48 });
  expect([...(await all(store, flat))]).toEqual([
    [1n, "abc"],
    [5n, "abc"],
  ]);
});

test("a damaged shard is not changed", async () => {
  for (const name of ["11_duplicate_id", "12_id_in_wrong_minishard", "02_truncated_minishard_index"]) {
    const sharding = parseSharding(json(`corrupt/${name}/info`).sharding, name);
    const store = memoryStore();
    const before = readFileSync(join(root, "corrupt", name, "0.shard"));
    await store.set(Key.of("a/0.shard"), before);
    const edit = await editValues(store, at, sharding);
    await edit.put(8n, bytes("x"));
    await expect(edit.commit()).rejects.toThrow(Corrupt);
    expect(Buffer.from((await store.get(Key.of("a/0.shard")))!).equals(before)).toBe(true);
  }
});

test("whatever operation of the store fails, the shards are those of before or of after", async () => {
  const inner = memoryStore();
  const first = await createValues(inner, at, raw);
  for (let id = 0n; id < 20n; id++) await first.put(id, bytes("before"));
  await first.commit();
  let failures = 0;
  for (let n = 1; ; n++) {
    let count = 0;
    const store = faultyStore(inner, () => {
      if (++count === n) throw new LimitExceeded("this one fails");
    });
    try {
      const edit = await editValues(store, at, raw);
      for (let id = 0n; id < 20n; id++) await edit.put(id, bytes(`after ${n}`));
      await edit.commit();
      if (count < n) break;
    } catch (error) {
      expect(error).toBeInstanceOf(LimitExceeded);
      failures++;
    }
    expect(new Set((await all(inner, raw)).values()).size).toBe(1);
  }
  expect(failures).toBeGreaterThan(10);
  expect(new Set((await all(inner, raw)).values()).size).toBe(1);
});

test("files of their own, one per id", async () => {
  const store = memoryStore();
  const names = {
    nameOf: (id: bigint) => `${id}.index`,
    idOf: (name: string) => (name.endsWith(".index") ? BigInt(name.slice(0, -6)) : undefined),
    beforeOf: (id: bigint) => `${id}`,
  };
  const writer = await createValues(store, at, null, { names });
  await writer.put(2n ** 64n - 1n, bytes("manifest"), bytes("fragments"));
  await writer.put(3n, bytes("m"), bytes("f"));
  await expect(writer.put(3n, bytes("m"))).rejects.toThrow(/came twice/);
  expect(await writer.commit()).toEqual({ values: 2, files: 4, bytes: 19 });
  const reader = await openValues(store, at, null, { names });
  expect(text(await reader.get(3n))).toBe("m");
  expect(text(await reader.before(2n ** 64n - 1n, 9, 4))).toBe("frag");
  expect(await reader.get(4n)).toBeUndefined();
  const listed: bigint[] = [];
  for await (const { ids, values } of reader.entries()) listed.push(...ids, BigInt(values.length));
  expect(listed).toEqual([3n, 2n ** 64n - 1n, 2n]);
  await expect(createValues(store, at, null, { names })).rejects.toThrow(Conflict);
  const edit = await editValues(store, at, null, { names });
  await edit.delete(3n);
  await edit.commit();
  expect((await store.children(at)).keys.length).toBe(2);
});
