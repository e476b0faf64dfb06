/** Files of other software to stores and back, whole and in part. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { OCTREE } from "../../test/laz.js";
import type { VectorDataset } from "../model/vectors.js";
import { convert as convertTo, diff, open } from "../node.js";

/** Disks are not waited for. */
const convert: typeof convertTo = (from, to, options) => convertTo(from, to, { durability: "none", ...options });

let folder: string;
const at = (name: string): string => join(folder, name);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octavo-files-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A neuron with so many nodes, wide enough for several chunks. */
const neuron = (nodes: number, offset = 0): string =>
  `# cell ${offset}\n${Array.from({ length: nodes }, (_, i) => {
    const place = [i * 1.5 + offset, Math.round(1e4 * Math.sin(i)) / 100, (i % 7) - 3];
    return `${i + 1} ${i === 0 ? 1 : 3} ${place.join(" ")} ${(i % 4) / 4} ${i === 0 ? -1 : Math.max(1, i - (i % 3))}\n`;
  }).join("")}`;

const vectors = async (url: string): Promise<VectorDataset> => (await open(url)) as VectorDataset;

describe("a file", () => {
  it("is the same again after a store with many chunks", async () => {
    writeFileSync(at("a.swc"), neuron(600));
    await convert(at("a.swc"), at("a.zv"), { chunkShape: [100, 50, 50] });
    expect((await vectors(at("a.zv"))).levels[0]).toMatchObject({ vertices: 600 });
    const report = await convert(at("a.zv"), at("b.swc"));
    expect(report).toMatchObject({ vertices: 600, objects: 1, losses: [] });
    expect(readFileSync(at("b.swc"), "utf8")).toBe(neuron(600));
    await convert(at("a.zv"), at("c.swc.gz"));
    expect(gunzipSync(readFileSync(at("c.swc.gz"))).toString()).toBe(neuron(600));
    await convert(at("c.swc.gz"), at("d"), { to: "swc" });
    expect(readFileSync(at("d"), "utf8")).toBe(neuron(600));
    expect(readdirSync(folder).sort()).toEqual(["a.swc", "a.zv", "b.swc", "c.swc.gz", "d"]);
  });

  it("of points in an octree is all of its points: levels that are samples of them are nothing that is lost", async () => {
    writeFileSync(at("a.copc.laz"), OCTREE);
    for (const target of ["b.csv", "b.las", "b.ptree"]) {
      const { vertices, losses } = await convert(at("a.copc.laz"), at(target));
      expect([target, vertices, losses.join("\n")]).toEqual([target, 60, expect.not.stringContaining("coarser")]);
    }
    expect((await diff(at("a.copc.laz"), at("b.csv"), { ignore: ["levels"] })).differences).toEqual([]);
  });

  it("tells of the units of axes that it cannot hold", async () => {
    writeFileSync(at("a.swc"), neuron(10));
    await convert(at("a.swc"), at("a.zv"));
    for (const target of ["b.graphml", "b.csv", "b.npy"]) {
      const { losses } = await convert(at("a.zv"), at(target));
      expect(losses).toContainEqual(expect.stringMatching(/the unit micrometer of x, y, z, of which only the numbers/));
      await expect(convert(at("a.zv"), at(`strict-${target}`), { strict: true })).rejects.toThrow("would be lost");
      expect(existsSync(at(`strict-${target}`))).toBe(false);
    }
    expect((await convert(at("a.zv"), at("b.swc"))).losses).toEqual([]);
    writeFileSync(at("p.csv"), "x,y,z\n1,2,3\n");
    await convert(at("p.csv"), at("p.zv"), { table: { units: "furlong" } });
    expect((await convert(at("p.zv"), at("p.csv2"), { to: "csv" })).losses).toEqual([
      expect.stringMatching(/the unit furlong of x, y, z, of which only the numbers are kept/),
    ]);
    writeFileSync(at("l.csv"), "x0,y0,z0,x1,y1,z1\n1,2,3,4,5,6\n");
    const ends = { start: ["x0", "y0", "z0"], end: ["x1", "y1", "z1"] };
    await convert(at("l.csv"), at("l.zv"), { table: { kind: "line", ...ends, units: "furlong" } });
    expect((await convert(at("l.zv"), at("l.trk"))).losses).toContainEqual(
      expect.stringMatching(/the unit furlong of x, y, z, which is taken for millimeter/),
    );
  });

  it("is not replaced, and not begun where something would be lost", async () => {
    writeFileSync(at("a.swc"), neuron(10));
    await expect(convert(at("a.swc"), at("a.swc"))).rejects.toThrow("is already there");
    await convert(at("a.swc"), at("a.zv"));
    await convert((await vectors(at("a.zv"))).select({ where: "type = 3" }), at("b.swc"), { strict: true });
    const cloud = "memory:cloud/points.zv";
    const { createZarrVectors } = await import("../format/zarr-vectors/index.js");
    const { openLocation } = await import("../node.js");
    const { store, at: place } = await openLocation(cloud);
    const writer = await createZarrVectors(store, place, { geometry: "skeletons", dims: 3 });
    const info = { name: "q", dtype: { kind: "float", size: 4, endian: "little" }, channels: 1 } as const;
    await writer.add({
      positions: new Float32Array(6),
      ids: BigInt64Array.of(5n),
      links: { width: 2, ends: Uint32Array.of(1, 0), columns: new Map() },
      vertexColumns: new Map([["q", { info, values: new Float32Array(2) }]]),
    });
    await writer.commit();
    await expect(convert(cloud, at("c.swc"), { strict: true })).rejects.toThrow(
      /this would be lost, and nothing may be: .*the vertex attribute q \(and 1 more\)/,
    );
    expect(existsSync(at("c.swc"))).toBe(false);
    expect((await convert(cloud, at("c.swc"))).losses).toEqual([
      expect.stringContaining("the vertex attribute q"),
      expect.stringContaining("the id 5"),
    ]);
    await expect(convert(cloud, at("d.zv"), { strict: true, ids: "dense", chunkShape: [1, 1, 1] })).rejects.toThrow(
      "the ids of objects",
    );
    expect(existsSync(at("d.zv"))).toBe(false);
  });
});

