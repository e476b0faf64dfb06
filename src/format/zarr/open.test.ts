import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Corrupt, LimitExceeded, NotFound, Unsupported } from "../../errors.js";
import { ndarray, typed } from "../../model/elements.js";
import { fileStore } from "../../store/file.js";
import { Key, Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import type { Store } from "../../store/types.js";
import { wrap } from "../../store/wrap.js";
import { recordingStore } from "../../testing/observe.js";
import { createArray, createGroup } from "./create.js";
import { consolidate, deleteNode, setAttributes } from "./edit.js";
import { detectZarr, openZarr } from "./index.js";
import type { ZarrArray, ZarrGroup } from "./node.js";
import { writeRegion } from "./write.js";

const put = (store: Store, key: string, text: string) => store.set(Key.of(key), new TextEncoder().encode(text));
const v0 = '{"chunks": [2], "clevel": 5, "cname": "lz4", "dtype": "<i4", "fill_value": 3, "shape": [4], "shuffle": 1}';
const v1 =
  '{"chunks": [2], "compression": "none", "compression_opts": null, "dtype": "<i4", "fill_value": 3, "order": "C", "shape": [4], "zarr_format": 1}';

/** group / { a: array of 1 2 3, deep / { b: array } } */
async function tree(version: 2 | 3, store: Store = memoryStore()): Promise<ZarrGroup> {
  const group = await createGroup(store, Prefix.root, { version, attributes: { title: "t" } });
  const array = await createArray(store, Prefix.of("a"), {
    version,
    shape: [3],
    dtype: "int32",
    attributes: { unit: "mm" },
  });
  await writeRegion(array, [], ndarray([3], Int32Array.of(1, 2, 3)));
  await createGroup(store, Prefix.of("deep"), { version });
  await createArray(store, Prefix.of("deep/b"), { version, shape: [1], dtype: "uint8", fill: 9 });
  return group;
}

describe("finding out what is there", () => {
  it("asks in rounds, the newest version first, and for nothing more", async () => {
    const asked = async (make: (store: Store) => Promise<unknown>) => {
      const store = recordingStore(memoryStore());
      await make(store);
      store.log.length = 0;
      await openZarr(store);
      return store.log.map(({ at }) => at);
    };
    const array = { shape: [1], dtype: "int32" };
    expect(await asked((s) => createArray(s, Prefix.root, array))).toEqual(["zarr.json"]);
    expect(await asked((s) => createArray(s, Prefix.root, { ...array, version: 2 }))).toEqual([
      "zarr.json",
      ".zarray",
      ".zgroup",
      ".zattrs",
    ]);
    expect(await asked((s) => put(s, "__zmeta__", v0))).toHaveLength(7);
    expect(await asked((s) => put(s, "meta", v1))).toHaveLength(8);
  });

  it("names every version, also where the document is damaged", async () => {
    const named = async (key: string, text: string) => {
      const store = memoryStore();
      await put(store, key, text);
      return (await detectZarr(store, Prefix.root))?.summary;
    };
    expect(await named("__zmeta__", v0)).toBe("Zarr v0 array");
    expect(await named("__zmeta__", v0.slice(0, 40))).toBe("Zarr v0 with metadata that cannot be read");
    expect(await named("meta", v1)).toBe("Zarr v1 array");
    expect(await named("meta", v1.slice(0, 90))).toBe("Zarr v1 with metadata that cannot be read");
    expect(await named("zarr.json", "{")).toBe("Zarr v3 with metadata that cannot be read");
    expect(await named(".zgroup", '{"zarr_format": 2}')).toBe("Zarr v2 group");
    expect(await named("meta", '{"some": "other file"}')).toBeUndefined();
    expect(await named("readme", "hello")).toBeUndefined();
  });

  it("damage is Corrupt, absence NotFound, and a large file called meta is left alone", async () => {
    const store = recordingStore(memoryStore());
    await expect(openZarr(store)).rejects.toThrow(NotFound);
    await put(store, "meta", v1.padEnd(200));
    store.log.length = 0;
    expect(await detectZarr(store, Prefix.root, { limits: { metadataBytes: 199 } })).toBeUndefined();
    expect(store.log.filter(({ kind, at }) => kind === "get" && at === "meta")).toEqual([]);
    await put(store, "zarr.json", '{"zarr_format": 3');
    await expect(openZarr(store)).rejects.toThrow(Corrupt);
  });

  it("a document of a terabyte is refused, not read", async () => {
    const folder = mkdtempSync(join(tmpdir(), "octavo-large-"));
    try {
      for (const name of ["zarr.json", ".zarray", "__zmeta__"]) {
        writeFileSync(join(folder, name), "{");
        truncateSync(join(folder, name), 2 ** 40); // a hole
        await expect(openZarr(fileStore(folder)), name).rejects.toThrow(LimitExceeded);
        rmSync(join(folder, name));
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("reads v0 and v1, which have no groups and no conditions", async () => {
    for (const [key, text] of [
      ["x/__zmeta__", v0],
      ["x/meta", v1],
    ] as const) {
      const store = memoryStore();
      await put(store, key, text);
      const array = (await openZarr(store, Prefix.of("x"))) as ZarrArray;
      expect([...(typed(await array.read()) as Int32Array)]).toEqual([3, 3, 3, 3]);
    }
  });
});

describe.each([2, 3] as const)("groups of v%i", (version) => {
  it("list their nodes and open them by path", async () => {
    const group = await tree(version);
    expect(await group.children()).toEqual([
      { name: "a", kind: "array" },
      { name: "deep", kind: "group" },
    ]);
    const a = (await group.open("a")) as ZarrArray;
    expect([a.attributes, [...(typed(await a.read()) as Int32Array)]]).toEqual([{ unit: "mm" }, [1, 2, 3]]);
    const b = (await ((await group.open("deep")) as ZarrGroup).open("b")) as ZarrArray;
    expect(b.url).toBe("memory:/deep/b");
    await expect(group.open("nothing")).rejects.toThrow(NotFound);
  });

  it("consolidated, answer without asking the store, and still find what was added since", async () => {
    const store = recordingStore(memoryStore());
    await consolidate(await tree(version, store));
    const group = (await openZarr(store)) as ZarrGroup;
    expect(group.attributes).toEqual({ title: "t" });
    store.log.length = 0;
    expect(await group.children()).toHaveLength(2);
    const deep = (await group.open("deep")) as ZarrGroup;
    expect(await deep.children()).toEqual([{ name: "b", kind: "array" }]);
    expect(((await deep.open("b")) as ZarrArray).dtype).toEqual(((await group.open("deep/b")) as ZarrArray).dtype);
    expect(store.log).toEqual([]);
    await createArray(store, Prefix.of("new"), { version, shape: [1], dtype: "int32" });
    expect((await group.open("new")).kind).toBe("array");
    const fresh = (await openZarr(store, Prefix.root, { consolidated: false })) as ZarrGroup;
    expect((await fresh.children())?.map(({ name }) => name)).toEqual(["a", "deep", "new"]);
  });

  it("that nobody can list say so", async () => {
    const store = memoryStore();
    await tree(version, store);
    const blind = wrap(store, { can: { ...store.can, list: false } });
    const group = (await openZarr(blind)) as ZarrGroup;
    expect(await group.children()).toBeUndefined();
    await expect(consolidate(group)).rejects.toThrow(Unsupported);
    expect((await group.open("a")).kind).toBe("array");
  });

  it("show a damaged neighbour instead of failing on it", async () => {
    const store = memoryStore();
    const group = await tree(version, store);
    await put(store, version === 3 ? "deep/zarr.json" : "deep/.zgroup", "{");
    expect(await group.children()).toHaveLength(2);
    await expect(group.open("deep")).rejects.toThrow(Corrupt);
  });

  it("change their attributes on top of each other's changes", async () => {
    const store = memoryStore();
    const group = await tree(version, store);
    const elsewhere = (await openZarr(wrap(store, {}))) as ZarrGroup;
    await Promise.all([
      setAttributes(group, (now) => ({ ...now, one: 1 })),
      setAttributes(elsewhere, (now) => ({ ...now, two: 2 })),
      setAttributes(group, (now) => ({ ...now, three: 2n ** 60n })),
    ]);
    const { attributes } = await openZarr(store);
    expect(attributes).toEqual({ title: "t", one: 1, two: 2, three: 2n ** 60n });
    const array = (await group.open("a")) as ZarrArray;
    expect((await setAttributes(array, {})).attributes).toEqual({});
    expect((await openZarr(store, Prefix.of("a"))).attributes).toEqual({});
  });

  it("are deleted with everything below, and nothing beside", async () => {
    const store = memoryStore();
    await tree(version, store);
    await put(store, "deeper/x", "stays");
    await deleteNode(store, Prefix.of("deep"));
    const left: string[] = [];
    for await (const { key } of store.list(Prefix.root)) left.push(key);
    expect(left.filter((key) => key.startsWith("deep"))).toEqual(["deeper/x"]);
  });
});

it("a v2 group that has only consolidated metadata opens", async () => {
  const store = memoryStore();
  await consolidate(await tree(2, store));
  await store.delete(Key.of(".zgroup"));
  const group = (await openZarr(store)) as ZarrGroup;
  expect(group.attributes).toEqual({ title: "t" });
  expect((await group.open("a")).kind).toBe("array");
});
