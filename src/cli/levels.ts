/** What geometry says of its levels, in words and numbers that people read. */

import { shortest } from "../bytes/shortest.js";
import type { Axis, VectorDataset } from "../model/vectors.js";
import { shapeText } from "./info.js";

/** A float32 in its own digits, anything else in eight: documents for programs have all of them. */
export const numberText = (value: number): string =>
  String(Math.fround(value) === value ? shortest(value) : Number(value.toPrecision(8)));

/** "0 … 10" */
export const rangeText = (low: number | bigint, high: number | bigint): string =>
  `${typeof low === "bigint" ? low : numberText(low)} … ${typeof high === "bigint" ? high : numberText(high)}`;

/** "40 × 40 × 12.5"; nothing where a chunk has no place of its own. */
export const sizeText = (sizes: readonly number[] = []): string =>
  sizes.includes(Number.POSITIVE_INFINITY) ? "" : shapeText(sizes.map((size) => Number(size.toPrecision(6))));

/** A row for each axis: its name, its bounds, its unit, and its type where that is not space. */
export const axisRows = ({ axes, bounds }: Pick<VectorDataset, "axes" | "bounds">): string[][] =>
  axes.map(({ name, type, unit }: Axis, axis) => [
    name,
    boundsText(bounds.min[axis]!, bounds.max[axis]!, unit),
    type === "space" ? "" : `(${type})`,
  ]);

/** Skeletons and meshes by id alone do not say where they lie. */
function boundsText(low: number, high: number, unit: string | undefined): string {
  if (high - low === Number.POSITIVE_INFINITY) return [unit, "bounds not stored"].filter(Boolean).join(", ");
  return `${rangeText(low, high)}${unit === undefined ? "" : ` ${unit}`}`;
}
