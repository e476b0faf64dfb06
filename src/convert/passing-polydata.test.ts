/** VTK's polydata that are too large to be held become the same stores as those that are not. */
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { same, sameProblem } from "../../test/passing.js";
import {
  faces,
  KINDS,
  lines,
  numbers,
  POINTS,
  type PolyParts,
  pointsOf,
  strips,
  triangles,
} from "../../test/polydata.js";

const WORDS = { verts: "VERTICES", lines: "LINES", polys: "POLYGONS", strips: "TRIANGLE_STRIPS" };
const SIZES = { unsigned_char: 1, short: 2, int: 4, float: 4, double: 8, vtktypeint64: 8 } as const;
type Type = keyof typeof SIZES;

interface VtkForm {
  readonly binary: boolean;
  readonly version: "3.0" | "5.1";
  /** After each number of text. */
  readonly blank?: string;
}

const spelled = (values: readonly number[], blank: string): string =>
  values.map((value, i) => `${value}${i % 9 === 8 ? "\n" : blank}`).join("");

function bigEndian(type: Type, values: readonly number[]): Buffer {
  const size = SIZES[type];
  const bytes = Buffer.alloc(size * values.length);
  for (const [i, value] of values.entries())
    if (type === "float") bytes.writeFloatBE(value, i * size);
    else if (type === "double") bytes.writeDoubleBE(value, i * size);
    else if (type === "vtktypeint64") bytes.writeBigInt64BE(BigInt(value), i * size);
    else if (type === "unsigned_char") bytes.writeUInt8(value, i);
    else bytes.writeIntBE(value, i * size, size);
  return bytes;
}

function vtk(parts: PolyParts, { binary, version, blank = " " }: VtkForm): Buffer {
  const { data = true, double, ids, ...cells } = parts;
  const pieces: Buffer[] = [];
  const line = (text: string): void => void pieces.push(Buffer.from(`${text}\n`));
  const array = (type: Type, values: readonly number[]): void => {
    pieces.push(binary ? bigEndian(type, values) : Buffer.from(spelled(values, blank)));
    line("");
  };
  line(`# vtk DataFile Version ${version}\nmade here\n${binary ? "BINARY" : "ASCII"}\nDATASET POLYDATA`);
  line("FIELD FieldData 1\nwhen 1 1 double");
  array("double", [7]);
  line(`POINTS ${POINTS} ${double ? "double" : "float"}`);
  array(double ? "double" : "float", pointsOf(parts));
  let count = 0;
  for (const kind of KINDS) {
    const own = cells[kind];
    if (own === undefined) continue;
    count += own.length;
    const size = own.reduce((sum, { length }) => sum + length, 0);
    if (version === "3.0") {
      line(`${WORDS[kind]} ${own.length} ${size + own.length}`);
      array(
        "int",
        own.flatMap((cell) => [cell.length, ...cell]),
      );
    } else {
      const offsets = [0];
      for (const cell of own) offsets.push(offsets.at(-1)! + cell.length);
      line(`${WORDS[kind]} ${offsets.length} ${size}\nOFFSETS vtktypeint64`);
      array("vtktypeint64", offsets);
      line("CONNECTIVITY vtktypeint64");
      array("vtktypeint64", own.flat());
    }
  }
  if (!data) return Buffer.concat(pieces);
  line("METADATA\nINFORMATION 0\n");
  line(`POINT_DATA ${POINTS}\nSCALARS heat double 1\nLOOKUP_TABLE default`);
  array(
    "double",
    numbers(POINTS, (i) => i / 8),
  );
  line("NORMALS n float");
  array(
    "float",
    numbers(3 * POINTS, (i) => i / 4),
  );
  line("FIELD FieldData 3\nsmall%20ones 2 900 unsigned_char");
  array(
    "unsigned_char",
    numbers(2 * POINTS, (i) => i % 256),
  );
  line("names 1 900 string");
  for (let i = 0; i < POINTS; i++)
    if (binary) pieces.push(Buffer.from([0xc0 | 3, 97, 98, 99]));
    else line(`name ${i}`);
  if (binary) line("");
  line("big 1 900 vtktypeint64");
  array(
    "vtktypeint64",
    numbers(POINTS, (i) => 9007199254740000 - i),
  );
  line(`CELL_DATA ${count}\nSCALARS label short`);
  if (!binary) line("LOOKUP_TABLE default");
  array(
    "short",
    numbers(count, (i) => i % 30_000),
  );
  line("VECTORS v float");
  array(
    "float",
    numbers(3 * count, (i) => i / 2),
  );
  if (ids !== undefined) {
    line(`FIELD FieldData 1\nobject_id 1 ${count} vtktypeint64`);
    array("vtktypeint64", numbers(count, ids));
  }
  return Buffer.concat(pieces);
}

const FORMS: readonly VtkForm[] = [
  { binary: false, version: "3.0" },
  { binary: false, version: "5.1" },
  { binary: true, version: "3.0" },
  { binary: true, version: "5.1" },
];

