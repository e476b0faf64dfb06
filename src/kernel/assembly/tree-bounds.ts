// The box around a range of particles; ../tree.ts says what is promised.
import { pair } from "./tree-pairs";
import { BOX, scratch } from "./tree-scratch";

export function bounds64(p: usize, start: u32, stop: u32): f64 {
  return bounds<f64>(p, start, stop);
}

export function bounds32(p: usize, start: u32, stop: u32): f64 {
  return bounds<f32>(p, start, stop);
}

// Two particles are three vectors (x y, z x, y z), for which there are three sums each.
// @ts-ignore: decorator
@inline
function bounds<T>(p: usize, start: u32, stop: u32): f64 {
  const inf = f64x2.splat(Infinity);
  let low0 = inf, low1 = inf, low2 = inf;
  let high0 = f64x2.neg(inf), high1 = high0, high2 = high0;
  let odd = f64x2.splat(0);
  let at = p + start * (3 * sizeof<T>());
  let i = start;
  for (; i + 2 <= stop; i += 2, at += 6 * sizeof<T>()) {
    const a = pair<T>(at), b = pair<T>(at + 2 * sizeof<T>()), c = pair<T>(at + 4 * sizeof<T>());
    low0 = f64x2.pmin(low0, a);
    low1 = f64x2.pmin(low1, b);
    low2 = f64x2.pmin(low2, c);
    high0 = f64x2.pmax(high0, a);
    high1 = f64x2.pmax(high1, b);
    high2 = f64x2.pmax(high2, c);
    odd = f64x2.add(odd, f64x2.add(f64x2.add(f64x2.sub(a, a), f64x2.sub(b, b)), f64x2.sub(c, c)));
  }
  let x0 = min<f64>(f64x2.extract_lane(low0, 0), f64x2.extract_lane(low1, 1));
  let y0 = min<f64>(f64x2.extract_lane(low0, 1), f64x2.extract_lane(low2, 0));
  let z0 = min<f64>(f64x2.extract_lane(low1, 0), f64x2.extract_lane(low2, 1));
  let x1 = max<f64>(f64x2.extract_lane(high0, 0), f64x2.extract_lane(high1, 1));
  let y1 = max<f64>(f64x2.extract_lane(high0, 1), f64x2.extract_lane(high2, 0));
  let z1 = max<f64>(f64x2.extract_lane(high1, 0), f64x2.extract_lane(high2, 1));
  let sum = f64x2.extract_lane(odd, 0) + f64x2.extract_lane(odd, 1);
  if (i < stop) {
    const x = <f64>load<T>(at), y = <f64>load<T>(at, sizeof<T>()), z = <f64>load<T>(at, 2 * sizeof<T>());
    x0 = min<f64>(x0, x);
    y0 = min<f64>(y0, y);
    z0 = min<f64>(z0, z);
    x1 = max<f64>(x1, x);
    y1 = max<f64>(y1, y);
    z1 = max<f64>(z1, z);
    sum += x - x + (y - y) + (z - z);
  }
  const corners = scratch + BOX;
  store<f64>(corners, x0);
  store<f64>(corners, y0, 8);
  store<f64>(corners, z0, 16);
  store<f64>(corners, x1, 24);
  store<f64>(corners, y1, 32);
  store<f64>(corners, z1, 40);
  return sum;
}
