/** Geometry becomes particles with their tree, and comes back. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixtures } from "../../test/fixtures.js";
import { Conflict, Unsupported } from "../errors.js";
import { packedTree } from "../format/packed-tree/file/format.js";
import { buildTree, encodeTree } from "../format/packed-tree/index.js";
import { createZarrVectors } from "../format/zarr-vectors/write/write.js";
import { convert as convertInMemory, open as openInMemory, openLocation } from "../index.js";
import type { Columns, VectorDataset } from "../model/vectors.js";
import { convert, fileStore, Key, open, Prefix } from "../node.js";

const COUNT = 5000;
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "octavo-particles-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);

const number = { kind: "float", size: 4, endian: "little" } as const;

/** Points with an attribute that tells their number. */
async function points(): Promise<string> {
  const url = at("points.zv");
  const positions = Float32Array.from({ length: 3 * COUNT }, (_, i) => (Math.imul(i, 0x9e3779b1) >>> 8) / 2 ** 24);
  const writer = await createZarrVectors(fileStore(folder), Prefix.of("points.zv"), {
    geometry: "points",
    axes: ["x", "y", "z"].map((name) => ({ name, type: "space", unit: "micrometer" })),
    chunkShape: [0.5, 0.5, 0.5],
  });
  const heat = {
    info: { name: "heat", dtype: number, channels: 1 },
    values: Float32Array.from({ length: COUNT }, (_, i) => i),
  };
  await writer.add({
    positions,
    parts: Uint32Array.of(0, COUNT),
    objects: Int32Array.of(-1),
    ids: new BigInt64Array(),
    vertexColumns: new Map([["heat", heat]]),
  });
  await writer.commit();
  return url;
}

/** Positions by the number that the attribute tells. */
async function told(dataset: VectorDataset): Promise<Map<number, string>> {
  const { positions, vertexColumns } = await dataset.select({ level: 0 }).read();
  const heat = vertexColumns.get("heat")!.values as Float32Array;
  return new Map([...heat].map((own, i) => [own, positions.subarray(3 * i, 3 * i + 3).join()]));
}

const vectors = async (url: string): Promise<VectorDataset> => (await open(url)) as VectorDataset;

describe("points", () => {
  it("become a file with their attributes and units, and are points again with its levels", async () => {
    const source = await points();
    const report = await convert(source, at("points.ptree"));
    expect(report).toMatchObject({ vertices: COUNT, losses: [] });
    const tree = await vectors(at("points.ptree"));
    expect(tree).toMatchObject({ format: "packed-tree", axes: [{ unit: "micrometer" }, {}, {}] });
    expect(await told(tree)).toEqual(await told(await vectors(source)));
    const findings = [];
    for await (const one of packedTree.validate(fileStore(folder), Prefix.root, { file: Key.of("points.ptree") }))
      findings.push(one);
    expect(findings).toEqual([]);
    await expect(convert(source, at("points.ptree"))).rejects.toThrow(Conflict);

    await convert(at("points.ptree"), at("back.zv"));
    const back = await vectors(at("back.zv"));
    expect(await told(back)).toEqual(await told(tree));
    expect(back.levels.map(({ vertices }) => vertices)).toEqual(tree.levels.map(({ vertices }) => vertices));
    const coarse = async (dataset: VectorDataset) => (await dataset.select({ maxVertices: 300 }).read()).positions;
    expect([...(await coarse(back))].sort()).toEqual([...(await coarse(tree))].sort());

    const annotations = await convert(at("points.ptree"), at("back"), { to: "precomputed" });
    expect(annotations.vertices).toBe(COUNT);
    expect((await (await vectors(at("back"))).select().count({ exact: true })).vertices).toBe(COUNT);
    expect(readdirSync(folder).filter((name) => name.includes("scratch"))).toEqual([]);
  });

  it("are a part of themselves, or a tree anew", async () => {
    const source = await vectors(at("points.ptree"));
    const part = await convert(source.select({ box: [0, 0, 0, 0.5, 0.5, 0.5] }), at("part.bin"), { to: "ptree" });
    expect(part.vertices).toBe(
      (await source.select({ box: [0, 0, 0, 0.5, 0.5, 0.5] }).count({ exact: true })).vertices,
    );
    expect(part.losses).toEqual([expect.stringContaining("original")]);
    await expect(convert(source, at("strict.ptree"), { strict: true })).rejects.toThrow(Unsupported);
    await expect(convert(source, at("chunked.ptree"), { chunkShape: [1, 1, 1] })).rejects.toThrow(Unsupported);
    expect(readdirSync(folder)).not.toContain("strict.ptree");
  });
});

it.each([
  ["skeleton_segment_ids", ["what joins its vertices", "which object"]],
  ["pyramid_points_objects_sparse", ["which object", "coarser levels"]],
  ["mesh_two_objects", ["what joins its vertices", "which object"]],
  ["points_categorical", ["which is no number"]],
])("what has no place in the file is told: %s", async (name, words) => {
  const dataset = await vectors(join(fixtures("zarr-vectors"), "v0.9.2", name, "store.zarrvectors"));
  const { losses, vertices } = await convert(dataset, at(`${name}.ptree`));
  for (const word of words) expect(losses.join("\n")).toContain(word);
  expect((await vectors(at(`${name}.ptree`))).levels[0]!.vertices).toBe(vertices);
  expect(vertices).toBe((await dataset.select().read()).positions.length / 3);
});

it("a packed tree alone has nodes, which are points elsewhere, and no particles", async () => {
  const { tree } = await buildTree(Float64Array.from({ length: 3000 }, (_, i) => (i * i) % 101));
  await fileStore(folder).set(Key.of("packed.bin"), encodeTree(tree));
  await expect(convert(at("packed.bin"), at("nodes.ptree"))).rejects.toThrow(Unsupported);
  const { vertices } = await convert(at("packed.bin"), at("nodes.zv"));
  expect(vertices).toBe(tree.nodes.length);
});

it("browsers do it in memory", async () => {
  const bytes = await fileStore(folder).get(Key.of("points.ptree"));
  const { store, file } = await openLocation("memory:particles/a.ptree");
  await store.set(file!, bytes!);
  const dataset = (await openInMemory("memory:particles/a.ptree")) as VectorDataset;
  await convertInMemory(dataset, "memory:particles/b.ptree");
  const again = (await openInMemory("memory:particles/b.ptree")) as VectorDataset;
  expect(await told(again)).toEqual(await told(dataset));
  const columns: Columns = (await again.select({ limit: 1 }).read()).vertexColumns;
  expect([...columns.keys()]).toEqual(["original", "heat"]);
});
