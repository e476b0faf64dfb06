/** Attributes, groups, moves, layouts, and what is refused. */
import { beforeEach, describe, expect, it } from "vitest";
import {
  anyThing,
  at,
  batchOf,
  DIMS,
  findings,
  listStore,
  listThings,
  storeOf,
  type Things,
} from "../../../../test/zarr-vectors-edits.js";
import type { DataType } from "../../../bytes/dtype.js";
import type { AttributeInfo } from "../../../model/attributes.js";
import type { Geometry } from "../../../model/vectors.js";
import { Key, Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import type { Store } from "../../../store/types.js";
import { openZarrVectors } from "../index.js";
import { createZarrVectors } from "../write/write.js";
import { editZarrVectors, type VectorTransaction } from "./edit.js";

let seed = 1;
const dice = (n: number): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * n);
};
let marks = 0;
const thing = (geometry: Geometry) => anyThing(geometry, dice, () => marks++);
const thingsOf = (geometry: Geometry, count = 5): Things =>
  new Map(Array.from({ length: count }, (_, i) => [BigInt(10 * i), thing(geometry)]));
beforeEach(() => {
  seed = 1;
  marks = 0;
});

async function edited(store: Store, change: (edit: VectorTransaction) => void, expand = false) {
  const edit = await editZarrVectors(store, at, { expand });
  change(edit);
  const committed = await edit.commit();
  expect(await findings(store)).toEqual([]);
  return committed;
}
const open = (store: Store) => openZarrVectors(store, at);
const f4: DataType = { kind: "float", size: 4, endian: "little" };
const info = (name: string, dtype: DataType, more: Partial<AttributeInfo> = {}): AttributeInfo => ({
  name,
  dtype,
  channels: 1,
  ...more,
});

