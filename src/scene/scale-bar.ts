/** A bar of a round length, such as "20 µm", for a picture in which a unit of the data is so many pixels. */
import { measureOf } from "../space/units.js";

export interface ScaleBar {
  /** In units of the data. */
  readonly length: number;
  readonly pixels: number;
  readonly text: string;
}

const PREFIXES = [
  [1e-12, "p"],
  [1e-9, "n"],
  [1e-6, "µ"],
  [1e-3, "m"],
  [1, ""],
  [1e3, "k"],
] as const;

/** The longest bar of 1, 2 or 5 times a power of ten that is at most `most` pixels wide. */
export function scaleBarOf(pixelsPerUnit: number, most: number, unit: string | undefined): ScaleBar | undefined {
  if (!(pixelsPerUnit > 0) || !Number.isFinite(pixelsPerUnit)) return undefined;
  const measure = measureOf(unit);
  const base = measure?.unit === "m" ? measure.scale : 1;
  const round = roundDown((most / pixelsPerUnit) * base);
  const pixels = (round / base) * pixelsPerUnit;
  const name = measure?.unit === "m" ? undefined : (unit ?? "");
  return { length: round / base, pixels, text: name === undefined ? metres(round) : `${shown(round)} ${name}`.trim() };
}

/** 1, 2 or 5 times a power of ten, at most this. */
export function roundDown(value: number): number {
  const power = Math.floor(Math.log10(value) + 1e-9);
  const digit = value / 10 ** power;
  const first = digit >= 5 - 1e-9 ? 5 : digit >= 2 - 1e-9 ? 2 : 1;
  return Number(`${first}e${power}`);
}

function metres(length: number): string {
  const [size, prefix] = PREFIXES.findLast(([own]) => length >= own * (1 - 1e-9)) ?? PREFIXES[0];
  return `${shown(length / size)} ${prefix}m`;
}

/** A number for people: at most four digits that matter. */
export function shown(value: number): string {
  const text = String(Number(value.toPrecision(4)));
  return text.replace("e+", "e");
}
