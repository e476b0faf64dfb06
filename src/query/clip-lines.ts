/**
 * Lines cut to a region. What is left of a path is a list of pieces, each a run of samples (samples.ts): the vertices that
 * are inside, and where the path comes in or goes out a cut between two rows.
 *
 * - A path leaves at least one piece if and only if `touchesPath` says that it touches. Where it only touches in one point,
 *   and where one vertex alone is inside on the face, the piece is a single sample; whoever wants lengths drops those.
 * - Every sample is inside. On the face where a cut was made its coordinate is the face's own value: exactly where positions
 *   are float64, else the nearest float32 on the inner side (a box too thin to hold any float32 gets the nearest outside).
 * - A cut of a sphere is moved inwards by the few roundings it takes to be inside, except where the segment grazes the
 *   sphere and no point of it is: then it is the nearest one.
 * - Across a vertex that is not finite, or a step whose length overflows, nothing is cut: the piece ends at the last vertex.
 */
import { closestOnSegment } from "./nearest.js";
import { type Positions, Region } from "./region.js";
import { type Faces, facesFor, grown, lerp, Samples } from "./samples.js";
import { touchesSegment } from "./touch.js";

export interface Pieces {
  readonly region: Region;
  readonly positions: Positions;
  readonly dims: number;
  readonly samples: Samples;
  count: number;
  /** Piece p has samples offsets[p] … offsets[p + 1]. */
  offsets: Uint32Array;
  /** Where each piece comes from: the first row of its path, or the number of its segment. */
  sources: Uint32Array;
  /** The coordinates at which a box cuts; empty for a sphere. */
  readonly faces: Faces;
}

export const Pieces = {
  /** None yet. All paths and segments of one `positions` go in here. */
  of(region: Region, positions: Positions, dims: number): Pieces {
    const faces = region.kind === "box" ? facesFor(region, positions) : { min: [], max: [] };
    return {
      region,
      positions,
      dims,
      samples: Samples.like(positions, dims),
      count: 0,
      offsets: new Uint32Array(64),
      sources: new Uint32Array(64),
      faces,
    };
  },
};

/** Adds what is left of the polyline over rows from … to. */
export function clipPath(pieces: Pieces, from: number, to: number): void {
  const { region, positions, dims } = pieces;
  let before = false;
  for (let row = from; row < to; row++) {
    const inside = Region.contains(region, positions, dims, row);
    if (row > from && !(before && inside)) cutSegment(pieces, row - 1, row, before, inside);
    if (inside) addVertex(pieces, row);
    else endPiece(pieces, from);
    before = inside;
  }
  endPiece(pieces, from);
}

/** Adds what is left of each segment, `rows[2 s]` to `rows[2 s + 1]`: the links of graphs and skeletons. */
export function clipSegments(pieces: Pieces, rows: ArrayLike<number>): void {
  const { region, positions, dims } = pieces;
  for (let at = 0; at + 1 < rows.length; at += 2) {
    const a = rows[at]!;
    const b = rows[at + 1]!;
    const first = Region.contains(region, positions, dims, a);
    const last = Region.contains(region, positions, dims, b);
    if (first) addVertex(pieces, a);
    if (!(first && last)) cutSegment(pieces, a, b, first, last);
    if (last) addVertex(pieces, b);
    endPiece(pieces, at / 2);
  }
}

/** Adds the cuts of a segment, at least one of whose ends is outside. */
function cutSegment(pieces: Pieces, a: number, b: number, first: boolean, last: boolean): void {
  const { region, positions, dims } = pieces;
  if (!first && !last && !touchesSegment(region, positions, dims, a, b)) return;
  const parameter = region.kind === "box" ? boxParameter : sphereParameter;
  const enter = first ? 0 : parameter(pieces, a, b, true, last ? 1 : undefined);
  const leave = last ? 1 : parameter(pieces, a, b, false, first ? 0 : undefined);
  if (!(enter >= 0 && leave <= 1)) return;
  // Where both ends are outside the segment is known to touch, though rounding may have crossed the two parameters.
  if (!first && (enter < leave || !last)) addCut(pieces, a, b, enter);
  if (!last && enter < leave) addCut(pieces, a, b, leave);
}

