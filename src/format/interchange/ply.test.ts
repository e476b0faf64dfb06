import { describe, expect, it } from "vitest";
import { dataOf, written } from "../../../test/interchange.js";
import { asBytes, opened, plain, readFrom } from "../../../test/surfaces.js";
import { concat } from "../../bytes/concat.js";
import { Corrupt, OctavoError, Unsupported } from "../../errors.js";
import { file } from "./ply.js";

const ASCII = `ply
format ascii 1.0
comment made by hand
obj_info scanned
element vertex 5
property float x
property float y
property float z
property float nx
property float ny
property float nz
property uchar red
property uchar green
property uchar blue
property double w_0
property double w_1
element face 2
property list uchar int vertex_indices
property short label
end_header
0 0 0 0 0 1 255 0 0 0.5 1
1 0 0 0 0 1 0 255 0 0.25 2
1 1 0 0 0 1 0 0 255 0.125 3
0 1 0 0 0 1 1 2 3 1e3 4
9.1 9 9 0 1 0 4 5 6 nan 5
3 0 1 2 -7
4 0 1 2 3 8
`;

const CLOUD = `ply
format ascii 1.0
element camera 1
property float f
element vertex 3
property double x
property double y
property double z
property uint t
end_header
1.5
1 2 3 4
0.1 0.2 0.3 4294967295
7 8 9 0`;

