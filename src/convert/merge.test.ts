/** Datasets become one, and one becomes many: what is split and merged again is the same. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { columnsOf, info, KINDS, scene } from "../../test/zarr-vectors-scenes.js";
import { Conflict, InvalidInput, Unsupported } from "../errors.js";
import { type BatchParts, createZarrVectors } from "../format/zarr-vectors/write/write.js";
import type { Geometry, VectorDataset } from "../model/vectors.js";
import { convert, diff, merge as mergeTo, open, openLocation, split as splitTo } from "../node.js";
import type { MergeOptions } from "./merge.js";
import type { SplitOptions } from "./split.js";
import { namesFor } from "./split-names.js";

const merge = (from: readonly string[], to: string, options: MergeOptions = {}) =>
  mergeTo(from.map(at), at(to), { durability: "none", ...options });
const split = (from: string, to: string, options: SplitOptions) =>
  splitTo(at(from), at(to), { durability: "none", ...options });
const text = { kind: "string" } as const;

let folder = "memory:merge";
const at = (name: string): string => `${folder}/${name}`;

interface Written {
  readonly first?: number;
  readonly objects?: boolean;
  readonly groups?: { readonly [name: string]: readonly bigint[] };
}

/** A store of a batch, whose ids begin somewhere else. */
async function write(
  name: string,
  geometry: Geometry,
  batch: BatchParts,
  { first = 0, objects = true, groups }: Written = {},
) {
  const { store, at: place } = await openLocation(at(name), { durability: "none", create: true });
  const writer = await createZarrVectors(store, place, {
    geometry,
    axes: ["x", "y", "z"].map((axis) => ({ name: axis, type: "space", unit: "micrometer" })),
    chunkShape: [10, 10, 10],
    objects,
    ids: "sparse",
    links: batch.links && { width: batch.links.width },
  });
  await writer.add({ ...batch, ids: BigInt64Array.from(batch.ids ?? [], (id) => id + BigInt(first)) });
  if (groups !== undefined) writer.groups(Object.values(groups), columnsOf([info("name", text), Object.keys(groups)]));
  await writer.commit();
}

const opened = async (name: string): Promise<VectorDataset> => (await open(at(name))) as VectorDataset;
const sameAs = async (one: string, two: string): Promise<void> =>
  expect(await diff(at(one), at(two))).toMatchObject({ equal: true, differences: [] });

describe.each(KINDS)("%s", (geometry) => {
  beforeEach(() => {
    folder = `memory:merge-${geometry}`;
  });

  it("that are split come together again", async () => {
    const groups = { "a/b": [0n, 2n], "": [1n, 5n] };
    await write("all.zv", geometry, scene(geometry, 7), { groups });
    const ways: readonly SplitOptions[] = [
      { by: "object" },
      { by: "group" },
      { by: "attribute:name" },
      { by: "box", size: [20, 20, 20] },
    ];
    for (const [i, options] of ways.entries()) {
      const { outputs, losses, notes } = await split("all.zv", `parts${i}`, options);
      expect({ losses, notes, several: outputs.length > 1 }).toEqual({ losses: [], notes: [], several: true });
      const parts = outputs.map(({ name }) => `parts${i}/${name}`);
      await merge(parts, `again${i}.zv`, { strict: true });
      await sameAs("all.zv", `again${i}.zv`);
    }
  });

  it("of several stores are all there", async () => {
    await write("a.zv", geometry, scene(geometry, 1, 4), { groups: { left: [0n, 1n], both: [2n] } });
    await write("b.zv", geometry, scene(geometry, 2, 3), { first: 100, groups: { both: [101n], right: [102n] } });
    const report = await merge(["a.zv", "b.zv"], "c.zv");
    expect(report).toMatchObject({ objects: 7, losses: [] });
    const c = await opened("c.zv");
    expect([...(await c.objectIds())].sort()).toEqual([0n, 1n, 2n, 3n, 100n, 101n, 102n].sort());
    expect((await c.groupColumns()).get("name")!.values).toEqual(["left", "both", "right"]);
    expect([...(await c.groupMembers(1))]).toEqual([2n, 101n]);
    const { outputs } = await split("c.zv", "parts", { by: "box", size: [1000, 1000, 1000] });
    expect(outputs.reduce((sum, { objects }) => sum + objects, 0)).toBe(7);
  });
});

