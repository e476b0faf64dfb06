/** Boxes and ellipsoids as lines: where their places are, whose they are, and what is left out. */
import { expect, test } from "vitest";
import type { Batch } from "../model/vectors.js";
import { outlined, outlineOf } from "./outline.js";

const float32 = { kind: "float", size: 4, endian: "little" } as const;
const column = (name: string, channels: number, ...values: number[]) =>
  [name, { info: { name, dtype: float32, channels }, values: Float32Array.from(values) }] as const;

function batch(over: Partial<Batch>): Batch {
  const nothing = { level: 0, links: undefined, fragments: undefined, chunk: undefined };
  const tables = { vertexColumns: new Map(), objectColumns: new Map() };
  const empty = { positions: new Float64Array(), parts: Uint32Array.of(0), objects: new Int32Array() };
  return { ...nothing, ...tables, ...empty, geometry: "lines", dims: 3, ids: new BigUint64Array(), ...over };
}

const places = ({ positions, dims }: Batch): string[] =>
  Array.from({ length: positions.length / dims }, (_, v) => positions.slice(v * dims, (v + 1) * dims).join());

test("a box is its twelve edges between its corners, whichever corners it was given by", () => {
  const positions = Float64Array.of(5, 2, 3, 1, 20, 30);
  const given = batch({
    positions,
    parts: Uint32Array.of(0, 2),
    objects: Int32Array.of(0),
    ids: BigUint64Array.of(7n),
  });
  const box = outlined(given, [0, 1, 2], "boxes");
  expect(new Set(places(box))).toEqual(
    new Set([5, 1].flatMap((x) => [2, 20].flatMap((y) => [3, 30].map((z) => `${x},${y},${z}`)))),
  );
  expect([...box.parts]).toEqual([0, 8]);
  const edges = Array.from({ length: 12 }, (_, i) => box.links!.ends.slice(2 * i, 2 * i + 2));
  const at = (vertex: number): number[] => [...box.positions.slice(3 * vertex, 3 * vertex + 3)];
  for (const [a, b] of edges) expect(at(a!).filter((value, k) => value !== at(b!)[k]).length).toBe(1);
  expect(new Set(edges.map((edge) => edge.join())).size).toBe(12);
});

test("what a chunk has one corner of is left out, and the others keep their parts and attributes", () => {
  const given = batch({
    positions: Float64Array.of(9, 9, 9, 0, 0, 0, 1, 1, 1),
    parts: Uint32Array.of(0, 1, 3),
    objects: Int32Array.of(0, 1),
    vertexColumns: new Map([column("v", 1, 4, 5, 6)]),
  });
  const { parts, vertexColumns, geometry } = outlined(given, [0, 1, 2], "boxes");
  expect([...parts]).toEqual([0, 0, 8]);
  expect([...(vertexColumns.get("v")!.values as Float32Array)]).toEqual(new Array(8).fill(5));
  expect(geometry).toBe("graph");
});

test("an ellipsoid reaches as far as its radii, each its own; of another axis its place stays", () => {
  const given = batch({
    geometry: "points",
    dims: 4,
    positions: Float64Array.of(10, 20, 30, 7, 0, 0, 0, 8),
    parts: Uint32Array.of(0, 1, 2),
    objects: Int32Array.of(1, 0),
    objectColumns: new Map([column("radii", 4, 9, 9, 9, 9, 1, 2, 3, 4)]),
  });
  const round = outlined(given, [0, 1, 2], "ellipsoids");
  const one = places(round)
    .slice(0, round.parts[1])
    .map((place) => place.split(",").map(Number));
  for (const [axis, low, high] of [
    [0, 9, 11],
    [1, 18, 22],
    [2, 27, 33],
    [3, 7, 7],
  ] as const) {
    expect(Math.min(...one.map((place) => place[axis]!))).toBeCloseTo(low, 6);
    expect(Math.max(...one.map((place) => place[axis]!))).toBeCloseTo(high, 6);
  }
  expect(round.parts[2]).toBe(2 * round.parts[1]!);
});

test("only what annotations say that they are is drawn so", () => {
  const of = (annotation_type: string, geometry: "points" | "lines") =>
    outlineOf({ attributes: { annotation_type }, geometries: [geometry] });
  expect(of("axis_aligned_bounding_box", "lines")).toBe("boxes");
  expect(of("ellipsoid", "points")).toBe("ellipsoids");
  expect([of("line", "lines"), of("ellipsoid", "lines"), of("point", "points")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
