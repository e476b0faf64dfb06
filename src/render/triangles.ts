/** Triangles on a frame, lit from beside the eye and on both sides, because surfaces of data are often not closed. */
import { type Lens, project, type Vector } from "../scene/camera.js";
import { directionsOf, type Shape } from "../scene/shape.js";
import { Frame } from "./frame.js";
import { offsetOf } from "./marks.js";

const AMBIENT = 0.3;

export function drawTriangles(frame: Frame, lens: Lens, shape: Shape, values: Float32Array, direct: boolean): void {
  const { positions, index } = shape;
  const [ox, oy, oz] = offsetOf(lens, shape);
  const lights = lightsOf(lens, shape);
  const seen = new Float64Array(positions.length);
  for (let v = 0; v < values.length; v++) {
    const scale = project(
      lens,
      positions[3 * v]! + ox,
      positions[3 * v + 1]! + oy,
      positions[3 * v + 2]! + oz,
      seen,
      3 * v,
    );
    if (Number.isNaN(scale)) seen[3 * v] = Number.NaN;
  }
  for (let face = 0; face + 2 < index.length; face += 3)
    triangle(frame, seen, values, lights, direct, index[face]!, index[face + 1]!, index[face + 2]!);
}

/** How bright each vertex is, 0 to 255. */
function lightsOf({ right, up, back }: Lens, shape: Shape): Float32Array {
  const normals = directionsOf(shape);
  const light: Vector = [0, 1, 2].map((k) => 0.25 * up[k]! - 0.2 * right[k]! + back[k]!) as never;
  const length = Math.hypot(...light);
  return Float32Array.from({ length: normals.length / 3 }, (_, v) => {
    const facing = normals[3 * v]! * light[0] + normals[3 * v + 1]! * light[1] + normals[3 * v + 2]! * light[2];
    return 255 * (AMBIENT + (1 - AMBIENT) * Math.min(1, Math.abs(facing) / length));
  });
}

/** Every sample whose centre is inside; on an edge the triangle on its left or top has it. */
function triangle(
  frame: Frame,
  seen: Float64Array,
  values: Float32Array,
  lights: Float32Array,
  direct: boolean,
  a: number,
  b: number,
  c: number,
): void {
  const [ax, ay, bx, by, cx, cy] = [
    seen[3 * a]!,
    seen[3 * a + 1]!,
    seen[3 * b]!,
    seen[3 * b + 1]!,
    seen[3 * c]!,
    seen[3 * c + 1]!,
  ];
  const area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
  if (!(area !== 0)) return; // also NaN: before the eye
  const { width, height } = frame;
  const top = Math.max(0, Math.ceil(Math.min(ay, by, cy) - 0.5));
  const bottom = Math.min(height - 1, Math.floor(Math.max(ay, by, cy) - 0.5));
  const left = Math.max(0, Math.ceil(Math.min(ax, bx, cx) - 0.5));
  const right = Math.min(width - 1, Math.floor(Math.max(ax, bx, cx) - 0.5));
  for (let row = top; row <= bottom; row++)
    for (let column = left; column <= right; column++) {
      const [x, y] = [column + 0.5, row + 0.5];
      const u = ((x - ax) * (cy - ay) - (cx - ax) * (y - ay)) / area; // weight of b
      const v = ((bx - ax) * (y - ay) - (x - ax) * (by - ay)) / area; // weight of c
      const w = 1 - u - v;
      if (u < 0 || v < 0 || w < 0) continue;
      const depth = w * seen[3 * a + 2]! + u * seen[3 * b + 2]! + v * seen[3 * c + 2]!;
      // Colours are not numbers between which there is something: that of the nearest corner.
      const value = direct
        ? values[w >= u && w >= v ? a : u >= v ? b : c]!
        : w * values[a]! + u * values[b]! + v * values[c]!;
      Frame.put(frame, row * width + column, depth, value, w * lights[a]! + u * lights[b]! + v * lights[c]!);
    }
}
