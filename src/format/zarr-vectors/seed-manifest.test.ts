/**
 * The seed document on the object manifest, statement by statement, as far as no other test shows them. docs/conformance.md lists
 * all of them under these numbers.
 */
import { describe, expect, it } from "vitest";
import { change, copyOf, folderOf } from "../../../test/zarr-vectors-copy.js";
import { drawnStore, manifests } from "../../../test/zarr-vectors-drawn.js";
import { defaultLimits } from "../../limits.js";
import { typed } from "../../model/elements.js";
import { fileStore } from "../../store/file.js";
import { Key, Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import type { Store } from "../../store/types.js";
import { recordingStore } from "../../testing/observe.js";
import { createArray } from "../zarr/index.js";
import { openZarrVectors, zarrVectors } from "./index.js";
import { Blobs } from "./payload/blobs.js";
import { FragmentIndex } from "./payload/fragment-index.js";
import { Int64 } from "./payload/int64.js";
import { Manifests } from "./payload/manifest.js";
import type { ZarrVectors } from "./read/dataset.js";
import { createZarrVectors } from "./write/write.js";

const golden = (path: string): Promise<ZarrVectors> => openZarrVectors(fileStore(folderOf(path)));
const rowsUpTo = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, row) => row);
const without = async (store: Store, path: string): Promise<void> => {
  for await (const { key } of store.list(Prefix.of(path))) await store.delete(key);
};
const positionsOf = async (dataset: ZarrVectors, level: number, id: bigint): Promise<number[]> => [
  ...(await dataset.select({ level, object: [id] }).read()).positions,
];

/** As the seed reads an object: its blocks one by one, the rows of each fragment from the index of its chunk. */
async function seedReader(dataset: ZarrVectors, level: number, row: number): Promise<number[]> {
  const nodes = await dataset.opened.nodes(level);
  const dims = dataset.axes.length;
  const rank = Number((await nodes.attributes("object_index"))!.sid_ndim);
  const [blob] = await (await nodes.vlen("object_index/manifests"))!.read(row, row + 1);
  const { chunks, first, count } = Manifests.parse(Blobs.of([blob!]), rank, defaultLimits, "it");
  const out: number[] = [];
  for (let b = 0; b < first.length; b++) {
    const chunk = chunks.slice(b * rank, (b + 1) * rank);
    const [bytes] = await (await nodes.cells("vertices"))!.read(chunk);
    const vertices = new Float32Array(bytes!.slice().buffer);
    const [index] = await (await nodes.cells("vertex_fragments"))!.read(chunk);
    const { offsets, rows } = FragmentIndex.parse(index!, vertices.length / dims, defaultLimits, "it");
    for (let e = offsets[first[b]!]!; e < offsets[first[b]! + count[b]!]!; e++) {
      const vertex = rows === undefined ? e : rows[e]!;
      out.push(...vertices.subarray(vertex * dims, (vertex + 1) * dims));
    }
  }
  return out;
}

const countOrphans = ({ objects, parts, dims }: { objects: Int32Array; parts: Uint32Array; dims: number }): number =>
  objects.reduce((sum, row, part) => sum + (row < 0 ? dims * (parts[part + 1]! - parts[part]!) : 0), 0);

