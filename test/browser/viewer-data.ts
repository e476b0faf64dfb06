/**
 * What the tests of the viewer show: in every kind and format the same picture, seen from the front (x to the right, z up).
 *
 *     z 80 ┤            B        A, object 7: a bar from (10, 0, 50) to (40, 0, 50), of the kind "first", with values from 0 to 0.3
 *       50 ┤  AAAAAA    B        B, object 8: a bar from (70, 0, 20) to (70, 0, 80), of the kind "second", with values from 0.4 to 1
 *       20 ┤            B
 *          └──10───40───70 x
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAnnotations, createMeshes } from "../../src/format/precomputed/index.js";
import { createZarrVectors } from "../../src/format/zarr-vectors/index.js";
import type { BatchParts } from "../../src/format/zarr-vectors/write/write.js";
import type { Axis, Geometry } from "../../src/model/vectors.js";
import { convert } from "../../src/node.js";
import type { Camera, Vector } from "../../src/scene/camera.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { columnsOf, info } from "../zarr-vectors-scenes.js";

const float32 = { kind: "float", size: 4, endian: "little" } as const;

/** From the front, without perspective, so that places on the screen are known. */
export const FRONT: Camera = { target: [42.5, 0, 50], azimuth: 0, elevation: 0, span: 80, perspective: false };
/** On both objects, between them, and above the first. */
export const ON_A: Vector = [25, 0, 50];
export const ON_B: Vector = [70, 0, 35];
export const BETWEEN: Vector = [55, 0, 50];
export const ABOVE: Vector = [25, 0, 75];

const STEP = 5;

/** Places of the two bars; of meshes their corners, of lines their ends. */
function bars(geometry: Geometry): { readonly a: number[]; readonly b: number[] } {
  const along = (count: number, place: (i: number) => Vector): number[] =>
    Array.from({ length: count }, (_, i) => place(i)).flat();
  if (geometry === "mesh")
    return {
      a: [10, 0, 45, 40, 0, 45, 40, 0, 55, 10, 0, 55],
      b: [65, 0, 20, 75, 0, 20, 75, 0, 80, 65, 0, 80],
    };
  if (geometry === "lines") return { a: [10, 0, 50, 40, 0, 50], b: [70, 0, 20, 70, 0, 80] };
  return {
    a: along(30 / STEP + 1, (i) => [10 + i * STEP, 0, 50]),
    b: along(60 / STEP + 1, (i) => [70, 0, 20 + i * STEP]),
  };
}

export function pictureOf(geometry: Geometry): BatchParts {
  const { a, b } = bars(geometry);
  const [first, count] = [a.length / 3, (a.length + b.length) / 3];
  const values = Float32Array.from({ length: count }, (_, v) =>
    v < first ? (0.3 * v) / (first - 1) : 0.4 + (0.6 * (v - first)) / (count - first - 1),
  );
  const chain = Array.from({ length: count - 1 }, (_, v) => [v + 1, v]).filter(([v]) => v !== first);
  const ends = geometry === "mesh" ? [0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7] : chain.flat();
  const linked = geometry === "mesh" || geometry === "graph" || geometry === "skeletons";
  return {
    positions: Float32Array.from([...a, ...b]),
    parts: Uint32Array.of(0, first, count),
    objects: Int32Array.of(0, 1),
    ids: BigInt64Array.of(7n, 8n),
    links: linked
      ? { width: geometry === "mesh" ? 3 : 2, ends: Uint32Array.from(ends), columns: new Map() }
      : undefined,
    vertexColumns: columnsOf(
      [info("value", float32), values],
      ...(geometry === "skeletons" ? [[info("radius", float32), new Float32Array(count).fill(1)] as const] : []),
    ),
    objectColumns: columnsOf(
      [info("kind", { kind: "string" }), ["first", "second"]],
      [info("score", float32), Float32Array.of(10, 20)],
    ),
  };
}

