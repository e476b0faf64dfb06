/** Many files that become one store. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { VectorDataset } from "../model/vectors.js";
import { convert as convertTo, diff, merge, open, openLocation, split } from "../node.js";
import { inputsOf } from "./inputs.js";

const convert: typeof convertTo = (from, to, options) => convertTo(from, to, { durability: "none", ...options });
const cell = (x: number): string => `# cell at ${x}\n1 1 ${x} 0 0 1 -1\n2 3 ${x} 1 0 0.5 1\n3 3 ${x} 2.25 0 0.5 2\n`;

let folder: string;
const at = (name: string): string => join(folder, name);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octavo-inputs-"));
  for (const name of ["cells/a", "cells/b/deep", "other"]) mkdirSync(at(name), { recursive: true });
  for (const [i, name] of ["a/n10", "a/n9", "b/x", "b/deep/y", "top"].entries())
    writeFileSync(at(`cells/${name}.swc`), cell(i));
  writeFileSync(at("cells/notes.md"), "no data");
  writeFileSync(at("other/bad.swc"), "1 1 0 0 0 1 7\n");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const names = async (...sources: string[]): Promise<string[]> =>
  (await inputsOf(openLocation, sources.map(at))).map(({ name }) => name);

describe("inputs", () => {
  it("are found in folders, by patterns and by name, with what they have in common left out", async () => {
    expect(await names("cells")).toEqual(["a/n9.swc", "a/n10.swc", "b/deep/y.swc", "b/x.swc", "top.swc"]);
    expect(await names("cells/a/*.swc")).toEqual(["n9.swc", "n10.swc"]);
    expect(await names("cells/**/?.swc")).toEqual(["deep/y.swc", "x.swc"]);
    expect(await names("cells/*/n1?.swc")).toEqual(["n10.swc"]);
    expect(await names("cells/top.swc", "cells/b")).toEqual(["top.swc", "b/deep/y.swc", "b/x.swc"]);
    mkdirSync(at("cells/.hidden"));
    for (const name of ["cells/.top.swc", "cells/.hidden/x.swc"]) writeFileSync(at(name), cell(7));
    expect(await names("cells/*.swc")).toEqual(["top.swc"]);
    expect(await names("cells/**/?.swc")).toEqual(["deep/y.swc", "x.swc"]);
    expect(await names("cells/**")).not.toContain(".top.swc");
    expect(await names("cells/.*.swc")).toEqual([".top.swc"]);
    await expect(names("cells/*.trk")).rejects.toThrow("nothing is called like");
  });
});

