/** Numbers of fewer than 64 bits in text: the fewest digits that give the same one again. */

const POWERS = Float64Array.from({ length: 11 }, (_, i) => 10 ** i);

/** The fewest digits that give the same float16 or float32 again: 0.1, not 0.10000000149011612. */
export function shortest(value: number, size: 2 | 4): number {
  if (value === 0) return value; // toPrecision drops the sign of -0
  if (size === 2) return value; // its exact value is short enough, and no one mistakes it
  const magnitude = Math.abs(value);
  if (magnitude >= 1e-3 && magnitude < 1e7)
    for (let decimals = 0; decimals < POWERS.length; decimals++) {
      const power = POWERS[decimals]!;
      const short = Math.round(value * power) / power; // both exact in a double: the quotient is the nearest one
      if (Math.fround(short) === value) return short;
    }
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return Number.isNaN(value) ? value : Number(value.toPrecision(9));
}
