/**
 * Zarr Vectors stores that Octavo writes, read by zarr-vectors 0.9.2: equal in every kind, and without an error at level 5 of its
 * own validator.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { halfToNumber, numberToHalf } from "../../src/bytes/half.js";
import { createZarrVectors } from "../../src/format/zarr-vectors/write/write.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { missingPeer, runPeer } from "./peers.js";
import { type Case, cases, fewIds, marked, names, walks } from "./zv-write-cases.js";

const reason = missingPeer("zarr-vectors-0.9");
const folder = mkdtempSync(join(tmpdir(), "octavo-zv-write-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Plain = number | string | null | boolean | readonly Plain[] | { readonly [key: string]: Plain };
interface Found {
  readonly dump: { readonly levels: { readonly [level: string]: Level; readonly "0": Level } };
  readonly typed: {
    readonly parametric?: unknown;
    readonly all: { readonly [key: string]: Plain };
    readonly texts: unknown;
  };
  readonly validate_level5: { readonly ok: boolean; readonly errors: string[] };
}
interface Level {
  readonly metadata: { readonly zarr_vectors_level: { readonly [key: string]: Plain } };
  readonly chunks: {
    readonly [chunk: string]: {
      readonly vertices_by_fragment: Plain;
      readonly vertex_attributes?: Plain;
      readonly fragment_attributes?: { readonly [name: string]: Plain };
    };
  };
  readonly object_manifests: readonly (readonly (readonly [readonly number[], number])[])[];
  readonly object_id_table: { readonly data: readonly Plain[] } | null;
  readonly object_attributes?: { readonly [name: string]: { readonly data: { readonly data: readonly Plain[] } } };
  readonly groups?: Plain;
  readonly group_attributes?: Plain;
  readonly links?: {
    readonly "0": { readonly records: readonly (readonly (readonly [readonly number[], number])[])[] };
  };
  readonly link_attributes?: { readonly [name: string]: { readonly "0": Plain } };
}

/** Arrays as lists, whatever lies around them. */
const bare = (value: Plain): Plain =>
  value !== null && typeof value === "object" && "data" in value ? bare((value as { data: Plain }).data) : value;
const list = (value: Plain | undefined): readonly Plain[] => bare(value ?? []) as readonly Plain[];
const idOf = (value: Plain): bigint =>
  BigInt(typeof value === "object" ? `${(value as { int: string }).int}` : `${value}`);
/** Where a vertex is tells which one it is. */
const nameOf = (position: Plain): string => (position as readonly number[]).join(" ");

/** What was given, all batches together, in the words of the reference. */
function given({ description, batches }: Case) {
  const Type = description.dtype === "float64" ? Float64Array : Float32Array;
  const half = description.dtype === "float16";
  const objects = new Map<bigint, string[]>();
  const vertices = new Map<string, number>();
  const links: string[][] = [];
  const weights = new Map<string, number>();
  const scores = new Map<bigint, number>();
  let nameless = 0n;
  for (const batch of batches) {
    const dims = description.axes?.length ?? description.dims!;
    const rounded = Type.from(
      Array.from(batch.positions, (value) => (half ? halfToNumber(numberToHalf(value)) : value)),
    );
    const names = Array.from({ length: rounded.length / dims }, (_, v) =>
      rounded.subarray(v * dims, (v + 1) * dims).join(" "),
    );
    const uid = batch.vertexColumns!.get("uid")!.values as Int32Array;
    for (const [v, name] of names.entries()) vertices.set(name, uid[v]!);
    const { parts = Uint32Array.of(0, names.length) } = batch;
    for (let p = 0; p + 1 < parts.length; p++) {
      const object = batch.objects?.[p];
      const id = object === undefined ? nameless++ : batch.ids![object]!;
      objects.set(id, names.slice(parts[p], parts[p + 1]));
      const score = [...(batch.objectColumns?.values() ?? [])][0]?.values as Float32Array | undefined;
      if (object !== undefined && score !== undefined) scores.set(id, score[object]!);
    }
    const { width = 1, ends = new Uint32Array() } = batch.links ?? {};
    for (let l = 0; l < ends.length / width; l++) {
      const link = Array.from(ends.subarray(l * width, (l + 1) * width), (end) => names[end]!);
      links.push(link);
      const w = batch.links!.columns.get("w")?.values as Float32Array | undefined;
      if (w !== undefined) weights.set(`${link}`, w[l]!);
    }
  }
  return { objects, vertices, links, weights, scores };
}

