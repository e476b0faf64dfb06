// Particles on either side of a plane; ../tree.ts says what is promised.
import { LEFT, RIGHT, scratch } from "./tree-scratch";

/** Particles that are looked at together, on each side. */
const BLOCK: u32 = 128;

export function partition64(positions: usize, order: usize, start: u32, stop: u32, axis: u32, mid: f64): u32 {
  return partition<f64>(positions, order, start, stop, axis, mid);
}

export function partition32(positions: usize, order: usize, start: u32, stop: u32, axis: u32, mid: f64): u32 {
  return partition<f32>(positions, order, start, stop, axis, mid);
}

// @ts-ignore: decorator
@inline
function partition<T>(positions: usize, order: usize, start: u32, stop: u32, axis: u32, mid: f64): u32 {
  const stride: usize = 3 * sizeof<T>();
  const column = positions + axis * sizeof<T>();
  const left = scratch + LEFT;
  const right = scratch + RIGHT;
  // Those on the wrong side that have nobody to change places with yet; after each round there are none of one side.
  let l = left, lefts = left;
  let r = right, rights = right;
  let low = start;
  let high = stop;
  while (low < high) {
    // Without a branch: each number is written, and stays if it counts.
    if (l == lefts) {
      l = lefts = left;
      const rest = high - low;
      const end = low + min<u32>(BLOCK, r == rights ? (rest + 1) >> 1 : rest);
      for (let at = column + low * stride; low < end; low++, at += stride) {
        store<u32>(lefts, low);
        lefts += usize(<f64>load<T>(at) >= mid) << 2;
      }
    }
    if (r == rights) {
      r = rights = right;
      const end = high - min<u32>(BLOCK, high - low);
      for (let at = column + high * stride; high > end; ) {
        at -= stride;
        high--;
        store<u32>(rights, high);
        rights += usize(<f64>load<T>(at) < mid) << 2;
      }
    }
    for (; l < lefts && r < rights; l += 4, r += 4) swap<T>(positions, order, load<u32>(l), load<u32>(r));
  }
  // From the first that is left over on one side the others, at most a block, are looked at from the other side.
  if (l < lefts) low = load<u32>(l);
  else if (r < rights) high = load<u32>(r) + 1;
  while (low < high) {
    if (<f64>load<T>(column + low * stride) < mid) low++;
    else if (<f64>load<T>(column + --high * stride) < mid) swap<T>(positions, order, low++, high);
  }
  return low;
}

// @ts-ignore: decorator
@inline
function swap<T>(positions: usize, order: usize, a: u32, b: u32): void {
  const p = positions + a * (3 * sizeof<T>());
  const q = positions + b * (3 * sizeof<T>());
  if (sizeof<T>() == 8) {
    const xy = v128.load(p);
    const z = load<i64>(p, 16);
    v128.store(p, v128.load(q));
    store<i64>(p, load<i64>(q, 16), 16);
    v128.store(q, xy);
    store<i64>(q, z, 16);
  } else {
    const xy = load<i64>(p);
    const z = load<i32>(p, 8);
    store<i64>(p, load<i64>(q));
    store<i32>(p, load<i32>(q, 8), 8);
    store<i64>(q, xy);
    store<i32>(q, z, 8);
  }
  const i = order + (a << 2);
  const j = order + (b << 2);
  const number = load<u32>(i);
  store<u32>(i, load<u32>(j));
  store<u32>(j, number);
}
