/**
 * From the fragments of a lod to a mesh in nanometres. A fragment is a Draco mesh whose positions are whole numbers q from 0 to
 * 2^bits − 1, the lowest and the highest being the two sides of its cell:
 *
 *     position = grid_origin + vertex_offset[lod] + chunk_shape · 2^lod · (cell + q / (2^bits − 1))
 *
 * in units of the model, and then the transform of the info. Everything is float64: neighbours share the vertices on the border
 * between them, and q at its highest is exactly q = 0 of the next cell.
 */
import type { Draco } from "../../../codec/draco.js";
import { Corrupt, LimitExceeded } from "../../../errors.js";
import type { Limits } from "../../../limits.js";
import { Affine } from "../../../space/transform.js";
import type { MultiMeshInfo } from "./info.js";
import type { Mesh } from "./legacy.js";
import type { Manifest } from "./manifest.js";

/** A fragment as it is stored. */
export interface MeshFragment {
  /** x, y, z of its cell. */
  readonly cell: readonly number[];
  /** x, y, z of each vertex, in steps from the lower corner of the cell. */
  readonly steps: Int32Array;
  /** Three vertex numbers each. */
  readonly faces: Uint32Array;
}

/** The fragments of a lod with geometry, which lie in `bytes` one after the other. */
export function* decodeFragments(
  { lods }: Manifest,
  lod: number,
  bytes: Uint8Array,
  bits: number,
  draco: Draco,
  limits: Limits,
  where: string,
): Generator<MeshFragment> {
  const { cells, sizes } = lods[lod]!;
  let [at, room] = [0, limits.chunkBytes];
  for (let i = 0; i < sizes.length; i++) {
    const size = sizes[i]!;
    if (size === 0) continue;
    const cell = [cells[i]!, cells[sizes.length + i]!, cells[2 * sizes.length + i]!];
    const what = `${where}, fragment ${cell.join(" ")} of lod ${lod}`;
    const { positions: steps, components, faces } = draco.decodeQuantized(bytes.subarray(at, at + size), limits, what);
    at += size;
    if (components !== 3 || faces === undefined)
      throw new Corrupt(
        `${what} should be triangles with positions of 3 numbers, found ${faces ? components : "points"}`,
        { where },
      );
    const beyond = steps.find((step) => step < 0 || step >= 2 ** bits);
    if (beyond !== undefined)
      throw new Corrupt(`${what} should have positions from 0 to ${2 ** bits - 1}, found ${beyond}`, { where: what });
    room -= 2 * steps.byteLength + faces.byteLength; // as float64
    if (room < 0)
      throw new LimitExceeded(
        `${where} should decode to at most ${limits.chunkBytes} bytes at lod ${lod}, found more`,
        { where },
      );
    yield { cell, steps, faces };
  }
}

/** Fragments of a lod as one mesh in nanometres. */
export function placeFragments(
  fragments: Iterable<MeshFragment>,
  manifest: Manifest,
  lod: number,
  { quantizationBits, transform }: MultiMeshInfo,
): Mesh {
  const parts = Array.from(fragments, ({ cell, steps, faces }) => ({
    positions: placeVertices(manifest, lod, cell, steps, quantizationBits),
    faces,
  }));
  const { positions, faces } = joinMeshes(parts, Float64Array);
  return { positions: transform === undefined ? positions : Affine.applyAll(transform, positions), faces };
}

function placeVertices(
  { chunkShape, gridOrigin, lods }: Manifest,
  lod: number,
  cell: readonly number[],
  steps: Int32Array,
  bits: number,
): Float64Array {
  const highest = 2 ** bits - 1;
  const out = new Float64Array(steps.length);
  for (let axis = 0; axis < 3; axis++) {
    const origin = gridOrigin[axis]! + lods[lod]!.offset[axis]!;
    const step = chunkShape[axis]! * 2 ** lod;
    const base = cell[axis]!;
    for (let i = axis; i < steps.length; i += 3) out[i] = origin + step * (base + steps[i]! / highest);
  }
  return out;
}

/** Several meshes as one. */
export function joinMeshes<T extends Float32Array | Float64Array>(
  parts: readonly { readonly positions: T; readonly faces: Uint32Array }[],
  Positions: new (length: number) => T,
): { readonly positions: T; readonly faces: Uint32Array } {
  if (parts.length === 1) return parts[0]!;
  const positions = new Positions(parts.reduce((sum, part) => sum + part.positions.length, 0));
  const faces = new Uint32Array(parts.reduce((sum, part) => sum + part.faces.length, 0));
  let [vertex, corner] = [0, 0];
  for (const part of parts) {
    positions.set(part.positions, 3 * vertex);
    for (let i = 0; i < part.faces.length; i++) faces[corner++] = part.faces[i]! + vertex;
    vertex += part.positions.length / 3;
  }
  return { positions, faces };
}

/**
 * The box around the cells of a lod that have geometry, in nanometres: min, then max. Computed in the same steps as vertices are,
 * each of which keeps the order of numbers, so that rounding leaves none outside.
 */
export function boxOf({ chunkShape, gridOrigin, lods }: Manifest, lod: number, transform?: Affine): Float64Array {
  const { offset, cells, sizes } = lods[lod]!;
  const min = new Float64Array(3).fill(Number.POSITIVE_INFINITY);
  const max = new Float64Array(3).fill(Number.NEGATIVE_INFINITY);
  for (let axis = 0; axis < 3; axis++) {
    const origin = gridOrigin[axis]! + offset[axis]!;
    const step = chunkShape[axis]! * 2 ** lod;
    for (let i = 0; i < sizes.length; i++) {
      if (sizes[i] === 0) continue;
      const cell = cells[axis * sizes.length + i]!;
      min[axis] = Math.min(min[axis]!, origin + step * cell);
      max[axis] = Math.max(max[axis]!, origin + step * (cell + 1));
    }
  }
  const empty = min[0]! > max[0]!; // the transform would make NaN of it
  if (transform === undefined || empty) return Float64Array.of(...min, ...max);
  const out = new Float64Array(6);
  for (let row = 0; row < 3; row++) {
    let [low, high] = [transform.rows[4 * row + 3]!, transform.rows[4 * row + 3]!];
    for (let axis = 0; axis < 3; axis++) {
      const [a, b] = [transform.rows[4 * row + axis]! * min[axis]!, transform.rows[4 * row + axis]! * max[axis]!];
      low += Math.min(a, b);
      high += Math.max(a, b);
    }
    out[row] = low;
    out[3 + row] = high;
  }
  return out;
}
