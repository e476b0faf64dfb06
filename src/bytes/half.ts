/**
 * IEEE half precision as its 16 bits: sign 1 · exponent 5 (bias 15) · fraction 10. Current engines differ in whether they
 * have Float16Array, so float16 stays bits in memory and becomes a number only here.
 */
const single = new Float32Array(1);
const bits = new Uint32Array(single.buffer);

export function halfToNumber(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** The nearest half, ties to even, as numpy rounds from a double. */
export function numberToHalf(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size >= 65520) return sign | 0x7c00; // halfway to the first that does not fit
  if (size < 2 ** -14) return sign | roundEven(size * 2 ** 24); // a carry into 2^-14 is the right bits by itself
  single[0] = size;
  // The float32 may have rounded up to the next power of two; the quotient below is then one carry early, still exact.
  const exponent = (bits[0]! >> 23) - 127;
  return sign | (((exponent + 15) << 10) + roundEven(size * 2 ** (10 - exponent)) - 1024);
}

function roundEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}
