/** What is under the pointer: the vertex, line or face that is nearest to the eye within a few pixels. */
import { type Bounds, dot, type Lens, lensOf, NEAR, project, type Vector } from "../../scene/camera.js";
import { seedsOf } from "./drawing.js";
import type { Piece } from "./piece.js";
import type { View } from "./view.js";

/** Where somebody pointed at, in pixels, and what could be seen there. */
export interface Pointed {
  readonly view: View;
  readonly x: number;
  readonly y: number;
  /** How many pixels off one may be. */
  readonly reach: number;
  /** The share of objects that is shown. */
  readonly subset: number;
}

/** The place of a piece that was pointed at, and the vertex that is next to it. */
export interface Hit {
  readonly piece: Piece;
  readonly vertex: number;
  readonly place: Vector;
}

/** Takes what is within reach: its depth, its ends, and how much each of them has of the place. */
type Offer = (depth: number, ends: readonly number[], shares: readonly number[]) => void;

/** Of pieces, what is nearest to the eye. */
export function hitAt(pieces: readonly Piece[], { view, x, y, reach, subset }: Pointed): Hit | undefined {
  const lens = lensOf(view.camera, view.width, view.height, view.basis);
  let best: Hit | undefined;
  let nearest = Number.POSITIVE_INFINITY;
  for (const piece of pieces) {
    const seeds = seedsOf(piece);
    const offer: Offer = (depth, ends, shares) => {
      if (depth >= nearest || seeds(ends[0]!) > subset) return;
      const place = placeOf(piece, ends, shares);
      if (isCut(place, view.clip)) return;
      const vertex = ownVertex(piece, ends[shares.indexOf(Math.max(...shares))]!);
      [best, nearest] = [{ piece, vertex, place }, depth];
    };
    if (piece.form === "triangles") facesAt(piece, lens, x, y, offer);
    else marksAt(piece, lens, x, y, reach, offer);
  }
  return best;
}

function placeOf({ positions, origin }: Piece, ends: readonly number[], shares: readonly number[]): Vector {
  const along = (k: number): number =>
    ends.reduce((sum, vertex, i) => sum + shares[i]! * positions[3 * vertex + k]!, origin[k]!);
  return [along(0), along(1), along(2)];
}

const isCut = (place: Vector, clip: Bounds | undefined): boolean =>
  clip !== undefined && [0, 1, 2].some((k) => place[k]! < clip.min[k]! || place[k]! > clip.max[k]!);

/** Itself, or what a vertex that was put in between stands for. */
const ownVertex = ({ positions, corners }: Piece, vertex: number): number =>
  corners === undefined ? vertex : (corners[vertex - (positions.length / 3 - corners.length)] ?? vertex);

/** From the target of a lens to the origin of a piece. */
const offsetOf = ({ origin }: Piece, { camera: { target } }: Lens): Vector => [
  origin[0] - target[0],
  origin[1] - target[1],
  origin[2] - target[2],
];

/** Points and lines, by how many pixels they are off. */
function marksAt(piece: Piece, lens: Lens, x: number, y: number, reach: number, offer: Offer): void {
  const { form, index } = piece;
  const seen = projected(piece, lens);
  if (form === "points") {
    for (let at = 0; at < seen.length; at += 3)
      if (Math.hypot(seen[at]! - x, seen[at + 1]! - y) <= reach) offer(seen[at + 2]!, [at / 3], [1]);
    return;
  }
  for (let at = 0; at + 1 < index.length; at += 2) {
    const [a, b] = [3 * index[at]!, 3 * index[at + 1]!];
    const [dx, dy] = [seen[b]! - seen[a]!, seen[b + 1]! - seen[a + 1]!];
    const along = ((x - seen[a]!) * dx + (y - seen[a + 1]!) * dy) / (dx * dx + dy * dy || 1);
    const share = Math.max(0, Math.min(1, along));
    if (!(Math.hypot(seen[a]! + share * dx - x, seen[a + 1]! + share * dy - y) <= reach)) continue;
    // Half of the way on the screen is not half of the way in space, where rays meet.
    const [first, last] = lens.camera.perspective
      ? [(1 - share) * seen[a + 2]!, share * seen[b + 2]!]
      : [1 - share, share];
    const all = first + last;
    offer(seen[a + 2]! + share * (seen[b + 2]! - seen[a + 2]!), [a / 3, b / 3], [first / all, last / all]);
  }
}

/** Pixels and depth of each vertex; NaN of one behind the eye. */
function projected(piece: Piece, lens: Lens): Float64Array {
  const { positions } = piece;
  const [ox, oy, oz] = offsetOf(piece, lens);
  const seen = new Float64Array(positions.length);
  for (let at = 0; at < positions.length; at += 3) {
    const far = project(lens, positions[at]! + ox, positions[at + 1]! + oy, positions[at + 2]! + oz, seen, at);
    if (Number.isNaN(far)) seen[at] = Number.NaN;
  }
  return seen;
}

/** Faces that the ray through a pixel goes through, also those that reach behind the eye. */
function facesAt(piece: Piece, lens: Lens, x: number, y: number, offer: Offer): void {
  const { index } = piece;
  const { camera, distance } = lens;
  const off = besideRay(piece, lens, x, y);
  for (let at = 0; at + 2 < index.length; at += 3) {
    const ends = [index[at]!, index[at + 1]!, index[at + 2]!] as const;
    const [a, b, c] = [3 * ends[0], 3 * ends[1], 3 * ends[2]];
    const [first, second, third] = [cross(off, b, c), cross(off, c, a), cross(off, a, b)];
    if (!((first >= 0 && second >= 0 && third >= 0) || (first <= 0 && second <= 0 && third <= 0))) continue;
    const all = first + second + third;
    if (all === 0) continue; // seen from its edge
    const shares = [first / all, second / all, third / all] as const;
    const away = shares[0] * off[a + 2]! + shares[1] * off[b + 2]! + shares[2] * off[c + 2]!;
    if (!camera.perspective) offer(away / distance, ends, shares);
    else if (away >= distance * NEAR) offer(-distance / away, ends, shares);
  }
}

/** How far each vertex is right of the ray through a pixel and above it, as seen from the eye, and how far away. */
function besideRay(piece: Piece, lens: Lens, x: number, y: number): Float64Array {
  const { positions } = piece;
  const { right, up, back, camera, width, height, scale, distance } = lens;
  const [ox, oy, oz] = offsetOf(piece, lens);
  const [across, upwards] = [(x - width / 2) / scale, (height / 2 - y) / scale]; // of the ray, at the target
  const off = new Float64Array(positions.length);
  for (let at = 0; at < positions.length; at += 3) {
    const place: Vector = [positions[at]! + ox, positions[at + 1]! + oy, positions[at + 2]! + oz];
    const away = distance - dot(place, back);
    const wider = camera.perspective ? away / distance : 1;
    off[at] = dot(place, right) - across * wider;
    off[at + 1] = dot(place, up) - upwards * wider;
    off[at + 2] = away;
  }
  return off;
}

/** Twice the area of the triangle of two vertices and the ray. */
const cross = (off: Float64Array, a: number, b: number): number => off[a]! * off[b + 1]! - off[b]! * off[a + 1]!;
