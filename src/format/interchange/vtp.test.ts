import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { dataOf, written } from "../../../test/interchange.js";
import { asBytes, opened, plain, readFrom } from "../../../test/surfaces.js";
import { concat } from "../../bytes/concat.js";
import { Corrupt, OctavoError, Unsupported } from "../../errors.js";
import { file as vtk } from "./vtk.js";
import { file } from "./vtp.js";

type Numbers = Float32Array | Int32Array | BigInt64Array;
const points = Float32Array.of(0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0);
const ends = Int32Array.of(0, 1, 2, 0, 1, 2, 3);
const offsets = BigInt64Array.of(3n, 7n);
const heat = Float32Array.of(1, 2, 3, 4);

const bytesOf = (values: Numbers) => new Uint8Array(values.buffer);
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

interface Form {
  readonly word: 4 | 8;
  readonly zlib: boolean;
  readonly where: "ascii" | "binary" | "raw" | "base64";
}

/** A file by hand in any of its forms. */
function file4({ word, zlib, where }: Form): Uint8Array {
  const numbers = (...list: number[]) => {
    const view = new DataView(new ArrayBuffer(word * list.length));
    for (const [i, value] of list.entries())
      if (word === 4) view.setUint32(4 * i, value, true);
      else view.setBigUint64(8 * i, BigInt(value), true);
    return new Uint8Array(view.buffer);
  };
  const stretches = (values: Numbers): Uint8Array[] => {
    const bytes = bytesOf(values);
    if (!zlib) return [concat([numbers(bytes.length), bytes])];
    const blocks = [];
    for (let at = 0; at < bytes.length; at += 16) blocks.push(deflateSync(bytes.subarray(at, at + 16)));
    return [numbers(blocks.length, 16, bytes.length % 16, ...blocks.map(({ length }) => length)), concat(blocks)];
  };
  const behind: Uint8Array[] = [];
  const array = (type: string, name: string, values: Numbers, more = "") => {
    const tag = `<DataArray type="${type}" Name="${name}" ${more}`;
    if (where === "ascii") return `${tag} format="ascii">\n ${[...values].join(" ")}\n</DataArray>`;
    const own = stretches(values);
    if (where === "binary") return `${tag} format="binary">\n ${own.map(base64).join("")}\n</DataArray>`;
    const offset = behind.reduce((sum, { length }) => sum + length, 0);
    behind.push(...(where === "raw" ? own : own.map((bytes) => asBytes(base64(bytes)))));
    return `${tag} format="appended" offset="${offset}"/>`;
  };
  const xml = `<?xml version="1.0"?>
<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian"${word === 8 ? ' header_type="UInt64"' : ""}${zlib ? ' compressor="vtkZLibDataCompressor"' : ""}>
<PolyData><FieldData><DataArray type="Float32" Name="time" format="ascii">1</DataArray></FieldData>
<Piece NumberOfPoints="4" NumberOfVerts="0" NumberOfLines="0" NumberOfStrips="0" NumberOfPolys="2">
<PointData Scalars="heat">${array("Float32", "heat &amp; cold", heat)}</PointData>
<CellData>${array("Int32", "label", Int32Array.of(7, 8))}</CellData>
<Points>${array("Float32", "Points", points, 'NumberOfComponents="3"')}</Points>
<Polys>${array("Int32", "connectivity", ends)}${array("Int64", "offsets", offsets)}</Polys>
</Piece></PolyData>
`;
  const end = asBytes("</VTKFile>\n");
  if (behind.length === 0) return concat([asBytes(xml), end]);
  const encoding = where === "raw" ? "raw" : "base64";
  return concat([
    asBytes(`${xml}<AppendedData encoding="${encoding}">\n  _`),
    ...behind,
    asBytes("</AppendedData>"),
    end,
  ]);
}

const forms: Form[] = (["ascii", "binary", "raw", "base64"] as const).flatMap((where) =>
  ([4, 8] as const).flatMap((word) => [true, false].map((zlib) => ({ word, zlib, where }))),
);

describe("VTP", () => {
  it("reads every form of arrays", async () => {
    for (const form of forms) {
      const dataset = await opened(file, file4(form));
      expect(plain(await dataset.select().read()), JSON.stringify(form)).toMatchObject({
        geometry: "mesh",
        positions: [...points],
        links: [0, 1, 2, 0, 1, 2, 0, 2, 3],
        linkColumns: { label: { type: "int4×1", values: [7, 8, 8] } },
        vertexColumns: { "heat & cold": { type: "float4×1", values: [1, 2, 3, 4] } },
      });
      expect(dataset.notes).toContain("the array time is left out");
    }
  });

  it("writes what it reads, as bytes and as text", async () => {
    const lines =
      "# vtk DataFile Version 3.0\n\nASCII\nDATASET POLYDATA\nPOINTS 3 double\n0 0 0 1 2 3 4 5 6\nLINES 2 5\n2 0 1\n1 2\nPOINT_DATA 3\nNORMALS Normals float\n0 0 1 0 0 1 0 0 1\n";
    for (const dataset of [await opened(file, file4(forms[0]!)), await opened(vtk, lines)])
      for (const ascii of [true, false]) {
        const { bytes, report } = await written(file, await dataOf(dataset), { ascii });
        expect(report.losses).toEqual([]);
        expect(plain(await readFrom(file, bytes))).toEqual(plain(await dataset.select().read()));
      }
  });

  it("survives every cut and every changed byte", async () => {
    const outcome = (bytes: Uint8Array) =>
      opened(file, bytes).then(
        () => undefined,
        (error) => expect(error).toBeInstanceOf(OctavoError),
      );
    for (const form of forms.filter(({ word }) => word === 8)) {
      const bytes = file4(form);
      for (let length = 0; length < bytes.length; length += 9) await outcome(bytes.subarray(0, length));
      for (let at = 0; at < bytes.length; at += 23) {
        const other = bytes.slice();
        other[at]! ^= 1 << (at % 8);
        await outcome(other);
      }
    }
  });

  it("says where a file is wrong", async () => {
    const text = new TextDecoder().decode(file4({ word: 4, zlib: false, where: "ascii" }));
    for (const [from, to, message] of [
      ['NumberOfPoints="4"', 'NumberOfPoints="99999999"', "the points needs 299999997 numbers"],
      ['NumberOfPoints="4"', 'NumberOfPoints="-4"', 'has the NumberOfPoints "-4"'],
      ["0 1 2 0 1 2 3", "0 1 2 0 1 2 4", "polygon 1: a face points to vertex 4, counted from 0, of 4"],
      ["3 7", "3 99999999999999999999", '"99999999999999999999" where a number was expected'],
      ["3 7", "7 3", "offset 2 of the Polys is 3, after 7"],
      ["1 1 0 0 1 0", "1 1 0 0 1 nan", "point 3: a vertex has the coordinate NaN"],
      ['Name="offsets"', 'Name="of"', "has no offsets or connectivity in <Polys>"],
    ] as const) {
      await expect(opened(file, text.replace(from, to)), message).rejects.toThrow(message);
      await expect(opened(file, text.replace(from, to))).rejects.toThrow(Corrupt);
    }
    await expect(opened(file, text.replace('type="PolyData"', 'type="ImageData"'))).rejects.toThrow(Unsupported);
    const packed = new TextDecoder().decode(file4({ word: 4, zlib: true, where: "binary" }));
    await expect(opened(file, packed.replace("vtkZLib", "vtkLZ4"))).rejects.toThrow(Unsupported);
  });
});
