/** VTK's polydata in XML that are too large to be held become the same stores as those that are not. */
import { deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { openBytes } from "../../test/interchange.js";
import { same, sameProblem } from "../../test/passing.js";
import { faces, lines, numbers, POINTS, type PolyParts, pointsOf, strips, triangles } from "../../test/polydata.js";
import { file } from "../format/interchange/vtp.js";

interface VtpForm {
  readonly as: "ascii" | "binary" | "raw" | "base64";
  readonly zlib: boolean;
  readonly word: 4 | 8;
  readonly big?: boolean;
  /** Bytes of a packed block. */
  readonly block?: number;
}

const TYPES = { UInt8: 1, Int16: 2, Int32: 4, Int64: 8, Float32: 4, Float64: 8 } as const;
type Type = keyof typeof TYPES;
const SECTIONS = { verts: "Verts", lines: "Lines", strips: "Strips", polys: "Polys" } as const;

function bytesOf(type: Type, values: readonly number[], little: boolean): Buffer {
  const size = TYPES[type];
  const view = new DataView(new ArrayBuffer(size * values.length));
  for (const [i, value] of values.entries())
    if (type === "Float32") view.setFloat32(i * size, value, little);
    else if (type === "Float64") view.setFloat64(i * size, value, little);
    else if (type === "Int64") view.setBigInt64(i * size, BigInt(value), little);
    else if (type === "Int32") view.setInt32(i * size, value, little);
    else if (type === "Int16") view.setInt16(i * size, value, little);
    else view.setUint8(i, value);
  return Buffer.from(view.buffer);
}

function vtp(parts: PolyParts, { as, zlib, word, big = false, block = 1000 }: VtpForm): Buffer {
  const { data = true, double, ids } = parts;
  const words = (list: readonly number[]): Buffer => {
    const view = new DataView(new ArrayBuffer(word * list.length));
    for (const [i, value] of list.entries())
      if (word === 4) view.setUint32(4 * i, value, !big);
      else view.setBigUint64(8 * i, BigInt(value), !big);
    return Buffer.from(view.buffer);
  };
  const stretches = (bytes: Buffer): Buffer[] => {
    if (!zlib) return [Buffer.concat([words([bytes.length]), bytes])];
    const blocks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += block) blocks.push(deflateSync(bytes.subarray(at, at + block)));
    const last = bytes.length % block;
    return [words([blocks.length, block, last, ...blocks.map(({ length }) => length)]), Buffer.concat(blocks)];
  };
  const behind: Buffer[] = [];
  const array = (type: Type, name: string, values: readonly number[], components = 1): string => {
    const tag = `<DataArray type="${type}" Name="${name}" NumberOfComponents="${components}"`;
    if (as === "ascii") return `${tag} format="ascii">\n ${values.join(" ")}\n</DataArray>\n`;
    const own = stretches(bytesOf(type, values, !big)).map((bytes) =>
      as === "raw" ? bytes : Buffer.from(bytes.toString("base64")),
    );
    if (as === "binary") return `${tag} format="binary">\n   ${Buffer.concat(own)}\n  </DataArray>\n`;
    const offset = behind.reduce((sum, { length }) => sum + length, 0);
    behind.push(...own);
    return `${tag} format="appended" offset="${offset}"/>\n`;
  };
  let count = 0;
  const cells = Object.entries(SECTIONS).map(([kind, section]) => {
    const own = parts[kind as keyof typeof SECTIONS] ?? [];
    count += own.length;
    const ends: number[] = [];
    for (const cell of own) ends.push((ends.at(-1) ?? 0) + cell.length);
    const arrays = array("Int32", "connectivity", own.flat()) + array("Int64", "offsets", ends);
    return { said: `NumberOf${section}="${own.length}"`, text: `<${section}>${arrays}</${section}>` };
  });
  const pointData = data
    ? array(
        "Float64",
        "heat &amp; cold",
        numbers(POINTS, (i) => i / 8),
      ) +
      array(
        "Float32",
        "Normals",
        numbers(3 * POINTS, (i) => i / 4),
        3,
      ) +
      array(
        "UInt8",
        "small",
        numbers(2 * POINTS, (i) => i % 256),
        2,
      )
    : "";
  const cellData = data
    ? array(
        "Int16",
        "label",
        numbers(count, (i) => i % 30_000),
      ) + (ids === undefined ? "" : array("Int64", "object_id", numbers(count, ids)))
    : "";
  const [packed, header] = [
    zlib ? ' compressor="vtkZLibDataCompressor"' : "",
    word === 8 ? ' header_type="UInt64"' : "",
  ];
  const xml = `<?xml version="1.0"?>
<VTKFile type="PolyData" version="1.0" byte_order="${big ? "BigEndian" : "LittleEndian"}"${header}${packed}>
<PolyData><FieldData><DataArray type="Float32" Name="time" format="ascii">1</DataArray></FieldData>
<Piece NumberOfPoints="${POINTS}" ${cells.map(({ said }) => said).join(" ")}>
<PointData>${pointData}</PointData><CellData>${cellData}</CellData>
<Points>${array(double ? "Float64" : "Float32", "Points", pointsOf(parts), 3)}</Points>
${cells.map(({ text }) => text).join("\n")}
</Piece></PolyData>
`;
  const tail = behind.length === 0 ? [] : [`<AppendedData encoding="${as}">_`, ...behind, "</AppendedData>\n"];
  return Buffer.concat([xml, ...tail, "</VTKFile>\n"].map((piece) => Buffer.from(piece)));
}

