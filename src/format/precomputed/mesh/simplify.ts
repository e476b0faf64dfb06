/**
 * Levels of detail: each has a quarter of the faces of the one before, since the edges of a surface are twice as long then. What
 * they may differ from it is what they resolve. meshoptimizer does the work (docs/decisions/meshoptimizer.md), loaded when a mesh
 * first needs it; it gives the same faces for the same mesh everywhere, being WebAssembly without threads.
 *
 * It moves nothing: every level has some of the vertices of the finest one. Parts that are smaller than what a level resolves are
 * left out. A level that does not become much smaller is the last: the shape does not allow it.
 */
import { LimitExceeded } from "../../../errors.js";
import { loadSimplifier } from "../../../kernel/simplifier.js";
import { extentOf } from "./grid.js";
import type { Mesh } from "./legacy.js";

/** The faces of a level, and the length of their edges, roughly: the side of a square of their mean area. */
export interface Level {
  readonly faces: Uint32Array;
  readonly scale: number;
}

/** The levels of a mesh, `most` of them or fewer, from the finest. In the units of its positions. */
export async function levelsOf(mesh: Mesh, most: number): Promise<Level[]> {
  const { positions, faces } = mesh;
  const area = areaOf(mesh);
  const scaleOf = (count: number): number => Math.sqrt(area / (count / 3));
  const levels: Level[] = [{ faces, scale: scaleOf(faces.length) }];
  if (most === 1 || area === 0) return levels;
  const simplifier = await loadSimplifier(faces.length / 3);
  const { points, size } = normalized(positions);
  try {
    // Vertices at the same place are one, or it would take the edges between them for borders.
    const first = simplifier.generatePositionRemap(points, 3);
    let left = withoutCollapsed(faces.map((vertex) => first[vertex]!));
    while (levels.length < most) {
      const target = 3 * Math.ceil(left.length / 12);
      const allowed = scaleOf(target) / size;
      const [coarser] = simplifier.simplify(left, points, 3, target, allowed, ["ErrorAbsolute", "Prune", "Sparse"]);
      if (coarser.length === 0 || coarser.length > left.length / 2) break;
      levels.push({ faces: coarser, scale: scaleOf(coarser.length) });
      left = coarser;
    }
  } catch (cause) {
    // Its memory has an end, and checked meshes give it no other reason.
    throw new LimitExceeded(`a mesh of ${faces.length / 3} faces is too large to be simplified`, { cause });
  }
  return levels;
}

function areaOf({ positions, faces }: Mesh): number {
  let twice = 0;
  for (let i = 0; i < faces.length; i += 3) {
    const a = 3 * faces[i]!;
    const b = 3 * faces[i + 1]!;
    const c = 3 * faces[i + 2]!;
    const [x, y, z] = [positions[a]!, positions[a + 1]!, positions[a + 2]!];
    const [ux, uy, uz] = [positions[b]! - x, positions[b + 1]! - y, positions[b + 2]! - z];
    const [vx, vy, vz] = [positions[c]! - x, positions[c + 1]! - y, positions[c + 2]! - z];
    twice += Math.hypot(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx);
  }
  return twice / 2;
}

/** From 0 to 1 along the longest side: float32 holds that well wherever the mesh lies. */
function normalized(positions: Mesh["positions"]): { readonly points: Float32Array; readonly size: number } {
  const { min, max } = extentOf(positions);
  const size = Math.max(...max.map((value, axis) => value - min[axis]!));
  const points = new Float32Array(positions.length);
  for (let i = 0; i < points.length; i++) points[i] = (positions[i]! - min[i % 3]!) / size;
  return { points, size };
}

function withoutCollapsed(faces: Uint32Array): Uint32Array {
  let count = 0;
  for (let i = 0; i < faces.length; i += 3) {
    const [a, b, c] = [faces[i]!, faces[i + 1]!, faces[i + 2]!];
    if (a === b || b === c || c === a) continue;
    faces[count++] = a;
    faces[count++] = b;
    faces[count++] = c;
  }
  return faces.slice(0, count);
}
