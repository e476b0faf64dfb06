/**
 * How the axes of an image lie in the body, and the affines between voxels and millimetres. Affines are 4 × 4, row by row; directions are letters as
 * nibabel has them: R, A and S where an axis goes to the right, to the front or upwards, L, P and I where it goes the other way.
 */

const LETTERS = ["LR", "PA", "IS"] as const;

/** Along which axis of space each axis of the image goes, and whether forwards (1) or backwards (−1). */
export type Orientation = readonly { readonly axis: number; readonly flip: 1 | -1 }[];

/** What letters such as "LPS" mean; undefined where they mean nothing. */
export function orientationOf(letters: string): Orientation | undefined {
  const found = [...letters.toUpperCase()].map((letter) => {
    const axis = LETTERS.findIndex((pair) => pair.includes(letter));
    return { axis, flip: LETTERS[axis]?.[1] === letter ? (1 as const) : (-1 as const) };
  });
  const axes = new Set(found.map(({ axis }) => axis));
  return found.length === 3 && axes.size === 3 && !axes.has(-1) ? found : undefined;
}

export const lettersOf = (orientation: Orientation): string =>
  orientation.map(({ axis, flip }) => LETTERS[axis]![flip === 1 ? 1 : 0]).join("");

/** The axes of space that the axes of an image are nearest to; undefined where they do not span it. */
export function nearestOrientation(affine: ArrayLike<number>): Orientation | undefined {
  const turn = rotationOf(affine);
  if (turn === undefined) return undefined;
  const strongest = (column: number): number => Math.max(...[0, 1, 2].map((row) => Math.abs(turn[3 * row + column]!)));
  const out: { axis: number; flip: 1 | -1 }[] = [];
  const free = new Set([0, 1, 2]);
  for (const column of [0, 1, 2].sort((a, b) => strongest(b) - strongest(a))) {
    const size = (row: number): number => Math.abs(turn[3 * row + column]!);
    const axis = [...free].reduce((best, row) => (size(row) > size(best) ? row : best));
    free.delete(axis);
    out[column] = { axis, flip: turn[3 * axis + column]! < 0 ? -1 : 1 };
  }
  return out;
}

/** The rotation that is nearest to an affine without its zooms: its polar factor, by Newton's iteration. */
function rotationOf(affine: ArrayLike<number>): Float64Array | undefined {
  let turn = new Float64Array(9);
  for (let column = 0; column < 3; column++) {
    const zoom = Math.hypot(affine[column]!, affine[4 + column]!, affine[8 + column]!);
    for (let row = 0; row < 3; row++) turn[3 * row + column] = affine[4 * row + column]! / zoom;
  }
  for (let step = 0; step < 100; step++) {
    const inverse = inverse3(turn);
    if (inverse === undefined) return undefined;
    const next = turn.map((value, i) => (value + inverse[3 * (i % 3) + Math.floor(i / 3)]!) / 2);
    const change = next.reduce((most, value, i) => Math.max(most, Math.abs(value - turn[i]!)), 0);
    turn = next;
    if (change < 1e-14) break;
  }
  return turn;
}

/** The inverse of a 3 × 3 matrix; undefined where it has none. */
export function inverse3(m: ArrayLike<number>): Float64Array | undefined {
  const cofactor = (i: number, j: number, k: number, l: number): number => m[i]! * m[j]! - m[k]! * m[l]!;
  const out = Float64Array.of(
    cofactor(4, 8, 5, 7),
    cofactor(2, 7, 1, 8),
    cofactor(1, 5, 2, 4),
    cofactor(5, 6, 3, 8),
    cofactor(0, 8, 2, 6),
    cofactor(2, 3, 0, 5),
    cofactor(3, 7, 4, 6),
    cofactor(1, 6, 0, 7),
    cofactor(0, 4, 1, 3),
  );
  const size = m[0]! * out[0]! + m[1]! * out[3]! + m[2]! * out[6]!;
  const scale = [0, 1, 2].reduce((all, c) => all * Math.hypot(m[c]!, m[3 + c]!, m[6 + c]!), 1);
  if (!(Math.abs(size) > 1e-9 * scale) || !Number.isFinite(size)) return undefined;
  return out.map((value) => value / size);
}

/** The upper left 3 × 3 of an affine. */
export const linearOf = (affine: ArrayLike<number>): number[] => [0, 1, 2, 4, 5, 6, 8, 9, 10].map((i) => affine[i]!);

/** The size of a voxel along each of its axes. */
export const voxelSizes = (affine: ArrayLike<number>): number[] =>
  [0, 1, 2].map((c) => Math.hypot(affine[c]!, affine[4 + c]!, affine[8 + c]!));

/** First b, then a. */
export const multiply = (a: ArrayLike<number>, b: ArrayLike<number>): Float64Array =>
  Float64Array.from({ length: 16 }, (_, i) => {
    const [row, column] = [4 * (i >> 2), i & 3];
    return (
      a[row]! * b[column]! + a[row + 1]! * b[4 + column]! + a[row + 2]! * b[8 + column]! + a[row + 3]! * b[12 + column]!
    );
  });
