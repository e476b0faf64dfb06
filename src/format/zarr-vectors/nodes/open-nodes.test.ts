import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fixtures } from "../../../../test/fixtures.js";
import { parseJson } from "../../../bytes/json.js";
import { defaultLimits } from "../../../limits.js";
import { fileStore } from "../../../store/file.js";
import type { Cells, Dialect, LevelNodes } from "../types.js";
import { type OpenedStore, openStore } from "./open-nodes.js";

const base = fixtures("zarr-vectors");
const opened = (path: string): Promise<OpenedStore> => openStore(fileStore(join(base, path, "store.zarrvectors")));
const stores = (folder: string): string[] =>
  readdirSync(join(base, folder))
    .filter((name) => existsSync(join(base, folder, name, "store.zarrvectors")))
    .map((name) => `${folder}/${name}`);

const old = { crossLinks: "flat", names: "old", objectAttributes: "blobs" } as const;
const dialects: { readonly [folder: string]: Omit<Dialect, "manifests"> & { readonly index: Dialect["manifests"] } } = {
  "v0.2-early": { container: "files", fragments: "paired-offsets", index: "tuples", ...old },
  "v0.2-late": { container: "files", fragments: "paired-offsets", index: "tuples", ...old },
  "v0.3": { container: "files", fragments: "paired-offsets", index: "tuples", ...old },
  "v0.4": { container: "blobs", fragments: "paired-offsets", index: "tuples", ...old },
  "v0.5.0-early": { container: "blobs", fragments: "paired-offsets", index: "tuples", ...old },
  "v0.5.0-late": { container: "blobs", fragments: "offsets", index: "tuples", ...old, names: "new" },
  "v0.6.0": { container: "blobs", fragments: "index", index: "blobs", ...old, names: "new" },
  "v0.7.0-legacy-index": { container: "blobs", fragments: "index", index: "blobs", ...old, names: "new" },
  "v0.7.0-vlen": { container: "blobs", fragments: "index", index: "vlen", ...old, names: "new" },
  "v0.7.0-pypi-0.2.0": { container: "blobs", fragments: "index", index: "vlen", ...old, names: "new" },
  "v0.9.2": {
    container: "cells",
    fragments: "index",
    index: "vlen",
    crossLinks: "offsets",
    names: "new",
    objectAttributes: "array",
  },
};

test("the table knows every version of the fixtures", () => {
  expect(readdirSync(base).filter((name) => name.startsWith("v0"))).toEqual(Object.keys(dialects).sort());
});

interface Dump {
  readonly levels: { readonly [level: string]: { readonly chunk_keys?: readonly (readonly number[])[] } };
}
const dumpOf = (path: string): Dump => {
  const text = readFileSync(join(base, path, "expected.json"));
  const expected = parseJson(text, defaultLimits, path, { tokens: true }) as unknown as { readonly dump: Dump };
  return expected.dump;
};

/** Every per-chunk array of a level. */
async function cellArrays(nodes: LevelNodes): Promise<Cells[]> {
  const paths = ["vertices", "vertex_fragments", "vertex_group_offsets", "vertex_counts", "link_fragments"];
  for (const family of ["vertex_attributes", "attributes", "fragment_attributes"])
    for (const name of await nodes.children(family)) paths.push(`${family}/${name}`);
  const families = ["links", ...(await nodes.children("link_attributes")).map((name) => `link_attributes/${name}`)];
  for (const family of families) {
    for (const delta of await nodes.children(family)) {
      if (nodes.dialect.container !== "cells") paths.push(`${family}/${delta}`);
      else
        for (const offsets of await nodes.children(`${family}/${delta}`)) paths.push(`${family}/${delta}/${offsets}`);
    }
  }
  const found = await Promise.all(paths.map((path) => nodes.cells(path)));
  return found.filter((cells) => cells !== undefined);
}

const keysOf = ({ rank, coords }: { readonly rank: number; readonly coords: Int32Array }): number[][] =>
  Array.from({ length: coords.length / rank }, (_, i) => [...coords.subarray(i * rank, (i + 1) * rank)]);
const numeric = (a: readonly number[], b: readonly number[]): number => {
  const axis = a.findIndex((value, i) => value !== b[i]);
  return axis < 0 ? 0 : a[axis]! - b[axis]!;
};

