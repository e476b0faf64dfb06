// Which particles of a range are in a region, and the box around a range; ../tree.ts says what is promised.

/** Room for the numbers of 2^16 particles, and one more, which is written before it is known whether it counts. */
const numbers = memory.data(262160, 16);

/** Six numbers: the lower and the upper corner of a box. */
const corners = memory.data(48, 16);

/** Where the corners of a box are written. */
export function box(): usize {
  return corners;
}

/** Where numbers are written. */
export function found(): usize {
  return numbers;
}

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

export function bounds64(p: usize, start: u32, stop: u32): f64 {
  return bounds<f64>(p, start, stop);
}

export function bounds32(p: usize, start: u32, stop: u32): f64 {
  return bounds<f32>(p, start, stop);
}

// @ts-ignore: decorator
@inline
function keepBox<T>(p: usize, start: u32, stop: u32, n: u32, x0: f64, y0: f64, z0: f64, x1: f64, y1: f64, z1: f64): u32 {
  let at = p + start * (3 * sizeof<T>());
  let out = numbers + (n << 2);
  for (let i = start; i < stop; i++, at += 3 * sizeof<T>()) {
    const x = <f64>load<T>(at);
    const y = <f64>load<T>(at, sizeof<T>());
    const z = <f64>load<T>(at, 2 * sizeof<T>());
    store<u32>(out, i);
    const inside = u32(x >= x0) & u32(x <= x1) & u32(y >= y0) & u32(y <= y1) & u32(z >= z0) & u32(z <= z1);
    out += inside << 2;
  }
  return (out - numbers) >> 2;
}

// @ts-ignore: decorator
@inline
function keepSphere<T>(p: usize, start: u32, stop: u32, n: u32, x: f64, y: f64, z: f64, most: f64): u32 {
  let at = p + start * (3 * sizeof<T>());
  let out = numbers + (n << 2);
  for (let i = start; i < stop; i++, at += 3 * sizeof<T>()) {
    const dx = x - <f64>load<T>(at);
    const dy = y - <f64>load<T>(at, sizeof<T>());
    const dz = z - <f64>load<T>(at, 2 * sizeof<T>());
    store<u32>(out, i);
    out += u32(dx * dx + dy * dy + dz * dz <= most) << 2;
  }
  return (out - numbers) >> 2;
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
  store<f64>(corners, x0);
  store<f64>(corners, y0, 8);
  store<f64>(corners, z0, 16);
  store<f64>(corners, x1, 24);
  store<f64>(corners, y1, 32);
  store<f64>(corners, z1, 40);
  return sum;
}

// @ts-ignore: decorator
@inline
function pair<T>(at: usize): v128 {
  return sizeof<T>() == 8 ? v128.load(at) : f64x2.promote_low_f32x4(v128.load64_zero(at));
}