describe("the object manifest", () => {
  it("M2 M3 an object is read from its manifest alone: without any links it is the same", async () => {
    const whole = await golden("v0.7.0-vlen/streamlines_3d");
    const store = await copyOf("v0.7.0-vlen/streamlines_3d");
    await without(store, "0/cross_chunk_links");
    await without(store, "0/links");
    const bare = await openZarrVectors(store);
    const links = async ({ opened }: ZarrVectors) => (await opened.nodes(0)).children("cross_chunk_links");
    expect(await links(whole)).not.toEqual([]);
    expect(await links(bare)).toEqual([]);
    for (const id of await whole.objectIds()) {
      const positions = await positionsOf(whole, 0, id);
      expect(positions.length).toBeGreaterThan(0);
      expect(await positionsOf(bare, 0, id)).toEqual(positions);
    }
  });

  it("M7 one object costs the chunk of manifests that it is in", async () => {
    const copy = await copyOf("v0.9.2/points_4d");
    const before = await openZarrVectors(copy);
    const blobs = await (await before.opened.nodes(0)).vlen("object_index/manifests");
    const stored = Blobs.of(await blobs!.read(0, blobs!.length));
    const ids = [...(await before.objectIds())];
    const fourth = await positionsOf(before, 0, ids[3]!);
    const node = Prefix.of("0/object_index/manifests");
    await without(copy, "0/object_index/manifests");
    await createArray(copy, node, {
      shape: [stored.count],
      chunkShape: [2],
      dtype: "variable_length_bytes",
      codecs: [{ name: "vlen-bytes", configuration: {} }],
    });
    for (let from = 0; from < stored.count; from += 2)
      await copy.set(Key.join(node, `c/${from / 2}`), Blobs.encodeChunk(stored, from, from + 2));
    const store = recordingStore(copy);
    const dataset = await openZarrVectors(store);
    const pages = () => store.log.splice(0).flatMap(({ at }) => /manifests\/c\/(\d)/.exec(at)?.[1] ?? []);
    expect(await positionsOf(dataset, 0, ids[3]!)).toEqual(fourth);
    expect(pages()).toEqual(["1"]);
    await positionsOf(dataset, 0, ids[2]!);
    expect(pages()).toEqual([]);
    await dataset.objectIds();
    expect(pages().sort()).toEqual(["0", "2"]);
  });

  it("M8 M30 M32 a level says that it shares fragments, and the store that some level does", async () => {
    for (const version of ["v0.6.0", "v0.7.0-vlen"]) {
      const { opened } = await golden(`${version}/pyramid_streamlines`);
      expect((await opened.level(0)).sharedFragments).toBe(false);
      expect((await opened.level(1)).sharedFragments).toBe(true);
      expect(opened.root.capabilities).toContain("shared_fragments");
    }
  });

  it("M9 the first fragment of an object is the first of its placement", async () => {
    const { objects, chunks } = { ...(await (await golden("v0.9.2/manifest_modes")).source(0)) };
    const { offsets, chunk, first } = await objects!.place(rowsUpTo(3));
    const { coords } = await chunks();
    const primary = [0, 1, 2].map((o) => [
      ...coords.subarray(chunk[offsets[o]!]! * 3, chunk[offsets[o]!]! * 3 + 3),
      first[offsets[o]!]!,
    ]);
    expect(primary).toEqual([
      [0, 0, 0, 0],
      [0, 0, 0, 1],
      [0, 0, 0, 6],
    ]);
  });

  it("M11 M12 a group, one array in it of as many blobs as there are objects, and what the group says", async () => {
    const { opened } = await golden("v0.7.0-vlen/streamlines_3d");
    const nodes = await opened.nodes(0);
    const array = (await nodes.vlen("object_index/manifests"))!;
    expect(await nodes.attributes("object_index")).toEqual({
      zv_array: "object_index",
      num_objects: array.length,
      sid_ndim: 3,
      layout: "vlen_manifests_v1",
    });
    const store = await copyOf("v0.7.0-vlen/streamlines_3d");
    await change(store, "0/object_index/zarr.json", ({ attributes }) => {
      Object.assign(attributes as object, { num_objects: 99 });
    });
    await expect((await openZarrVectors(store)).source(0)).rejects.toMatchObject({ kind: "corrupt" });
    await change(store, "0/object_index/zarr.json", ({ attributes }) => {
      Object.assign(attributes as object, { num_objects: array.length, sid_ndim: 2 });
    });
    await expect((await openZarrVectors(store)).source(0)).rejects.toMatchObject({ kind: "corrupt" });
  });

  it("M13 M20 the same objects from either layout", async () => {
    const [ragged, legacy] = [
      await openZarrVectors(await drawnStore({ ragged: true })),
      await openZarrVectors(await drawnStore()),
    ];
    expect((await ragged.opened.nodes(0)).dialect.manifests).toBe("vlen");
    expect((await legacy.opened.nodes(0)).dialect.manifests).toBe("blobs");
    for (const id of [0n, 1n]) expect(await positionsOf(ragged, 0, id)).toEqual(await positionsOf(legacy, 0, id));
  });

  it("M14 an empty manifest is an object without vertices", async () => {
    const dataset = await golden("v0.9.2/manifest_modes");
    const array = (await (await dataset.opened.nodes(0)).vlen("object_index/manifests"))!;
    const sizes = (await array.read(0, array.length)).map(({ length }) => length);
    expect(sizes.indexOf(4)).toBe(3);
    const ids = await (await dataset.source(0)).objects!.ids();
    expect(await dataset.objectIds()).not.toContain(ids[3]);
    expect(await positionsOf(dataset, 0, ids[3]!)).toEqual([]);
  });

  it("M19 the last blob goes to the end of the data", async () => {
    const store = await drawnStore();
    expect(await positionsOf(await openZarrVectors(store), 0, 1n)).toEqual([9, 1, 1, 11, 1, 1, 12, 1, 1]);
    const data = Key.of("0/object_index/data/c/0");
    await store.set(data, (await store.get(data))!.slice(0, -1));
    await expect(positionsOf(await openZarrVectors(store), 0, 1n)).rejects.toMatchObject({ kind: "corrupt" });
  });

  it("M21 what is written has the ragged layout, and nothing of the legacy one", async () => {
    const store = memoryStore();
    const writer = await createZarrVectors(store, Prefix.root, { geometry: "polylines", dims: 2, chunkShape: 10 });
    await writer.add({ positions: Float32Array.of(1, 1, 5, 5, 15, 5), ids: BigInt64Array.of(7n) });
    const dataset = await writer.commit();
    const nodes = await dataset.opened.nodes(0);
    expect((await nodes.attributes("object_index"))?.layout).toBe("vlen_manifests_v2");
    expect(await nodes.children("object_index")).toEqual(["manifests", "object_ids"]);
    expect(await positionsOf(dataset, 0, 7n)).toEqual([1, 1, 5, 5, 15, 5]);
  });

  it("M22 the bytes of a manifest", async () => {
    const [single, both] = manifests;
    expect(single.length).toBe(4 + 24 + 1 + 8);
    expect(both.length).toBe(4 + 2 * (24 + 1 + 8));
    expect(Manifests.encodeRow(Manifests.of([[{ chunk: [0, 0, 0], fragments: 0 }]], 3), 0)).toEqual(single);
  });

  it("M23 fragments are numbered in their chunk: fragment 0 of two chunks is not the same", async () => {
    const dataset = await openZarrVectors(await drawnStore());
    expect(await positionsOf(dataset, 0, 0n)).toEqual([1, 1, 1, 2, 1, 1]);
    expect((await positionsOf(dataset, 0, 1n)).slice(3)).toEqual([11, 1, 1, 12, 1, 1]);
  });

  it.each([
    "v0.7.0-vlen/pyramid_streamlines",
    "v0.7.0-vlen/streamlines_3d",
    "v0.9.2/manifest_modes",
    "v0.9.2/polylines_2d",
  ])("M28 M53 of %s every object of every level is what the seed's reader gives", async (path) => {
    const dataset = await golden(path);
    let vertices = 0;
    for (const { level } of dataset.levels) {
      const ids = await (await dataset.source(level)).objects!.ids();
      for (const [row, id] of ids.entries()) {
        const positions = await seedReader(dataset, level, row);
        expect(await positionsOf(dataset, level, id)).toEqual(positions);
        vertices += positions.length;
      }
    }
    expect(vertices).toBeGreaterThan(0);
  });

  it("M31 M34 M54 a shared fragment is stored once, and is in every object that names it, also in a region", async () => {
    const dataset = await golden("v0.9.2/manifest_modes");
    const { objects, chunks, counts } = await dataset.source(0);
    const { chunk, first, count } = await objects!.place(rowsUpTo(objects!.rows));
    const named: string[] = [];
    for (let b = 0; b < chunk.length; b++)
      for (let f = first[b]!; f < first[b]! + count[b]!; f++) named.push(`${chunk[b]} ${f}`);
    const shared = named.find((fragment, i) => named.indexOf(fragment) !== i)!;
    const [c, f] = shared.split(" ").map(Number) as [number, number];
    const owners = await objects!.owners({ chunk: Int32Array.of(c), part: Uint32Array.of(f) });
    expect(owners.rows.length).toBeGreaterThan(1);

    const all = Array.from({ length: (await chunks()).count }, (_, i) => i);
    const stored = (await counts(all)).reduce((sum, own) => sum + own, 0);
    const { min, max } = dataset.bounds;
    const whole = await dataset.select({ box: [...min, ...max] }).read();
    const ids = await objects!.ids(owners.rows);
    expect([...whole.ids]).toEqual(expect.arrayContaining([...ids]));
    let alone = 0;
    for (const id of whole.ids) alone += (await positionsOf(dataset, 0, id)).length;
    expect(whole.positions.length - countOrphans(whole)).toBe(alone);
    expect(alone / 3).toBeGreaterThan(stored - countOrphans(whole) / 3);
  });

  it("M35 M39 ids are 0, 1, 2 … unless the index lists others, and the same whenever they are read", async () => {
    const dense = await golden("v0.7.0-vlen/streamlines_3d");
    expect([...(await dense.objectIds())]).toEqual(Array.from({ length: 12 }, (_, i) => BigInt(i)));
    const sparse = await golden("v0.9.2/points_sparse_ids");
    const ids = [...(await sparse.objectIds())];
    expect(ids.some((id) => id > 2n ** 53n)).toBe(true);
    expect([...(await (await golden("v0.9.2/points_sparse_ids")).objectIds())]).toEqual(ids);
    for (const id of ids) expect((await positionsOf(sparse, 0, id)).length).toBeGreaterThan(0);
  });

  it.each(["v0.6.0", "v0.7.0-pypi-0.2.0", "v0.9.2"])(
    "M36 M37 M55 %s: a sparse level that keeps ids has all rows, empty ones for what was dropped, and says which values are real",
    async (version) => {
      const dataset = await golden(`${version}/pyramid_points_objects_sparse`);
      const { objects } = await dataset.source(1);
      expect((await dataset.opened.level(1)).preservesObjectIds).toBe(true);
      expect(objects!.rows).toBe((await dataset.source(0)).objects!.rows);
      const kept = await dataset.objectIds(1);
      expect(kept.length).toBeGreaterThan(0);
      expect(kept.length).toBeLessThan(objects!.rows);
      const ids = await objects!.ids();
      expect([...ids]).toEqual([...(await (await dataset.source(0)).objects!.ids())]);
      const { offsets } = await objects!.place(rowsUpTo(objects!.rows));
      const { info, values } = (await objects!.columns(["s"], rowsUpTo(objects!.rows))).get("s")!;
      const before = (await (await dataset.source(0)).objects!.columns(["s"], rowsUpTo(objects!.rows))).get("s")!;
      expect(info.absent).toBeNaN();
      for (const [row, id] of ids.entries()) {
        const dropped = offsets[row] === offsets[row + 1];
        expect([...kept].includes(id)).toBe(!dropped);
        expect(values[row]).toEqual(dropped ? Number.NaN : before.values[row]);
      }
    },
  );

  it("M38 M55 a level that was numbered anew answers to the ids of level 0", async () => {
    const dataset = await golden("v0.9.2/pyramid_renumbered_handbuilt");
    const nodes = await dataset.opened.nodes(1);
    const mapped = typed(await (await nodes.dense("object_attributes/level0_object_id"))!.read());
    expect([...(await dataset.objectIds(1))]).toEqual(Array.from(mapped as BigInt64Array, BigInt));
    for (const [row, id] of (await dataset.objectIds(1)).entries())
      expect(await positionsOf(dataset, 1, id)).toEqual(await seedReader(dataset, 1, row));
  });

  it("M41 a path without an index has no objects, and says so by having none", async () => {
    const store = await copyOf("v0.9.2/polylines_2d");
    await without(store, "0/object_index");
    const dataset = await openZarrVectors(store);
    expect((await dataset.source(0)).objects).toBeUndefined();
    expect(await dataset.objectIds()).toHaveLength(0);
  });

  it("M42 an index that has neither layout whole is Corrupt", async () => {
    const ragged = await drawnStore({ ragged: true });
    await without(ragged, "0/object_index/manifests");
    await expect((await openZarrVectors(ragged)).source(0)).rejects.toMatchObject({ kind: "corrupt" });
    const legacy = await drawnStore();
    await without(legacy, "0/object_index/offsets");
    await expect((await openZarrVectors(legacy)).source(0)).rejects.toMatchObject({ kind: "corrupt" });
  });

  it.each([
    ["manifest_chunk_outside", "chunk"],
    ["manifest_fragment_negative", "fragment"],
    ["manifest_range_past_end", "fragment"],
    ["manifest_too_short", "manifest"],
  ])("M47 M48 M49 M50 %s is Corrupt when the object is read", async (name, word) => {
    const read = async () => {
      const dataset = await golden(`corrupt/v092/${name}`);
      const { objects } = await dataset.source(0);
      for (const id of await objects!.ids()) await positionsOf(dataset, 0, id);
    };
    await expect(read()).rejects.toMatchObject({ kind: "corrupt", message: expect.stringContaining(word) });
  });
});