describe("a part", () => {
  it("becomes a store, precomputed or a file, as the query says", async () => {
    writeFileSync(at("a.swc"), neuron(500));
    await convert(at("a.swc"), at("a.zv"), { chunkShape: [100, 100, 100] });
    const query = { box: [0, -100, -9, 300, 100, 9], clip: "vertices" } as const;
    const part = (await vectors(at("a.zv"))).select(query);
    const { vertices } = await part.count({ exact: true });
    expect(vertices).toBeGreaterThan(100);
    expect(vertices).toBeLessThan(300);
    expect(await convert(part, at("b.zv"))).toMatchObject({ vertices, objects: 1, losses: [] });
    expect(await convert(at("a.zv"), at("c.zv"), { query })).toMatchObject({ vertices });
    expect((await vectors(at("b.zv"))).levels[0]).toMatchObject({ vertices, chunkShape: [100, 100, 100] });
    const report = await convert(part, at("p"), { to: "precomputed", ids: "dense" });
    expect(report.vertices).toBe(vertices);
    expect(report.losses.every((loss) => !loss.includes("octavo-files-") || loss.includes("a.zv"))).toBe(true);
    expect((await vectors(at("p"))).format).toBe("precomputed");
    await convert(at("a.zv"), at("n.zv"), { attributes: ["radius"] });
    expect((await (await vectors(at("n.zv"))).schema()).vertex.map(({ name }) => name)).toEqual(["radius"]);
  });

  it("of a failed conversion nothing is left, not even its folder", async () => {
    writeFileSync(at("a.swc"), neuron(20));
    mkdirSync(at("b"));
    const stop = new AbortController();
    const onProgress = (): void => stop.abort(new Error("enough"));
    await expect(convert(at("a.swc"), at("b/c.zv"), { signal: stop.signal, onProgress })).rejects.toThrow("enough");
    await expect(convert(at("a.swc"), at("b/d.zv"), { query: { where: "nothing = 1" } })).rejects.toThrow("nothing");
    await expect(convert(at("a.swc"), at("b/e"), { to: "nonsense" })).rejects.toThrow('no format "nonsense"');
    await expect(convert(at("a.swc"), at("b/e"), { to: "zarr3" })).rejects.toThrow("is geometry");
    expect(readdirSync(at("b"))).toEqual([]);
    expect(readFileSync(at("a.swc"), "utf8")).toBe(neuron(20));
  });
});

it("what is packed already is not packed once more", async () => {
  for (const name of ["a.trx.gz", "a.parquet.gz", "a.npz.gz", "a.h5.GZ"])
    await expect(convert(at("nothing.csv"), at(name)), name).rejects.toThrow(/is packed already, and nobody reads it/);
  await expect(convert(at("nothing.csv"), at("b.gz"), { to: "trx" })).rejects.toThrow("TRX is packed already");
});

it("a store may be called like the FreeSurfer surface that it was, with an extension of its own", async () => {
  writeFileSync(at("points.csv"), "x,y,z\n1,2,3\n");
  for (const name of ["lh.pial.zv", "rh.sphere.reg.zarr"]) {
    await convert(at("points.csv"), at(name));
    expect((await open(at(name))).kind).toBe("vectors");
  }
  await expect(convert(at("points.csv"), at("lh.pial.T1"), { to: "zarr-vectors" })).rejects.toThrow("name of a file");
});

it("a store is not written where a file is, or by the name of one: the folder around it stays as it is", async () => {
  writeFileSync(at("points.csv"), "x,y,z\n1,2,3\n");
  await convert(at("points.csv"), at("kept.zv"));
  writeFileSync(at("kept.zv/notes.md"), "mine");
  const before = readdirSync(at("kept.zv")).sort();
  for (const name of ["kept.zv/notes.md", "kept.zv/packed.bin"])
    await expect(convert(at("points.csv"), at(name), { overwrite: true }), name).rejects.toThrow("written is a folder");
  expect(readdirSync(at("kept.zv")).sort()).toEqual(before);
});
