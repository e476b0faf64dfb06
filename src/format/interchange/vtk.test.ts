import { describe, expect, it } from "vitest";
import { dataOf, paths, written } from "../../../test/interchange.js";
import { asBytes, opened, plain, readFrom } from "../../../test/surfaces.js";
import { concat } from "../../bytes/concat.js";
import { Corrupt, OctavoError, Unsupported } from "../../errors.js";
import { column } from "./surface.js";
import { file } from "./vtk.js";

const MESH = `# vtk DataFile Version 3.0
a title
ASCII
DATASET POLYDATA
POINTS 5 float
0 0 0 1 0 0
1 1 0 0 1 0 0.5 0.5 1

POLYGONS 2 9
4 0 1 2 3
3 0 1 4
TRIANGLE_STRIPS 1 5
4 0 1 2 3
METADATA
INFORMATION 0

POINT_DATA 5
SCALARS heat double 1
LOOKUP_TABLE default
1 2 3
4 5
NORMALS n float
0 0 1 0 0 1 0 0 1 0 0 1 0 0 1
FIELD FieldData 2
big%20one 1 5 vtktypeint64
9007199254740993 -2 3 4 5
names 1 5 string
a
b
c
d
e
CELL_DATA 3
VECTORS v float
1 0 0 2 0 0 3 0 0
`;
const LINES = `# vtk DataFile Version 5.1
vtk output
ASCII
DATASET POLYDATA
POINTS 4 double
0 0 0 1 0 0 1 1 0 0.1 0.2 0.3
LINES 3 5
OFFSETS vtktypeint64
0 3 5
CONNECTIVITY vtktypeint64
0 1 2 2
3
CELL_DATA 2
FIELD FieldData 1
w 2 2 unsigned_char
1 2 3 4
`;

describe("VTK", () => {
  it("reads polygons, strips and all kinds of data", async () => {
    const dataset = await opened(file, MESH);
    expect(dataset).toMatchObject({ version: "VTK 3.0 ascii", geometries: ["mesh"] });
    expect(dataset.notes.join()).toMatch(
      /the text of names is left out.*1 polygons of more than three corners.*1 strips are triangles/,
    );
    const found = plain(await dataset.select().read());
    expect(found.links).toEqual([0, 1, 2, 0, 2, 3, 0, 1, 4, 0, 1, 2, 2, 1, 3]);
    expect(found.linkColumns.v?.values.filter((_: number, i: number) => i % 3 === 0)).toEqual([1, 1, 2, 3, 3]);
    expect(found.vertexColumns).toMatchObject({
      heat: { type: "float8×1", values: [1, 2, 3, 4, 5] },
      normal: { type: "float4×3" },
      "big one": { type: "int8×1", values: [9007199254740993n, -2n, 3n, 4n, 5n] },
    });
  });

  it("reads lines alone as paths, in the form of version 5 too", async () => {
    expect(plain(await readFrom(file, LINES))).toMatchObject({
      geometry: "polylines",
      double: true,
      parts: [0, 3, 5],
      positions: [0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 0, 0.1, 0.2, 0.3],
      objectColumns: { w: { type: "uint1×2", values: [1, 2, 3, 4] } },
    });
    expect((await opened(file, LINES.slice(0, LINES.indexOf("LINES")))).geometries).toEqual(["points"]);
  });

  it("writes what it reads, as bytes and as text", async () => {
    for (const text of [MESH, LINES, LINES.slice(0, LINES.indexOf("LINES"))])
      for (const ascii of [true, false]) {
        const dataset = await opened(file, text, {}, "a.vtk");
        const { bytes, report } = await written(file, await dataOf(dataset), { ascii });
        expect(report.losses).toEqual([]);
        const again = await opened(file, bytes);
        expect(plain(await again.select().read())).toEqual(plain(await dataset.select().read()));
        expect(again.version).toBe(`VTK 3.0 ${ascii ? "ascii" : "binary"}`);
        if (text === MESH) expect(new TextDecoder().decode(bytes)).toContain("\na title\n");
      }
    const ids = BigInt64Array.of(720575940621280001n, 4n);
    const drawn = paths(
      [
        [0, 0, 0, 1, 1, 1],
        [2, 2, 2, 3, 3, 3, 4, 4, 4],
      ],
      { ids, vertex: [column("fa", Float32Array.of(1, 2, 3, 4, 5))] },
    );
    expect(plain(await readFrom(file, (await written(file, drawn)).bytes))).toMatchObject({
      ids: ["720575940621280001", "4"],
      objectColumns: {},
    });
  });

  it("reads points of any type", async () => {
    for (const type of ["vtktypeint64", "unsigned_char", "short"])
      expect(
        (await readFrom(file, MESH.replace("POINTS 5 float", `POINTS 5 ${type}`).replace("0.5 0.5 1", "4 5 1")))
          .positions,
      ).toEqual(Float32Array.of(0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 4, 5, 1));
  });

  it("says where a file is wrong", async () => {
    for (const [text, message] of [
      [MESH.replace("3 0 1 4", "3 0 1 5"), "polygon 1: a face points to vertex 5, counted from 0, of 5"],
      [MESH.replace("3 0 1 4", "3 0 1 -1"), "a face points to vertex -1"],
      [MESH.replace("3 0 1 4", "4 0 1 4"), "line 11: cell 1 of POLYGONS has 4 points, and 3 numbers are left"],
      [MESH.replace("0.5 0.5 1", "0.5 0.5 nan"), "point 4: a vertex has the coordinate NaN"],
      [MESH.replace("POINTS 5", "POINTS 99999999999"), "299999999997 numbers of the points where"],
      [MESH.replace("POINT_DATA 5", "POINT_DATA 4"), "data of 4 points, and there are 5"],
      [MESH.replace("SCALARS", "SCALAR"), '"SCALAR" is no word'],
      [LINES.replace("0 3 5", "0 6 5"), "offset 2 of the LINES is 5, after 6"],
      [LINES.replace("0 3 5", "0 3 4"), "the offsets of the LINES end at 4"],
      [LINES.replace("0 1 2 2", "0 1 9 2"), "line 0 of LINES points to point 9 of 4"],
    ] as const) {
      await expect(readFrom(file, text), message).rejects.toThrow(message);
      await expect(readFrom(file, text)).rejects.toThrow(Corrupt);
    }
    const points = new Uint8Array(12 * 5);
    const head = "# vtk DataFile Version 3.0\n\nBINARY\nDATASET POLYDATA\n";
    const counted = (count: number) => concat([asBytes(`${head}POINTS ${count} float\n`), points, asBytes("\n")]);
    expect((await readFrom(file, counted(5))).positions.length).toBe(15);
    await expect(readFrom(file, counted(4))).rejects.toThrow("byte 115: the byte 0 where a word was expected");
    await expect(opened(file, MESH.replace("POLYDATA", "STRUCTURED_GRID"))).rejects.toThrow(Unsupported);
    const told: Error[] = [];
    const found = await readFrom(file, LINES.replace("0 1 2 2", "0 1 9 2"), { onBad: (error) => told.push(error) });
    expect([told.length, [...found.positions]]).toEqual([1, [1, 1, 0, 0.1, 0.2, 0.3]]);
  });

  it("survives every cut", async () => {
    const binary = (await written(file, await dataOf(await opened(file, MESH)))).bytes;
    for (const bytes of [asBytes(MESH), asBytes(LINES), binary])
      for (let length = 0; length < bytes.length; length++)
        await opened(file, bytes.subarray(0, length)).catch((error) => expect(error).toBeInstanceOf(OctavoError));
  });
});
