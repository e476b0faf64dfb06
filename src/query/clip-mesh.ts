/**
 * Meshes cut to a box. Each triangle (wider faces are fans around their first vertex) is cut by one face of the box after the
 * other, as Sutherland and Hodgman do it, in any number of dimensions; what is left is a fan again.
 *
 * - Vertices on a cut edge are shared: both triangles at an edge find the same vertex, so a mesh that was closed is open only
 *   along the faces of the box. The winding stays.
 * - Every sample is inside, with the face's own value on the face that made it (float32: the nearest on the inner side).
 *   Its weights refer to the corners of one triangle of the input (samples.ts), so attributes follow.
 * - Only area is kept: a triangle that touches the box in a point or an edge leaves nothing; one that lies in a face stays.
 *   Triangles with a vertex that is not finite, or that are so large that a difference overflows, are dropped unless all
 *   three vertices are inside.
 */
import { InvalidInput, Unsupported } from "../errors.js";
import { type Positions, Region } from "./region.js";
import { type Faces, facesFor, grown, lerp, Samples } from "./samples.js";

export interface MeshPart {
  /** The vertices, each once, in the order of their first use. */
  readonly samples: Samples;
  /** Three sample numbers per triangle. */
  readonly triangles: Uint32Array;
  /** The face of the input that each triangle is a part of. */
  readonly sources: Uint32Array;
}

/** Cuts faces of `width` rows each to a box. */
export function clipMesh(
  region: Region,
  positions: Positions,
  dims: number,
  faces: ArrayLike<number>,
  width = 3,
): MeshPart {
  if (region.kind === "sphere")
    throw new Unsupported(
      "a mesh cannot be cut by a sphere, whose surface is not made of triangles; take whole objects or faces that touch it, or cut by a box",
    );
  const knife = sharpen(facesFor(region, positions), positions, dims);
  const { rows } = knife;
  for (let face = 0, at = 0; at + width <= faces.length; face++, at += width) {
    for (let i = 0; i < width; i++) {
      const row = faces[at + i]!;
      if (row >>> 0 !== row || row >= rows)
        throw new InvalidInput(`face ${face} names vertex ${row}, but there are ${rows}`);
    }
    for (let i = 1; i + 1 < width; i++)
      cutTriangle(knife, region, faces[at]!, faces[at + i]!, faces[at + i + 1]!, face);
  }
  const { samples, triangles, sources, count } = knife;
  return { samples, triangles: triangles.slice(0, 3 * count), sources: sources.slice(0, count) };
}

/**
 * While it cuts, a vertex is a number: a row, or `rows` + the number of a cut. A cut belongs to the edge between two such
 * numbers, and an edge is only ever cut once: what is left of it has a new end. So the pair finds it again.
 */
interface Knife {
  readonly faces: Faces;
  readonly positions: Positions;
  readonly dims: number;
  readonly rows: number;
  readonly samples: Samples;
  /** Triangles out. */
  count: number;
  triangles: Uint32Array;
  sources: Uint32Array;
  /** Cuts: both ends with the smaller first, and where they lie. */
  cuts: number;
  first: Uint32Array;
  second: Uint32Array;
  points: Positions;
  /** Open addressing by both ends: 1 + the number of the cut; a power of two long, at most half full. */
  table: Uint32Array;
  /** 1 + the sample of each row and each cut; 0 where there is none yet. */
  sampleOf: Uint32Array;
  /** The polygon: its vertices, and their weights for the triangle's three corners. */
  size: number;
  polygon: Uint32Array;
  weights: Float64Array;
  /** Room for the next polygon. */
  spare: Uint32Array;
  spareWeights: Float64Array;
}

function sharpen(faces: Faces, positions: Positions, dims: number): Knife {
  const rows = positions.length / dims;
  return {
    faces,
    positions,
    dims,
    rows,
    samples: Samples.like(positions, dims),
    count: 0,
    triangles: new Uint32Array(192),
    sources: new Uint32Array(64),
    cuts: 0,
    first: new Uint32Array(64),
    second: new Uint32Array(64),
    points: Samples.like(positions, dims).positions,
    table: new Uint32Array(128),
    sampleOf: new Uint32Array(rows + 64),
    size: 0,
    polygon: new Uint32Array(16),
    weights: new Float64Array(48),
    spare: new Uint32Array(16),
    spareWeights: new Float64Array(48),
  };
}

function cutTriangle(knife: Knife, region: Region, a: number, b: number, c: number, face: number): void {
  const { faces, positions, dims } = knife;
  knife.polygon[0] = a;
  knife.polygon[1] = b;
  knife.polygon[2] = c;
  knife.weights.set(CORNERS);
  knife.size = 3;
  const whole =
    Region.contains(region, positions, dims, a) &&
    Region.contains(region, positions, dims, b) &&
    Region.contains(region, positions, dims, c);
  if (!whole) {
    for (let i = 0; i < dims; i++) {
      const p = positions[a * dims + i]!;
      const q = positions[b * dims + i]!;
      const r = positions[c * dims + i]!;
      const low = Math.min(p, q, r);
      const high = Math.max(p, q, r);
      if (high < faces.min[i]! || low > faces.max[i]! || !Number.isFinite(high - low)) return;
    }
    for (let i = 0; i < dims && knife.size > 2; i++) {
      cutBy(knife, i, faces.min[i]!, 1);
      cutBy(knife, i, faces.max[i]!, -1);
    }
  }
  for (let i = 1; i + 1 < knife.size; i++) {
    const [p, q, r] = [knife.polygon[0]!, knife.polygon[i]!, knife.polygon[i + 1]!];
    if (p === q || q === r || r === p) continue;
    knife.triangles = grown(knife.triangles, 3 * knife.count + 3);
    knife.sources = grown(knife.sources, knife.count + 1);
    knife.triangles[3 * knife.count] = sampleOf(knife, 0, a, b, c);
    knife.triangles[3 * knife.count + 1] = sampleOf(knife, i, a, b, c);
    knife.triangles[3 * knife.count + 2] = sampleOf(knife, i + 1, a, b, c);
    knife.sources[knife.count++] = face;
  }
}