describe.skipIf(reason !== undefined)(`Zarr Vectors in 0.9.2${reason === undefined ? "" : ` (${reason})`}`, () => {
  const found = new Map<string, Found>();
  beforeAll(async () => {
    for (const { name, description, batches, more } of cases) {
      const writer = await createZarrVectors(
        fileStore(folder, { durability: "none" }),
        Prefix.of(`${name}.zarrvectors`),
        description,
      );
      for (const batch of batches) await writer.add(batch);
      await more?.(writer);
      await writer.commit();
    }
    const paths = cases.map(({ name }) => join(folder, `${name}.zarrvectors`));
    const query = JSON.stringify({ texts: { attribute_names: ["kind"] } });
    const args = paths.flatMap((path) => (path.includes("points-objects") ? [path, query] : [path]));
    const lines = runPeer("zarr-vectors-0.9", "zv_dump.py", ...args)
      .trim()
      .split("\n"); // one process for all
    for (const [i, line] of lines.entries()) found.set(cases[i]!.name, JSON.parse(line) as Found);
  });

  it.each(cases)("finds no error in $name", ({ name }) => {
    expect(found.get(name)!.validate_level5).toMatchObject({ ok: true, errors: [] });
  });

  it.each(cases)("reads $name equal", (own) => {
    const { dump, typed } = found.get(own.name)!;
    const level = dump.levels["0"];
    const { objects, vertices, links, weights, scores } = given(own);
    const { geometry, sharedFragments } = own.description;

    // Chunk by chunk: positions and attributes.
    const rows = new Map<string, string[]>();
    const fragments = new Map<string, string[][]>();
    const seen = new Map<string, number>();
    for (const [chunk, { vertices_by_fragment, vertex_attributes }] of Object.entries(level.chunks)) {
      const groups = list(vertices_by_fragment).map((fragment) => list(fragment).map(nameOf));
      fragments.set(chunk, groups);
      rows.set(chunk, groups.flat());
      const uid = list((vertex_attributes as { uid: Plain }).uid).flatMap((part) =>
        typeof part === "number" ? part : (list(part) as number[]),
      );
      for (const [row, name] of groups.flat().entries()) seen.set(name, uid[row] as number);
    }
    expect(seen).toEqual(vertices);

    // Object by object: by its manifest.
    if (level.object_id_table !== null && geometry !== "points") {
      const ids = level.object_id_table.data.map(idOf);
      const path = links.length === 0;
      for (const [row, manifest] of level.object_manifests.entries()) {
        const own = manifest.flatMap(([chunk, fragment]) => fragments.get(chunk.join("."))![fragment]!);
        const wanted = objects.get(ids[row]!)!;
        expect(path ? own : own.sort()).toEqual(path ? wanted : [...wanted].sort());
      }
      expect([...ids].sort()).toEqual([...objects.keys()].sort());
      for (const name of ["length", "score"])
        for (const [row, value] of (level.object_attributes?.[name]?.data.data ?? []).entries())
          expect(value).toBe(scores.get(ids[row]!));
    }

    // Link by link, with the order of their ends and their attributes.
    const records = (level.links?.["0"].records ?? []).map((ends) =>
      ends.map(([chunk, row]) => rows.get(chunk.join("."))![row]!),
    );
    if (geometry === "graph" || geometry === "mesh") {
      const once = [...new Set(records.map(String))];
      expect(once.sort()).toEqual([...new Set(links.map(String))].sort());
      for (const [r, w] of list(level.link_attributes?.w?.["0"]).entries())
        expect(w).toBe(weights.get(`${records[r]}`));
    }
    if (geometry === "skeletons") {
      const places = list(typed.all.positions!).map(nameOf);
      const edges = list(typed.all.edges!).map((edge) => (edge as number[]).map((end) => places[end]!).join());
      expect(edges.sort()).toEqual(links.map(String).sort());
    }
    if (geometry === "mesh") {
      const places = list(typed.all.vertices!).map(nameOf);
      const faces = list(typed.all.faces!).map((face) => (face as number[]).map((end) => places[end]!).join());
      expect(faces.sort()).toEqual(links.map(String).sort());
    }
    if (geometry === "polylines" || geometry === "streamlines") {
      const ids = list(typed.all.object_ids!).map(idOf);
      for (const [i, parts] of list(typed.all.polylines!).entries())
        expect((parts as Plain[]).flatMap((part) => list(part).map(nameOf))).toEqual(objects.get(ids[i]!));
      // Asked for everything, it counts from 0 to the number of objects and passes over other ids.
      expect(ids.length).toBe([...objects.keys()].filter((id) => id < objects.size).length);
    }
    if (geometry === "lines")
      expect(list(typed.all.endpoints!).map((line) => (line as Plain[]).map(nameOf))).toEqual([...objects.values()]);
    if (geometry === "points")
      expect(list(typed.all.positions!).map(nameOf).sort()).toEqual([...vertices.keys()].sort());
    if (sharedFragments === true) expect(rows.size).toBeGreaterThan(0);
  });

  it.each(["pyramid", "pyramid-renumbered"])("reads the levels of a %s", (name) => {
    const { dump, typed } = found.get(name)!;
    const path = walks(22, 4, 3, fewIds.slice(4));
    const named = Array.from({ length: path.positions.length / 3 }, (_, v) =>
      path.positions.subarray(3 * v, 3 * v + 3).join(" "),
    );
    for (const number of ["1", "2"]) {
      const { chunks, object_manifests: manifests, object_id_table: table, metadata, ...rest } = dump.levels[number]!;
      const rows = name === "pyramid" ? [-1, -1, -1, -1, 0, 1, 2, 3] : [0, 1, 2, 3];
      const ids = name === "pyramid" ? fewIds : [0n, 1n, 2n, 3n];
      expect(table!.data.map(idOf)).toEqual(ids);
      for (const [row, manifest] of manifests.entries())
        expect(
          manifest.flatMap(([chunk, f]) => list(list(chunks[chunk.join(".")]!.vertices_by_fragment)[f]!).map(nameOf)),
        ).toEqual(rows[row]! < 0 ? [] : named.slice(path.parts![rows[row]!], path.parts![rows[row]! + 1]));
      if (name === "pyramid")
        expect(metadata.zarr_vectors_level).toMatchObject({ preserves_object_ids: true, inherited_num_objects: 8 });
      else expect(rest.object_attributes!.level0_object_id!.data.data.map(idOf)).toEqual(fewIds.slice(4));
      expect(metadata.zarr_vectors_level).toMatchObject({ bin_ratio: number === "1" ? [2, 2, 2] : [4, 4, 4] });
    }
    expect(JSON.stringify(typed.parametric)).toContain("sphere");
  });

  it("reads attributes of fragments", () => {
    const seen = new Set<Plain>();
    for (const { vertices_by_fragment, fragment_attributes } of Object.values(
      found.get("fragments")!.dump.levels["0"].chunks,
    )) {
      const marks = list(fragment_attributes!.mark!).flat();
      expect(marks).toHaveLength(list(vertices_by_fragment).length);
      for (const mark of marks) seen.add(mark);
    }
    const { fragments } = marked(walks(23, 6, 3, undefined));
    expect([...seen].sort()).toEqual([...fragments!.offsets.subarray(1)].sort());
  });

  it("reads objects, texts, groups and what is empty", () => {
    const level = found.get("points-objects")!.dump.levels["0"];
    expect(level.object_id_table!.data.map(idOf)).toEqual(names);
    expect(level.object_manifests.map((manifest) => manifest.length > 0)).toEqual([false, true, true, true, true]);
    expect(level.object_attributes!.score!.data.data).toEqual([5, 4, 3, 2, 1]);
    expect(level.object_attributes!.label!.data.data).toEqual(["e", "世", "", "bb", "a"]);
    expect(JSON.stringify(level.groups)).toBe(
      JSON.stringify([[5, { int: "9007199254740993" }], [], { range: [42, 43] }]),
    );
    expect(bare((level.group_attributes as { size: Plain }).size)).toEqual([2, 0, 1]);
    const { positions, vertex_attributes } = found.get("points-objects")!.typed.texts as {
      [key: string]: { [name: string]: Plain };
    };
    const { vertices } = given(cases.find(({ name }) => name === "points-objects")!);
    const kinds = list(positions as Plain).map((place) => ["soma", "axon", "é世"][vertices.get(nameOf(place))! % 3]);
    expect(list(vertex_attributes!.kind)).toEqual(kinds);

    const preserved = found.get("points-preserve")!.dump.levels["0"];
    expect(preserved.object_id_table!.data.map(Number)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(preserved.object_manifests.map((manifest) => manifest.length > 0)).toEqual([
      false,
      false,
      true,
      false,
      false,
      false,
      true,
    ]);
    expect(found.get("empty")!.typed.all).toMatchObject({ vertex_count: 0 });
  });

  it("edits a store of shards as it edits one without", async () => {
    const path = walks(
      24,
      40,
      3,
      Array.from({ length: 40 }, (_, i) => BigInt(i)),
    );
    const edits = [
      {
        op: "add_object",
        vertices: [
          [3, 3, 3],
          [20, 20, 20],
          [50, 20, 70],
          [51, 22, 71],
        ],
      },
      { op: "remove_object", object: 4, atomic: false },
      { op: "edit_vertex", object: 7, index: 0, pos: [10, 10, 10], atomic: false },
      { op: "edit_attribute", scope: "object", name: "length", object: 5, value: 12.5 },
      { op: "vacuum" },
    ];
    const dumps = [];
    for (const sharding of ["none", 2, [4, 8, 8]] as const) {
      const place = `edited-${String(sharding)}`;
      const writer = await createZarrVectors(
        fileStore(join(folder, place), { durability: "none" }),
        Prefix.of("a.zarrvectors"),
        {
          geometry: "streamlines",
          dims: 3,
          chunkShape: 12.5,
          bounds: { min: [0, 0, 0], max: [100, 100, 100] },
          sharding,
        },
      );
      await writer.add(path);
      await writer.commit();
      const store = join(folder, place, "a.zarrvectors");
      const answers = runPeer("zarr-vectors-0.9", "zv_edit.py", store, JSON.stringify(edits)).trim().split("\n");
      expect(answers.map((line) => (JSON.parse(line) as { error?: string }).error)).toEqual(edits.map(() => undefined));
      const { dump, validate_level5: validation } = JSON.parse(
        runPeer("zarr-vectors-0.9", "zv_dump.py", store),
      ) as Found;
      expect(validation.errors).toEqual([]);
      dumps.push(dump.levels["0"]);
    }
    expect(dumps[1]).toEqual(dumps[0]);
    expect(dumps[2]).toEqual(dumps[0]);
  });
});
