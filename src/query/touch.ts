/**
 * Whether segments, paths, triangles and polygons touch a region; rows are vertices, region and shapes are closed.
 *
 * Against a box the answer is that of real numbers, whatever the coordinates: no rounding can lose or invent a touch. It
 * rests on Helly's theorem: convex pieces of a line have a common point if every two of them have one, those of a plane if
 * every three have. A segment is cut by the box's slabs, one per axis, into such pieces; so it touches the box if its shadow
 * on each pair of axes touches the box's shadow. For a triangle each triple of axes counts, and in three dimensions that is
 * the test of separating axes: the extent on each axis, the edges of the shadow on each pair, the plane on each triple.
 *
 * Against a sphere the nearest point is computed in float64, and counts if it is inside as a vertex would be. That is off
 * from real numbers by a few roundings of the coordinates at most. In both, a shape with a vertex inside touches, and one
 * whose bounding box is "outside" (Region.relation) does not.
 *
 * Zero lengths and areas are no special case. Of a segment or triangle with a coordinate that is not finite only the vertices
 * count: nobody can say where the rest of it lies.
 */
import { distance2ToSegment, distance2ToTriangle } from "./nearest.js";
import { cross, planeMeets } from "./predicates.js";
import { type Positions, Region } from "./region.js";

type BoxRegion = Extract<Region, { kind: "box" }>;

export function touchesSegment(region: Region, positions: Positions, dims: number, a: number, b: number): boolean {
  return (
    Region.contains(region, positions, dims, a) ||
    Region.contains(region, positions, dims, b) ||
    segmentPasses(region, positions, dims, a, b)
  );
}

/** The polyline over rows from … to; of one row, that vertex. */
export function touchesPath(region: Region, positions: Positions, dims: number, from: number, to: number): boolean {
  const { min, max } = Region.bounds(region);
  let before = 0;
  for (let row = from; row < to; row++) {
    const beyond = facesBeyond(min, max, positions, dims, row);
    if (beyond === 0 && Region.contains(region, positions, dims, row)) return true;
    if ((beyond & before) === 0 && row > from && segmentPasses(region, positions, dims, row - 1, row)) return true;
    before = beyond;
    if (beyond === 0) continue;
    // As long as the path stays beyond that face, one comparison per vertex is enough: most paths are far away.
    const face = 31 - Math.clz32(beyond);
    const run = runBeyond(face & 1 ? max : min, face, positions, dims, row + 1, to);
    if (run === row + 1) continue;
    row = run - 1;
    before = facesBeyond(min, max, positions, dims, row);
  }
  return false;
}

/** A bit for each face of the box that a vertex is beyond: 2 i for min[i], 2 i + 1 for max[i]; NaN is beyond both. */
function facesBeyond(
  min: readonly number[],
  max: readonly number[],
  positions: Positions,
  dims: number,
  row: number,
): number {
  let bits = 0;
  for (let i = 0, at = row * dims; i < dims; i++, at++) {
    const value = positions[at]!;
    if (!(value >= min[i]!)) bits |= 1 << (2 * i);
    if (!(value <= max[i]!)) bits |= 2 << (2 * i);
  }
  return bits;
}

/** The first row from `row` on that is not beyond the face. */
function runBeyond(
  limits: readonly number[],
  face: number,
  positions: Positions,
  dims: number,
  row: number,
  to: number,
): number {
  const axis = face >> 1;
  const limit = limits[axis]!;
  const end = to * dims;
  let at = row * dims + axis;
  if (face & 1) while (at < end && positions[at]! > limit) at += dims;
  else while (at < end && positions[at]! < limit) at += dims;
  return (at - axis) / dims;
}

export function touchesTriangle(
  region: Region,
  positions: Positions,
  dims: number,
  a: number,
  b: number,
  c: number,
): boolean {
  return (
    Region.contains(region, positions, dims, a) ||
    Region.contains(region, positions, dims, b) ||
    Region.contains(region, positions, dims, c) ||
    (region.kind === "box"
      ? trianglePasses(region, positions, dims, a, b, c)
      : distance2ToTriangle(region.center, positions, dims, a, b, c) <= region.radius * region.radius)
  );
}

/** A face of any width, `vertices[from … to)`, as the fan of triangles around its first vertex. */
export function touchesPolygon(
  region: Region,
  positions: Positions,
  dims: number,
  vertices: ArrayLike<number>,
  from: number,
  to: number,
): boolean {
  if (to - from === 1) return Region.contains(region, positions, dims, vertices[from]!);
  if (to - from === 2) return touchesSegment(region, positions, dims, vertices[from]!, vertices[from + 1]!);
  for (let i = from + 1; i + 1 < to; i++)
    if (touchesTriangle(region, positions, dims, vertices[from]!, vertices[i]!, vertices[i + 1]!)) return true;
  return false;
}

