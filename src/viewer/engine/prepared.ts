/** What is known of a dataset before the first of it is read: its levels, its attributes, and how it looks. */
import type { ReadOptions } from "../../model/dataset.js";
import type { Schema, VectorDataset } from "../../model/vectors.js";
import { colouringOf, Legend, plain } from "../../scene/colouring.js";
import { radiusOf } from "../../scene/dress.js";
import { outlineOf } from "../../scene/outline.js";
import { sceneOf } from "../../scene/shape.js";
import type { Dress } from "./piece.js";
import { firstLevel, type PlannedLevel, plannedLevels } from "./plan.js";

export interface Prepared {
  /** From the coarsest to the finest. */
  readonly levels: readonly PlannedLevel[];
  /** That of the first picture. */
  readonly first: PlannedLevel;
  readonly schema: Schema;
  readonly dress: Dress;
}

/** `known`: the attributes, where they were asked for before. */
export async function prepared(
  dataset: VectorDataset,
  color: string | undefined,
  known: Schema | undefined,
  options: ReadOptions,
): Promise<Prepared> {
  const outline = outlineOf(dataset);
  const { axes, form } = sceneOf(dataset, outline);
  const described = await Promise.all(
    dataset.levels.map(async (own) => (own.vertices === undefined ? dataset.describe(own.level, options) : own)),
  );
  const levels = plannedLevels(described, axes);
  const first = firstLevel(levels, Number.POSITIVE_INFINITY);
  const schema = known ?? (await dataset.schema(first.level, options));
  const fallback = form === "lines" && outline === undefined ? ({ by: "orientation" } as const) : plain;
  const dress = {
    colouring: color === undefined ? fallback : colouringOf(color, schema),
    legend: Legend.empty(),
    radius: radiusOf(dataset.geometries[0], schema.vertex, dataset.axes),
    outline,
  };
  return { levels, first, schema, dress };
}
