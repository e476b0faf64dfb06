import { describe, expect, it } from "vitest";
import { dataOf, written } from "../../../test/interchange.js";
import { asBytes, opened, plain, readFrom } from "../../../test/surfaces.js";
import { Corrupt, OctavoError } from "../../errors.js";
import { file } from "./stl.js";

const facet = (...corners: string[]) =>
  `facet normal 0 0 1\n outer loop\n${corners.map((corner) => `  vertex ${corner}\n`).join("")} endloop\nendfacet\n`;
const ASCII = `solid first one
${facet("0 0 0", "1 0 0", "0 1 0")}${facet("1 0 0", "1 1e0 -0", "0 1 0")}endsolid first one
solid second
${facet("0 0 0", "1 0 0", "0 1 0")}endsolid second
`;

function binary(count: number, triangles: readonly (readonly number[])[], header = "solid but not text"): Uint8Array {
  const bytes = new Uint8Array(84 + 50 * triangles.length);
  bytes.set(asBytes(header));
  const view = new DataView(bytes.buffer);
  view.setUint32(80, count, true);
  for (const [i, numbers] of triangles.entries()) {
    for (const [k, value] of numbers.slice(0, 12).entries()) view.setFloat32(84 + 50 * i + 4 * k, value, true);
    view.setUint16(84 + 50 * i + 48, numbers[12] ?? 0, true);
  }
  return bytes;
}
const TWO = [
  [0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 5],
  [0, 0, 1, 1, 0, 0, 1, 1, -0, 0, 1, 0, 0],
];

describe("STL", () => {
  it("makes one vertex of corners at the same place", async () => {
    const found = plain(await readFrom(file, binary(2, TWO)));
    expect(found).toMatchObject({
      positions: [0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0],
      links: [0, 1, 2, 1, 3, 2],
      linkColumns: {
        normal: { type: "float4×3", values: [0, 0, 1, 0, 0, 1] },
        attribute: { type: "uint2×1", values: [5, 0] },
      },
    });
  });

  it("reads the solids of text as objects", async () => {
    const found = plain(await readFrom(file, ASCII));
    expect(found).toMatchObject({
      positions: [0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0],
      parts: [0, 4, 7],
      links: [0, 1, 2, 1, 3, 2, 4, 5, 6],
      objectColumns: { name: { values: ["first one", "second"] } },
    });
  });

  it("writes what it reads", async () => {
    const bytes = binary(
      2,
      TWO.map((numbers) => numbers.map((value) => value + 0)),
      "made elsewhere",
    );
    const dataset = await opened(file, bytes, {}, "a.stl");
    expect([...(await written(file, await dataOf(dataset))).bytes]).toEqual([...bytes]);
    const solids = await opened(file, ASCII);
    const text = await written(file, await dataOf(solids), { ascii: true });
    expect(text.report.losses).toEqual([]);
    expect(plain(await readFrom(file, text.bytes))).toEqual(plain(await solids.select().read()));
    const one = await written(file, await dataOf(solids));
    expect(one.report.losses).toEqual(["STL has no attributes of objects: name", "objects are one in a binary STL"]);
    expect(plain(await readFrom(file, one.bytes)).links).toEqual([0, 1, 2, 1, 3, 2, 0, 1, 2]);
  });

  it("says where a file is wrong", async () => {
    const bytes = binary(2, TWO, "made elsewhere");
    for (let length = 0; length < bytes.length; length++)
      await expect(opened(file, bytes.subarray(0, length))).rejects.toThrow(Corrupt);
    await expect(opened(file, binary(0xffff_ffff, TWO, "x"))).rejects.toThrow(
      "its 4294967295 triangles need 214748364834",
    );
    await expect(opened(file, binary(1, [[0, 0, 1, 0, 0, Number.NaN]]))).rejects.toThrow(
      "byte 84: a vertex has the coordinate NaN",
    );
    const text = asBytes(ASCII.trimEnd());
    for (let length = 0; length < text.length - "endsolid second".length; length++)
      await opened(file, text.subarray(0, length)).then(
        (found) => expect(found.content.objects).toBe(1),
        (error) => expect(error).toBeInstanceOf(OctavoError),
      );
    await expect(opened(file, ASCII.replace("  vertex 1 0 0\n", ""))).rejects.toThrow(
      "line 7: a facet that has not three vertices",
    );
    await expect(opened(file, ASCII.replace("1e0", "1e"))).rejects.toThrow(
      'line 12: "1e" where a coordinate was expected',
    );
    await expect(opened(file, ASCII.replace("outer", "inner"))).rejects.toThrow(
      'line 3: "inner" is no word of STL here',
    );
  });
});
