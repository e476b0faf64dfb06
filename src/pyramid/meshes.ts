/**
 * Meshes with fewer faces, by meshoptimizer (docs/decisions/meshoptimizer.md): edges are collapsed as long as the surface moves no
 * further than allowed, measured by quadrics. Objects are simplified whole, so that chunks leave no cracks; open borders stay
 * where they are within the same error. Vertices at one place stay apart where their attributes do (a seam), and are taken for one
 * by the simplifier.
 */
import { LimitExceeded } from "../errors.js";
import { loadSimplifier } from "../kernel/simplifier.js";
import { marked } from "./chain.js";
import type { Coarse, Fine } from "./types.js";

/** Each object by itself; `owner` is the object of each vertex. */
export async function thinMesh(fine: Fine, allowed: number): Promise<Coarse> {
  const { positions, dims, links } = fine;
  const ends = links?.ends ?? new Uint32Array();
  const count = positions.length / dims;
  if (dims !== 3 || links?.width !== 3 || ends.length === 0) return whole(count, ends);
  const simplifier = await loadSimplifier(ends.length / 3);
  const kept = new Uint8Array(count);
  const faces: Uint32Array[] = [];
  let error = 0;
  const local = new Uint32Array(count); // of the object at hand: the number of each vertex, and 1
  const numbered = new Uint32Array(count);
  for (const own of byObject(fine)) {
    const indices = new Uint32Array(own.length);
    let used = 0;
    for (let i = 0; i < own.length; i++) {
      const vertex = own[i]!;
      if (local[vertex] === 0) {
        numbered[used++] = vertex;
        local[vertex] = used;
      }
      indices[i] = local[vertex]! - 1;
    }
    const vertices = numbered.subarray(0, used);
    for (let i = 0; i < used; i++) local[vertices[i]!] = 0;
    const { points, size } = normalized(positions, vertices);
    let left: Uint32Array = indices;
    if (size > 0 && Number.isFinite(size)) {
      try {
        const [coarser, reached] = simplifier.simplify(indices, points, 3, 3, allowed / size, ["ErrorAbsolute"]);
        left = coarser.length === 0 ? indices.subarray(0, 3) : coarser; // something stays of every object
        error = Math.max(error, reached * size);
      } catch (cause) {
        throw new LimitExceeded(`a mesh of ${own.length / 3} faces is too large to be simplified`, { cause });
      }
    }
    const global = new Uint32Array(left.length);
    for (let i = 0; i < left.length; i++) {
      global[i] = vertices[left[i]!]!;
      kept[global[i]!] = 1;
    }
    faces.push(global);
  }
  for (let part = 0; part + 1 < fine.parts.length; part++) {
    const [from, to] = [fine.parts[part]!, fine.parts[part + 1]!];
    if (from < to && !kept.subarray(from, to).includes(1)) kept[from] = 1; // one without faces
  }
  const rows = marked(kept);
  const place = new Uint32Array(count);
  for (let i = 0; i < rows.length; i++) place[rows[i]!] = i;
  const total = faces.reduce((sum, own) => sum + own.length, 0);
  const joined = new Uint32Array(total);
  const old = new Uint32Array(total);
  let at = 0;
  for (const own of faces) {
    old.set(own, at);
    for (let i = 0; i < own.length; i++) joined[at + i] = place[own[i]!]!;
    at += own.length;
  }
  // Which face it was is asked for attributes only.
  const from = links.named ? nearestFaces(fine, ends, old) : new Uint32Array(total / 3);
  return { rows, links: { ends: joined, from }, error };
}

function whole(count: number, ends: Uint32Array): Coarse {
  const all = (length: number): Uint32Array => Uint32Array.from({ length }, (_, i) => i);
  return { rows: all(count), links: { ends, from: all(ends.length / 3) }, error: 0 };
}

/** The faces of each object; those between objects stay with that of their first vertex. */
function byObject({ positions, dims, parts, objects, links }: Fine): Uint32Array[] {
  const { ends } = links!;
  if (objects.length === 1) return [ends];
  const owner = new Int32Array(positions.length / dims);
  for (let part = 0; part < objects.length; part++) owner.fill(objects[part]!, parts[part]!, parts[part + 1]!);
  const sizes = new Map<number, number>();
  for (let at = 0; at < ends.length; at += 3) {
    const own = owner[ends[at]!]!;
    sizes.set(own, (sizes.get(own) ?? 0) + 3);
  }
  const lists = new Map([...sizes].map(([own, size]) => [own, { faces: new Uint32Array(size), used: 0 }]));
  for (let at = 0; at < ends.length; at += 3) {
    const list = lists.get(owner[ends[at]!]!)!;
    for (let corner = 0; corner < 3; corner++) list.faces[list.used++] = ends[at + corner]!;
  }
  return Array.from(lists.values(), ({ faces }) => faces);
}

/** From 0 to 1 along the longest side: float32 holds that well wherever the mesh lies. */
function normalized(positions: Fine["positions"], vertices: Uint32Array) {
  const points = new Float32Array(3 * vertices.length);
  const lows = [0, 0, 0];
  let size = 0;
  for (let axis = 0; axis < 3; axis++) {
    let [low, high] = [Infinity, -Infinity];
    for (let i = 0; i < vertices.length; i++) {
      const value = positions[3 * vertices[i]! + axis]!;
      if (!(value >= low)) low = value; // also where it is no number
      if (!(value <= high)) high = value;
    }
    lows[axis] = low;
    size = Math.max(size, high - low);
  }
  for (let axis = 0; axis < 3; axis++) {
    const low = lows[axis]!;
    for (let i = 0; i < vertices.length; i++) points[3 * i + axis] = (positions[3 * vertices[i]! + axis]! - low) / size;
  }
  return { points, size };
}

/** For each coarse face (in numbers of old vertices) the old face at one of its corners whose middle is nearest. */
function nearestFaces({ positions, dims }: Fine, ends: Uint32Array, coarse: Uint32Array): Uint32Array {
  const count = positions.length / dims;
  const first = new Uint32Array(count + 1);
  for (let i = 0; i < ends.length; i++) first[ends[i]! + 1]!++;
  for (let vertex = 0; vertex < count; vertex++) first[vertex + 1]! += first[vertex]!;
  const next = first.slice();
  const faces = new Uint32Array(ends.length);
  for (let i = 0; i < ends.length; i++) faces[next[ends[i]!]!++] = Math.floor(i / 3);
  const middle = (list: Uint32Array, face: number, axis: number): number =>
    positions[3 * list[3 * face]! + axis]! +
    positions[3 * list[3 * face + 1]! + axis]! +
    positions[3 * list[3 * face + 2]! + axis]!;
  const nearest = new Uint32Array(coarse.length / 3);
  for (let face = 0; face < nearest.length; face++) {
    const x = middle(coarse, face, 0);
    const y = middle(coarse, face, 1);
    const z = middle(coarse, face, 2);
    let distance = Number.POSITIVE_INFINITY;
    for (let corner = 0; corner < 3; corner++) {
      const vertex = coarse[3 * face + corner]!;
      for (let i = first[vertex]!; i < first[vertex + 1]!; i++) {
        const other = faces[i]!;
        const away =
          (middle(ends, other, 0) - x) ** 2 + (middle(ends, other, 1) - y) ** 2 + (middle(ends, other, 2) - z) ** 2;
        if (!(away < distance)) continue;
        nearest[face] = other;
        distance = away;
      }
    }
  }
  return nearest;
}
