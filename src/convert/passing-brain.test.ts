/** Surfaces of the brain that are too large to be held become the same stores as those that are not. */
import { deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { SIDE, same, sameProblem, square } from "../../test/passing.js";

interface FreesurferParts {
  readonly side?: number;
  readonly z?: (vertex: number, z: number) => number;
  readonly end?: (face: number, vertex: number) => number;
  readonly counts?: readonly [vertices: number, faces: number];
  readonly footer?: Uint8Array | string;
}

function freesurfer({
  side = SIDE,
  z = (_, own) => own,
  end = (_, v) => v,
  counts,
  footer = "",
}: FreesurferParts): Buffer {
  const { at, faces } = square(4, side);
  const [vertices, triangles] = [side * side, faces.length];
  const bytes = Buffer.alloc(8 + 12 * (vertices + triangles));
  bytes.writeInt32BE(counts?.[0] ?? vertices, 0);
  bytes.writeInt32BE(counts?.[1] ?? triangles, 4);
  let place = 8;
  for (let v = 0; v < vertices; v++)
    for (const [k, value] of at(v).entries()) place = bytes.writeFloatBE(k === 2 ? z(v, value) : value, place);
  for (const [f, face] of faces.entries()) for (const v of face) place = bytes.writeInt32BE(end(f, v), place);
  return Buffer.concat([Buffer.from([255, 255, 254]), Buffer.from("made here\n\n"), bytes, Buffer.from(footer)]);
}

describe("FreeSurfer", () => {
  const footer = "valid = 1\ncras   = 1.5 -2.25 3\n";
  it("faces, with what comes after them", async () => {
    expect((await same("lh.pial", freesurfer({}))).vertices).toBe(SIDE * SIDE);
    await same("lh.pial", freesurfer({ footer }), { formatVersion: "0.7.0", dtype: "float64" });
    await same("lh.pial", freesurfer({ footer }), { chunkShape: [9, 9, 9], pyramid: { levels: 1 } });
    await same("lh.pial.gz", gzipSync(freesurfer({ footer }), { level: 0 }));
  });
  it("more than is read at once", async () => {
    await same("lh.pial", freesurfer({ side: 270, footer }), {}, 1 << 20);
  });
  it("damage", async () => {
    const nowhere = (v: number, z: number) => (v === 17 || v === 400 ? Number.NaN : z);
    const beyond = (f: number, v: number) => (f === 40 ? 9000 : f === 50 ? -1 : v);
    expect(await sameProblem("lh.pial", freesurfer({ z: nowhere }))).toMatch(
      /byte 226: a vertex has the coordinate NaN/,
    );
    expect(await sameProblem("lh.pial", freesurfer({ end: beyond, footer }))).toMatch(
      /byte 11302: a face points to vertex 9000/,
    );
    expect(await sameProblem("lh.pial", freesurfer({ end: beyond, z: nowhere }))).toMatch(/byte 226/);
    const bytes = freesurfer({ footer });
    for (const left of [50, 5000, 20_000, bytes.length - 20, bytes.length - 2])
      expect(await sameProblem("lh.pial", bytes.subarray(0, bytes.length - left), 30)).toMatch(/Corrupt/);
    expect(await sameProblem("lh.pial.gz", gzipSync(bytes, { level: 0 }).subarray(0, -5000), 30)).toMatch(/Corrupt/);
    for (const counts of [[0x7fff_ffff, 1] as const, [900, -1] as const, [9000, 9000] as const])
      expect(await sameProblem("lh.pial", freesurfer({ counts }))).toMatch(/claims -?\d+ items/);
    expect(await sameProblem("lh.pial.gz", gzipSync(freesurfer({ counts: [9000, 1] })), 30)).toMatch(/claims 9000/);
  });
  it("is refused with the sentence where its end is too large to be kept", async () => {
    const bytes = freesurfer({ footer: Buffer.alloc((1 << 20) + 1) });
    await expect(same("lh.pial", bytes)).rejects.toThrow("is of a kind that is read whole");
  });
});

type Numbers = Float32Array | Float64Array | Int32Array | Uint8Array | BigInt64Array;

interface GiftiParts {
  readonly encoding?: "ASCII" | "Base64Binary" | "GZipBase64Binary";
  readonly byColumn?: boolean;
  readonly big?: boolean;
  readonly double?: boolean;
  readonly side?: number;
  /** Blanks and line ends among numbers and in base64. */
  readonly broken?: boolean;
  readonly ids?: (vertex: number) => number;
  readonly z?: (vertex: number, z: number) => number;
  readonly end?: (face: number, vertex: number) => number;
  /** What becomes of the text of arrays. */
  readonly text?: (text: string, array: number) => string;
}

/** A surface, with data of vertices and of faces and an array of which nobody knows what it is about. */
function gifti(parts: GiftiParts): string {
  const { encoding = "Base64Binary", byColumn, big, double, side = SIDE, broken, ids } = parts;
  const { z = (_, own) => own, end = (_, v) => v, text = (own) => own } = parts;
  const { at, faces } = square(6, side);
  const each = Array.from({ length: side * side }, (_, v) => v);
  let count = 0;
  const array = (intent: string, values: Numbers, channels: number, name?: string): string => {
    const rows = values.length / channels;
    const turned = values.slice();
    for (let i = 0; byColumn && i < rows; i++)
      for (let k = 0; k < channels; k++) turned[k * rows + i] = values[i * channels + k]!;
    const bytes = Buffer.from(turned.slice().buffer);
    const unit = turned.BYTES_PER_ELEMENT;
    if (big && unit === 4) bytes.swap32();
    else if (big && unit === 8) bytes.swap64();
    const own =
      encoding === "ASCII"
        ? [...turned].join(broken ? " \n" : " ")
        : (encoding === "Base64Binary" ? bytes : deflateSync(bytes))
            .toString("base64")
            .replace(/(.{76})/g, broken ? "$1\n" : "$1");
    const kind = values.constructor.name.replace(/^Big/, "").replace("Array", "").toUpperCase();
    const dims =
      channels === 1 ? `Dimensionality="1" Dim0="${rows}"` : `Dimensionality="2" Dim0="${rows}" Dim1="${channels}"`;
    const order = `ArrayIndexingOrder="${byColumn ? "Column" : "Row"}MajorOrder"`;
    const said = name === undefined ? "" : `<MetaData><MD><Name>Name</Name><Value>${name}</Value></MD></MetaData>`;
    return `<DataArray Intent="NIFTI_INTENT_${intent}" DataType="NIFTI_TYPE_${kind}" ${order} ${dims} Encoding="${encoding}" Endian="${big ? "Big" : "Little"}Endian">${said}<Data>${text(own, count++)}</Data></DataArray>\n`;
  };
  const positions = each.flatMap((v) => at(v).map((value, k) => (k === 2 ? z(v, value) : value)));
  const arrays = [
    array("POINTSET", double ? Float64Array.from(positions) : Float32Array.from(positions), 3),
    array(
      "SHAPE",
      Float32Array.from(each, (v) => v / 8),
      1,
      "thickness",
    ),
    array("TRIANGLE", Int32Array.from(faces.flatMap((face, f) => face.map((v) => end(f, v)))), 3),
    array(
      "VECTOR",
      Float32Array.from(positions, (value) => value / 3),
      3,
    ),
    array(
      "LABEL",
      BigInt64Array.from(faces, (_, f) => BigInt(f) << 40n),
      1,
    ),
    array("NONE", Uint8Array.of(1, 2, 3), 1, "odd"),
    ...(ids ? [array("NONE", Int32Array.from(each, ids), 1, "object_id")] : []),
  ];
  return `<?xml version="1.0" encoding="UTF-8"?>\n<GIFTI Version="1.0"><MetaData><MD><Name>by</Name><Value>hand</Value></MD></MetaData>\n${arrays.join("")}</GIFTI>\n`;
}

const MEMORY = 100_000;

describe.each(["ASCII", "Base64Binary", "GZipBase64Binary"] as const)("GIFTI, %s", (encoding) => {
  const all = { encoding };
  it("points, faces and data of both", async () => {
    const report = await same("a.surf.gii", gifti(all), {}, MEMORY);
    expect(report.vertices).toBe(SIDE * SIDE);
    expect(report.losses.join()).toMatch(/the array odd of 3 rows is left out/);
    await same("a.gii", gifti({ ...all, byColumn: true, double: true }), { formatVersion: "0.7.0" }, MEMORY);
    await same(
      "a.gii",
      gifti({ ...all, big: true, broken: true }),
      { pyramid: { levels: 1 }, chunkShape: [9, 9, 9] },
      MEMORY,
    );
    await same("a.gii.gz", gzipSync(gifti({ ...all, broken: true }), { level: 0 }), {}, MEMORY);
    const halves = { ids: (v: number) => (v < 450 ? 7 : 3), end: (f: number, v: number) => (f % 2) * 450 + (v % 450) };
    expect((await same("a.gii", gifti({ ...all, ...halves }), {}, MEMORY)).objects).toBe(2);
    const points = gifti(all).replace(/<DataArray Intent="NIFTI_INTENT_TRIANGLE".*\n/, "");
    expect((await same("a.gii", points, {}, MEMORY)).vertices).toBe(SIDE * SIDE);
  });
  it("more than is read at once", async () => {
    await same("a.gii", gifti({ ...all, side: 270 }), {}, 4 << 20);
  });
  it("damage", async () => {
    const nowhere = (v: number, z: number) => (v === 17 || v === 400 ? Number.NaN : z);
    const beyond = (f: number, v: number) => (f === 40 ? 9000 : f === 50 ? -1 : v);
    const problem = async (parts: GiftiParts) => sameProblem("a.gii", gifti({ ...all, ...parts }), MEMORY);
    expect(await problem({ z: nowhere })).toMatch(/point 17: a vertex has the coordinate NaN/);
    expect(await problem({ end: beyond })).toMatch(/triangle 40: a face points to vertex 9000/);
    expect(await problem({ end: beyond, z: nowhere })).toMatch(/point 17/);
    for (const change of [
      (text: string) => text.slice(0, -9),
      (text: string) => `${text.slice(0, 400)}!${text.slice(400)}`,
      (text: string) => `${text.slice(0, 400)}<b/>${text.slice(400)}`,
      () => "",
    ])
      expect(await problem({ text: (own, array) => (array === 2 ? change(own) : own) })).toMatch(/Corrupt/);
    const whole = gifti(all);
    for (const left of [5, 200, 5000, whole.length - 300])
      expect(await sameProblem("a.gii", whole.slice(0, -left), MEMORY)).toMatch(/Corrupt/);
    for (const [from, to, message] of [
      ['Dim0="900" Dim1="3"', 'Dim0="90000000000" Dim1="3"', /DataArray 0/],
      ['Dim0="900" Dim1="3"', 'Dim0="899" Dim1="3"', /DataArray 0 has more than the (10788 bytes|2697 numbers)/],
      ['Dim0="900" Dim1="3"', 'Dim0="-900" Dim1="3"', /has the shape -900 × 3/],
      ["POINTSET", "SHAPE", /has no POINTSET/],
      [`Encoding="${encoding}"`, 'Encoding="ExternalFileBinary"', /ExternalFileBinary, which is not read/],
    ] as const)
      expect(await sameProblem("a.gii", whole.replace(from, to), MEMORY)).toMatch(message);
  });
  it("is refused where what is written beside its numbers is too large to be held", async () => {
    const told = gifti(all).replace("hand", "by hand ".repeat(2000));
    await expect(same("a.gii", told, {}, MEMORY)).rejects.toThrow("is of a kind that is read whole");
    const long = gifti(all).replace("hand", "x".repeat(16_000));
    await expect(same("a.gii", long, {}, MEMORY)).rejects.toThrow("is of a kind that is read whole");
  });
});
