/** What is under the pointer: the vertex, line or face that is nearest to the eye within a few pixels. */
import { type Bounds, type Lens, lensOf, project } from "../../scene/camera.js";
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

/** A vertex of a piece. */
export interface Hit {
  readonly piece: Piece;
  readonly vertex: number;
}

/** Of pieces, what is nearest to the eye. */
export function hitAt(pieces: readonly Piece[], { view, x, y, reach, subset }: Pointed): Hit | undefined {
  const lens = lensOf(view.camera, view.width, view.height, view.basis);
  let best: Hit | undefined;
  let depth = Number.POSITIVE_INFINITY;
  for (const piece of pieces) {
    const seeds = seedsOf(piece);
    near(piece, projected(piece, lens), x, y, reach, (vertex, far) => {
      if (far >= depth || seeds(vertex) > subset || isCut(piece, vertex, view.clip)) return;
      [best, depth] = [{ piece, vertex }, far];
    });
  }
  return best;
}

function isCut({ positions, origin }: Piece, vertex: number, clip: Bounds | undefined): boolean {
  if (clip === undefined) return false;
  return [0, 1, 2].some((k) => {
    const at = positions[3 * vertex + k]! + origin[k]!;
    return at < clip.min[k]! || at > clip.max[k]!;
  });
}

/** Pixels and depth of each vertex; NaN of one behind the eye. */
function projected({ positions, origin }: Piece, lens: Lens): Float64Array {
  const { target } = lens.camera;
  const [ox, oy, oz] = [origin[0] - target[0], origin[1] - target[1], origin[2] - target[2]];
  const seen = new Float64Array(positions.length);
  for (let at = 0; at < positions.length; at += 3) {
    const far = project(lens, positions[at]! + ox, positions[at + 1]! + oy, positions[at + 2]! + oz, seen, at);
    if (Number.isNaN(far)) seen[at] = Number.NaN;
  }
  return seen;
}

/** Offers what of a piece is within reach, with its depth. */
function near(
  { form, index }: Piece,
  seen: Float64Array,
  x: number,
  y: number,
  reach: number,
  offer: (vertex: number, far: number) => void,
): void {
  if (form === "points") {
    for (let at = 0; at < seen.length; at += 3)
      if (Math.hypot(seen[at]! - x, seen[at + 1]! - y) <= reach) offer(at / 3, seen[at + 2]!);
  } else if (form === "lines") {
    for (let at = 0; at + 1 < index.length; at += 2) {
      const [a, b] = [3 * index[at]!, 3 * index[at + 1]!];
      const [dx, dy] = [seen[b]! - seen[a]!, seen[b + 1]! - seen[a + 1]!];
      const along = ((x - seen[a]!) * dx + (y - seen[a + 1]!) * dy) / (dx * dx + dy * dy || 1);
      const share = Math.max(0, Math.min(1, along));
      if (Math.hypot(seen[a]! + share * dx - x, seen[a + 1]! + share * dy - y) <= reach)
        offer((share < 0.5 ? a : b) / 3, seen[a + 2]! + share * (seen[b + 2]! - seen[a + 2]!));
    }
  } else {
    for (let at = 0; at + 2 < index.length; at += 3) {
      const [a, b, c] = [3 * index[at]!, 3 * index[at + 1]!, 3 * index[at + 2]!];
      const area = cross(seen, a, b, seen[c]!, seen[c + 1]!);
      const [u, v] = [cross(seen, c, a, x, y) / area, cross(seen, a, b, x, y) / area];
      if (u >= 0 && v >= 0 && u + v <= 1)
        offer(a / 3, seen[a + 2]! + u * (seen[b + 2]! - seen[a + 2]!) + v * (seen[c + 2]! - seen[a + 2]!));
    }
  }
}

/** Twice the area of the triangle of two vertices and a place. */
const cross = (seen: Float64Array, a: number, b: number, x: number, y: number): number =>
  (seen[b]! - seen[a]!) * (y - seen[a + 1]!) - (x - seen[a]!) * (seen[b + 1]! - seen[a + 1]!);
