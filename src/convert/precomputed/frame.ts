/**
 * Where coordinates are in space, as Neuroglancer counts it.
 *
 * Skeletons and meshes are in nanometres along x, y and z. Coordinates stay as they are: the `transform` of the info makes
 * nanometres of them, and turns axes that have another order. Annotations have dimensions with names and units of their own.
 */
import { Unsupported } from "../../errors.js";
import type { AnnotationDescription } from "../../format/precomputed/annotation/write.js";
import type { Axis, VectorDataset } from "../../model/vectors.js";
import { measureOf } from "../../space/units.js";

const NAMES = ["x", "y", "z"];

/** What a unit of each axis of space is in nanometres; where nothing says so, coordinates are taken for that. */
function nanometres(
  { axes }: VectorDataset,
  resolution: readonly number[] | undefined,
  note: (sentence: string) => void,
): number[] {
  const isSpace = ({ type }: Axis): boolean => type !== "time" && type !== "channel";
  const space = axes.filter(isSpace);
  if (resolution !== undefined && resolution.length !== space.length)
    throw new Unsupported(
      `the resolution should be a number for each axis of space, ${space.length}, found [${resolution}]`,
    );
  const measures = space.map(({ unit }) => measureOf(unit));
  const unknown = space.filter((_, i) => measures[i]?.unit !== "m");
  if (resolution === undefined && unknown.length > 0)
    note(
      `${unknown.map(({ name, unit }) => (unit === undefined ? `${name} has no unit` : `${name} is in ${unit}`)).join(", ")}: taken for nanometres; a resolution says otherwise`,
    );
  const of = new Map(
    space.map(({ name }, i) => {
      const { scale, unit } = measures[i] ?? { scale: 1e-9, unit: "m" };
      return [name, resolution?.[i] ?? (unit === "m" ? Number((scale * 1e9).toPrecision(15)) : 1)] as const;
    }),
  );
  return axes.map((axis) => (isSpace(axis) ? of.get(axis.name)! : 1));
}

/** 12 numbers, from coordinates (0 where there are only two) to nanometres. */
export function transformTo(
  source: VectorDataset,
  resolution: readonly number[] | undefined,
  note: (sentence: string) => void,
): readonly number[] {
  const { axes, url } = source;
  if (axes.length > 3 || axes.some(({ type }) => type === "time" || type === "channel"))
    throw new Unsupported(
      `${url} has the axes ${axes.map(({ name }) => name).join(", ")}, and skeletons and meshes have only x, y and z`,
      { where: url },
    );
  const scale = nanometres(source, resolution, note);
  const names = axes.map(({ name }) => name.toLowerCase());
  const turned = names.every((name) => NAMES.includes(name)) && new Set(names).size === names.length;
  const rows = NAMES.flatMap((name, row) => {
    const from = turned ? names.indexOf(name) : row < axes.length ? row : -1;
    return [0, 1, 2, 3].map((column) => (column === from ? scale[from]! : 0));
  });
  // An axis that is not there must not flatten space: its coordinate is 0.
  const spare = [0, 1, 2].filter((column) => column >= axes.length);
  for (const row of [0, 1, 2])
    if (rows.slice(4 * row, 4 * row + 3).every((value) => value === 0)) rows[4 * row + spare.shift()!] = 1;
  return rows;
}

/** The dimensions of annotations, in the order of the axes. */
export function dimensionsOf(
  source: VectorDataset,
  resolution: readonly number[] | undefined,
  note: (sentence: string) => void,
): AnnotationDescription["dimensions"] {
  const scale = nanometres(source, resolution, note);
  return source.axes.map(({ name, type, unit }, axis) => {
    const measure = measureOf(unit);
    if (type === "time" || type === "channel")
      return measure === undefined ? { name, scale: 1, unit: "" } : { name, ...measure };
    return { name, scale: Number(`${scale[axis]}e-9`) || scale[axis]! * 1e-9, unit: "m" };
  });
}