describe("the rules of the seed are rules of validate", () => {
  const INDEX = "0/object_index";
  const [first, second] = manifests;
  /** Another blob in the place of one. */
  const replace = async (store: Store, path: string, bytes: Uint8Array): Promise<void> => {
    await change(store, `${path}/zarr.json`, (document) => {
      Object.assign(document, {
        shape: [bytes.length],
        chunk_grid: { name: "regular", configuration: { chunk_shape: [bytes.length] } },
      });
    });
    await store.set(Key.of(`${path}/c/0`), bytes);
  };
  const data = (store: Store, ...bytes: number[]) => replace(store, `${INDEX}/data`, Uint8Array.from(bytes));
  const changed = (blob: Uint8Array, at: number, value: number): number[] => [...blob].with(at, value);
  const indexSays = (store: Store, says: object) =>
    change(store, `${INDEX}/zarr.json`, ({ attributes }) => {
      Object.assign(attributes as object, says);
    });
  const alsoRagged = async (store: Store): Promise<void> => {
    const other = await drawnStore({ ragged: true });
    for await (const { key } of other.list(Prefix.of(`${INDEX}/manifests`)))
      await store.set(key, (await other.get(key))!);
  };
  const broken: [string, string, (store: Store) => Promise<unknown>][] = [
    ["M41 no index", "object-index-absent", (store) => without(store, INDEX)],
    ["M42 two layouts", "object-index", (store) => alsoRagged(store)],
    ["M43 no num_objects", "object-index", (store) => indexSays(store, { num_objects: null })],
    ["M44 another number of objects", "object-count", (store) => indexSays(store, { num_objects: 3 })],
    ["M45 an offset too few", "manifest-decodes", (store) => replace(store, `${INDEX}/offsets`, Int64.encode([0]))],
    [
      "M46 offsets that descend",
      "manifest-decodes",
      (store) => replace(store, `${INDEX}/offsets`, Int64.encode([9, 0])),
    ],
    [
      "M46 offsets beyond the data",
      "manifest-decodes",
      (store) => replace(store, `${INDEX}/offsets`, Int64.encode([0, 999])),
    ],
    ["M47 a manifest that is cut", "manifest-decodes", (store) => data(store, ...first, ...second.slice(0, -1))],
    ["M48 a chunk that is not there", "manifest-chunk", (store) => data(store, ...changed(first, 4, 9), ...second)],
    [
      "M49 a fragment that is not there",
      "manifest-fragment",
      (store) => data(store, ...changed(first, 29, 7), ...second),
    ],
    [
      "M50 a run beyond the end",
      "manifest-fragment",
      async (store) => {
        const run = [1, 0, 0, 0, ...Int64.encode([0, 0, 0]), 1, ...Int64.encode([1, 2])];
        await replace(store, `${INDEX}/offsets`, Int64.encode([0, run.length]));
        await data(store, ...run, ...second);
      },
    ],
    [
      "M51 a fragment of two objects",
      "fragments-disjoint",
      (store) => data(store, ...changed(first, 29, 1), ...second),
    ],
    ["M52 more than zeros at the end", "manifest-decodes", (store) => data(store, ...first, ...second, 0, 1)],
  ];
  const findings = async (store: Store): Promise<string[]> => {
    const found: string[] = [];
    for await (const { rule, severity } of zarrVectors.validate(store, Prefix.root))
      if (severity !== "info") found.push(rule);
    return found;
  };

  it("the store as it is drawn has none", async () => {
    expect(await findings(await drawnStore())).toEqual([]);
    expect(await findings(await drawnStore({ ragged: true }))).toEqual([]);
  });
  it.each(broken)("%s: %s", async (_, rule, edit) => {
    const store = await drawnStore();
    await edit(store);
    expect(await findings(store)).toContain(`zarr-vectors/${rule}`);
  });
});
