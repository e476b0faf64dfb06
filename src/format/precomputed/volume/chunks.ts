/**
 * The chunks of a scale: a grid that begins at the scale's first voxel; the last ones along an axis end where the scale ends.
 * A chunk's id is the compressed Morton code of its place in the grid; in a file of its own, its name is the voxels that it
 * covers, counted from the origin of space:
 *
 *   x0-x1_y0-y1_z0-z1      such as 64-128_0-64_-5-27: numbers may be negative
 */
import { Morton } from "../../../space/morton.js";
import type { ValueNames } from "../values.js";
import type { Scale, Triple } from "./types.js";

type Placed = Pick<Scale, "size" | "offset" | "chunkSizes">;

const map = (triple: Triple, f: (n: number, axis: 0 | 1 | 2) => number): Triple => [
  f(triple[0], 0),
  f(triple[1], 1),
  f(triple[2], 2),
];

export class ChunkGrid {
  readonly chunk: Triple;
  /** Chunks along each axis. */
  readonly shape: Triple;
  readonly #scale: Placed;

  constructor(scale: Placed, which = 0) {
    this.#scale = scale;
    this.chunk = scale.chunkSizes[which]!;
    this.shape = map(scale.size, (length, axis) => Math.ceil(length / this.chunk[axis]));
  }

  get count(): number {
    return this.shape[0] * this.shape[1] * this.shape[2];
  }

  idOf(cell: readonly number[]): bigint {
    return Morton.encode(cell.slice(0, 3), this.shape);
  }

  /** undefined for an id that no chunk has. */
  cellOf(id: bigint): Triple | undefined {
    return this.count === 0 ? undefined : (Morton.decode(id, this.shape) as Triple | undefined);
  }

  /** The voxels that a chunk has. */
  extentOf(cell: readonly number[]): Triple {
    return map(this.#scale.size, (length, axis) => Math.min(this.chunk[axis], length - cell[axis]! * this.chunk[axis]));
  }

  nameOf(cell: readonly number[]): string {
    const extent = this.extentOf(cell);
    return [0, 1, 2]
      .map((axis) => {
        const start = this.#scale.offset[axis]! + cell[axis]! * this.chunk[axis]!;
        return `${start}-${start + extent[axis]!}`;
      })
      .join("_");
  }

  /** The chunk of that name; undefined where no chunk of this grid has it. */
  cellOfName(name: string): Triple | undefined {
    const starts = /^(-?\d{1,16})--?\d{1,16}_(-?\d{1,16})--?\d{1,16}_(-?\d{1,16})--?\d{1,16}$/.exec(name);
    if (starts === null) return undefined;
    const cell = map([0, 1, 2], (axis) => (Number(starts[axis + 1]) - this.#scale.offset[axis]!) / this.chunk[axis]!);
    const inside = cell.every((n, axis) => Number.isInteger(n) && n >= 0 && n < this.shape[axis]!);
    return inside && this.nameOf(cell) === name ? cell : undefined;
  }

  /** For values in files of their own. */
  get names(): ValueNames {
    return {
      nameOf: (id) => this.nameOf(this.cellOf(id)!),
      idOf: (name) => {
        const cell = this.cellOfName(name);
        return cell && this.idOf(cell);
      },
    };
  }
}
