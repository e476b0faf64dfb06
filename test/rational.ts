/**
 * Geometry with rational numbers, slow and without any rounding: what the tests of src/query hold their answers against. A
 * point is its coordinates times a weight, then the weight, all integers. Coordinates are doubles from 1e-40 to 1e40.
 */
export type Exact = readonly bigint[];

const whole = (value: number): bigint => BigInt(value * 2 ** 200);

/** What a closed box leaves of a polygon (or of a segment, as a polygon of two corners); empty where they do not touch. */
export function clipExactly(
  corners: readonly (readonly number[])[],
  min: readonly number[],
  max: readonly number[],
): Exact[] {
  let polygon: Exact[] = corners.map((corner) => [...corner.map(whole), 1n]);
  min.forEach((low, axis) => {
    if (low > -Infinity) polygon = half(polygon, axis, whole(low), 1n);
    if (max[axis]! < Infinity) polygon = half(polygon, axis, whole(max[axis]!), -1n);
  });
  return polygon;
}

function half(polygon: readonly Exact[], axis: number, face: bigint, inner: bigint): Exact[] {
  const side = (point: Exact): bigint => inner * (point[axis]! - face * point.at(-1)!);
  return polygon.flatMap((point, i) => {
    const next = polygon[(i + 1) % polygon.length]!;
    const [here, there] = [side(point), side(next)];
    const kept = here >= 0n ? [point] : [];
    if (!((here > 0n && there < 0n) || (here < 0n && there > 0n))) return kept;
    const cut = point.map((value, k) => value * there - next[k]! * here);
    return [...kept, cut.at(-1)! > 0n ? cut : cut.map((value) => -value)];
  });
}

/** The point in doubles, each coordinate rounded once or so. */
export function toNumbers(point: Exact): number[] {
  const weight = point.at(-1)!;
  return point.slice(0, -1).map((value) => {
    const digits = (value << 64n) / weight;
    return Number(digits) * 2 ** -264;
  });
}

/** Whether a – b touches the box: if so, it does at an end or where it passes one of the faces. */
export function segmentTouchesExactly(
  a: readonly number[],
  b: readonly number[],
  min: readonly number[],
  max: readonly number[],
): boolean {
  const [p, q] = [a.map(whole), b.map(whole)];
  const candidates: [bigint, bigint][] = [
    [0n, 1n],
    [1n, 1n],
  ];
  p.forEach((start, axis) => {
    const step = q[axis]! - start;
    for (const face of [min[axis]!, max[axis]!]) {
      if (step === 0n || !Number.isFinite(face)) continue;
      const [t, unit] = [whole(face) - start, step];
      candidates.push(unit > 0n ? [t, unit] : [-t, -unit]);
    }
  });
  return candidates.some(
    ([t, unit]) =>
      t >= 0n &&
      t <= unit &&
      p.every((start, axis) => {
        const at = start * unit + (q[axis]! - start) * t;
        return (
          (min[axis] === -Infinity || at >= whole(min[axis]!) * unit) &&
          (max[axis] === Infinity || at <= whole(max[axis]!) * unit)
        );
      }),
  );
}
