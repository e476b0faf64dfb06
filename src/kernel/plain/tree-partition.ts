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
  // Those on the wrong side that have nobody to change places with yet; after each round there are none of one side.
  let l = 0;
  let lefts = 0;
  let r = 0;
  let rights = 0;
  let low = start;
  let high = stop;
  while (low < high) {
    // Without a branch: each number is written, and stays if it counts.
    if (l === lefts) {
      l = lefts = 0;
      const rest = high - low;
      const end = low + Math.min(BLOCK, r === rights ? Math.ceil(rest / 2) : rest);
      for (let at = 3 * low + axis; low < end; low++, at += 3) {
        left[lefts] = low;
        lefts += Number(positions[at]! >= mid);
      }
    }
    if (r === rights) {
      r = rights = 0;
      const end = high - Math.min(BLOCK, high - low);
      for (let at = 3 * (high - 1) + axis; high > end; at -= 3) {
        right[rights] = --high;
        rights += Number(positions[at]! < mid);
      }
    }
    for (; l < lefts && r < rights; l++, r++) swap(positions, order, left[l]!, right[r]!);
  }
  // From the first that is left over on one side the others, at most a block, are looked at from the other side.
  if (l < lefts) low = left[l]!;
  else if (r < rights) high = right[r]! + 1;
  while (low < high) {
    if (positions[3 * low + axis]! < mid) low++;
    else if (positions[3 * --high + axis]! < mid) swap(positions, order, low++, high);
  }
  return low;
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