/** A Zarr Vectors store of the picture, so many `times` as large, in chunks of 25 (times as large), with a group of each object. */
export async function makeStore(at: string, geometry: Geometry, unit: string, times = 1): Promise<void> {
  const axes = ["x", "y", "z"].map((name): Axis => ({ name, type: "space", unit }));
  const writer = await createZarrVectors(fileStore(at), Prefix.root, { geometry, axes, chunkShape: 25 * times });
  const { positions, ...parts } = pictureOf(geometry);
  await writer.add({ ...parts, positions: (positions as Float32Array).map((at) => at * times) });
  writer.groups(
    [BigInt64Array.of(7n), BigInt64Array.of(8n)],
    columnsOf([info("name", { kind: "string" }), ["lying", "standing"]]),
  );
  await writer.commit();
}

const KINDS = ["points", "lines", "polylines", "streamlines", "graph", "skeletons", "mesh"] as const;

/** Everything below a folder: the kinds of Zarr Vectors, and what other formats make of them. */
export async function makeData(folder: string): Promise<void> {
  for (const kind of KINDS) await makeStore(join(folder, `${kind}.zv`), kind, "nanometer");
  await makeStore(join(folder, "fibres.zv"), "streamlines", "millimeter");
  const to = (from: string, name: string, options: Parameters<typeof convert>[2] = {}) =>
    convert(join(folder, from), join(folder, name), options);
  const precomputed = { to: "precomputed" } as const;
  await to("skeletons.zv", "skeletons.precomputed", precomputed);
  await to("mesh.zv", "mesh.precomputed", precomputed);
  await to("points.zv", "points.precomputed", precomputed);
  await to("lines.zv", "lines.precomputed", { ...precomputed, kind: "annotations" });
  await to("points.zv", "points.ptree");
  for (const name of ["fibres.trk", "fibres.tck", "fibres.trx"]) await to("fibres.zv", name);
  writeFileSync(join(folder, "neuron.swc"), swc());
  for (const name of ["mesh.obj", "mesh.ply", "mesh.stl"]) await to("mesh.zv", name);
  const meshes = await createMeshes(fileStore(join(folder, "legacy.precomputed")), Prefix.root, { kind: "legacy" });
  const { a, b } = bars("mesh");
  for (const [id, places] of [[7n, a] as const, [8n, b] as const])
    await meshes.put(id, { positions: Float32Array.from(places), faces: Uint32Array.of(0, 1, 2, 0, 2, 3) });
  await meshes.commit();
  for (const type of ["axis_aligned_bounding_box", "ellipsoid"] as const) await makeAnnotations(folder, type);
}

/** One tree, since SWC has one: B goes on where A ends. Number, type, place, radius, parent. */
function swc(): string {
  const { a, b } = bars("skeletons");
  const places = [...a, ...b];
  return Array.from(
    { length: places.length / 3 },
    (_, i) => `${i + 1} 3 ${places.slice(3 * i, 3 * i + 3).join(" ")} 1 ${i === 0 ? -1 : i}\n`,
  ).join("");
}

/** Boxes and ellipsoids, which no geometry becomes: around A, and around B. */
async function makeAnnotations(folder: string, type: "axis_aligned_bounding_box" | "ellipsoid"): Promise<void> {
  const points =
    type === "ellipsoid"
      ? [25, 0, 50, 15, 5, 5, 70, 0, 50, 5, 5, 30] // centres and radii
      : [10, -5, 45, 40, 5, 55, 65, -5, 20, 75, 5, 80];
  const dimensions = ["x", "y", "z"].map((name) => ({ name, scale: 1e-9, unit: "m" }));
  const writer = await createAnnotations(fileStore(join(folder, `${type}.precomputed`)), Prefix.root, {
    type,
    dimensions,
  });
  await writer.add({
    ids: BigUint64Array.of(7n, 8n),
    offsets: Uint32Array.of(0, 2, 4),
    points: Float32Array.from(points),
    properties: new Map(),
  });
  await writer.commit();
}
