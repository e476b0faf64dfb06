/**
 * Signs that are right: of a cross product in the plane, and of a plane against a box. They are computed in float64 first,
 * with a bound on the rounding error (J. R. Shewchuk, Adaptive Precision Floating-Point Arithmetic, 1997, gives the method);
 * only where the result is not clearly larger than its error, as for what touches exactly, are they computed again with
 * integers of any size. Every argument must be finite; differences may overflow.
 */

const ROUNDING = 2 ** -52;
/** Above whatever products may lose by underflow. */
const UNDERFLOW = 1e-300;

/** A number with the sign of (q − p) × (s − r). */
export function cross(
  px: number,
  py: number,
  qx: number,
  qy: number,
  rx: number,
  ry: number,
  sx: number,
  sy: number,
): number {
  const left = (qx - px) * (sy - ry);
  const right = (qy - py) * (sx - rx);
  const result = left - right;
  // Each product carries three roundings of 2^-53, their difference one more; 2^-51 leaves room for the second order.
  const error = 2 * ROUNDING * (Math.abs(left) + Math.abs(right)) + UNDERFLOW;
  if (result > error || -result > error) return result;
  if ((qx === px || sy === ry) && (qy === py || sx === rx)) return 0;
  const [ax, ay, bx, by, cx, cy, dx, dy] = integers([px, py, qx, qy, rx, ry, sx, sy]) as Eight;
  return sign((bx - ax) * (dy - cy) - (by - ay) * (dx - cx));
}

/**
 * Whether the plane through a, b and c meets the closed box lo … hi. The 15 numbers are a, b, c, lo, hi, three each. Where
 * the three lie on one line every plane through it is taken, so the answer is yes.
 */
export function planeMeets(n: Float64Array): boolean {
  let least = 0;
  let most = 0;
  let size = 0;
  for (let i = 0; i < 3; i++) {
    const j = (i + 1) % 3;
    const k = (i + 2) % 3;
    const left = (n[3 + j]! - n[j]!) * (n[6 + k]! - n[k]!);
    const right = (n[3 + k]! - n[k]!) * (n[6 + j]! - n[j]!);
    const low = n[9 + i]! - n[i]!;
    const high = n[12 + i]! - n[i]!;
    least += Math.min((left - right) * low, (left - right) * high);
    most += Math.max((left - right) * low, (left - right) * high);
    size += (Math.abs(left) + Math.abs(right)) * Math.max(Math.abs(low), Math.abs(high));
  }
  // At most eight roundings of 2^-53 on the way to each term of the sum.
  const error = 8 * ROUNDING * size + UNDERFLOW;
  if (least > error || most < -error) return false;
  if (least < -error && most > error) return true;
  return planeMeetsExactly(integers(n));
}

function planeMeetsExactly(n: bigint[]): boolean {
  let least = 0n;
  let most = 0n;
  for (let i = 0; i < 3; i++) {
    const j = (i + 1) % 3;
    const k = (i + 2) % 3;
    const normal = (n[3 + j]! - n[j]!) * (n[6 + k]! - n[k]!) - (n[3 + k]! - n[k]!) * (n[6 + j]! - n[j]!);
    const low = n[9 + i]! - n[i]!;
    const high = n[12 + i]! - n[i]!;
    least += normal * (normal > 0n ? low : high);
    most += normal * (normal > 0n ? high : low);
  }
  return least <= 0n && most >= 0n;
}

type Eight = [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint];

const sign = (value: bigint): number => (value > 0n ? 1 : value < 0n ? -1 : 0);

/** The numbers as integers, all multiplied by the same power of two. */
function integers(values: ArrayLike<number>): bigint[] {
  const numbers = Float64Array.from(values);
  const bits = new BigUint64Array(numbers.buffer);
  let smallest = 2047n;
  for (let i = 0; i < numbers.length; i++) {
    // A zero would have the smallest exponent of all, and make the others a thousand bits long.
    if (numbers[i] !== 0 && exponent(bits[i]!) < smallest) smallest = exponent(bits[i]!);
  }
  return Array.from(numbers, (number, i) => {
    if (number === 0) return 0n;
    const normal = Math.abs(number) >= 2 ** -1022 ? 2n ** 52n : 0n;
    const scaled = ((bits[i]! & (2n ** 52n - 1n)) + normal) << (exponent(bits[i]!) - smallest);
    return number < 0 ? -scaled : scaled;
  });
}

/** Subnormal numbers have the exponent of the smallest normal ones. */
const exponent = (bits: bigint): bigint => (bits >> 52n) & 2047n || 1n;
