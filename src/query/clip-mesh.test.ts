import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clipExactly, toNumbers } from "../../test/rational.js";
import { InvalidInput, Unsupported } from "../errors.js";
import { clipMesh, type MeshPart } from "./clip-mesh.js";
import { Region } from "./region.js";
import { interpolate } from "./samples.js";

const box = (min: number[], max: number[]): Region => Region.of({ box: { min, max } });
const pointOf = ({ samples }: MeshPart, sample: number): number[] => [
  ...samples.positions.subarray(sample * samples.dims, (sample + 1) * samples.dims),
];
const trianglesOf = (part: MeshPart): number[][][] =>
  Array.from({ length: part.sources.length }, (_, i) =>
    [...part.triangles.subarray(3 * i, 3 * i + 3)].map((sample) => pointOf(part, sample)),
  );

/** Of a flat polygon in any number of dimensions, as a fan: half the root of |e|²|f|² − (e·f)². */
function area(polygon: number[][]): number {
  let sum = 0;
  for (let i = 1; i + 1 < polygon.length; i++) {
    const e = polygon[i]!.map((x, k) => x - polygon[0]![k]!);
    const f = polygon[i + 1]!.map((x, k) => x - polygon[0]![k]!);
    const dot = (x: number[], y: number[]) => x.reduce((s, value, k) => s + value * y[k]!, 0);
    sum += Math.sqrt(Math.max(0, dot(e, e) * dot(f, f) - dot(e, f) ** 2)) / 2;
  }
  return sum;
}
const areaOf = (part: MeshPart): number => trianglesOf(part).reduce((sum, triangle) => sum + area(triangle), 0);

const coordinate = fc.oneof(
  fc.integer({ min: -3, max: 6 }),
  fc.integer({ min: -30, max: 60 }).map((n) => n * 0.1),
);
const point = (dims: number) => fc.array(coordinate, { minLength: dims, maxLength: dims });
const bounds = (dims: number) =>
  fc.tuple(point(dims), point(dims)).map(([a, b]) => ({
    min: a.map((value, i) => Math.min(value, b[i]!)),
    max: a.map((value, i) => Math.max(value, b[i]!)),
  }));

/** A closed surface: a torus of 12 × 8 quads. */
const torus = (() => {
  const points: number[] = [];
  const quads: number[] = [];
  for (let i = 0; i < 12; i++)
    for (let j = 0; j < 8; j++) {
      const [u, v] = [(i * Math.PI) / 6, (j * Math.PI) / 4];
      points.push((2 + Math.cos(v)) * Math.cos(u), (2 + Math.cos(v)) * Math.sin(u), Math.sin(v));
      const [next, up] = [(i + 1) % 12, (j + 1) % 8];
      quads.push(8 * i + j, 8 * next + j, 8 * next + up, 8 * i + up);
    }
  return { points, quads };
})();