describe("attributes", () => {
  it("of vertices are added, set and dropped", async () => {
    const store = memoryStore();
    const things = thingsOf("streamlines");
    await storeOf(store, "streamlines", things);
    const some = things.get(20n)!.positions.length;
    await edited(store, (edit) => {
      edit.addAttribute("vertex", info("fa", f4), {
        ids: [20],
        values: Float32Array.from({ length: some }, (_, i) => i),
      });
      edit.setAttribute("vertex", "fa", { id: 20, rows: [0] }, Float32Array.of(7));
      edit.setAttribute(
        "vertex",
        "mark",
        { id: 0 },
        Int32Array.from(things.get(0n)!.marks, (mark) => -mark),
      );
      edit.addAttribute(
        "vertex",
        info("kind", { kind: "uint", size: 1, endian: "little" }, { categories: ["a"], absent: 255 }),
      );
    });
    const batch = await (await open(store)).select({ object: [20] }).read();
    expect([...(batch.vertexColumns.get("fa")!.values as Float32Array)]).toEqual([
      7,
      ...Array.from({ length: some - 1 }, (_, i) => i + 1),
    ]);
    const other = await (await open(store)).select({ object: [0] }).read();
    expect((other.vertexColumns.get("fa")!.values as Float32Array).every(Number.isNaN)).toBe(true);
    expect([...(other.vertexColumns.get("mark")!.values as Int32Array)]).toEqual(
      things.get(0n)!.marks.map((mark) => 0 - mark),
    );
    await edited(store, (edit) => edit.dropAttribute("vertex", "fa"));
    expect((await (await open(store)).schema()).vertex.map(({ name }) => name)).toEqual(["kind", "mark"]);
  });

  it("of objects and groups are added and set; texts join a dictionary", async () => {
    const store = memoryStore();
    const things = thingsOf("points", 3);
    await storeOf(store, "points", things);
    await edited(store, (edit) => {
      edit.addAttribute("object", info("name", { kind: "utf32", size: 16, endian: "little" }), {
        ids: [0, 20],
        values: ["ab", "c"],
      });
      edit.setAttribute("object", "weight", { ids: [10] }, Int32Array.of(5));
      edit.setAttribute("object", "name", { ids: [10] }, ["longer 🚀"]); // than there was room for
      edit.setGroups([[0, 10], { start: 0, stop: 30 }]);
      edit.addGroup([20]);
      edit.addAttribute("group", info("g", f4), { values: Float32Array.of(1, 2, 3) });
      edit.dropGroup(0);
    });
    const dataset = await open(store);
    const { objectColumns } = await dataset.select().read();
    expect(objectColumns.get("name")!.values).toEqual(["ab", "longer 🚀", "c"]);
    expect([...(objectColumns.get("weight")!.values as Int32Array)][1]).toBe(5);
    expect(await dataset.groups()).toEqual([
      { group: 0, size: 30 },
      { group: 1, size: 1 },
    ]);
    expect([...((await dataset.groupColumns()).get("g")!.values as Float32Array)]).toEqual([2, 3]);
    await edited(store, (edit) => edit.delete([10]));
    expect([...(await (await open(store)).groupMembers(0))]).toEqual([0n, 20n]);
  });

  /** The values of the links of an object, by the marks of the vertices that they join. */
  async function linkValues(store: Store, id: number, name: string): Promise<Map<string, unknown>> {
    const { links, vertexColumns } = await (await open(store)).select({ object: [id] }).read();
    const marks = vertexColumns.get("mark")!.values as Int32Array;
    const { width, ends } = links!;
    const { info, values } = links!.columns.get(name)!;
    return new Map(
      Array.from({ length: ends.length / width }, (_, l) => [
        [...ends.subarray(l * width, (l + 1) * width)].map((end) => marks[end]).join("-"),
        info.categories?.[values[l] as number] ?? values[l],
      ]),
    );
  }
  it.each([
    ["graph", {}],
    ["graph", { links: { store: "duplicate" } }],
    ["graph", { links: { directed: true } }],
    ["mesh", {}],
    ["skeletons", {}],
  ] as [Geometry, object][])("of links of %s %j are added, set and dropped", async (geometry, description) => {
    const store = memoryStore();
    const things = thingsOf(geometry);
    await storeOf(store, geometry, things, description);
    const keysOf = async (id: number) => {
      const { links, vertexColumns } = await (await open(store)).select({ object: [id] }).read();
      const marks = vertexColumns.get("mark")!.values as Int32Array;
      return Array.from({ length: links!.ends.length / links!.width }, (_, l) =>
        [...links!.ends.subarray(l * links!.width, (l + 1) * links!.width)].map((end) => marks[end]).join("-"),
      );
    };
    const keys = await keysOf(20);
    expect(keys.length).toBeGreaterThan(2);
    await edited(store, (edit) =>
      edit.addAttribute("link", info("w", f4), { ids: [20], values: Float32Array.from(keys, (_, i) => i) }),
    );
    expect(await listStore(store)).toEqual(listThings(geometry, things));
    const expected = new Map(keys.map((key, i) => [key, i]));
    expect(await linkValues(store, 20, "w")).toEqual(expected);
    expect([...(await linkValues(store, 10, "w")).values()].every(Number.isNaN)).toBe(true);

    const order = await keysOf(20); // those that were written down may have come to another place
    await edited(store, (edit) => edit.setAttribute("link", "w", { id: 20, rows: [2, 0] }, Float32Array.of(70, 80)));
    expected.set(order[2]!, 70);
    expected.set(order[0]!, 80);
    expect(await linkValues(store, 20, "w")).toEqual(expected);

    await edited(store, (edit) => {
      edit.rechunk(17);
      const dictionary = { categories: ["a"], absent: 255 };
      edit.addAttribute("link", info("kind", { kind: "uint", size: 1, endian: "little" }, dictionary));
      edit.setAttribute("link", "kind", { id: 20, rows: [0] }, ["new"]);
    });
    expect(await linkValues(store, 20, "w")).toEqual(expected);
    expect([...(await linkValues(store, 20, "kind")).values()].filter((value) => value === "new")).toHaveLength(1);
    const more: Things = new Map([[99n, thing(geometry)]]);
    await edited(store, (edit) => edit.append(batchOf(geometry, more)));
    things.set(99n, more.get(99n)!);
    await edited(store, (edit) => edit.dropAttribute("link", "w"));
    expect((await (await open(store)).schema()).link.map(({ name }) => name)).toEqual(["kind"]);
    expect(await listStore(store)).toEqual(listThings(geometry, things));
  });

  it("of links need links", async () => {
    const store = memoryStore();
    await storeOf(store, "streamlines", thingsOf("streamlines"));
    const edit = await editZarrVectors(store, at);
    edit.addAttribute("link", info("w", f4));
    await expect(edit.commit()).rejects.toThrow(/no links/);
  });

  it("of fragments are added, set and dropped", async () => {
    const store = memoryStore();
    const things = thingsOf("streamlines");
    await storeOf(store, "streamlines", things);
    const read = async () => (await open(store)).select({ object: [20] }).read();
    await edited(store, (edit) => edit.addAttribute("fragment", info("s", { kind: "int", size: 2, endian: "little" })));
    const none = (await read()).fragments!.columns.get("s")!.values as Int16Array;
    const count = none.length;
    expect([...new Set(none)]).toEqual([-(2 ** 15)]);
    expect(count).toBeGreaterThan(2);
    await edited(store, (edit) => {
      edit.dropAttribute("fragment", "s");
      edit.addAttribute("fragment", info("s", { kind: "int", size: 2, endian: "little" }), {
        ids: [20],
        values: Int16Array.from({ length: count }, (_, i) => i),
      });
      edit.setAttribute("fragment", "s", { id: 20, rows: [1] }, Int16Array.of(50));
    });
    const expected = Array.from({ length: count }, (_, i) => (i === 1 ? 50 : i));
    expect([...((await read()).fragments!.columns.get("s")!.values as Int16Array)]).toEqual(expected);
    await edited(store, (edit) => edit.append(batchOf("streamlines", [[77n, thing("streamlines")]])));
    expect([...((await read()).fragments!.columns.get("s")!.values as Int16Array)]).toEqual(expected);
    const owners = await editZarrVectors(store, at);
    owners.setAttribute("fragment", "object_id", { id: 20 }, new BigInt64Array(count));
    await expect(owners.commit()).rejects.toThrow(/who owns/);
    await edited(store, (edit) => edit.dropAttribute("fragment", "s"));
    expect((await (await open(store)).schema()).fragment.map(({ name }) => name)).toEqual(["object_id"]);
  });

  it("without a word for none need values", async () => {
    const store = memoryStore();
    await storeOf(store, "points", thingsOf("points", 2));
    const edit = await editZarrVectors(store, at);
    edit.addAttribute("object", info("flag", { kind: "bool", size: 1 }));
    await expect(edit.commit()).rejects.toThrow(/needs values/);
  });
});