describe.each(FORMS)("VTK, binary: $binary, version $version", (form) => {
  it("faces and strips, with all kinds of data", async () => {
    const all = { verts: [[0], [1, 2]], lines: lines.slice(0, 3), polys: triangles, strips };
    const report = await same("a.vtk", vtk(all, form));
    expect(report.vertices).toBe(POINTS);
    expect(report.losses.join()).toMatch(
      /field when.*text of names.*2 vertices.*3 lines.*more than three.*fewer than three.*60 strips/,
    );
    await same("a.vtk", vtk({ polys: faces, double: true }, form), { formatVersion: "0.7.0", dtype: "float32" });
    await same("a.vtk", vtk({ polys: faces, data: false }, form), { chunkShape: [9, 9, 9], pyramid: { levels: 1 } });
    await same("a.vtk", vtk({ strips }, form));
  });
  it("lines", async () => {
    const report = await same("a.vtk", vtk({ lines, verts: [[0]] }, form));
    expect(report.objects).toBe(lines.length);
    expect(report.losses.join()).toMatch(/1 vertices.*points that are on no line/);
    await same("a.vtk", vtk({ lines, ids: (i) => 1000 - i, double: true }, form), { ids: "dense" });
    await same("a.vtk", vtk({ lines, ids: () => 7 }, form), { pyramid: { levels: 1 } });
  });
  it("points", async () => {
    await same("a.vtk", vtk({ verts: [[1, 2]] }, form));
    await same("a.vtk", vtk({ data: false, double: true }, form));
  });
  it("a packed file", async () => {
    await same("a.vtk.gz", gzipSync(vtk({ lines }, form)), {}, 10_000);
    await sameProblem("a.vtk.gz", gzipSync(vtk({ lines }, form).subarray(0, -400)), 10_000);
  });
  it("damage", async () => {
    const nan = (v: number, z: number) => (v === 17 || v === 400 ? Number.NaN : z);
    expect(await sameProblem("a.vtk", vtk({ polys: triangles, z: nan }, form))).toMatch(/point 17: a vertex has/);
    expect(await sameProblem("a.vtk", vtk({ lines, z: nan }, form))).toMatch(/point 400: a vertex has/);
    expect(await sameProblem("a.vtk", vtk({ z: nan }, form))).toMatch(/point 17: a vertex has/);
    const beyond = (cells: readonly number[][]) => cells.map((cell, i) => (i === 45 ? [1, 9000, ...cell] : cell));
    expect(await sameProblem("a.vtk", vtk({ polys: beyond(faces), z: nan }, form))).toMatch(/point 17/);
    expect(await sameProblem("a.vtk", vtk({ polys: beyond(faces) }, form))).toMatch(/polygon 45: .*vertex 9000/);
    expect(await sameProblem("a.vtk", vtk({ strips: beyond(strips) }, form))).toMatch(/strip 45: .*vertex 9000/);
    expect(await sameProblem("a.vtk", vtk({ lines: beyond(lines), z: nan, ids: (i) => 3 * i }, form))).toMatch(
      /line 45 of LINES points to point 9000 of 900/,
    );
    const bytes = vtk({ lines, polys: faces }, form);
    for (let left = 1; left < bytes.length; left = Math.ceil(left * 1.7))
      await sameProblem("a.vtk", bytes.subarray(0, bytes.length - left), 10_000);
    const latin = bytes.toString("latin1");
    for (const [from, to] of [
      ["POINTS 900", "POINTS 90"],
      ["POINTS 900", "POINTS 99999999999"],
      ["POINT_DATA 900", "POINT_DATA 800"],
      ["SCALARS heat", "SCALAR heat"],
      [/LINES \d+/.exec(latin)![0], "LINES 100"],
      ["POLYDATA", "STRUCTURED_GRID"],
      ["SCALARS heat double 1", "SCALARS heat double 0"],
    ] as const)
      expect(await sameProblem("a.vtk", Buffer.from(latin.replace(from, to), "latin1"))).toMatch(/Corrupt|Unsupported/);
  });
});

describe("VTK", () => {
  it("more than is read at once, in few lines", async () => {
    const far = { binary: false, version: "3.0", blank: " ".repeat(150) } as const;
    expect(vtk({ lines, polys: triangles }, far).length).toBeGreaterThan(3 << 20);
    await same("a.vtk", vtk({ lines, polys: triangles }, far));
    await same("a.vtk", vtk({ lines }, { ...far, version: "5.1" }));
  });
  it("a path that takes more memory than there is", async () => {
    const one = Array.from({ length: 40_000 }, (_, i) => i % POINTS);
    const text = vtk({ lines: [[1, 2], one], data: false }, { ...FORMS[0]!, blank: " ".repeat(100) });
    await expect(same("a.vtk", text)).rejects.toThrow(/line 1 has 40000 points, which take 640000 bytes/);
    await same("a.vtk", text, {}, 4_000_000);
  });
});