const onDisk = (): void => {
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "octavo-merge-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
};

describe("merge", () => {
  onDisk();

  it("of groups without names are all there, each by itself", async () => {
    for (const [number, first] of [0, 100].entries()) {
      const { store, at: place } = await openLocation(at(`nameless${number}.zv`), { create: true });
      const writer = await createZarrVectors(store, place, {
        geometry: "lines",
        dims: 3,
        ids: "sparse",
        chunkShape: [10, 10, 10],
      });
      const batch = scene("lines", 3, 4);
      await writer.add({ ...batch, ids: BigInt64Array.from(batch.ids!, (id) => id + BigInt(first)) });
      writer.groups([[BigInt(first)], [BigInt(first + 1), BigInt(first + 2)]]);
      await writer.commit();
    }
    await merge(["nameless0.zv", "nameless1.zv"], "nameless.zv");
    const dataset = await opened("nameless.zv");
    const members = await Promise.all((await dataset.groups()).map(({ group }) => dataset.groupMembers(group)));
    expect(members.map((ids) => [...ids])).toEqual([[0n], [1n, 2n], [100n], [101n, 102n]]);
  });

  it("refuses ids that two have, and gives new ones where asked", async () => {
    const streams = scene("streamlines", 3, 3);
    await write("a.zv", "streamlines", streams, { groups: { g: [2n] } });
    await write("b.zv", "streamlines", streams, { first: 2, groups: { g: [4n] } });
    await expect(merge(["a.zv", "b.zv"], "c.zv")).rejects.toThrow(/the object 2 is in a\.zv and in b\.zv$/);
    await expect(merge(["a.zv", "b.zv"], "c.zv")).rejects.toThrow(Conflict);
    expect(readdirSync(folder).sort()).toEqual(["a.zv", "b.zv"]);
    await merge(["a.zv", "b.zv"], "c.zv", { ids: "new" });
    const c = await opened("c.zv");
    expect([...(await c.objectIds())]).toEqual([0n, 1n, 2n, 3n, 4n, 5n]);
    expect([...(await c.groupMembers(0))]).toEqual([2n, 5n]);
  });

  it("has the attributes of all, absent where one lacks them, and refuses two types of one", async () => {
    const points = scene("points", 3, 2);
    const more = columnsOf([info("kind", text), ["x", "y"]]);
    await write("a.zv", "points", { ...points, objectColumns: new Map() });
    await write("b.zv", "points", { ...points, objectColumns: more }, { first: 2 });
    await merge(["a.zv", "b.zv"], "c.zv", { strict: true });
    const { ids, objectColumns } = await (await opened("c.zv")).select().read();
    expect([...ids]).toEqual([0n, 1n, 2n, 3n]);
    expect(objectColumns.get("kind")!.values).toEqual(["", "", "x", "y"]);
    const f8 = { kind: "float", size: 8, endian: "little" } as const;
    await write("d.zv", "points", { ...points, objectColumns: columnsOf([info("kind", f8), Float64Array.of(1, 2)]) });
    await expect(merge(["d.zv", "b.zv"], "e.zv")).rejects.toThrow("b.zv has another type of the object attribute kind");
    await write("f.zv", "lines", scene("lines", 1, 2));
    await expect(merge(["a.zv", "f.zv"], "e.zv")).rejects.toThrow(Unsupported);
  });

  it("rounds no positions, and never takes an input away", async () => {
    const points = scene("points", 3, 2);
    await write("a.zv", "points", points);
    await write(
      "b.zv",
      "points",
      { ...points, positions: Float64Array.from(points.positions, (x) => x / 3) },
      { first: 9 },
    );
    await merge(["a.zv", "b.zv"], "c.zv");
    const { positions } = await (await opened("c.zv")).select({ object: [9n, 10n] }).read();
    expect([...positions].sort()).toEqual(Array.from(points.positions, (x) => x / 3).sort());
    await expect(merge(["a.zv", "b.zv"], "a.zv", { overwrite: true })).rejects.toThrow("one lies inside the other");
    const both = [at("a.zv"), at("b.zv")];
    await expect(convert(both, at("b.zv"), { overwrite: true })).rejects.toThrow("one lies inside the other");
    await opened("a.zv");
    await opened("b.zv");
  });

  it("makes a file of files, in the space of the first, with nothing lost", async () => {
    for (const [i, name] of ["a", "b"].entries()) {
      const streams = { ...scene("streamlines", i + 1, 3), objectColumns: new Map(), vertexColumns: new Map() };
      await write(`${name}.zv`, "streamlines", streams);
      await convert(at(`${name}.zv`), at(`${name}.trk`));
    }
    await merge(["a.trk", "b.trk"], "both.trk", { strict: true });
    await merge(["a.trk", "b.trk"], "both.zv", { strict: true });
    await sameAs("both.trk", "both.zv");
    const { ids, positions } = await (await opened("both.trk")).select().read();
    const [a, b] = [await (await opened("a.trk")).select().read(), await (await opened("b.trk")).select().read()];
    expect(ids.length).toBe(6);
    expect([...positions]).toEqual([...a.positions, ...b.positions]);
  });

  it("numbers the objects of files, and builds levels", async () => {
    for (const x of [1, 2]) writeFileSync(at(`${x}.swc`), `1 1 ${x} 0 0 1 -1\n2 3 ${x} 1 0 0.5 1\n`);
    const report = await merge(["*.swc"], "cells.zv", { pyramid: { levels: 1 } });
    expect(report).toMatchObject({ objects: 2, vertices: 4 });
    const cells = await opened("cells.zv");
    expect([...(await cells.objectIds())]).toEqual([0n, 1n]);
    expect(cells.levels.length).toBe(2);
    await expect(merge(["*.swc"], "no.zv", { ids: "keep" })).rejects.toThrow("the object 0 is in 1.swc and in 2.swc");
  });
});