describe("a folder of files", () => {
  it("is one store: an object for each, its name, a group for each folder, and each comes out as it was", async () => {
    const report = await convert(at("cells"), at("out.zv"));
    expect(report).toMatchObject({ objects: 5, vertices: 15, losses: [] });
    const store = (await open(at("out.zv"))) as VectorDataset;
    const { ids, objectColumns } = await store.select().read();
    expect([...ids]).toEqual([0n, 1n, 2n, 3n, 4n]);
    expect(objectColumns.get("name")!.values).toEqual(["a/n9.swc", "a/n10.swc", "b/deep/y.swc", "b/x.swc", "top.swc"]);
    const groups = await store.groupColumns();
    expect(groups.get("name")!.values).toEqual(["a", "b/deep", "b"]);
    expect([...(await store.groupMembers(0))]).toEqual([0n, 1n]);
    await convert(store.select({ where: "object.name = 'b/x.swc'" }), at("x.swc"));
    expect(readFileSync(at("x.swc"), "utf8")).toBe(cell(2));
  });

  it("with bad ones among them is an error, or they are told", async () => {
    const pattern = [at("cells/a"), at("other/*.swc")];
    await expect(convert(pattern, at("out.zv"))).rejects.toThrow("bad.swc, line 1: node 1 has the parent 7");
    const { skipped, objects } = await convert(pattern, at("out.zv"), { skipBad: true });
    expect({ skipped, objects }).toEqual({ skipped: [expect.stringContaining("other/bad.swc, line 1")], objects: 2 });
    const last = await convert([at("other/bad.swc"), at("cells/top.swc")], at("last.zv"), { skipBad: true });
    expect(last).toMatchObject({ losses: ["what is damaged: 1 skipped"], objects: 1 }); // and not its header
    const strict = { skipBad: true, strict: true };
    await expect(convert(pattern, at("strict.zv"), strict)).rejects.toThrow(/would be lost.*other\/bad\.swc, line 1/);
    await expect(convert([at("other/bad.swc"), at("other/bad.swc")], at("no.zv"))).rejects.toThrow("line 1");
    const tract = "mrtrix tracks\ndatatype: Float32LE\ncount: 0\nfile: . 60\nEND\n".padEnd(60, "\n");
    writeFileSync(
      at("other/t.tck"),
      Buffer.concat([Buffer.from(tract), Buffer.from(Float32Array.of(1 / 0, 1 / 0, 1 / 0).buffer)]),
    );
    await expect(convert([at("cells/top.swc"), at("other/t.tck")], at("no.zv"))).rejects.toThrow(
      /t\.tck has streamlines as geometry, but .*top\.swc has skeletons/,
    );
  });

  it("may have whole numbers of 63 bits and of 64, which become one type where that holds all", async () => {
    writeFileSync(at("small.csv"), "x,y,z,n\n1,2,3,5\n");
    writeFileSync(at("wide.csv"), `x,y,z,n\n1,2,3,${2n ** 64n - 2n}\n`);
    writeFileSync(at("minus.csv"), "x,y,z,n\n1,2,3,-5\n");
    const values = async (name: string) =>
      [
        ...((await ((await open(at(name))) as VectorDataset).select().read()).vertexColumns.get("n")!
          .values as BigUint64Array),
      ].sort();
    const both = [2n ** 64n - 2n, 5n];
    await convert([at("wide.csv"), at("small.csv")], at("both.zv"));
    expect(await values("both.zv")).toEqual(both);
    await merge([at("small.csv"), at("wide.csv")], at("merged.zv"), { durability: "none" });
    expect(await values("merged.zv")).toEqual(both);
    await convert([at("small.csv"), at("wide.csv")], at("other.zv"));
    expect(await values("other.zv")).toEqual(both);
    const hint = expect.stringContaining("Of tables, say which type it has: --property n:string.");
    const no = convert([at("wide.csv"), at("minus.csv")], at("no.zv"));
    await expect(no).rejects.toMatchObject({ kind: "unsupported", hint });
    await convert([at("wide.csv"), at("minus.csv")], at("text.zv"), {
      table: { properties: [{ name: "n", dtype: "string" }] },
    });
  });

  it("may have types and columns of their own: each becomes one type that holds all, as in merge", async () => {
    writeFileSync(at("a.csv"), "x,y,z,n,t\n1,0,0,1,3\n2,0,0,,4\n");
    writeFileSync(at("b.csv"), "x,y,z,n,t,only\n3,0,0,0.1,9007199254740993,u\n4,0,0,1e300,5,\n");
    writeFileSync(at("c.csv"), "x,y,z,n,t\n5,0,0,-70000,18446744073709551615\n");
    for (const [order, out] of [
      ["abc", "1.zv"],
      ["bca", "2.zv"],
      ["cab", "3.zv"],
    ] as const) {
      const files = [...order].map((name) => at(`${name}.csv`));
      const { losses } = await convert(files, at(out));
      expect(losses).toEqual([]);
      const read = await ((await open(at(out))) as VectorDataset).select().read();
      const values = (name: string): unknown[] => {
        const { info, values: codes } = read.vertexColumns.get(name)!;
        const own =
          info.categories === undefined
            ? codes
            : Array.from(codes as ArrayLike<unknown>, (code) => info.categories![Number(code)]);
        const byX = Array.from(
          read.positions.filter((_, i) => i % 3 === 0),
          (x, row) => [x, own[row]!] as const,
        );
        return byX.sort(([a], [b]) => a - b).map(([, value]) => value);
      };
      expect(values("n")).toEqual([1, Number.NaN, 0.1, 1e300, -70000]);
      expect(values("t")).toEqual([3n, 4n, 9007199254740993n, 5n, 18446744073709551615n]);
      expect(values("only")).toEqual(["", "", "u", "", ""]);
      await merge(files, at(`merged-${out}`));
      expect((await diff(at(out), at(`merged-${out}`))).counts).toEqual({ attributes: 1 }); // of which file each is
    }
    writeFileSync(at("d.csv"), "x,y,z,t\n6,0,0,0.5\n");
    for (const one of [convert, merge]) // 2^53 + 1 is no float64, and 0.5 no whole number
      await expect(one([at("b.csv"), at("d.csv")], at("no.zv"))).rejects.toThrow(
        "b.csv has another type of the vertex attribute t than the inputs before",
      );
    await expect(open(at("no.zv"))).rejects.toThrow();
  });

  it("of small whole numbers with and without a sign are whole numbers that hold both", async () => {
    const points = async (name: string, dtype: string, values: string) => {
      writeFileSync(
        at("p.csv"),
        `x,y,z,n\n${[...values.split(",")].map((value, i) => `${i},0,0,${value}`).join("\n")}\n`,
      );
      await convert(at("p.csv"), at(name), { table: { properties: [{ name: "n", dtype }] } });
    };
    await points("i.zv", "int8", "-1,-128");
    await points("u.zv", "uint8", "200,255");
    await points("f.zv", "float32", "0.5,3");
    await convert([at("i.zv"), at("u.zv")], at("iu.zv"));
    const typeIn = async (name: string) =>
      (await ((await open(at(name))) as VectorDataset).schema()).vertex.find(({ name: own }) => own === "n")!.dtype;
    expect(await typeIn("iu.zv")).toMatchObject({ kind: "int", size: 2 });
    await merge([at("f.zv"), at("i.zv")], at("fi.zv"));
    expect(await typeIn("fi.zv")).toMatchObject({ kind: "float", size: 4 });
  });

  it("of points says of each point which file it is of, and keeps the grid that all have", async () => {
    const rows = Array.from({ length: 40 }, (_, i) => `${i % 10},${i / 8},${i / 4},${i % 3}`);
    writeFileSync(at("p.csv"), ["x,y,z,user_data", ...rows, ""].join("\n"));
    await convert(at("p.csv"), at("p.las"), { table: { properties: [{ name: "user_data", dtype: "uint8" }] } });
    await split(at("p.las"), at("tiles"), { by: "box", size: [5, 5, 5], to: "las", durability: "none" });
    const { losses } = await convert(at("tiles/*.las"), at("tiles.zv"));
    expect(losses).toEqual([]);
    const store = (await open(at("tiles.zv"))) as VectorDataset;
    const tile = (await open(at("tiles/box_1_0_0.las"))) as VectorDataset;
    const ofTile = await store.select({ where: "file = 'box_1_0_0.las'" }).read();
    const sorted = ({ positions }: { positions: Iterable<number> }): number[] => [...positions].sort((a, b) => a - b);
    expect(sorted(ofTile)).toEqual(sorted(await tile.select().read())); // chunk by chunk
    expect((await store.headers()).get("las")).toMatchObject((await tile.headers()).get("las")!);
    await convert(at("tiles.zv"), at("back.las"));
    expect(await diff(at("p.las"), at("back.las"))).toMatchObject({ equal: true });
    expect((await convert(at("tiles/*.las"), at("one.las"))).losses).toEqual(["which of the files each point is of"]);
    expect(await diff(at("p.las"), at("one.las"))).toMatchObject({ equal: true });
    writeFileSync(at("far.csv"), "x,y,z,user_data\n1000,1000,1000.125,1\n");
    await convert(at("far.csv"), at("far.las"), { table: { properties: [{ name: "user_data", dtype: "uint8" }] } });
    expect((await convert([at("p.las"), at("far.las")], at("both.zv"))).losses).toEqual([
      "the headers of 2 files, which are not the same in scale, offset",
    ]);
  });

  it("of streamlines keeps the image that all are in", async () => {
    const image = { dimensions: [9, 8, 7], affine: [2, 0, 0, 1, 0, 2, 0, 1, 0, 0, 2, 1, 0, 0, 0, 1] };
    writeFileSync(at("l.csv"), "x0,y0,z0,x1,y1,z1\n1,2,3,4,5,6\n2,3,4,5,6,7\n");
    const table = { kind: "line", start: ["x0", "y0", "z0"], end: ["x1", "y1", "z1"] } as const;
    for (const name of ["a.trk", "b.trk"]) await convert(at("l.csv"), at(name), { table, reference: image });
    expect((await convert([at("a.trk"), at("b.trk")], at("two.zv"))).losses).toEqual([]);
    await convert(at("two.zv"), at("two.trk"), { attributes: [] });
    const headerOf = async (name: string) => (await ((await open(at(name))) as VectorDataset).headers()).get("trk");
    expect(await headerOf("two.trk")).toMatchObject({ ...(await headerOf("a.trk")), n_count: 4 });
    await convert(at("l.csv"), at("c.trk"), { table, reference: { ...image, dimensions: [9, 9, 9] } });
    expect((await convert([at("a.trk"), at("b.trk"), at("c.trk")], at("three.zv"))).losses).toEqual([
      "the headers of 3 files, which are not the same in dimensions",
    ]);
  });

  it("becomes precomputed, or one file, as well", async () => {
    const query = { where: "type = 3" };
    expect(await convert(at("cells"), at("p"), { to: "precomputed", ids: "dense", query })).toMatchObject({
      objects: 5,
    });
    await expect(convert(at("cells"), at("all.swc"))).rejects.toThrow("several objects, and SWC holds one tree");
  });
});
