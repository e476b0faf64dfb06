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
  let low = start;
  let high = stop;
  while (high - low > 1) {
    const half = (high - low) >> 1;
    const block = half < BLOCK ? half : BLOCK;
    // Those on the wrong side, without a branch: each number is written, and stays if it counts.
    let lefts = left;
    let rights = right;
    let at = column + low * stride;
    for (let i = low; i < low + block; i++, at += stride) {
      store<u32>(lefts, i);
      lefts += usize(<f64>load<T>(at) >= mid) << 2;
    }
    at = column + high * stride;
    for (let i = high; i > high - block; i--) {
      at -= stride;
      store<u32>(rights, i - 1);
      rights += usize(<f64>load<T>(at) < mid) << 2;
    }
    const few = min<usize>(lefts - left, rights - right);
    for (let k: usize = 0; k < few; k += 4) swap<T>(positions, order, load<u32>(left + k), load<u32>(right + k));
    low = lefts - left > few ? load<u32>(left + few) : low + block;
    high = rights - right > few ? load<u32>(right + few) + 1 : high - block;
  }
  return high > low && <f64>load<T>(column + low * stride) < mid ? low + 1 : low;
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
