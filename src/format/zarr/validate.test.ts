import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CodecSpec } from "../../codec/types.js";
import { Corrupt, LimitExceeded, Unsupported } from "../../errors.js";
import { ndarray } from "../../model/elements.js";
import type { ValidateOptions } from "../../model/format.js";
import { fileStore } from "../../store/file.js";
import { Key, Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import type { Store } from "../../store/types.js";
import { wrap } from "../../store/wrap.js";
import { faultyStore } from "../../testing/observe.js";
import { type ArrayDescription, createArray, createGroup } from "./create.js";
import { consolidate, setAttributes } from "./edit.js";
import { validateZarr } from "./validate.js";
import { writeRegion } from "./write.js";

const bytes: CodecSpec = { name: "bytes", configuration: { endian: "little" } };
const crc: CodecSpec = { name: "crc32c", configuration: {} };

async function rules(store: Store, options?: ValidateOptions): Promise<string[]> {
  const found: string[] = [];
  for await (const { severity, rule, where, unchecked } of validateZarr(store, Prefix.root, options)) {
    found.push(`${severity} ${rule} ${where}${unchecked ? " unchecked" : ""}`);
  }
  return found;
}

async function array(description: Partial<ArrayDescription> = {}): Promise<Store> {
  const store = memoryStore();
  const made = await createArray(store, Prefix.root, {
    shape: [6],
    chunkShape: [2],
    dtype: "int32",
    codecs: [bytes, crc],
    ...description,
  });
  await writeRegion(made, [], ndarray([6], Int32Array.of(1, 2, 3, 4, 5, 6)));
  return store;
}

async function edit(store: Store, key: string, change: (bytes: Uint8Array) => Uint8Array): Promise<void> {
  await store.set(Key.of(key), change((await store.get(Key.of(key))) ?? new Uint8Array(0)));
}
const flip = (at: number) => (bytes: Uint8Array) => bytes.with(at < 0 ? bytes.length + at : at, bytes.at(at)! ^ 1);

describe("an array", () => {
  it("that is well has no findings, and absent chunks are only worth mentioning", async () => {
    const store = await array();
    expect(await rules(store)).toEqual([]);
    await store.delete(Key.of("c/1"));
    expect(await rules(store)).toEqual(["info zarr/chunk-missing memory:"]);
  });

  it("shows damage at the level that looks for it", async () => {
    const store = await array();
    await edit(store, "c/1", flip(3));
    await edit(store, "c/2", (chunk) => chunk.slice(1));
    await edit(store, "c/7", flip(0).bind(undefined, Uint8Array.of(1)));
    await edit(store, "c/1.abc.partial", () => new Uint8Array(0));
    await edit(store, "c/1.lock", () => new Uint8Array(0));
    await edit(store, "notes.txt", () => new Uint8Array(0));
    const errors = ["error zarr/chunk-decodes c/1", "error zarr/chunk-decodes c/2"];
    const present = [
      "info zarr/unknown-key notes.txt",
      "warning zarr/chunk-stale c/7",
      "warning zarr/leftover-partial c/1.abc.partial",
    ];
    expect(await rules(store, { level: 1 })).toEqual([]);
    expect(await rules(store, { level: 2 })).toEqual([]);
    expect((await rules(store, { level: 3 })).sort()).toEqual(present);
    expect((await rules(store, { level: 4 })).sort()).toEqual([...errors, ...present]);
    const blind = wrap(store, { can: { ...store.can, list: false } });
    expect((await rules(blind)).sort()).toEqual(errors);
    await store.delete(Key.of("c/0"));
    expect(await rules(blind, { level: 3 })).toEqual(["info zarr/chunk-missing memory:"]);
  });

  it("and the groups above it show what killed writers left on a disk", async () => {
    const root = mkdtempSync(join(tmpdir(), "octavo-validate-"));
    try {
      const store = fileStore(root, { durability: "none" });
      await createGroup(store, Prefix.root, { version: 3 });
      await createArray(store, Prefix.of("a"), { shape: [2], chunkShape: [2], dtype: "int32" });
      await store.set(Key.of("a/c/0"), new Uint8Array(8));
      expect((await rules(store, { level: 3 })).filter((rule) => rule.includes("leftover"))).toEqual([]);
      for (const name of ["zarr.json.0123.partial", "a/zarr.json.0123.partial", "a/c/0.0123.partial"])
        writeFileSync(join(root, name), "torn");
      expect((await rules(store, { level: 3 })).sort()).toEqual([
        "warning zarr/leftover-partial a/c/0.0123.partial",
        "warning zarr/leftover-partial a/zarr.json.0123.partial",
        "warning zarr/leftover-partial zarr.json.0123.partial",
      ]);
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  it("is not called damaged where the store fails", async () => {
    const store = await array();
    const get: Store["get"] = async (key, options) => {
      if (key === "c/1") throw new LimitExceeded("the server is busy", { reason: "unavailable" });
      return store.get(key, options);
    };
    expect(await rules(wrap(store, { get }))).toEqual(["error zarr/unavailable c/1 unchecked"]);
    const list: Store["list"] = async function* (prefix, options) {
      yield* store.list(prefix, options);
      throw new Corrupt("the system could not finish its work (EIO)", { where: "c", reason: "io" });
    };
    await edit(store, "c/2", flip(0));
    expect(await rules(wrap(store, { list }))).toEqual([
      "error zarr/chunk-decodes c/2",
      "error zarr/unavailable c unchecked",
    ]);
  });

  it("that the store cannot give because it is damaged there is damaged", async () => {
    const store = await array();
    const get: Store["get"] = async (key, options) => {
      if (key === "c/1") throw new Corrupt("c/1 does not have the checksum that its zip file states");
      return store.get(key, options);
    };
    expect(await rules(wrap(store, { get }))).toEqual(["error zarr/chunk-unreadable c/1"]);
  });

  it("tells a shard's index from its chunks", async () => {
    const store = await array({ shardShape: [6] });
    expect(await rules(store)).toEqual([]);
    const good = (await store.get(Key.of("c/0")))!;
    await edit(store, "c/0", flip(13));
    expect(await rules(store)).toEqual(["error zarr/chunk-decodes c/0 inner chunk [1]"]);
    await edit(store, "c/0", () => flip(-1)(good));
    expect(await rules(store)).toEqual(["error zarr/shard-index c/0"]);
    await edit(store, "c/0", () => good.slice(0, 20));
    expect(await rules(store)).toEqual(["error zarr/shard-index c/0"]);
  });

  it("sees bytes behind a blosc chunk, as level 5", async () => {
    const store = await array({ version: 2, codecs: "blosc" });
    await edit(store, "1", (chunk) => Uint8Array.of(...chunk, 0, 0));
    expect(await rules(store)).toEqual(["warning zarr/trailing-bytes 1"]);
    expect(await rules(store, { level: 4 })).toEqual([]);
    await edit(store, "1", (chunk) => chunk.slice(0, 9));
    expect(await rules(store)).toEqual(["error zarr/chunk-decodes 1"]);
  });

  it("whose metadata or codecs cannot work is an error", async () => {
    const store = await array();
    await edit(store, "zarr.json", (document) => document.slice(0, -9));
    expect(await rules(store)).toEqual(["error zarr/metadata memory:/zarr.json"]);
    expect(await rules(memoryStore())).toEqual(["error zarr/metadata memory:"]);
    const unknown = await array();
    const text = (document: Uint8Array) => new TextDecoder().decode(document);
    await edit(unknown, "zarr.json", (document) =>
      new TextEncoder().encode(text(document).replace("crc32c", "mystery")),
    );
    expect(await rules(unknown)).toEqual(["error zarr/codec memory:"]);
  });

  it("says what its metadata leaves to be known", async () => {
    const store = memoryStore();
    const meta =
      '{"chunks": [2], "clevel": 5, "cname": "lz4", "dtype": "<i4", "fill_value": 3.7, "shape": [4], "shuffle": 1}';
    await edit(store, "__zmeta__", () => new TextEncoder().encode(meta));
    expect(await rules(store, { level: 1 })).toEqual(["info zarr/note memory:"]);
  });
});

describe.each([2, 3] as const)("a tree of v%i", (version) => {
  it("is walked, and consolidated metadata is compared with the nodes", async () => {
    const store = memoryStore();
    const root = await createGroup(store, Prefix.root, { version });
    const leaf = await createArray(store, Prefix.of("g/a"), {
      version,
      shape: [2],
      dtype: "int32",
      attributes: { x: 1 },
    });
    await createGroup(store, Prefix.of("g"), { version });
    await consolidate(root);
    await writeRegion(leaf, [], ndarray([2], Int32Array.of(1, 2)));
    expect(await rules(store)).toEqual([]);
    await setAttributes(leaf, { x: 2 });
    await createGroup(store, Prefix.of("late"), { version });
    expect(await rules(store)).toEqual([
      "warning zarr/consolidated-differs memory:",
      "warning zarr/consolidated-differs memory:",
    ]);
    const document = version === 2 ? "g/a/.zarray" : "g/a/zarr.json";
    const forbidding = faultyStore(store, ({ at }) => {
      if (at === document) throw new Unsupported(`${at} is forbidden`, { where: at, reason: "forbidden" });
    });
    const errors = (await rules(forbidding)).filter((rule) => rule.startsWith("error"));
    expect([...new Set(errors)]).toEqual([`error zarr/unavailable ${document} unchecked`]);
    await edit(store, document, () => new Uint8Array(3));
    expect((await rules(store)).at(-1)).toMatch(/^error zarr\/metadata memory:\/g\/a\//);
  });
});