for (const [folder, { index, ...expected }] of Object.entries(dialects)) {
  describe(folder, () => {
    test.each(stores(folder))("%s: dialect, levels, directory, and every cell", async (path) => {
      const store = await opened(path);
      const dump = dumpOf(path);
      expect(store.levels.map(String)).toEqual(Object.keys(dump.levels).sort());
      expect(store.notes).toEqual([]);
      for (const number of store.levels) {
        const level = await store.level(number);
        const nodes = await store.nodes(number);
        expect(nodes.dialect).toMatchObject(expected);
        expect(["none", index]).toContain(nodes.dialect.manifests);
        expect(level.binShape.every((size) => size > 0)).toBe(true);

        const vertices = (await nodes.cells("vertices"))!;
        const directory = await vertices.directory();
        const keys = keysOf(directory);
        expect(keys).toEqual([...keys].sort(numeric));
        const sharded = path.includes("sharded_legacy"); // where the reference sees nothing
        if (!sharded) expect(keys).toEqual([...(dump.levels[number]!.chunk_keys ?? [])].sort(numeric));

        let bytes = 0;
        for (const payload of await vertices.read(directory.coords)) bytes += payload!.length;
        // Stores that were made by low-level calls count no vertices.
        if (vertices.attributes.encoding !== "draco" && level.vertexCount !== 0) {
          const size = { float16: 2, float32: 4, float64: 8 }[String(vertices.attributes.dtype)]!;
          expect(bytes).toBe(level.vertexCount! * store.root.axes.length * size);
        }
        for (const cells of await cellArrays(nodes)) {
          const { coords, count } = await cells.directory();
          const payloads = await cells.read(coords);
          expect(payloads).toHaveLength(count);
          expect(payloads).not.toContain(undefined);
          const { requests, bytes, exact } = await cells.cost(coords);
          expect({ exact, free: bytes === 0, none: requests === 0 }).toEqual({
            exact: true,
            free: count === 0,
            none: count === 0,
          });
        }
      }
    });
  });
}

describe("what else is in a store", () => {
  test("parametric objects, of every version", async () => {
    for (const folder of Object.keys(dialects)) {
      const path = `${folder}/parametric`;
      if (!existsSync(join(base, path))) continue;
      const nodes = (await (await opened(path)).parametric())!;
      const objects = (await nodes.dense("objects"))!;
      expect([path, objects.shape]).toEqual([path, [2, 5]]);
      const { data, dtype } = await objects.read(1, 2);
      expect([path, data.length, dtype]).toEqual([path, 40, { kind: "float", size: 8, endian: "little" }]);
      expect((await nodes.attributes(""))?.parametric_types).toBeDefined();
      expect(await nodes.dense("nothing")).toBeUndefined();
    }
    expect(await (await opened("v0.9.2/graph_2d")).parametric()).toBeUndefined();
    expect(await (await opened("v0.2-late/graph_3d")).parametric()).toBeUndefined();
  });
  test("headers of other formats", async () => {
    const headers = await (await opened("v0.9.2/crs_headers_units")).headers();
    expect([...headers.keys()]).toEqual(["trk"]);
    expect(headers.get("trk")).toMatchObject({ voxel_order: "RAS" });
    expect(await (await opened("v0.2-late/graph_3d")).headers()).toEqual(new Map());
  });
  test("object attributes and manifests, whole and in rows", async () => {
    const nodes = await (await opened("v0.9.2/points_sparse_ids")).nodes(0);
    const manifests = (await nodes.vlen("object_index/manifests"))!;
    const all = await manifests.read(0, manifests.length);
    expect(all).toHaveLength(manifests.length);
    expect(await manifests.read(1, 3)).toEqual(all.slice(1, 3));
    expect(await manifests.read(2, 2)).toEqual([]);
    await expect(manifests.read(0, manifests.length + 1)).rejects.toMatchObject({ kind: "invalid-input" });
    const ids = (await nodes.dense("object_index/object_ids"))!;
    expect((await ids.read(0, 1)).shape).toEqual([1]);

    const before = await (await opened("v0.4/points_objects_groups")).nodes(0);
    const [name] = await before.children("object_attributes");
    const attribute = (await before.dense(`object_attributes/${name}`))!;
    const { data } = await attribute.read();
    expect((await attribute.read(1, 3)).data).toEqual(data.slice(data.length / 10, (3 * data.length) / 10));
    await expect(attribute.read(0, 11)).rejects.toMatchObject({ kind: "invalid-input" });
  });
  test("links of 0.2 and 0.3 have the delta 0 here", async () => {
    const nodes = await (await opened("v0.2-late/graph_3d")).nodes(0);
    expect(await nodes.children("links")).toEqual(["0"]);
    expect(await nodes.children("link_attributes/weight")).toEqual(["0"]);
    expect((await nodes.attributes("links/0"))?.link_width).toBe(2);
    expect((await (await nodes.cells("links/0"))!.directory()).count).toBeGreaterThan(0);
    expect(await nodes.blob("cross_chunk_links/0/data")).toBeInstanceOf(Uint8Array);
  });
  test("a blob of nothing but zeros has no file", async () => {
    const path = "v0.4/parametric";
    expect(existsSync(join(base, path, "store.zarrvectors/parametric/groupings/offsets/c/0"))).toBe(false);
    const nodes = (await (await opened(path)).parametric())!;
    expect(await nodes.blob("groupings/offsets")).toEqual(new Uint8Array(8));
    expect(await nodes.blob("groupings/nothing")).toBeUndefined();
  });
  test("groups without a document", async () => {
    const path = "v0.7.0-vlen/mesh_3d";
    expect(existsSync(join(base, path, "store.zarrvectors/0/links/zarr.json"))).toBe(false);
    const nodes = await (await opened(path)).nodes(0);
    expect(await nodes.attributes("links")).toEqual({});
    expect(await nodes.children("links")).toEqual(["0"]);
    expect(await nodes.attributes("nothing")).toBeUndefined();
  });
  test("bins, chunk shapes and what a level is chunked by", async () => {
    const pyramid = await opened("v0.9.2/pyramid_points");
    expect((await pyramid.level(0)).binShape).toEqual([12.5, 12.5, 12.5]);
    expect((await pyramid.level(2)).binShape).toEqual([50, 50, 50]);
    expect((await (await opened("v0.2-late/pyramid_points")).level(1)).binShape).toEqual([25, 25, 25]);
    const skeletons = await opened("v0.9.2/skeleton_segment_ids"); // whose translation is an offset, not half a bin
    expect((await skeletons.level(0)).binShape).toEqual([50, 50, 50]);
    expect(skeletons.root.coordinateOffset).toEqual([10, 20, 30]);
    const scaled = await opened("v0.7.0-vlen/pyramid_chunk_scaled");
    expect((await scaled.level(1)).chunkShape).not.toEqual(scaled.root.chunkShape);
    for (const path of ["v0.3", "v0.7.0-vlen"]) {
      const level = await (await opened(`${path}/points_by_attribute`)).level(0);
      expect(level.chunkAttribute).toEqual({ name: "gene", values: ["A", "B", "C"] });
    }
    await expect(scaled.level(7)).rejects.toMatchObject({ kind: "not-found" });
  });
});

