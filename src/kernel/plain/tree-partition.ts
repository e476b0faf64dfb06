/** Particles on either side of a plane, in plain TypeScript; ../tree.ts says what is promised. */
type Floats = Float32Array | Float64Array;

/** Particles that are looked at together, on each side. */
const BLOCK = 128;
const left = new Uint32Array(BLOCK);
const right = new Uint32Array(BLOCK);

export function partition(
  positions: Floats,
  order: Uint32Array,
  start: number,
  stop: number,
  axis: number,
  mid: number,
): number {
  let low = start;
  let high = stop;
  while (high - low > 1) {
    const block = Math.min(BLOCK, Math.floor((high - low) / 2));
    // Those on the wrong side, without a branch: each number is written, and stays if it counts.
    let lefts = 0;
    let rights = 0;
    for (let i = low, at = 3 * low + axis; i < low + block; i++, at += 3) {
      left[lefts] = i;
      lefts += Number(positions[at]! >= mid);
    }
    for (let i = high - 1, at = 3 * i + axis; i >= high - block; i--, at -= 3) {
      right[rights] = i;
      rights += Number(positions[at]! < mid);
    }
    const few = Math.min(lefts, rights);
    for (let k = 0; k < few; k++) swap(positions, order, left[k]!, right[k]!);
    low = lefts > few ? left[few]! : low + block;
    high = rights > few ? right[few]! + 1 : high - block;
  }
  return high > low && positions[3 * low + axis]! < mid ? low + 1 : low;
}

function swap(positions: Floats, order: Uint32Array, a: number, b: number): void {
  for (let p = 3 * a, q = 3 * b; p < 3 * a + 3; p++, q++) {
    const value = positions[p]!;
    positions[p] = positions[q]!;
    positions[q] = value;
  }
  const number = order[a]!;
  order[a] = order[b]!;
  order[b] = number;
}
