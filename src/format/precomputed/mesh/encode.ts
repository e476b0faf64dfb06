/**
 * A mesh as it is stored in several resolutions: simplified to levels, each put on the grid of its lod and cut at the sides of
 * cells; every cell a Draco mesh of whole numbers, lod after lod along the z-curve; and the manifest that names them.
 */
import { concat } from "../../../bytes/concat.js";
import type { DracoEncoder } from "../../../codec/draco-encode.js";
import { Affine } from "../../../space/transform.js";
import { type CellMesh, cellMesh, fragments, nodesOf } from "./cells.js";
import { extentOf, gridAround, moved } from "./grid.js";
import type { Mesh } from "./legacy.js";
import { Manifest } from "./manifest.js";
import { levelsOf } from "./simplify.js";
import { ZCurve } from "./zcurve.js";

/** How meshes are stored. */
export interface MultiForm {
  readonly quantizationBits: 10 | 16;
  readonly transform: Affine | undefined;
  /** Of each mesh, at most; undefined: as many as its faces need. */
  readonly levels: number | undefined;
  /** Of a cell of lod 0; undefined: so that cells have some ten thousand faces, and one cell is the coarsest lod of all. */
  readonly chunkShape: readonly number[] | undefined;
}

/** What of a mesh is otherwise than it was given. */
export interface MeshChanges {
  /** Faces that are not there, as their corners fall together on the grid of the finest level. */
  readonly collapsed: number;
  /** Faces that there are more on the finest level, as others are cut at the sides of cells. */
  readonly cut: number;
  /** Vertices that are not there, as no face has them. */
  readonly unused: number;
  /** How far a vertex is moved along an axis at most: on the finest level in the units that are given, in the older form in nanometres. */
  readonly moved: number;
}

export interface EncodedMesh extends MeshChanges {
  readonly manifest: Uint8Array;
  readonly fragments: Uint8Array;
}

/** Of the coarsest level, about, and hence of a cell of any: a hundred kilobytes, worth a request. */
const FACES = 2 ** 15;

/** Neuroglancer wants a node, also where there is nothing. */
const NOTHING: Manifest = {
  chunkShape: [1, 1, 1],
  gridOrigin: [0, 0, 0],
  lods: [{ scale: 1, offset: [0, 0, 0], cells: Uint32Array.of(0, 0, 0), sizes: Uint32Array.of(0) }],
};

/** A mesh that was checked: all of its numbers are finite, and faces have vertices. `most` is how many bytes a level may have. */
export async function encodeMesh(
  given: Mesh,
  form: MultiForm,
  draco: DracoEncoder,
  most: number,
): Promise<EncodedMesh> {
  const { quantizationBits: bits, transform, chunkShape } = form;
  const { positions, faces } = usedVertices(given);
  const count = faces.length / 3;
  const unused = (given.positions.length - positions.length) / 3;
  const manifest = Manifest.encode(NOTHING);
  const nothing = { manifest, fragments: new Uint8Array(), collapsed: count, cut: 0, unused, moved: 0 };
  if (count === 0) return nothing;

  // Lengths are compared in nanometres, as the axes may have units of their own.
  const units = unitsOf(transform);
  const placed = transform === undefined ? positions : Affine.applyAll(transform, positions);
  const levels = await levelsOf({ positions: placed, faces }, form.levels ?? levelsFor(count));
  // Where the shape, or the caller, allows few levels, there are still cells, and Neuroglancer thinks of coarser ones itself.
  const grid = gridAround(extentOf(positions), Math.max(levels.length, levelsFor(count)), units, chunkShape);
  const lods: CellMesh[] = [];
  for (const [lod, level] of levels.entries()) {
    const own = cellMesh({ positions, faces: level.faces }, grid, lod, bits, most);
    if (own.cells.size === 0) break;
    lods.push(own);
  }
  if (lods.length === 0) return nothing;

  const parts: Uint8Array[] = [];
  const described = nodesOf(lods).map((nodes, lod) => {
    const fragmentOf = fragments(lods[lod]!, bits);
    const sizes = nodes.map((code) => {
      const fragment = fragmentOf(code);
      if (fragment === undefined) return 0;
      return parts[parts.push(draco.encode(fragment, { keepOrder: false })) - 1]!.length;
    });
    const cells = nodes.map(ZCurve.decode);
    return {
      // Neuroglancer compares it with a pixel along the axis with the longest units. 0 would be a lod that is not there.
      scale: Math.max(levels[lod]!.scale / Math.max(...units), Math.max(...grid.chunkShape) / 2 ** bits),
      offset: [0, 0, 0],
      cells: Uint32Array.from([0, 1, 2].flatMap((axis) => cells.map((cell) => cell[axis]!))),
      sizes: Uint32Array.from(sizes),
    };
  });
  const { chunkShape: shape, gridOrigin } = grid;
  const { collapsed, vertices, faces: stored } = lods[0]!;
  return {
    manifest: Manifest.encode({ chunkShape: shape, gridOrigin, lods: described }),
    fragments: concat(parts),
    collapsed,
    cut: stored.length / 3 - (count - collapsed),
    unused,
    moved: moved(positions, vertices, grid, bits),
  };
}

/** Each level has a quarter of the faces of the one before. */
const levelsFor = (faces: number): number => 1 + Math.max(0, Math.ceil(Math.log2(faces / FACES) / 2));

/** How long a step of one along each axis is in nanometres. */
const unitsOf = (transform: Affine | undefined): number[] =>
  [0, 1, 2].map((axis) =>
    transform === undefined ? 1 : Math.hypot(...[0, 4, 8].map((row) => transform.rows[row + axis]!)),
  );

/** Without the vertices that no face has: they may lie anywhere. */
function usedVertices({ positions, faces }: Mesh): Mesh {
  const numbers = new Uint32Array(positions.length / 3);
  for (let i = 0; i < faces.length; i++) numbers[faces[i]!] = 1;
  let count = 0;
  for (let i = 0; i < numbers.length; i++) {
    if (numbers[i] === 0) continue;
    numbers[i] = count++;
  }
  if (count === numbers.length) return { positions, faces };
  const used = new Float64Array(3 * count);
  for (let i = 0; i < faces.length; i++) {
    const [from, to] = [3 * faces[i]!, 3 * numbers[faces[i]!]!];
    for (let axis = 0; axis < 3; axis++) used[to + axis] = positions[from + axis]!;
  }
  return { positions: used, faces: faces.map((vertex) => numbers[vertex]!) };
}