const CORNERS = Float64Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1);

/** Keeps of the polygon what is on the inner side of a face: inner = 1 above it, −1 below. */
function cutBy(knife: Knife, axis: number, face: number, inner: 1 | -1): void {
  const { polygon, weights, size } = knife;
  // A convex polygon gains one corner at most, but rounding may have bent it a little.
  const made = grown(knife.spare, 2 * size);
  const madeWeights = grown(knife.spareWeights, 6 * size);
  let kept = 0;
  for (let i = 0; i < size; i++) {
    const j = i + 1 < size ? i + 1 : 0;
    const here = inner * (coordinate(knife, polygon[i]!, axis) - face);
    const next = inner * (coordinate(knife, polygon[j]!, axis) - face);
    if (here >= 0) {
      made[kept] = polygon[i]!;
      for (let k = 0; k < 3; k++) madeWeights[3 * kept + k] = weights[3 * i + k]!;
      kept++;
    }
    // A vertex on the face needs no cut beside it.
    if (!(here > 0 && next < 0) && !(here < 0 && next > 0)) continue;
    // From the smaller number to the larger, whichever way the edge runs here: the same arithmetic for both its triangles.
    const from = polygon[i]! < polygon[j]! ? i : j;
    const to = i + j - from;
    const start = coordinate(knife, polygon[from]!, axis);
    const t = (face - start) / (coordinate(knife, polygon[to]!, axis) - start);
    made[kept] = cutOf(knife, polygon[from]!, polygon[to]!, t, axis, face);
    for (let k = 0; k < 3; k++) madeWeights[3 * kept + k] = lerp(weights[3 * from + k]!, weights[3 * to + k]!, t);
    kept++;
  }
  knife.polygon = made;
  knife.weights = madeWeights;
  knife.spare = polygon;
  knife.spareWeights = weights;
  knife.size = kept;
}

function coordinate({ rows, dims, positions, points }: Knife, vertex: number, axis: number): number {
  return vertex < rows ? positions[vertex * dims + axis]! : points[(vertex - rows) * dims + axis]!;
}

/** The vertex at which the edge a – b, a < b, passes the face: the one that is already there, or a new one. */
function cutOf(knife: Knife, a: number, b: number, t: number, axis: number, face: number): number {
  const { rows, dims } = knife;
  let slot = slotOf(knife, a, b);
  if (knife.table[slot] !== 0) return rows + knife.table[slot]! - 1;
  const cut = knife.cuts++;
  knife.first = grown(knife.first, knife.cuts);
  knife.second = grown(knife.second, knife.cuts);
  knife.points = grown(knife.points, knife.cuts * dims);
  knife.sampleOf = grown(knife.sampleOf, rows + knife.cuts);
  knife.first[cut] = a;
  knife.second[cut] = b;
  for (let i = 0; i < dims; i++)
    knife.points[cut * dims + i] = i === axis ? face : lerp(coordinate(knife, a, i), coordinate(knife, b, i), t);
  if (2 * knife.cuts > knife.table.length) {
    knife.table = new Uint32Array(2 * knife.table.length);
    for (let one = 0; one < cut; one++) knife.table[slotOf(knife, knife.first[one]!, knife.second[one]!)] = one + 1;
    slot = slotOf(knife, a, b);
  }
  knife.table[slot] = cut + 1;
  return rows + cut;
}

/** The slot of an edge's cut, or the free one where it belongs. */
function slotOf({ table, first, second }: Knife, a: number, b: number): number {
  const mask = table.length - 1;
  let slot = Math.imul(Math.imul(a, 0x9e3779b1) ^ b, 0x85ebca6b);
  slot = (slot ^ (slot >>> 15)) & mask;
  for (;;) {
    const cut = table[slot]! - 1;
    if (cut < 0 || (first[cut] === a && second[cut] === b)) return slot;
    slot = (slot + 1) & mask;
  }
}

/** The sample of the polygon's i-th vertex, made at its first use from the triangle a, b, c. */
function sampleOf(knife: Knife, i: number, a: number, b: number, c: number): number {
  const { samples, rows, positions, points, weights } = knife;
  const vertex = knife.polygon[i]!;
  const known = knife.sampleOf[vertex]!;
  if (known !== 0) return known - 1;
  let at: number;
  if (vertex < rows) {
    at = Samples.add(samples, vertex, vertex, vertex, 0, 0);
    Samples.place(samples, at, positions, vertex);
  } else {
    const [first, second, third] = [weights[3 * i]!, weights[3 * i + 1]!, weights[3 * i + 2]!];
    // On an edge the opposite corner has no say: not even by a NaN.
    if (third === 0) at = Samples.add(samples, a, b, a, second, 0);
    else if (second === 0) at = Samples.add(samples, a, c, a, third, 0);
    else if (first === 0) at = Samples.add(samples, b, c, b, third, 0);
    else at = Samples.add(samples, a, b, c, second, third);
    Samples.place(samples, at, points, vertex - rows);
  }
  knife.sampleOf[vertex] = at + 1;
  return at;
}