describe("split", () => {
  onDisk();

  it("keeps the folders of paths, and leaves none", () => {
    const nameOf = namesFor(".swc");
    const paths = ["a.swc", "left/a.SWC", "../../a.swc", "/etc/b.swc", "x/CON.swc", ".swc", "a/b", "left/A.swc"];
    expect(paths.map(nameOf)).toEqual([
      "a.swc",
      "left/a.swc",
      "_/_/a.swc",
      "_/etc/b.swc",
      "x/_CON.swc",
      "_swc.swc",
      "a_b.swc",
      "left/A-2.swc",
    ]);
  });

  it("makes names safe, whatever groups are called", async () => {
    const names = ["../../up", "..", "CON", "a:b", "A_b", "x\0y", "-rf", "", "名前", `${"é".repeat(500)}`, "z.zip"];
    const groups = Object.fromEntries(names.map((name, i) => [name, [BigInt(i)]]));
    await write("all.zv", "lines", scene("lines", 5, 12), { groups });
    const { outputs } = await split("all.zv", "parts", { by: "group" });
    expect(outputs.map(({ name }) => name)).toEqual([
      "__.._up.zv",
      "_.zv",
      "_CON.zv",
      "a_b.zv",
      "A_b-2.zv",
      "x_y.zv",
      "-rf.zv",
      "_-2.zv",
      "名前.zv",
      `${"é".repeat(56)}.zv`,
      "z.zip.zv",
      "ungrouped.zv",
    ]);
    expect(readdirSync(folder).sort()).toEqual(["all.zv", "parts"]);
    const precomputed = await split("all.zv", "ng", { by: "group", to: "precomputed" });
    expect(precomputed.outputs.map(({ name }) => name)).toContain("z_zip");
  });

  it("tells what is in several groups, and what links are in none", async () => {
    await write("all.zv", "streamlines", scene("streamlines", 5), { groups: { a: [0n, 1n], b: [1n, 2n] } });
    const { notes, outputs } = await split("all.zv", "parts", { by: "group" });
    expect(notes).toEqual([expect.stringMatching(/: 1 objects are in several groups, and in the part of each$/)]);
    expect(outputs.map(({ name, objects }) => [name, objects])).toEqual([
      ["a.zv", 2],
      ["b.zv", 2],
      ["ungrouped.zv", 3],
    ]);
    const graph = scene("graph", 5);
    const ends = Uint32Array.of(...graph.links!.ends, 0, graph.parts![1]!);
    const count = ends.length / 2;
    const columns = columnsOf([info("w", { kind: "float", size: 4, endian: "little" }), new Float32Array(count)]);
    await write("graph.zv", "graph", { ...graph, links: { width: 2, ends, columns } });
    const { losses } = await split("graph.zv", "nodes", { by: "object" });
    expect(losses).toEqual([expect.stringMatching(/: 1 links between objects$/)]);
    await expect(split("graph.zv", "strict", { by: "object", strict: true })).rejects.toThrow("1 links between");
    expect((await split("graph.zv", "one", { by: "box", size: [1e3, 1e3, 1e3] })).outputs.length).toBeGreaterThan(1);
  });

  it("tells the same loss once, with how many parts it is of", async () => {
    const float = { kind: "float", size: 4, endian: "little" } as const;
    const batch = scene("skeletons", 5, 4);
    const count = batch.positions.length / 3;
    const columns = ["a 1", "a 2"].map((name) => [info(name, float), new Float32Array(count)] as const);
    await write("all.zv", "skeletons", { ...batch, objectColumns: new Map(), vertexColumns: columnsOf(...columns) });
    const { losses, outputs } = await split("all.zv", "parts", { by: "object", to: "swc" });
    expect(outputs.length).toBe(4);
    expect(losses.map((loss) => loss.replace(/^.*?all.zv: /, ""))).toEqual([
      "the vertex attribute a 1 (in 4 parts)",
      "the vertex attribute a 2 (in 4 parts)",
      "the id 1 of the object (and the like in 2 more parts)",
    ]);
  });

  it("has a place for what belongs to no object", async () => {
    const ids = BigInt64Array.of(0n, 1n, 2n);
    const objectColumns = columnsOf([info("kind", text), ["a", "b", "a"]]);
    const objects = Int32Array.of(0, 1, 2, -1);
    await write("all.zv", "points", { ...scene("points", 11, 4), ids, objects, objectColumns });
    const { outputs, losses } = await split("all.zv", "parts", { by: "attribute:kind" });
    expect(losses).toEqual([]);
    expect(outputs.map(({ name }) => name)).toEqual(["a.zv", "b.zv", "without_object.zv"]);
    const parts = outputs.map(({ name }) => `parts/${name}`);
    await merge(parts, "again.zv");
    await sameAs("all.zv", "again.zv");
  });

  it("puts every point into one box, also those on a face", async () => {
    const positions = Float32Array.from([0, 10, -10, 9.999999, 20, -0.1].flatMap((x) => [x, 5, 5]));
    await write("all.zv", "points", { positions, parts: Uint32Array.of(0, 6) }, { objects: false });
    const { outputs } = await split("all.zv", "parts", { by: "box", size: [10, 10, 10] });
    expect(outputs.map(({ name, vertices }) => [name, vertices])).toEqual([
      ["box_-1_0_0.zv", 2],
      ["box_0_0_0.zv", 2],
      ["box_1_0_0.zv", 1],
      ["box_2_0_0.zv", 1],
    ]);
    await merge(
      outputs.map(({ name }) => join("parts", name)),
      "again.zv",
    );
    await sameAs("all.zv", "again.zv");
    await expect(split("all.zv", "no", { by: "object" })).rejects.toThrow("it can only be split by box");
    await expect(split("all.zv", "no", { by: "attribute:x" })).rejects.toThrow("it can only be split by box");
  });

  it("parts points by values of their own, with objects or without", async () => {
    const values = Float32Array.of(0.1, 2, Number.NaN, 0.1, Number.POSITIVE_INFINITY, 2);
    const float = { kind: "float", size: 4, endian: "little" } as const;
    const batch = {
      positions: Float32Array.from({ length: 18 }, (_, i) => i / 3),
      vertexColumns: columnsOf([info("v", float), values], [info("k", text), ["it's", "b", "b", "", "b", "it's"]]),
    };
    await write("all.zv", "points", { ...batch, parts: Uint32Array.of(0, 6) }, { objects: false });
    const found = async (by: SplitOptions["by"], from = "all.zv", to = by.slice(10)) => {
      const { outputs, losses, notes } = await split(from, to, { by });
      expect(losses).toEqual([]);
      const firsts = async (name: string) => {
        const { positions } = await (await opened(`${to}/${name}`)).select().read();
        return [...positions].filter((_, i) => i % 3 === 0);
      };
      const parts = await Promise.all(outputs.map(async ({ name }) => [name, ...(await firsts(name))]));
      await merge(
        outputs.map(({ name }) => `${to}/${name}`),
        `${to}.zv`,
      );
      await sameAs(from, `${to}.zv`);
      return { parts, notes, outputs };
    };
    const byNumber = [
      ["0.10000000149011612.zv", 0, 3],
      ["2.zv", 1, 5],
      ["without_v.zv", 2],
      ["Infinity.zv", 4],
    ];
    expect((await found("attribute:v")).parts).toEqual(byNumber);
    expect((await found("attribute:vertex.k")).parts).toEqual([
      ["it_s.zv", 0, 5],
      ["b.zv", 1, 2, 4],
      ["_.zv", 3],
    ]);
    const ids = BigInt64Array.from([9n, 8n, 7n, 6n, 5n, 4n]);
    await write("own.zv", "points", {
      ...batch,
      parts: Uint32Array.from([0, 1, 2, 3, 4, 5, 6]),
      ids,
      objects: Int32Array.from([0, 1, 2, 3, 4, 5]),
    });
    const own = await found("attribute:v", "own.zv", "each");
    expect(own.parts.map(([name]) => name).sort()).toEqual(byNumber.map(([name]) => name).sort());
    expect(own.outputs.map(({ objects }) => objects).sort()).toEqual([1, 1, 2, 2]);
    expect(own.notes).toEqual([]);
    const pair = { ids: BigInt64Array.of(1n, 2n), objects: Int32Array.of(0, 1) };
    await write("two.zv", "points", { ...batch, parts: Uint32Array.of(0, 2, 6), ...pair });
    const { notes } = await split("two.zv", "two", { by: "attribute:v" });
    expect(notes).toEqual([expect.stringMatching(/: 2 objects have points of several parts/)]);
    const dry = await split("two.zv", "dry", { by: "attribute:v", dryRun: true });
    expect(dry.outputs.map(({ vertices }) => vertices).sort()).toEqual([1, 1, 2, 2]);
  });

  it("cuts paths at the faces where asked", async () => {
    const positions = Float32Array.of(1, 1, 1, 25, 1, 1);
    await write("all.zv", "streamlines", { positions, ids: BigInt64Array.of(0n) });
    const { outputs } = await split("all.zv", "parts", { by: "box", size: [10, 10, 10], clip: true });
    expect(outputs.map(({ vertices }) => vertices)).toEqual([2, 2, 2]);
    const { positions: middle } = await (await opened("parts/box_1_0_0.zv")).select().read();
    expect([...middle]).toEqual([10, 1, 1, 20, 1, 1]);
  });

  it("leaves nothing behind where it fails or is interrupted, and nothing is replaced unasked", async () => {
    await write("all.zv", "streamlines", scene("streamlines", 5), { groups: { a: [0n] } });
    const controller = new AbortController();
    const onProgress = ({ done }: { done: number }) => done === 3 && controller.abort();
    await expect(split("all.zv", "out", { by: "object", signal: controller.signal, onProgress })).rejects.toThrow();
    await expect(split("all.zv", "out", { by: "object", to: "stl" })).rejects.toThrow();
    await expect(split("all.zv", "out", { by: "attribute:no" })).rejects.toThrow(InvalidInput);
    expect(readdirSync(folder)).toEqual(["all.zv"]);
    mkdirSync(at("out"));
    writeFileSync(at("out/mine.txt"), "");
    await expect(split("all.zv", "out", { by: "object" })).rejects.toThrow("out is not empty");
    expect((await split("all.zv", "out", { by: "group", to: "trk", overwrite: true })).outputs.length).toBe(2);
    expect(readdirSync(at("out")).sort()).toEqual(["a.trk", "mine.txt", "ungrouped.trk"]);
  });
});