const FORMS: readonly VtpForm[] = [
  { as: "ascii", zlib: false, word: 4 },
  { as: "binary", zlib: false, word: 4 },
  { as: "binary", zlib: true, word: 8, block: 1001 },
  { as: "raw", zlib: false, word: 8, big: true },
  { as: "raw", zlib: true, word: 4 },
  { as: "base64", zlib: false, word: 4 },
  { as: "base64", zlib: true, word: 4, big: true },
];

describe.each(FORMS)("VTP, $as, zlib $zlib, word $word", (form) => {
  it("faces and strips, with all kinds of data", async () => {
    const all = { verts: [[0], [1, 2]], lines: lines.slice(0, 3), polys: triangles, strips };
    const report = await same("a.vtp", vtp(all, form));
    expect(report.vertices).toBe(POINTS);
    expect(report.losses.join()).toMatch(
      /array time.*2 vertices.*3 lines.*more than three.*fewer than three.*60 strips/,
    );
    await same("a.vtp", vtp({ polys: faces, double: true }, form), { formatVersion: "0.7.0", dtype: "float32" });
  });
  it("lines and points", async () => {
    const report = await same("a.vtp", vtp({ lines, verts: [[0]], ids: (i) => 1000 - i }, form));
    expect(report.objects).toBe(lines.length);
    expect(report.losses.join()).toMatch(/1 vertices.*points that are on no line/);
    await same("a.vtp", vtp({ double: true }, form));
    await same("a.vtp.gz", gzipSync(vtp({ lines }, form)), {}, 10_000);
  });
  it("damage", async () => {
    const nan = (v: number, z: number) => (v === 17 || v === 400 ? Number.NaN : z);
    expect(await sameProblem("a.vtp", vtp({ polys: triangles, z: nan }, form))).toMatch(/point 17: a vertex has/);
    expect(await sameProblem("a.vtp", vtp({ lines, z: nan }, form))).toMatch(/point 400: a vertex has/);
    const beyond = lines.map((cell, i) => (i === 45 ? [1, 9000, ...cell] : cell));
    expect(await sameProblem("a.vtp", vtp({ lines: beyond }, form))).toMatch(/line 45 of LINES points to point 9000/);
    const bytes = vtp({ lines, polys: faces }, form);
    for (let left = 20; left < bytes.length; left = Math.ceil(left * 1.8))
      await sameProblem("a.vtp", bytes.subarray(0, bytes.length - left), 10_000);
    for (let at = 1500; at < bytes.length; at = Math.ceil(at * 1.6)) {
      const other = Buffer.from(bytes);
      other[at]! ^= 4;
      await sameProblem("a.vtp", other, 10_000);
    }
    const latin = bytes.toString("latin1");
    for (const [from, to] of [
      ['NumberOfPoints="900"', 'NumberOfPoints="90"'],
      ['NumberOfPoints="900"', 'NumberOfPoints="99999999999"'],
      [/NumberOfLines="\d+"/.exec(latin)![0], 'NumberOfLines="9"'],
      ['type="PolyData"', 'type="ImageData"'],
      ['Name="small" NumberOfComponents="2"', 'Name="small" NumberOfComponents="0"'],
    ] as const)
      await sameProblem("a.vtp", Buffer.from(latin.replace(from, to), "latin1"));
    expect(await sameProblem("a.vtp", Buffer.from(latin.replace("<Points>", "<Point>"), "latin1"))).toMatch(/Corrupt/);
  });
});

describe("VTP", () => {
  it("what unpacks to more than may be held passes, in blocks that fit", async () => {
    const flat = vtp({ polys: faces, z: () => 0 }, { as: "raw", zlib: true, word: 4, block: 4000 });
    for (const [maxMemory, passes] of [
      [12 * flat.length, true], // the file itself would fit
      [100 * flat.length, false],
    ] as const)
      expect((await openBytes(file, "a.vtp", flat, { maxMemory })).content.passing !== undefined).toBe(passes);
    await same("a.vtp", flat);
    const one = vtp({ polys: faces }, { as: "raw", zlib: true, word: 4, block: 100_000 });
    await expect(same("a.vtp", one, {}, 30_000)).rejects.toThrow(
      /is packed in blocks of 100000 bytes, and 7500 may be/,
    );
  });
});
