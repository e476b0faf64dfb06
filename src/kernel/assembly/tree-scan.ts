// Which particles of a range are in a region; ../tree.ts says what is promised.
import { pair, square, squares, xOf, yOf, zOf } from "./tree-pairs";
import { FOUND, scratch } from "./tree-scratch";

/** For each set of four bits, which of four numbers are to be kept, as the bytes that they have. */
const KEEP = memory.data<u8>([
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
  4, 5, 6, 7, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
  8, 9, 10, 11, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
  0, 1, 2, 3, 8, 9, 10, 11, 8, 9, 10, 11, 12, 13, 14, 15,
  4, 5, 6, 7, 8, 9, 10, 11, 8, 9, 10, 11, 12, 13, 14, 15,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
  12, 13, 14, 15, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
  0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15,
  4, 5, 6, 7, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15,
  0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 12, 13, 14, 15,
  8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15,
  0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 12, 13, 14, 15,
  4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 12, 13, 14, 15,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
], 16);

export function keepBox64(p: usize, start: u32, stop: u32, n: u32, x0: f64, y0: f64, z0: f64, x1: f64, y1: f64, z1: f64): u32 {
  return keepBox<f64>(p, start, stop, n, x0, y0, z0, x1, y1, z1);
}

export function keepBox32(p: usize, start: u32, stop: u32, n: u32, x0: f64, y0: f64, z0: f64, x1: f64, y1: f64, z1: f64): u32 {
  return keepBox<f32>(p, start, stop, n, x0, y0, z0, x1, y1, z1);
}

export function keepSphere64(p: usize, start: u32, stop: u32, n: u32, x: f64, y: f64, z: f64, most: f64): u32 {
  return keepSphere<f64>(p, start, stop, n, x, y, z, most);
}

export function keepSphere32(p: usize, start: u32, stop: u32, n: u32, x: f64, y: f64, z: f64, most: f64): u32 {
  return keepSphere<f32>(p, start, stop, n, x, y, z, most);
}

export function keepAll(start: u32, stop: u32, n: u32): u32 {
  let out = scratch + FOUND + (n << 2);
  let numbers = upFrom(start);
  for (let i = start; i < stop; i += 4, out += 16) {
    v128.store(out, numbers);
    numbers = i32x4.add(numbers, i32x4.splat(4));
  }
  return n + (stop - start);
}

// @ts-ignore: decorator
@inline
function keepBox<T>(p: usize, start: u32, stop: u32, n: u32, x0: f64, y0: f64, z0: f64, x1: f64, y1: f64, z1: f64): u32 {
  const a0 = f64x2(x0, y0), b0 = f64x2(z0, x0), c0 = f64x2(y0, z0);
  const a1 = f64x2(x1, y1), b1 = f64x2(z1, x1), c1 = f64x2(y1, z1);
  const first = scratch + FOUND;
  let at = p + start * (3 * sizeof<T>());
  let out = first + (n << 2);
  let numbers = upFrom(start);
  let i = start;
  for (; i + 4 <= stop; i += 4, at += 12 * sizeof<T>()) {
    const low = inBox<T>(at, a0, b0, c0, a1, b1, c1);
    const high = inBox<T>(at + 6 * sizeof<T>(), a0, b0, c0, a1, b1, c1);
    out = keepFour(out, numbers, low, high);
    numbers = i32x4.add(numbers, i32x4.splat(4));
  }
  for (; i < stop; i++, at += 3 * sizeof<T>()) {
    const x = <f64>load<T>(at);
    const y = <f64>load<T>(at, sizeof<T>());
    const z = <f64>load<T>(at, 2 * sizeof<T>());
    store<u32>(out, i);
    const inside = u32(x >= x0) & u32(x <= x1) & u32(y >= y0) & u32(y <= y1) & u32(z >= z0) & u32(z <= z1);
    out += inside << 2;
  }
  return (out - first) >> 2;
}

// @ts-ignore: decorator
@inline
function inBox<T>(at: usize, a0: v128, b0: v128, c0: v128, a1: v128, b1: v128, c1: v128): v128 {
  const a = pair<T>(at), b = pair<T>(at + 2 * sizeof<T>()), c = pair<T>(at + 4 * sizeof<T>());
  const inA = v128.and(f64x2.ge(a, a0), f64x2.le(a, a1));
  const inB = v128.and(f64x2.ge(b, b0), f64x2.le(b, b1));
  const inC = v128.and(f64x2.ge(c, c0), f64x2.le(c, c1));
  return v128.and(v128.and(xOf(inA, inB), yOf(inA, inC)), zOf(inB, inC));
}

// @ts-ignore: decorator
@inline
function keepSphere<T>(p: usize, start: u32, stop: u32, n: u32, x: f64, y: f64, z: f64, most: f64): u32 {
  const xs = f64x2.splat(x), ys = f64x2.splat(y), zs = f64x2.splat(z), mosts = f64x2.splat(most);
  const first = scratch + FOUND;
  let at = p + start * (3 * sizeof<T>());
  let out = first + (n << 2);
  let numbers = upFrom(start);
  let i = start;
  for (; i + 4 <= stop; i += 4, at += 12 * sizeof<T>()) {
    const low = f64x2.le(squares<T>(at, xs, ys, zs), mosts);
    const high = f64x2.le(squares<T>(at + 6 * sizeof<T>(), xs, ys, zs), mosts);
    out = keepFour(out, numbers, low, high);
    numbers = i32x4.add(numbers, i32x4.splat(4));
  }
  for (; i < stop; i++, at += 3 * sizeof<T>()) {
    store<u32>(out, i);
    out += u32(square<T>(at, x, y, z) <= most) << 2;
  }
  return (out - first) >> 2;
}

// @ts-ignore: decorator
@inline
function upFrom(start: u32): v128 {
  return i32x4.add(i32x4.splat(start), i32x4(0, 1, 2, 3));
}

/** Writes those of four numbers whose pairs of masks are set, without a branch; where the next go. */
// @ts-ignore: decorator
@inline
function keepFour(out: usize, numbers: v128, low: v128, high: v128): usize {
  const bits = i32x4.bitmask(v128.shuffle<i32>(low, high, 0, 2, 4, 6));
  v128.store(out, v128.swizzle(numbers, v128.load(KEEP + (bits << 4))));
  return out + (popcnt<u32>(bits) << 2);
}
