import { describe, expect, it } from "vitest";
import { encodeUtf8 } from "../bytes/text.js";
import { loadZstd } from "../codec/zstd.js";
import { Corrupt } from "../errors.js";
import { fill, recordingStore } from "../testing/index.js";
import { Key, Prefix } from "./key.js";
import { memoryStore } from "./memory.js";
import { encodePack, packedStore, REQUEST } from "./packed.js";

const k = Key.of;
const at = Prefix.of("web");
const value = (length: number, seed: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * seed) % 251);
const values = { a: value(100, 3), b: value(50, 5), big: value(REQUEST, 7), shard: value(5000, 11) };

/** Everything in its place, and a pack of all but the shard, of which it has the last 40 bytes. */
async function made() {
  const { head, body } = await encodePack(
    [
      [
        ["a", values.a],
        ["b", values.b],
      ],
      [["big", values.big]],
    ],
    [["shard", 5000, values.shard.subarray(4960)]],
  );
  const below = recordingStore(
    await fill(memoryStore(), {
      ...Object.fromEntries(Object.entries(values).map(([name, bytes]) => [`web/${name}`, bytes])),
      "web/pack": Uint8Array.from([...head, ...body]),
    }),
  );
  return { below, store: packedStore(below, at, { key: "pack", head: head.length }), head: head.length };
}

describe("a pack", () => {
  it("gives every value and every range as its own place does", async () => {
    const { store, below } = await made();
    for (const [name, bytes] of Object.entries(values)) {
      const key = k(`web/${name}`);
      expect(await store.get(key)).toEqual(bytes);
      expect(await store.get(key, { range: { offset: 3, length: 9 } })).toEqual(bytes.slice(3, 12));
      expect(await store.get(key, { range: { suffix: 40 } })).toEqual(bytes.slice(-40));
      await expect(store.get(key, { range: { offset: bytes.length, length: 1 } })).rejects.toMatchObject({
        reason: "past-end",
      });
    }
    expect(await store.get(k("web/none"))).toBeUndefined();
    expect(below.log.filter(({ at }) => ["web/a", "web/b", "web/big"].includes(at))).toEqual([]);
  });

  it("is a request for its head and one for each page; the ends of shards come with the head", async () => {
    const { store, below, head } = await made();
    await store.get(k("web/shard"), { range: { suffix: 16 } });
    expect(below.log).toHaveLength(1);
    await Promise.all([store.get(k("web/a")), store.get(k("web/b"))]);
    await store.get(k("web/a"));
    expect(below.log.map(({ range }) => range)).toEqual([
      { offset: 0, length: head },
      { offset: head, length: 150 },
    ]);
    const got = (await store.get(k("web/a")))!;
    got.fill(0); // belongs to the caller
    expect(await store.get(k("web/a"))).toEqual(values.a);
  });

  it("that is not there is done without", async () => {
    const { store, below } = await made();
    await below.delete(k("web/pack"));
    expect(await store.get(k("web/a"))).toEqual(values.a);
  });

  it("whose head is damaged is Corrupt", async () => {
    const zstd = await loadZstd();
    for (const text of [
      "[]",
      "{}",
      '{"pages":[],"tails":[]}',
      '{"pages":[1],"tails":{}}',
      '{"pages":[[["../a",1]]],"tails":{}}',
      '{"pages":[[["a",-1]]],"tails":{}}',
      '{"pages":[[["a",1e300]]],"tails":{}}',
      '{"pages":[[["a",99999999]]],"tails":{}}',
      '{"pages":[],"tails":{"a":[1,"AAAA"]}}',
      '{"pages":[],"tails":{"a":[9,"?"]}}',
      "{",
    ]) {
      const head = zstd.compress(encodeUtf8(text, "it"), 3, true);
      const store = packedStore(await fill(memoryStore(), { "web/pack": head }), at, {
        key: "pack",
        head: head.length,
      });
      await expect(store.get(k("web/a")), text).rejects.toThrow(Corrupt);
    }
    const { below, head } = await made();
    const pack = (await below.get(k("web/pack")))!;
    pack[head - 6]! ^= 1;
    await below.set(k("web/pack"), pack);
    await expect(packedStore(below, at, { key: "pack", head }).get(k("web/a"))).rejects.toThrow(Corrupt);
    await expect(packedStore(below, at, { key: "pack", head: 2 ** 40 }).get(k("web/a"))).rejects.toThrow(Corrupt);
  });
});
