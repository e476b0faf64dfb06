/** Units of axes as numbers: "nm", "nanometer", "4 nm" (a coordinate counts so many), "ms", "micron". */

/** How much one of a unit is, in metres or in seconds. */
export interface Measure {
  readonly scale: number;
  readonly unit: "m" | "s";
}

const PREFIXES: readonly (readonly [power: number, long: string, ...short: string[]])[] = [
  [-24, "yocto", "y"],
  [-21, "zepto", "z"],
  [-18, "atto", "a"],
  [-15, "femto", "f"],
  [-12, "pico", "p"],
  [-9, "nano", "n"],
  [-6, "micro", "u", "\u00b5", "\u03bc"],
  [-3, "milli", "m"],
  [-2, "centi", "c"],
  [-1, "deci", "d"],
  [0, "", ""],
  [1, "deca", "da"],
  [2, "hecto", "h"],
  [3, "kilo", "k"],
  [6, "mega", "M"],
  [9, "giga", "G"],
  [12, "tera", "T"],
];

const POWERS = new Map<string, readonly [number, "m" | "s"]>([
  ...PREFIXES.flatMap(([power, long, ...short]) => [
    ...["meter", "metre", "meters", "metres"].map((name) => [long + name, [power, "m"]] as const),
    ...["second", "seconds"].map((name) => [long + name, [power, "s"]] as const),
    ...short.flatMap((letter) => [[`${letter}m`, [power, "m"]] as const, [`${letter}s`, [power, "s"]] as const]),
  ]),
  ...["micron", "microns"].map((name) => [name, [-6, "m"]] as const),
  ...["angstrom", "angstroms", "\u00c5", "\u212b"].map((name) => [name, [-10, "m"]] as const),
]);

/** What a unit is; undefined where nobody knows. */
export function measureOf(text: string | undefined): Measure | undefined {
  const [, times = "1", name = ""] = /^\s*(?:([0-9.]+(?:e[-+]?\d+)?)\s+)?(\S+)\s*$/i.exec(text ?? "") ?? [];
  const [power, unit] = POWERS.get(name) ?? POWERS.get(name.toLowerCase()) ?? [];
  if (unit === undefined || !(Number(times) > 0)) return undefined;
  // From its decimal digits: 4 times 1e-9 is not the number that 4e-9 is.
  return { scale: Number(/e/i.test(times) ? Number(times) * 10 ** power! : `${times}e${power}`), unit };
}

/** What a number counts in another unit: so many times it, or so many for one. One of the two is 1, so that only one step rounds. */
export interface Ratio {
  readonly times: number;
  readonly per: number;
}

/** From one unit to another; undefined where one of them is unknown, or they measure different things. */
export function ratioOf(from: string | undefined, to: string | undefined): Ratio | undefined {
  const [own, other] = [measureOf(from), measureOf(to)];
  if (own === undefined || other === undefined || own.unit !== other.unit) return undefined;
  const [times, per] = [own.scale / other.scale, other.scale / own.scale].map((n) => Number(n.toPrecision(15)));
  if (!(times! > 0 && per! > 0)) return undefined; // beyond what numbers can say
  return Number.isInteger(per!) ? { times: 1, per: per! } : { times: times!, per: 1 };
}

/** The way back. */
export const inverse = ({ times, per }: Ratio): Ratio => ({ times: per, per: times });

export const inRatio = (value: number, { times, per }: Ratio): number => (value * times) / per;