describe.each(["streamlines", "graph", "mesh", "skeletons", "points"] as Geometry[])("%s", (geometry) => {
  it("move their vertices within a chunk and beyond", async () => {
    const store = memoryStore();
    const things = thingsOf(geometry);
    await storeOf(store, geometry, things);
    for (const by of [0.25, 11]) {
      const { positions, vertexColumns } = await (await open(store)).select({ object: [20] }).read();
      const order = [...(vertexColumns.get("mark")!.values as Int32Array)];
      const rows = order.map((_, row) => row).filter((row) => row % 2 === 0);
      const to = rows.flatMap((row) =>
        [...positions.subarray(row * DIMS, (row + 1) * DIMS)].map((value) => (value + by) % 39),
      );
      await edited(store, (edit) => edit.moveVertices(20, rows, Float32Array.from(to)));
      const old = things.get(20n)!;
      const next = old.positions.map((position, v) => {
        const at = rows.indexOf(order.indexOf(old.marks[v]!));
        return at < 0 ? position : to.slice(at * DIMS, (at + 1) * DIMS).map(Math.fround);
      });
      things.set(20n, { ...old, positions: next });
      expect(await listStore(store)).toEqual(listThings(geometry, things));
    }
  });

  it("are cut into other chunks, into shards and out of them", async () => {
    const store = memoryStore();
    const things = thingsOf(geometry);
    await storeOf(store, geometry, things);
    await edited(store, (edit) => edit.delete([40]));
    things.delete(40n);
    await edited(store, (edit) => edit.shard([2, 2, 2]));
    expect(await listStore(store)).toEqual(listThings(geometry, things));
    await edited(store, (edit) => edit.rechunk(8));
    expect((await open(store)).levels[0]!.chunkShape).toEqual([8, 8, 8]);
    expect(await listStore(store)).toEqual(listThings(geometry, things));
    await edited(store, (edit) => edit.unshard());
    expect(await listStore(store)).toEqual(listThings(geometry, things));
    const { ids } = await edited(store, (edit) =>
      edit.append({ ...batchOf(geometry, [[0n, thing(geometry)]], false) }),
    );
    expect(ids).toEqual([BigInt64Array.of(41n)]);
  });
});

describe("points without objects", () => {
  it("come into the bins of their chunks, as if they had always been there", async () => {
    const description = {
      geometry: "points",
      dims: 2,
      chunkShape: 8,
      binShape: [4, 2],
      bounds: { min: [0, 0], max: [31, 31] },
    } as const;
    const points = (count: number) => ({
      positions: Float32Array.from({ length: 2 * count }, () => dice(248) / 8),
      vertexColumns: new Map([
        ["mark", { info: info("mark", f4), values: Float32Array.from({ length: count }, () => marks++) }],
      ]),
    });
    const [first, second] = [points(60), points(25)];
    const [edited, anew] = [memoryStore(), memoryStore()];
    for (const [store, batches] of [
      [edited, [first]],
      [anew, [first, second]],
    ] as const) {
      const writer = await createZarrVectors(store, at, description);
      for (const batch of batches) await writer.add(batch);
      await writer.commit();
    }
    const edit = await editZarrVectors(edited, at);
    edit.append(second);
    expect((await edit.commit()).ids).toEqual([new BigInt64Array()]);
    expect(await findings(edited)).toEqual([]);
    expect(await all(edited)).toEqual(await all(anew));
  });
});