describe("meshes cut by a box", () => {
  const square = box([0, 0], [4, 4]);
  test("a corner of a triangle is cut off", () => {
    const part = clipMesh(square, Float64Array.of(1, 1, 7, 1, 1, 3), 2, [0, 1, 2]);
    expect(trianglesOf(part)).toEqual([
      [
        [1, 1],
        [4, 1],
        [4, 2],
      ],
      [
        [1, 1],
        [4, 2],
        [1, 3],
      ],
    ]);
    expect([...part.sources]).toEqual([0, 0]);
    const values = interpolate(Float32Array.of(0, 6, 12), 1, part.samples, new Float32Array(4));
    expect([...values]).toEqual([0, 3, 9, 12]);
    expect([...interpolate(Uint8Array.of(5, 6, 7), 1, part.samples, new Uint8Array(4))]).toEqual([5, 5, 6, 7]);
  });
  test("whole triangles stay as they are; what touches without area leaves nothing", () => {
    const positions = Float64Array.of(1, 1, 3, 1, 1, 3, 4, 4, 9, 4, 9, 9, 4, 0, 9, 0);
    const part = clipMesh(square, positions, 2, [2, 1, 0, 3, 4, 5, 3, 6, 7, 0, 0, 1]);
    expect(trianglesOf(part)).toEqual([
      [
        [1, 3],
        [3, 1],
        [1, 1],
      ],
    ]);
    expect(part.samples.count).toBe(3);
  });
  test("a triangle in the plane of a face, and one around everything", () => {
    const around = Float64Array.of(-90, -90, 1, 90, -90, 1, 0, 200, 1);
    expect(areaOf(clipMesh(box([0, 0, 0], [2, 3, 1]), around, 3, [0, 1, 2]))).toBeCloseTo(6, 12);
  });
  test("quads are two triangles of one face", () => {
    const part = clipMesh(square, Float64Array.of(0, 0, 2, 0, 2, 2, 0, 2), 2, [0, 1, 2, 3], 4);
    expect([...part.triangles]).toEqual([0, 1, 2, 0, 2, 3]);
    expect([...part.sources]).toEqual([0, 0]);
  });
  test("spheres, wrong rows and what is not finite", () => {
    const positions = Float64Array.of(0, 0, 1, 0, 0, Number.NaN, 0, Infinity);
    expect(() => clipMesh(Region.of({ sphere: { center: [0, 0], radius: 1 } }), positions, 2, [0, 1, 2])).toThrow(
      Unsupported,
    );
    for (const row of [4, 2 ** 40, -1, 0.5, Number.NaN])
      expect(() => clipMesh(square, positions, 2, [0, 1, row])).toThrow(InvalidInput);
    expect(clipMesh(square, positions, 2, [0, 1, 2, 0, 1, 3]).sources.length).toBe(0);
    expect(clipMesh(square, positions, 2, []).sources.length).toBe(0);
  });
  test.each([2, 3, 4, 5])("the area is that of the exact intersection, and all of it inside, %d-D", (dims) => {
    let cut = 0;
    fc.assert(
      fc.property(
        point(dims),
        point(dims),
        point(dims),
        bounds(dims),
        fc.boolean(),
        (a, b, c, { min, max }, narrow) => {
          const positions = narrow ? Float32Array.of(...a, ...b, ...c) : Float64Array.of(...a, ...b, ...c);
          const exact = [0, 1, 2].map((row) => [...positions.subarray(row * dims, (row + 1) * dims)]);
          const region = box(min, max);
          const part = clipMesh(region, positions, dims, [0, 1, 2]);
          const { samples } = part;
          expect(Region.countInside(region, samples.positions, dims, 0, samples.count)).toBe(samples.count);
          const expected = area(clipExactly(exact, min, max).map(toNumbers));
          const thin = narrow && min.some((low, i) => low > max[i]! - 1e-6);
          if (!thin) expect(areaOf(part)).toBeCloseTo(expected, narrow ? 3 : 5);
          if (expected > 0.01) cut++;
          // The weights give the positions.
          const room = samples.count * dims;
          const again = interpolate(positions, dims, samples, narrow ? new Float32Array(room) : new Float64Array(room));
          for (const [i, x] of again.entries()) expect(x).toBeCloseTo(samples.positions[i]!, narrow ? 4 : 10);
        },
      ),
      { numRuns: 300 },
    );
    expect(cut).toBeGreaterThan(dims > 3 ? 3 : 30);
  });
  test("boxes that tile space cut a surface into parts that add up", () => {
    const positions = Float64Array.from(torus.points);
    const whole = areaOf(clipMesh(box([-9, -9, -9], [9, 9, 9]), positions, 3, torus.quads, 4));
    let sum = 0;
    for (let x = -4; x < 4; x += 0.77)
      for (let y = -4; y < 4; y += 1.31)
        sum += areaOf(clipMesh(box([x, y, -9], [x + 0.77, y + 1.31, 9]), positions, 3, torus.quads, 4));
    expect(sum).toBeCloseTo(whole, 9);
  });
  test("a closed surface is open only along the faces of the box, in every precision", () => {
    const low = fc.double({ min: -3, max: 1, noNaN: true });
    const three = fc.array(low, { minLength: 3, maxLength: 3 });
    const size = fc.array(fc.double({ min: 0.1, max: 3, noNaN: true }), { minLength: 3, maxLength: 3 });
    let open = 0;
    fc.assert(
      fc.property(three, size, fc.boolean(), (min, extent, narrow) => {
        const max = min.map((x, i) => x + extent[i]!);
        const positions = narrow ? Float32Array.from(torus.points) : Float64Array.from(torus.points);
        const part = clipMesh(box(min, max), positions, 3, torus.quads, 4);
        const edges = new Map<string, number>();
        for (let i = 0; i < part.triangles.length; i++) {
          const from = part.triangles[i]!;
          const to = part.triangles[i % 3 === 2 ? i - 2 : i + 1]!;
          edges.set(`${from} ${to}`, (edges.get(`${from} ${to}`) ?? 0) + 1);
        }
        const faces = narrow ? [min, max].map((corner) => corner.map(Math.fround)) : [min, max];
        for (const [edge, times] of edges) {
          expect(times).toBe(1); // no edge is passed twice in the same direction: the winding is kept
          const [from, to] = edge.split(" ").map(Number) as [number, number];
          if (edges.has(`${to} ${from}`)) continue;
          open++;
          const [p, q] = [pointOf(part, from), pointOf(part, to)];
          const common = p.some(
            (x, i) => x === q[i] && faces.some((corner) => Math.abs(corner[i]! - x) < (narrow ? 1e-6 : 1e-300)),
          );
          expect(common).toBe(true);
        }
      }),
      { numRuns: 150 },
    );
    expect(open).toBeGreaterThan(500);
  });
});
