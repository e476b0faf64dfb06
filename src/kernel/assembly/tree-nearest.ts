// The nearest of a range of particles; ../tree.ts says what is promised.
import { square, squares } from "./tree-pairs";
import { NEAREST, SQUARES, scratch } from "./tree-scratch";

export function near64(p: usize, start: u32, stop: u32, x: f64, y: f64, z: f64, size: u32, most: u32, within: f64): u32 {
  return near<f64>(p, start, stop, x, y, z, size, most, within);
}

export function near32(p: usize, start: u32, stop: u32, x: f64, y: f64, z: f64, size: u32, most: u32, within: f64): u32 {
  return near<f32>(p, start, stop, x, y, z, size, most, within);
}

// @ts-ignore: decorator
@inline
function near<T>(p: usize, start: u32, stop: u32, x: f64, y: f64, z: f64, size: u32, most: u32, within: f64): u32 {
  const xs = f64x2.splat(x), ys = f64x2.splat(y), zs = f64x2.splat(z);
  let limit = size < most ? within : load<f64>(scratch + SQUARES);
  let i = start;
  let at = p + start * (3 * sizeof<T>());
  while (i < stop) {
    // Few are near enough: four are looked at together, one by one only where one of them is.
    if (i + 4 <= stop) {
      const limits = f64x2.splat(limit);
      const first = f64x2.le(squares<T>(at, xs, ys, zs), limits);
      const second = f64x2.le(squares<T>(at + 6 * sizeof<T>(), xs, ys, zs), limits);
      if (!v128.any_true(v128.or(first, second))) {
        i += 4;
        at += 12 * sizeof<T>();
        continue;
      }
    }
    const end = min<u32>(i + 4, stop);
    for (; i < end; i++, at += 3 * sizeof<T>()) {
      const s = square<T>(at, x, y, z);
      if (!(s <= limit)) continue;
      size = offer(s, i, size, most);
      if (size == most) limit = load<f64>(scratch + SQUARES);
    }
  }
  return size;
}

/** Puts one into the heap, whose first is the worst, or in its place. */
function offer(s: f64, i: u32, size: u32, most: u32): u32 {
  let at: u32 = 0;
  if (size < most) {
    at = size++;
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (!worse(s, i, up)) break;
      put(at, squareAt(up), numberAt(up));
      at = up;
    }
  } else {
    if (worse(s, i, 0)) return size;
    for (;;) {
      let down: u32 = 2 * at + 1;
      if (down >= size) break;
      if (down + 1 < size && worse(squareAt(down + 1), numberAt(down + 1), down)) down++;
      if (worse(s, i, down)) break;
      put(at, squareAt(down), numberAt(down));
      at = down;
    }
  }
  put(at, s, i);
  return size;
}

// @ts-ignore: decorator
@inline
function squareAt(at: u32): f64 {
  return load<f64>(scratch + (at << 3), SQUARES);
}

// @ts-ignore: decorator
@inline
function numberAt(at: u32): u32 {
  return load<u32>(scratch + (at << 2), NEAREST);
}

// @ts-ignore: decorator
@inline
function put(at: u32, s: f64, i: u32): void {
  store<f64>(scratch + (at << 3), s, SQUARES);
  store<u32>(scratch + (at << 2), i, NEAREST);
}

// @ts-ignore: decorator
@inline
function worse(s: f64, i: u32, than: u32): bool {
  const other = squareAt(than);
  return s > other || (s == other && i > numberAt(than));
}