it("objects that others have named get new ids, whoever else appends", async () => {
  const store = memoryStore();
  await storeOf(store, "graph", thingsOf("graph", 2));
  const more = batchOf("graph", thingsOf("graph", 3));
  const one = await editZarrVectors(store, at);
  const two = await editZarrVectors(store, at);
  for (const edit of [one, two]) edit.append(more, { newIds: true });
  const made = await Promise.all([one.commit(), two.commit()]);
  expect(made.flatMap(({ ids }) => [...ids[0]!]).sort()).toEqual([11n, 12n, 13n, 14n, 15n, 16n]);
  expect(await findings(store)).toEqual([]);
});

describe("an index without ids", () => {
  it("has a row for every id, also for those that are skipped", async () => {
    const store = memoryStore();
    const things: Things = new Map([0n, 1n].map((id) => [id, thing("polylines")]));
    await storeOf(store, "polylines", things);
    const key = Key.join(at, "0/object_index/zarr.json");
    const document = JSON.parse(new TextDecoder().decode(await store.get(key)));
    delete document.attributes.object_ids_sorted;
    document.attributes.layout = "vlen_manifests_v1";
    await store.set(key, new TextEncoder().encode(JSON.stringify(document)));
    for (const name of ["zarr.json", "c/0"]) await store.delete(Key.join(at, `0/object_index/object_ids/${name}`));
    const more = new Map([[4n, thing("polylines")]]);
    await edited(store, (edit) => edit.append(batchOf("polylines", more)));
    expect(await listStore(store)).toEqual(listThings("polylines", new Map([...things, ...more])));
    await edited(store, (edit) => edit.delete([0]));
    expect([...(await (await open(store)).objectIds())]).toEqual([1n, 4n]);
  });
});

describe.each(["points", "lines", "streamlines", "graph", "skeletons", "mesh"] as Geometry[])(
  "%s outside the grid",
  (geometry) => {
    const far = (low: number): Things => {
      const one = thing(geometry);
      return new Map([[99n, { ...one, positions: one.positions.map((_, i) => [low + 3 * i, 5, 5]) }]]);
    };
    it.each([-25, 42])("are refused, or make it grow: from %d", async (low) => {
      for (const sharding of ["none", 2] as const) {
        const store = memoryStore();
        const things = thingsOf(geometry);
        await storeOf(store, geometry, things, { sharding });
        const more = far(low);
        const edit = await editZarrVectors(store, at);
        edit.append(batchOf(geometry, more));
        await expect(edit.commit()).rejects.toThrow(/do not fit the grid/);
        await edited(store, (edit) => edit.append(batchOf(geometry, more)), true);
        things.set(99n, more.get(99n)!);
        expect(await listStore(store)).toEqual(listThings(geometry, things));
      }
    });
  },
);

describe("what is refused", () => {
  it.each([
    [
      "an id that is there",
      (edit: VectorTransaction) => edit.append(batchOf("streamlines", thingsOf("streamlines", 1))),
      /already has the object 0/,
    ],
    ["an unknown id", (edit: VectorTransaction) => edit.delete([5]), /no object 5/],
    ["a group of nobody", (edit: VectorTransaction) => edit.addGroup([5]), /names the object 5/],
    ["an unknown attribute", (edit: VectorTransaction) => edit.dropAttribute("vertex", "x"), /no vertex attribute x/],
    ["a shard without size", (edit: VectorTransaction) => edit.shard([0, 1, 1]), /whole numbers/],
  ])("%s, and nothing has changed", async (_, change, message) => {
    const store = memoryStore();
    const things = thingsOf("streamlines");
    await storeOf(store, "streamlines", things);
    const before = await all(store);
    const edit = await editZarrVectors(store, at);
    change(edit);
    await expect(edit.commit()).rejects.toThrow(message);
    expect(await all(store)).toEqual(before);
  });
});

/** Everything beside the log; documents without their white space, and without the word that there is a log. */
async function all(store: Store): Promise<Map<string, string>> {
  const found: [string, string][] = [];
  for await (const { key } of store.list(Prefix.root)) {
    const bytes = (await store.get(key))!;
    const document = key.endsWith("zarr.json")
      ? new TextDecoder().decode(bytes).replace(/\s|,"octavo_log": ?true/g, "")
      : undefined;
    if (!key.includes(".octavo")) found.push([key, document ?? `${bytes}`]);
  }
  return new Map(found.sort());
}
