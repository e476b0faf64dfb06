/** The fewest digits that give the same float32 again: 0.1, not 0.10000000149011612. */

const POWERS = Float64Array.from({ length: 11 }, (_, i) => 10 ** i);

export function shortest(value: number): number {
  if (value === 0) return value; // toPrecision drops the sign of -0
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e7)
    for (const power of POWERS) {
      const short = Math.round(value * power) / power; // both exact in a double: the quotient is the nearest one
      if (Math.fround(short) === value) return short;
    }
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return Number.isNaN(value) ? value : Number(value.toPrecision(9));
}