describe("PLY", () => {
  it("reads faces, attributes of vertices and of faces", async () => {
    const dataset = await opened(file, ASCII);
    expect(dataset).toMatchObject({
      version: "PLY ascii",
      geometries: ["mesh"],
      bounds: { min: [0, 0, 0], max: [Math.fround(9.1), 9, 9] },
    });
    expect(dataset.notes).toEqual([expect.stringContaining("1 polygons of more than three corners are triangles")]);
    expect((await dataset.headers()).get("file")).toEqual({
      format: "ascii",
      comments: ["comment made by hand", "obj_info scanned"],
    });
    const found = plain(await dataset.select().read());
    expect(found).toMatchObject({
      positions: [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, Math.fround(9.1), 9, 9],
      links: [0, 1, 2, 0, 1, 2, 0, 2, 3],
      linkColumns: { label: { type: "int2×1", values: [-7, 8, 8] } },
      ids: ["0"],
    });
    expect(found.vertexColumns.color).toEqual({
      type: "uint1×3",
      values: [255, 0, 0, 0, 255, 0, 0, 0, 255, 1, 2, 3, 4, 5, 6],
    });
    expect(found.vertexColumns.normal?.type).toBe("float4×3");
    expect(found.vertexColumns.w?.values).toEqual([0.5, 1, 0.25, 2, 0.125, 3, 1000, 4, Number.NaN, 5]);
  });

  it("reads both byte orders", async () => {
    const head = (order: string) =>
      asBytes(
        `ply\r\nformat binary_${order}_endian 1.0\r\nelement face 1\r\nproperty uchar k\r\nproperty list ushort uint vertex_index\r\nproperty list uchar float other\r\nelement vertex 3\r\nproperty double x\r\nproperty double y\r\nproperty double z\r\nproperty short s\r\nend_header\r\n`,
      );
    for (const little of [true, false]) {
      const data = new DataView(new ArrayBuffer(1 + 2 + 12 + 1 + 4 + 3 * 26));
      data.setUint8(0, 9);
      data.setUint16(1, 3, little);
      for (const [i, end] of [2, 1, 0].entries()) data.setUint32(3 + 4 * i, end, little);
      data.setUint8(15, 1);
      data.setFloat32(16, 1, little);
      for (let i = 0; i < 3; i++) {
        for (let k = 0; k < 3; k++) data.setFloat64(20 + 26 * i + 8 * k, 0.1 * i + k, little);
        data.setInt16(20 + 26 * i + 24, -i, little);
      }
      const bytes = concat([head(little ? "little" : "big"), new Uint8Array(data.buffer)]);
      expect(plain(await readFrom(file, bytes))).toMatchObject({
        double: true,
        positions: [0, 1, 2, 0.1, 1.1, 2.1, 0.2, 1.2, 2.2],
        links: [2, 1, 0],
        linkColumns: { k: { values: [9] } },
        vertexColumns: { s: { type: "int2×1", values: [-0, -1, -2].map((v) => v + 0) } },
      });
      for (let length = 0; length < bytes.length; length++)
        await expect(opened(file, bytes.subarray(0, length)), `${length}`).rejects.toThrow(Corrupt);
    }
  });

  it("reads clouds in pieces, and edges as a graph", async () => {
    const dataset = await opened(file, CLOUD);
    expect(dataset.geometries).toEqual(["points"]);
    expect(plain(await dataset.select().read())).toMatchObject({
      double: true,
      positions: [1, 2, 3, 0.1, 0.2, 0.3, 7, 8, 9],
      vertexColumns: { t: { type: "uint4×1", values: [4, 4294967295, 0] } },
    });
    const edges = CLOUD.replace(
      "end_header",
      "element edge 1\nproperty int vertex1\nproperty int vertex2\nproperty float len\nend_header",
    );
    expect(plain(await readFrom(file, `${edges}\n2 0 0.5\n`))).toMatchObject({
      geometry: "graph",
      links: [2, 0],
      linkColumns: { len: { values: [0.5] } },
    });
    const many = 400_001;
    const lines = Array.from({ length: many }, (_, i) => `${i} ${i % 7} 0`);
    const text = `ply\nformat ascii 1.0\nelement vertex ${many}\nproperty float x\nproperty float y\nproperty float z\nend_header\n${lines.join("\n")}`;
    for (const [ascii, end] of [
      [true, 1],
      [false, 0],
    ] as const) {
      const large = await opened(file, end === 1 ? `${text}\n` : text);
      const { bytes } = await written(file, await dataOf(large), { ascii });
      const again = await opened(file, bytes);
      expect((await again.index()).vertices.length).toBeGreaterThan(1);
      const { positions } = await again.select().read();
      expect(positions.length).toBe(3 * many);
      for (let i = 0; i < many; i += 997) expect(positions[3 * i]! + positions[3 * i + 1]!).toBe(i + (i % 7));
    }
  });

  it("writes what it reads, as bytes and as text", async () => {
    for (const text of [ASCII, CLOUD])
      for (const ascii of [false, true]) {
        const dataset = await opened(file, text, {}, "ply");
        const { bytes, report } = await written(file, await dataOf(dataset), { ascii });
        expect(report.losses).toEqual([]);
        expect(plain(await readFrom(file, bytes))).toEqual(plain(await dataset.select().read()));
        if (text === ASCII)
          expect(new TextDecoder().decode(bytes)).toContain("comment made by hand\nobj_info scanned\n");
      }
  });

  it("says where a file is wrong", async () => {
    const cases: [string, string | RegExp][] = [
      [
        ASCII.replace("3 0 1 2 -7", "3 0 1 5 -7"),
        "memory:/file, face 0 (line 26): a face points to vertex 5, counted from 0, of 5",
      ],
      [ASCII.replace("3 0 1 2 -7", "3 0 1 -1 -7"), "a face points to vertex -1"],
      [ASCII.replace("3 0 1 2 -7", "3 0 1 x -7"), 'memory:/file, line 26: "x" where vertex_indices was expected'],
      [ASCII.replace("3 0 1 2 -7", "3 0 1 2 70000"), "70000 where label was expected, which is int16"],
      [ASCII.replace("3 0 1 2 -7", "3 0 1 2 -7 1"), "line 26: more numbers than the header says"],
      [ASCII.replace("9.1", "nan"), "vertex 4 (line 25): a vertex has the coordinate NaN"],
      [ASCII.replace("vertex 5", "vertex 99999999999"), "ends before 99999999999 rows of vertex"],
      [CLOUD.replace("7 8 9 0", ""), "after 2 of its 3 vertices"],
      [CLOUD.replace("7 8 9 0", "7 8 inf 0"), "line 14: a vertex has the coordinate Infinity"],
      [ASCII.replace("property float x", "property float xx"), "should have an element vertex with x, y and z"],
      [ASCII.replace("ply", "plx"), 'should begin with a line "ply"'],
      [ASCII.replace("ascii 1.0", "ascii 2.0"), "is PLY 2.0"],
      [ASCII.replace("short label", "short"), "a property without a name"],
      [ASCII.replace("property short", "property word"), '"word" is no type of PLY'],
    ];
    for (const [text, message] of cases) {
      const reading = readFrom(file, text);
      await expect(reading, text).rejects.toThrow(OctavoError);
      await expect(readFrom(file, text)).rejects.toThrow(message);
    }
    await expect(opened(file, ASCII.replace("ascii", "binary"))).rejects.toThrow(Unsupported);
  });

  it("goes on without what is bad where told", async () => {
    const told: string[] = [];
    const text = ASCII.replace("9.1", "nan").replace("3 0 1 2 -7", "3 0 1 5 -7");
    const found = plain(await readFrom(file, text, { onBad: ({ message }) => told.push(message) }));
    expect(told.length).toBe(2);
    expect(found).toMatchObject({ links: [0, 1, 2, 0, 2, 3], linkColumns: { label: { values: [8, 8] } } });
    expect(found.positions.length).toBe(12);
  });
});
