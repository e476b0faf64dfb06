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
  const [size, prefix] = prefixFor(length);
  return `${shown(length / size)} ${prefix}m`;
}

const prefixFor = (length: number): (typeof PREFIXES)[number] =>
  PREFIXES.findLast(([own]) => length >= own * (1 - 1e-9)) ?? PREFIXES[0];

/** Says places and lengths as the scale bar does, all with the prefix of the largest: "51.2 mm" of 51200000 in nm. */
export function lengthsIn(unit: string | undefined, ...values: readonly number[]): (value: number) => string {
  const measure = measureOf(unit);
  if (measure?.unit !== "m") return (value) => `${shown(value)} ${unit === undefined ? "" : unitText(unit)}`.trim();
  const [size, prefix] = prefixFor(Math.max(...values.map(Math.abs)) * measure.scale);
  return (value) => `${shown((value * measure.scale) / size)} ${prefix}m`;
}

/** A unit for people: "µm" of "micrometer"; what is no length or time as it is. */
export function unitText(unit: string): string {
  const measure = measureOf(unit);
  const prefix = PREFIXES.find(([size]) => size === measure?.scale)?.[1];
  return measure === undefined || prefix === undefined ? unit : `${prefix}${measure.unit}`;
}

/** A number for people: at most four digits that matter. */
export function shown(value: number): string {
  const text = String(Number(value.toPrecision(4)));
  return text.replace("e+", "e");
}
