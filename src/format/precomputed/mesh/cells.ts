/**
 * The faces of a lod by the cells that they lie in, and the nodes of the tree of cells.
 *
 * A lod has a node for each of its cells with geometry, and nodes without geometry where Neuroglancer needs one: around each node
 * of the finer lod, since it reaches them from above; and in each eighth of a cell of the coarser lod, or it would go on to show
 * that eighth beside the finer cells, which have nothing there.
 */
import type { DracoInput } from "../../../codec/draco-encode.js";
import { type Grid, quantize } from "./grid.js";
import type { Mesh } from "./legacy.js";
import { Planes, split, Triples, withArea } from "./split.js";
import { ZCurve } from "./zcurve.js";

/** A lod on its grid, cut. */
export interface CellMesh {
  /** In steps from the origin of the grid. */
  readonly vertices: Int32Array;
  /** Cell after cell. */
  readonly faces: Int32Array;
  /** The codes of cells with geometry: where their faces begin, and end. */
  readonly cells: ReadonlyMap<number, readonly [begin: number, end: number]>;
  /** The codes of the eighths of cells with geometry, which are cells of the finer lod; of lod 0, the cells themselves. */
  readonly eighths: ReadonlySet<number>;
  /** Faces that were given, and whose corners fall together here. */
  readonly collapsed: number;
}

/** `most` is how many bytes it may become. */
export function cellMesh(mesh: Mesh, grid: Grid, lod: number, bits: number, most: number): CellMesh {
  const vertices = Triples.of(quantize(mesh.positions, grid, lod, bits));
  const planes = new Planes(lod, bits);
  const given = Triples.of(new Int32Array(mesh.faces));
  const whole = withArea(vertices, given);
  const faces = split(vertices, whole, planes, most);
  const last = grid.cells.map((count) => Math.ceil(count / 2 ** Math.max(0, lod - 1)) - 1);

  // Which cell each face is in, numbered as they are met.
  const codes = new Map<number, number>();
  const counts: number[] = [];
  const owners = new Uint32Array(faces.count);
  const eighths = new Set<number>();
  let [known, number] = [-1, 0];
  for (let i = 0; i < faces.count; i++) {
    const code = eighthOf(vertices.data, faces.data, i, planes, last);
    if (code !== known) {
      known = code;
      eighths.add(code);
      const cell = lod === 0 ? code : ZCurve.parent(code);
      number = codes.get(cell) ?? codes.size;
      if (number === codes.size) {
        codes.set(cell, number);
        counts.push(0);
      }
    }
    owners[i] = number;
    counts[number]!++;
  }
  const begins = new Uint32Array(counts.length + 1);
  for (const [i, count] of counts.entries()) begins[i + 1] = begins[i]! + count;
  const sorted = new Int32Array(3 * faces.count);
  const next = begins.slice();
  for (let i = 0; i < faces.count; i++) {
    const at = 3 * next[owners[i]!]!++;
    sorted[at] = faces.data[3 * i]!;
    sorted[at + 1] = faces.data[3 * i + 1]!;
    sorted[at + 2] = faces.data[3 * i + 2]!;
  }
  return {
    vertices: vertices.data,
    faces: sorted,
    cells: new Map([...codes].map(([code, i]) => [code, [begins[i]!, begins[i + 1]!]])),
    eighths,
    collapsed: given.count - whole.count,
  };
}

/** The code of the slabs of a face. One that lies in the upper side of the last slab is in that. */
function eighthOf(
  vertices: Int32Array,
  faces: Int32Array,
  face: number,
  planes: Planes,
  last: readonly number[],
): number {
  const [a, b, c] = [3 * faces[3 * face]!, 3 * faces[3 * face + 1]!, 3 * faces[3 * face + 2]!];
  const slab = (axis: number): number => {
    const lowest = Math.min(vertices[a + axis]!, vertices[b + axis]!, vertices[c + axis]!);
    return Math.min(planes.slab(lowest), last[axis]!);
  };
  return ZCurve.encode(slab(0), slab(1), slab(2));
}

/** The codes of the nodes of each lod, along the z-curve. */
export function nodesOf(lods: readonly CellMesh[]): readonly (readonly number[])[] {
  const all = lods.map(({ cells }, lod) => new Set([...cells.keys(), ...(lods[lod + 1]?.eighths ?? [])]));
  for (const [lod, nodes] of all.entries()) for (const code of nodes) all[lod + 1]?.add(ZCurve.parent(code));
  return all.map((nodes) => [...nodes].sort((a, b) => a - b));
}

/** Fragments of a lod, each with its own vertices, counted from the lower corner of its cell. */
export function fragments(
  { vertices, faces, cells }: CellMesh,
  bits: number,
): (code: number) => DracoInput | undefined {
  // What number a vertex has in which fragment, so that nothing must be forgotten between them.
  const owner = new Int32Array(vertices.length / 3).fill(-1);
  const numbers = new Uint32Array(owner.length);
  return (code) => {
    const range = cells.get(code);
    if (range === undefined) return undefined;
    const [begin, end] = range;
    const corner = ZCurve.decode(code).map((cell) => cell * (2 ** bits - 1));
    const positions = new Int32Array(9 * (end - begin));
    const own = new Uint32Array(3 * (end - begin));
    let count = 0;
    for (let i = 0; i < own.length; i++) {
      const vertex = faces[3 * begin + i]!;
      if (owner[vertex] !== begin) {
        owner[vertex] = begin;
        numbers[vertex] = count;
        for (let axis = 0; axis < 3; axis++) positions[3 * count + axis] = vertices[3 * vertex + axis]! - corner[axis]!;
        count++;
      }
      own[i] = numbers[vertex]!;
    }
    return { positions: positions.subarray(0, 3 * count), faces: own };
  };
}
