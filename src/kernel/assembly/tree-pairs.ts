// Particles two by two: x y, z x, y z are three vectors, which become one of each axis.

/** The two coordinates at an address. */
// @ts-ignore: decorator
@inline
export function pair<T>(at: usize): v128 {
  return sizeof<T>() == 8 ? v128.load(at) : f64x2.promote_low_f32x4(v128.load64_zero(at));
}

/** Of three vectors over two particles that of x, of y, of z. */
// @ts-ignore: decorator
@inline
export function xOf(a: v128, b: v128): v128 {
  return v128.shuffle<f64>(a, b, 0, 3);
}

// @ts-ignore: decorator
@inline
export function yOf(a: v128, c: v128): v128 {
  return v128.shuffle<f64>(a, c, 1, 2);
}

// @ts-ignore: decorator
@inline
export function zOf(b: v128, c: v128): v128 {
  return v128.shuffle<f64>(b, c, 0, 3);
}

/** The squares of the distances of two particles; each is added up in the order in which a single one would be. */
// @ts-ignore: decorator
@inline
export function squares<T>(at: usize, x: v128, y: v128, z: v128): v128 {
  const a = pair<T>(at), b = pair<T>(at + 2 * sizeof<T>()), c = pair<T>(at + 4 * sizeof<T>());
  const dx = f64x2.sub(x, xOf(a, b)), dy = f64x2.sub(y, yOf(a, c)), dz = f64x2.sub(z, zOf(b, c));
  return f64x2.add(f64x2.add(f64x2.mul(dx, dx), f64x2.mul(dy, dy)), f64x2.mul(dz, dz));
}

/** The same of one particle. */
// @ts-ignore: decorator
@inline
export function square<T>(at: usize, x: f64, y: f64, z: f64): f64 {
  const dx = x - <f64>load<T>(at);
  const dy = y - <f64>load<T>(at, sizeof<T>());
  const dz = z - <f64>load<T>(at, 2 * sizeof<T>());
  return dx * dx + dy * dy + dz * dz;
}
