/** What is under the pointer: the vertex, line or face that is nearest to the eye within a few pixels. */
import { type Lens, project } from "../../scene/camera.js";
import type { Drawing } from "./drawing.js";
import type { Piece } from "./piece.js";

/** A vertex of a piece. */
export interface Hit {
  readonly piece: Piece;
  readonly vertex: number;
}

/** `reach` is how many pixels off one may be; vertices with a seed above `subset` are hidden. */
export function hitAt(
  drawing: Drawing,
  lens: Lens,
  x: number,
  y: number,
  reach: number,
  hidden: (vertex: number) => boolean,
): Hit | undefined {
  const { positions, index, form, origin, pieces, starts } = drawing;
  const count = positions.length / 3;
  const seen = new Float64Array(3 * count);
  const { target } = lens.camera;
  const [ox, oy, oz] = [origin[0] - target[0], origin[1] - target[1], origin[2] - target[2]];
  for (let v = 0; v < count; v++)
    if (
      Number.isNaN(
        project(lens, positions[3 * v]! + ox, positions[3 * v + 1]! + oy, positions[3 * v + 2]! + oz, seen, 3 * v),
      )
    )
      seen[3 * v] = Number.NaN;
  let [best, depth] = [-1, Number.POSITIVE_INFINITY];
  const offer = (vertex: number, far: number): void => {
    if (far >= depth || hidden(vertex)) return;
    [best, depth] = [vertex, far];
  };
  if (form === "points") {
    for (let v = 0; v < count; v++)
      if (Math.hypot(seen[3 * v]! - x, seen[3 * v + 1]! - y) <= reach) offer(v, seen[3 * v + 2]!);
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
  if (best < 0) return undefined;
  const at = starts.findLastIndex((start) => start <= best);
  const piece = pieces[at];
  return piece && { piece, vertex: best - starts[at]! };
}

/** Twice the area of the triangle of two vertices and a place. */
const cross = (seen: Float64Array, a: number, b: number, x: number, y: number): number =>
  (seen[b]! - seen[a]!) * (y - seen[a + 1]!) - (x - seen[a]!) * (seen[b + 1]! - seen[a + 1]!);