/** What opening a damaged store and reading all of its cells gives: the kind of error and a word of it, or a word of a note. */
const damaged: { readonly [path: string]: readonly [kind: string, word: string] } = {
  "legacy07/missing_chunk_zarr_json": ["corrupt", "0.0.0"],
  "legacy07/nan_bounds": ["corrupt", "bounds"],
  "legacy06/missing_array_group_json": ["fine", ""],
  "legacy07/zv_version_future": ["note", "9.0.0"],
  "v092/bin_not_dividing": ["corrupt", "bins"],
  "v092/bounds_inverted": ["corrupt", "bounds"],
  "v092/chunk_shape_zero": ["corrupt", "chunk_shape"],
  "v092/level_chunk_shape_not_multiple": ["corrupt", "multiples"],
  "v092/level_gap": ["note", "level 1"],
  "v092/level_sparsity_zero": ["corrupt", "object_sparsity"],
  "v092/level_vertex_count_negative": ["corrupt", "vertex_count"],
  "v092/missing_bounds": ["corrupt", "bounds"],
  "v092/missing_level_zarr_json": ["corrupt", "level 0"],
  "v092/missing_zarr_vectors_key": ["not-found", "no Zarr Vectors store"],
  "v092/nan_bounds": ["corrupt", "bounds"],
  "v092/nonempty_chunks_absent": ["note", "by listing"],
  "v092/nonempty_chunks_omits": ["note", "leaves out 1"],
  "v092/objindex_layout_unknown": ["unsupported", "vlen_manifests_v9"],
  "v092/root_is_array": ["corrupt", "zarr.json"],
  "v092/root_json_garbage": ["corrupt", "JSON"],
  "v092/shard_index_crc": ["corrupt", "crc32c"],
  "v092/shard_truncated": ["corrupt", "index"],
  "v092/version_0_8_0": ["note", "from 0.9 on"],
  "v092/version_future": ["note", "1.5.0"],
  "v092/vertices_cell_deleted": ["corrupt", "0.0.0"],
  "v092/vlen_count_zero": ["corrupt", "cell"],
  "v092/vlen_header_truncated": ["corrupt", "cell"],
};

describe("damage", () => {
  test.each(Object.entries(damaged))("%s is %j", async (path, [kind, word]) => {
    const read = async (): Promise<readonly string[]> => {
      const store = await opened(`corrupt/${path}`);
      for (const level of store.levels) {
        await store.level(level);
        for (const cells of await cellArrays(await store.nodes(level)))
          await cells.read((await cells.directory()).coords);
      }
      return store.notes;
    };
    if (kind === "fine") expect(await read()).toEqual([]);
    else if (kind === "note") expect((await read()).join(" ")).toContain(word);
    else await expect(read()).rejects.toMatchObject({ kind, message: expect.stringContaining(word) });
  });
  test("a directory that leaves out a chunk does not hide it", async () => {
    const nodes = await (await opened("corrupt/v092/nonempty_chunks_omits")).nodes(0);
    expect((await (await nodes.cells("vertices"))!.directory()).count).toBe(8);
  });
});
