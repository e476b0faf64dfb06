import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dataOf, written } from "../../../test/interchange.js";
import { asBytes, dataWith, opened, plain, readFrom } from "../../../test/surfaces.js";
import { Corrupt, OctavoError, Unsupported } from "../../errors.js";
import { file } from "./obj.js";
import { column, columns } from "./surface.js";

const QUAD = `# by hand
mtllib a.mtl
v 0 0 0
v 1 0 0 1.0
v 1 1 0
v 0 1e-1 0.1
vt 0 0
vt 0.5 0.25
vn 0 0 1
usemtl red
f 1/1/1 2/2/1 3/2/1 4/1/1
f -4//1 -3//1 \\
  -2//1
`;

const OBJECTS = `o left
g brain outer
v 0 0 0
v 1 0 0
v 0 1 0
v 9 9 9
f 1 2 3
o right
g brain
v 0 0 1
f 2 3 5
f 3 2 1
`;

describe("OBJ", () => {
  it("reads faces with every form of corners", async () => {
    const dataset = await opened(file, QUAD);
    const found = plain(await dataset.select().read());
    expect(found).toMatchObject({
      geometry: "mesh",
      double: true,
      positions: [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0.1, 0.1],
      links: [0, 1, 2, 0, 2, 3, 0, 1, 2],
      vertexColumns: { normal: { type: "float4×3", values: [0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1] } },
    });
    const [a, b, none] = [
      [0, 0],
      [0.5, 0.25],
      [Number.NaN, Number.NaN],
    ];
    expect(found.linkColumns.uv).toEqual({ type: "float4×6", values: [a, b, b, a, b, a, none, none, none].flat() });
    expect(dataset.notes.join()).toMatch(
      /1 lines of "mtllib" are left out.*"usemtl".*1 polygons of more than three corners/,
    );
  });

  it("knows objects and groups by their names", async () => {
    const dataset = await opened(file, OBJECTS);
    const found = plain(await dataset.select().read());
    expect(found).toMatchObject({
      parts: [0, 4, 8],
      ids: ["0", "1"],
      links: [0, 1, 2, 5, 6, 7, 6, 5, 4],
      objectColumns: { name: { values: ["left", "right"] } },
    });
    expect(found.positions.slice(9)).toEqual([9, 9, 9, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
    expect((await dataset.groupColumns()).get("name")?.values).toEqual(["brain", "outer"]);
    expect([...(await dataset.groupMembers(0))]).toEqual([0n, 1n]);
    expect([...(await dataset.groupMembers(1))]).toEqual([0n]);
    const { bytes, report } = await written(file, await dataOf(dataset));
    expect(report).toMatchObject({ vertices: 8, objects: 2 });
    const again = await opened(file, bytes);
    expect(plain(await again.select().read())).toEqual(found);
    expect((await again.groupColumns()).get("name")?.values).toEqual(["brain", "outer"]);
    const numbered = OBJECTS.replace("left", "720575940621280001").replace("right", "7");
    expect(plain(await readFrom(file, numbered))).toMatchObject({
      ids: ["720575940621280001", "7"],
      objectColumns: {},
    });
  });

  it("reads lines alone as paths, vertices alone as points", async () => {
    const lines = "v 0 0 0\nv 1 0 0 0.5 1 0\nv 1 1 0\nv 5 5 5\nl 1 2 3\nl -2 -3\np 1\n";
    expect(plain(await readFrom(file, lines))).toMatchObject({
      geometry: "polylines",
      parts: [0, 3, 5],
      positions: [0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 0, 1, 0, 0],
      vertexColumns: {
        color: { values: [Number.NaN, Number.NaN, Number.NaN, 0.5, 1, 0, ...Array(6).fill(Number.NaN), 0.5, 1, 0] },
      },
    });
    const points = plain(await readFrom(file, "v 0 0 0\nvn 0 0 1\nv 1 2 3\nvn 0 1 0"));
    expect(points).toMatchObject({
      geometry: "points",
      positions: [0, 0, 0, 1, 2, 3],
      vertexColumns: { normal: { values: [0, 0, 1, 0, 1, 0] } },
    });
  });

  it("writes what it reads", async () => {
    const lines = "v 0 0.30000001192092896 0\nv 1 0 0\nv 1 1 0\nl 1 2 3\nl 3 2\n";
    const single =
      "v 0 0 0\nvt 0 1\nvn 0 0 1\nv 1 0 0\nvt 0.1 1\nvn 0 1 0\nv 0 1 0\nvt 0 0.25\nvn 1 0 0\nf 1/1/1 2/2/2 3/3/3\n";
    for (const text of [QUAD, lines, single, "v 1 2 3\nv 4 5 6\n"]) {
      const dataset = await opened(file, text);
      const { bytes } = await written(file, await dataOf(dataset));
      expect(plain(await readFrom(file, bytes)), text).toEqual(plain(await dataset.select().read()));
      if (text === single)
        expect(new TextDecoder().decode(bytes).split("\n").sort()).toEqual(single.split("\n").sort());
    }
  });

  it("keeps drawn meshes of several batches", async () => {
    const drawn = fc.record({
      sizes: fc.array(fc.integer({ min: 3, max: 6 }), { minLength: 1, maxLength: 4 }),
      numbers: fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 18, maxLength: 18 }),
      normals: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(drawn, async ({ sizes, numbers, normals }) => {
        const batches = sizes.map((size, i) => {
          const positions = Float32Array.from({ length: 3 * size }, (_, k) => numbers[(k + i) % 18]! + 0);
          const normal = column("normal", positions.slice(), 3);
          return {
            level: 0,
            geometry: "mesh" as const,
            dims: 3,
            positions,
            parts: Uint32Array.of(0, size),
            objects: Int32Array.of(0),
            ids: BigInt64Array.of(BigInt(i)),
            links: { width: 3, ends: Uint32Array.from([0, 1, 2, 2, 1, size - 1]), columns: new Map() },
            fragments: undefined,
            vertexColumns: normals ? columns(normal) : new Map(),
            objectColumns: new Map(),
            chunk: undefined,
          };
        });
        const { bytes, report } = await written(file, dataWith(batches));
        expect(report.losses).toEqual([]);
        const found = await readFrom(file, bytes);
        expect([...found.positions]).toEqual(batches.flatMap(({ positions }) => [...positions]));
        expect(found.ids.length).toBe(sizes.length);
        const used = new Set(found.links!.ends);
        const values = found.vertexColumns.get("normal")?.values as Float32Array | undefined;
        if (normals) for (const vertex of used) expect(values?.[3 * vertex]).toBe(found.positions[3 * vertex]);
      }),
      { numRuns: 60 },
    );
  });

  it("says where a file is wrong", async () => {
    for (const [text, message] of [
      ["v 0 0 0\nv 1 1 1\nf 1 2 3\n", "memory:/file, line 3: a face points to vertex 2, counted from 0, of 2"],
      ["v 0 0 0\nf 1 1 -2\n", "line 2: −2 points before the first of 1"],
      ["v 0 0 0\nf 1 1 0\n", 'line 2: "0" where the number of a vertex was expected'],
      ["v 0 0 0\nf 1 1 1a\n", 'line 2: "1a" where'],
      ["v 0 0 0\nf 1 1\n", "line 2: 2 corners where at least 3"],
      ["v 0 0 0\nf 1 1 99999999999999999999\n", "line 2"],
      ["v 0 0\n", "line 1: nothing where a coordinate was expected"],
      ["v 0 0 x\n", 'line 1: "x" where a coordinate was expected'],
      ["v 0 0 nan\n", "line 1: a vertex has the coordinate NaN"],
      ["v 0 0 0 1 1\n", "line 1: a vertex of 5 numbers"],
      ["v 0 0 0\nl 1 2\n", "line 2: a line points to vertex 2 of 1"],
    ] as const) {
      await expect(readFrom(file, text), text).rejects.toThrow(message);
      await expect(readFrom(file, text)).rejects.toThrow(Corrupt);
    }
    const told: string[] = [];
    const onBad = ({ message }: Error) => told.push(message);
    const found = await readFrom(file, "v 0 0 0\nv 1 0 0\nv 0 1 0\no a\nf 1 2 9\no b\nf 1 2 3", { onBad });
    expect([...found.links!.ends]).toEqual([0, 1, 2]);
    expect(told).toEqual(["memory:/file, line 5: a face points to vertex 8, counted from 0, of 3"]);
  });

  it("survives every cut and any words", async () => {
    const bytes = asBytes(QUAD + OBJECTS);
    for (let length = 0; length < bytes.length; length++)
      await opened(file, bytes.subarray(0, length)).catch((error) => expect(error).toBeInstanceOf(OctavoError));
    const words = [
      "v",
      "f",
      "l",
      "vn",
      "vt",
      "o a",
      "g b c",
      "1",
      "2",
      "-1",
      "0.5",
      "/",
      "//",
      "\\\n",
      " ",
      "\n",
      "\n",
      "nan",
      "#",
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...words), { maxLength: 40 }), async (list) => {
        await readFrom(file, list.join(" ")).catch((error) => expect(error).toBeInstanceOf(OctavoError));
      }),
      { numRuns: 300 },
    );
  });

  it("knows names of a fixed length and categories", async () => {
    const dataset = await opened(file, OBJECTS);
    const batch = await dataset.select().read();
    for (const name of [
      {
        info: { name: "name", dtype: { kind: "utf32", size: 20, endian: "little" }, channels: 1 },
        values: ["left", "right"],
      },
      {
        ...column("name", Uint8Array.of(1, 0)),
        info: { ...column("name", Uint8Array.of()).info, categories: ["right", "left"] },
      },
    ] as const) {
      const { bytes } = await written(file, dataWith([{ ...batch, objectColumns: columns(name) }]));
      expect(plain(await readFrom(file, bytes)).objectColumns.name?.values).toEqual(["left", "right"]);
    }
  });

  it("tells what it cannot hold", async () => {
    const heat = column("heat", Float32Array.of(1, 2, 3));
    const dataset = await opened(file, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    const batch = { ...(await dataset.select().read()), vertexColumns: columns(heat) };
    const { report } = await written(file, dataWith([batch]));
    expect(report.losses).toEqual(["OBJ has no place for heat"]);
    await expect(written(file, dataWith([], { geometry: "parametric" }))).rejects.toThrow(Unsupported);
  });
});
