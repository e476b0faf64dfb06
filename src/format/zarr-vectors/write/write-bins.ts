/**
 * The bins of a chunk: points without objects are ordered by them, and a fragment is a bin. A chunk has a whole number of bins
 * along each axis; they are numbered with the last axis fastest.
 */
export interface Bins {
  readonly count: number;
  /** The bin of each point. */
  readonly bins: Uint32Array;
}

/** Of these points (all unless told) of the chunk with these coordinates. */
export function binsOf(
  chunkShape: readonly number[],
  binShape: readonly number[],
  chunk: ArrayLike<number>,
  positions: ArrayLike<number>,
  points?: ArrayLike<number>,
): Bins {
  const dims = chunkShape.length;
  const per = chunkShape.map((size, axis) => Math.round(size / binShape[axis]!));
  const bins = new Uint32Array(points?.length ?? positions.length / dims);
  for (let i = 0; i < bins.length; i++) {
    const at = (points === undefined ? i : points[i]!) * dims;
    let bin = 0;
    for (let axis = 0; axis < dims; axis++) {
      const place = Math.floor(positions[at + axis]! / binShape[axis]!) - chunk[axis]! * per[axis]!;
      // A division may round to the far border, which belongs to the next bin: of this chunk it is the last.
      bin = bin * per[axis]! + Math.max(0, Math.min(per[axis]! - 1, place));
    }
    bins[i] = bin;
  }
  return { count: per.reduce((product, n) => product * n, 1), bins };
}
