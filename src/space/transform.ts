/**
 * Affine transforms in n dimensions: n rows of n + 1 numbers, row-major, the last of each row the translation. This is how
 * precomputed stores them (12 numbers); homogeneous 4 × 4 matrices have one row more, always 0 0 0 1.
 */
import { InvalidInput } from "../errors.js";

export interface Affine {
  readonly rank: number;
  readonly rows: readonly number[];
}

export const Affine = {
  of(rows: readonly number[]): Affine {
    const rank = (Math.sqrt(1 + 4 * rows.length) - 1) / 2;
    if (rank < 1 || !Number.isInteger(rank) || !rows.every(Number.isFinite))
      throw new InvalidInput(
        `a transform has n × (n + 1) finite numbers, found ${rows.length}: [${rows.slice(0, 20)}]`,
      );
    return { rank, rows };
  },

  /** First scaled, then moved, each axis by itself. */
  scale(factors: readonly number[], offsets: readonly number[] = factors.map(() => 0)): Affine {
    return Affine.of(
      factors.flatMap((factor, row) => [...factors.map((_, i) => (i === row ? factor : 0)), offsets[row]!]),
    );
  },

  apply({ rank, rows }: Affine, point: readonly number[]): number[] {
    if (point.length !== rank)
      throw new InvalidInput(`a transform of rank ${rank} takes points of that rank, found [${point}]`);
    return point.map((_, row) => {
      let sum = rows[row * (rank + 1) + rank]!;
      for (let i = 0; i < rank; i++) sum += rows[row * (rank + 1) + i]! * point[i]!;
      return sum;
    });
  },

  /** Many points, one after the other. In float64: what float32 would lose here is what brings two ends of an edge apart. */
  applyAll({ rank, rows }: Affine, points: Float32Array | Float64Array): Float64Array {
    const out = new Float64Array(points.length);
    for (let at = 0; at + rank <= points.length; at += rank)
      for (let row = 0; row < rank; row++) {
        let sum = rows[row * (rank + 1) + rank]!;
        for (let i = 0; i < rank; i++) sum += rows[row * (rank + 1) + i]! * points[at + i]!;
        out[at + row] = sum;
      }
    return out;
  },

  /** `outer` after `inner`. */
  compose(outer: Affine, inner: Affine): Affine {
    const { rank } = outer;
    if (inner.rank !== rank) throw new InvalidInput(`transforms of rank ${rank} and ${inner.rank} do not compose`);
    const rows = outer.rows.map((last, k) => {
      const row = Math.floor(k / (rank + 1));
      const column = k % (rank + 1);
      let sum = column === rank ? last : 0;
      for (let i = 0; i < rank; i++) sum += outer.rows[row * (rank + 1) + i]! * inner.rows[i * (rank + 1) + column]!;
      return sum;
    });
    return { rank, rows };
  },

  /** The way back, by elimination with the largest pivot. */
  invert({ rank, rows }: Affine): Affine {
    // Each row: the matrix, then the identity that becomes the inverse.
    const work = Array.from({ length: rank }, (_, row) => [
      ...rows.slice(row * (rank + 1), row * (rank + 1) + rank),
      ...Array.from({ length: rank }, (_, i) => (i === row ? 1 : 0)),
    ]);
    for (let column = 0; column < rank; column++) {
      let pivot = column;
      for (let row = column; row < rank; row++)
        if (Math.abs(work[row]![column]!) > Math.abs(work[pivot]![column]!)) pivot = row;
      const chosen = work[pivot]!;
      const by = chosen[column]!;
      if (by === 0) throw new InvalidInput(`the transform [${rows}] cannot be inverted: it flattens space`);
      work[pivot] = work[column]!;
      work[column] = chosen.map((value) => value / by);
      for (let row = 0; row < rank; row++) {
        if (row === column) continue;
        const factor = work[row]![column]!;
        work[row] = work[row]!.map((value, i) => value - factor * work[column]![i]!);
      }
    }
    const linear = work.map((row) => row.slice(rank));
    return Affine.of(
      linear.flatMap((row) => {
        let offset = 0;
        for (let i = 0; i < rank; i++) offset -= row[i]! * rows[i * (rank + 1) + rank]!;
        return [...row, offset];
      }),
    );
  },
};
