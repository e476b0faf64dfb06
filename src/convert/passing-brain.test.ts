/** Surfaces of the brain that are too large to be held become the same stores as those that are not. */
import { gzipSync } from "node:zlib";
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