/** Whether a segment touches, both of whose ends are known to be outside. */
function segmentPasses(region: Region, positions: Positions, dims: number, a: number, b: number): boolean {
  if (region.kind === "sphere")
    return distance2ToSegment(region.center, positions, dims, a, b) <= region.radius * region.radius;
  for (let i = 0; i < dims; i++) {
    const p = positions[a * dims + i]!;
    const q = positions[b * dims + i]!;
    if (!overlaps(region, i, Math.min(p, q), Math.max(p, q))) return false;
  }
  for (let i = 0; i < dims; i++)
    for (let j = i + 1; j < dims; j++) if (!shadowMeets(region, positions, dims, i, j, a, b, a)) return false;
  return true;
}

function trianglePasses(box: BoxRegion, positions: Positions, dims: number, a: number, b: number, c: number): boolean {
  for (let i = 0; i < dims; i++) {
    const p = positions[a * dims + i]!;
    const q = positions[b * dims + i]!;
    const r = positions[c * dims + i]!;
    if (!overlaps(box, i, Math.min(p, q, r), Math.max(p, q, r))) return false;
  }
  for (let i = 0; i < dims; i++)
    for (let j = i + 1; j < dims; j++)
      if (
        !shadowMeets(box, positions, dims, i, j, a, b, c) ||
        !shadowMeets(box, positions, dims, i, j, b, c, a) ||
        !shadowMeets(box, positions, dims, i, j, c, a, b)
      )
        return false;
  for (let i = 0; i < dims; i++)
    for (let j = i + 1; j < dims; j++)
      for (let k = j + 1; k < dims; k++) {
        load(0, box, positions, dims, i, a, b, c);
        load(1, box, positions, dims, j, a, b, c);
        load(2, box, positions, dims, k, a, b, c);
        if (!planeMeets(plane)) return false;
      }
  return true;
}

/** Whether an extent is finite and meets the box's on this axis. */
const overlaps = (box: BoxRegion, axis: number, low: number, high: number): boolean =>
  high >= box.min[axis]! && low <= box.max[axis]! && low > -Infinity && high < Infinity;

/**
 * Whether, on axes i and j, the line through a and b leaves the box on one side and the shape's other vertex c on the other;
 * false says so. The box is first cut to the shape's extent, which takes nothing away and makes its corners finite.
 */
function shadowMeets(
  box: BoxRegion,
  positions: Positions,
  dims: number,
  i: number,
  j: number,
  a: number,
  b: number,
  c: number,
): boolean {
  const ax = positions[a * dims + i]!;
  const ay = positions[a * dims + j]!;
  const bx = positions[b * dims + i]!;
  const by = positions[b * dims + j]!;
  const cx = positions[c * dims + i]!;
  const cy = positions[c * dims + j]!;
  const x0 = Math.max(box.min[i]!, Math.min(ax, bx, cx));
  const x1 = Math.min(box.max[i]!, Math.max(ax, bx, cx));
  const y0 = Math.max(box.min[j]!, Math.min(ay, by, cy));
  const y1 = Math.min(box.max[j]!, Math.max(ay, by, cy));
  const side = cross(ax, ay, bx, by, ax, ay, cx, cy);
  // The corner that lies furthest to the left of a → b, and the one furthest to the right.
  const left = cross(ax, ay, bx, by, ax, ay, by >= ay ? x0 : x1, bx >= ax ? y1 : y0);
  if (side >= 0 && left < 0) return false;
  return side > 0 || cross(ax, ay, bx, by, ax, ay, by >= ay ? x1 : x0, bx >= ax ? y0 : y1) <= 0;
}

/** a, b, c and the box's two corners on three axes, as `planeMeets` takes them. */
const plane = new Float64Array(15);

function load(
  at: number,
  box: BoxRegion,
  positions: Positions,
  dims: number,
  axis: number,
  a: number,
  b: number,
  c: number,
): void {
  const p = positions[a * dims + axis]!;
  const q = positions[b * dims + axis]!;
  const r = positions[c * dims + axis]!;
  plane[at] = p;
  plane[3 + at] = q;
  plane[6 + at] = r;
  plane[9 + at] = Math.max(box.min[axis]!, Math.min(p, q, r));
  plane[12 + at] = Math.min(box.max[axis]!, Math.max(p, q, r));
}