/** Where a – b comes in (the last face that it passes from outside) or goes out (the first that it passes from inside). */
function boxParameter({ faces, positions, dims }: Pieces, a: number, b: number, entering: boolean): number {
  let t = entering ? 0 : 1;
  for (let i = 0; i < dims; i++) {
    const p = positions[a * dims + i]!;
    const q = positions[b * dims + i]!;
    if (!Number.isFinite(q - p)) return Number.NaN;
    const low = faces.min[i]!;
    const high = faces.max[i]!;
    const outer = entering ? p : q;
    if (outer < low) t = entering ? Math.max(t, (low - p) / (q - p)) : Math.min(t, (low - p) / (q - p));
    if (outer > high) t = entering ? Math.max(t, (high - p) / (q - p)) : Math.min(t, (high - p) / (q - p));
  }
  return t;
}

/** The same for a sphere; `known` is the end that is inside, where one is. */
function sphereParameter(pieces: Pieces, a: number, b: number, entering: boolean, known: number | undefined): number {
  const { positions, dims } = pieces;
  const { center, radius } = pieces.region as Extract<Region, { kind: "sphere" }>;
  let along = 0;
  let length2 = 0;
  for (let i = 0; i < dims; i++) {
    const p = positions[a * dims + i]!;
    const edge = positions[b * dims + i]! - p;
    along += (center[i]! - p) * edge;
    length2 += edge * edge;
  }
  const middle = along / length2;
  if (!Number.isFinite(middle)) return Number.NaN;
  let depth2 = radius * radius;
  for (let i = 0; i < dims; i++) {
    const p = positions[a * dims + i]!;
    const away = p + middle * (positions[b * dims + i]! - p) - center[i]!;
    depth2 -= away * away;
  }
  const half = Math.sqrt(Math.max(0, depth2) / length2);
  const inner = known ?? closestOnSegment(center, positions, dims, a, b);
  let t = Math.min(Math.max(entering ? middle - half : middle + half, 0), 1);
  for (let step = 2 ** -53; t !== inner && !insideAt(pieces, a, b, t); step *= 2)
    t = entering ? Math.min(t + step, inner) : Math.max(t - step, inner);
  return t;
}

/** Whether the cut would be inside after it is rounded as positions are; tried in the room behind the last sample. */
function insideAt(pieces: Pieces, a: number, b: number, t: number): boolean {
  const { samples, positions, dims, region } = pieces;
  const at = samples.count * dims;
  samples.positions = grown(samples.positions, at + dims);
  for (let i = 0; i < dims; i++)
    samples.positions[at + i] = lerp(positions[a * dims + i]!, positions[b * dims + i]!, t);
  return Region.contains(region, samples.positions, dims, samples.count);
}

function addVertex({ samples, positions }: Pieces, row: number): void {
  Samples.place(samples, Samples.add(samples, row, row, row, 0, 0), positions, row);
}

/** Adds the point of a – b at t, put exactly on the faces that are passed there. */
function addCut({ samples, positions, dims, faces }: Pieces, a: number, b: number, t: number): void {
  const at = Samples.add(samples, a, b, a, t, 0) * dims;
  for (let i = 0; i < dims; i++) {
    const p = positions[a * dims + i]!;
    const q = positions[b * dims + i]!;
    const low = faces.min[i] ?? -Infinity;
    const high = faces.max[i] ?? Infinity;
    const free = (low - p) / (q - p) === t ? low : (high - p) / (q - p) === t ? high : lerp(p, q, t);
    samples.positions[at + i] = Math.min(Math.max(free, low), high);
  }
}

/** Ends the piece, if there is anything in it. */
function endPiece(pieces: Pieces, source: number): void {
  const end = pieces.samples.count;
  if (end === pieces.offsets[pieces.count]) return;
  pieces.sources = grown(pieces.sources, pieces.count + 1);
  pieces.sources[pieces.count++] = source;
  pieces.offsets = grown(pieces.offsets, pieces.count + 1);
  pieces.offsets[pieces.count] = end;
}
