import fc from "fast-check";
import { expect, test } from "vitest";
import { LimitExceeded } from "../../../errors.js";
import { Manifest } from "./manifest.js";
import { Planes, split, Triples } from "./split.js";
import { CELL_BITS, ZCurve } from "./zcurve.js";

const axis = fc.integer({ min: 0, max: 2 ** CELL_BITS - 1 });

test("codes hold cells, in the order of manifests", () => {
  expect([1, 2, 4].map((code) => ZCurve.decode(code))).toEqual([
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ]);
  expect(ZCurve.encode(32767, 32767, 32767)).toBe(2 ** 45 - 1);
  fc.assert(
    fc.property(fc.array(fc.tuple(axis, axis, axis), { minLength: 1, maxLength: 20 }), (cells) => {
      const codes = [...new Set(cells.map((cell) => ZCurve.encode(...cell)))].sort((a, b) => a - b);
      for (const cell of cells) expect(ZCurve.decode(ZCurve.encode(...cell))).toEqual(cell);
      const places = codes.map(ZCurve.decode);
      const columns = Uint32Array.from([0, 1, 2].flatMap((k) => places.map((place) => place[k]!)));
      const lod = { scale: 1, offset: [0, 0, 0], cells: columns, sizes: new Uint32Array(codes.length) };
      expect(Manifest.disorder(lod)).toBeUndefined();
      const [x, y, z] = cells[0]!;
      expect(ZCurve.decode(ZCurve.parent(ZCurve.encode(x, y, z)))).toEqual([x >> 1, y >> 1, z >> 1]);
    }),
  );
});

test("planes: the sides of cells, and from lod 1 on their middle, where Neuroglancer parts them", () => {
  const [fine, coarse] = [new Planes(0, 10), new Planes(1, 10)];
  expect([0, 1, 2, 3].map((plane) => fine.at(plane))).toEqual([0, 1023, 2046, 3069]);
  expect([0, 1, 2, 3].map((plane) => coarse.at(plane))).toEqual([0, 512, 1023, 1535]);
  expect([0, 1022, 1023, 2046].map((step) => fine.slab(step))).toEqual([0, 0, 1, 2]);
  expect([0, 511, 512, 1022, 1023, 1535].map((step) => coarse.slab(step))).toEqual([0, 0, 1, 1, 2, 3]);
  expect(new Planes(3, 16).at(1)).toBe(32768);
});

/** Tetrahedra: closed surfaces. */
const SIZE = 3 * 1023;
const corner = fc.tuple(...[0, 1, 2].map(() => fc.integer({ min: 0, max: SIZE })));
const tetrahedra = fc.array(fc.tuple(corner, corner, corner, corner), { minLength: 1, maxLength: 2 });
const SIDES = [0, 1, 2, 0, 3, 1, 1, 3, 2, 2, 3, 0];

/** Edges that do not meet another in the opposite direction at the same two places. */
function openEdges(vertices: Triples, faces: Triples): string[] {
  const seen = new Map<string, number>();
  const place = (vertex: number): string => vertices.data.subarray(3 * vertex, 3 * vertex + 3).join();
  for (let i = 0; i < faces.count; i++)
    for (let k = 0; k < 3; k++) {
      const [a, b] = [place(faces.data[3 * i + k]!), place(faces.data[3 * i + ((k + 1) % 3)]!)];
      if (a === b) continue;
      const [name, way] = a < b ? [`${a} ${b}`, 1] : [`${b} ${a}`, -1];
      seen.set(name, (seen.get(name) ?? 0) + way);
    }
  return [...seen].filter(([, count]) => count !== 0).map(([name]) => name);
}

function volume(vertices: Triples, faces: Triples): number {
  let six = 0;
  for (let i = 0; i < faces.count; i++) {
    const at = (corner: number, k: number): number => vertices.data[3 * faces.data[3 * i + corner]! + k]!;
    for (let k = 0; k < 3; k++) {
      const [l, m] = [(k + 1) % 3, (k + 2) % 3];
      six += at(0, k) * (at(1, l) * at(2, m) - at(1, m) * at(2, l));
    }
  }
  return six / 6;
}

/** Faces with corners on both sides of a plane. */
function across(vertices: Triples, faces: Triples, planes: Planes): number {
  let count = 0;
  for (let i = 0; i < faces.count; i++)
    for (let k = 0; k < 3; k++) {
      const steps = [0, 1, 2].map((corner) => vertices.data[3 * faces.data[3 * i + corner]! + k]!);
      if (Math.max(...steps) > planes.at(planes.slab(Math.min(...steps)) + 1)) count++;
    }
  return count;
}

test.each([0, 1])("lod %i: what is cut lies in one slab, is closed where it was, and takes the same space", (lod) => {
  fc.assert(
    fc.property(tetrahedra, fc.boolean(), (solids, shared) => {
      const vertices = Triples.of(Int32Array.from(solids.flat(2)));
      const indexes = solids.flatMap((_, i) => SIDES.map((side) => 4 * i + side));
      // Without shared vertices, each face has three of its own: what is at the same place must still be cut alike.
      const soup = Int32Array.from(
        indexes.flatMap((vertex) => [...vertices.data.subarray(3 * vertex, 3 * vertex + 3)]),
      );
      const own = shared ? vertices : Triples.of(soup);
      const faces = Triples.of(Int32Array.from(shared ? indexes : indexes.keys()));
      const planes = new Planes(lod, 10);
      const before = volume(own, faces);
      const cut = split(own, faces, planes, 2 ** 31);
      expect(across(own, cut, planes)).toBe(0);
      expect(openEdges(own, cut)).toEqual([]);
      // Each side may move by a step where it is cut.
      expect(Math.abs(volume(own, cut) - before)).toBeLessThan(solids.length * 4 * 2 * SIZE ** 2);
    }),
    { numRuns: 30 },
  );
});

test("a triangle over many cells does not bend: the error is that of a few halvings", () => {
  const size = 500 * 1023;
  const vertices = Triples.of(Int32Array.of(0, 0, 0, size, 1, 0, 0, 1, 7));
  const cut = split(vertices, Triples.of(Int32Array.of(0, 1, 2)), new Planes(0, 10), 2 ** 31);
  expect(cut.count).toBeGreaterThan(500);
  const points = Array.from({ length: vertices.count }, (_, i) => vertices.data.subarray(3 * i, 3 * i + 3));
  // In the exact triangle y goes to 1, and z to 7 at x = 0 and to 0 at its end.
  const bent = points.filter(([x, y, z]) => y! < 0 || y! > 1 || z! < -1 || z! > 7 * (1 - x! / size) + 5);
  expect(bent).toEqual([]);
  const huge = Triples.of(Int32Array.of(0, 0, 0, size, 0, 0, 0, size, 0));
  expect(() => split(huge, Triples.of(Int32Array.of(0, 1, 2)), new Planes(0, 10), 2 ** 20)).toThrow(LimitExceeded);
});
