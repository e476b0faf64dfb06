/** Objects by their ids, and groups of them by their names, for people who know what they look for. */
import { NotFound } from "../../errors.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { ObjectGroup, VectorDataset } from "../../model/vectors.js";
import type { Bounds, Vector } from "../../scene/camera.js";
import { middle } from "../../scene/camera.js";
import { boundsIn } from "../../scene/shape.js";
import { type Picked, tell } from "./picked.js";

/** An object that was looked for: what is known of it, and what it fills. */
export interface Found extends Picked {
  readonly bounds: Bounds;
}

export async function foundObject(
  dataset: VectorDataset,
  axes: readonly number[],
  id: bigint,
  options: ReadOptions = {},
): Promise<Found | undefined> {
  const level = 0;
  const { object } = await dataset.schema(level, options);
  const attributes = new Map<string, string>();
  const [min, max] = [[], []] as [number[], number[]];
  let here = false;
  try {
    const names = object.map(({ name }) => `object.${name}`);
    for await (const batch of dataset.select({ object: [id], level }).batches({ ...options, attributes: names })) {
      here ||= batch.ids.length > 0;
      tell(batch.objectColumns, 0, attributes);
      for (let at = 0; at < batch.positions.length; at++) {
        const [axis, value] = [at % batch.dims, batch.positions[at]!];
        min[axis] = Math.min(min[axis] ?? value, value);
        max[axis] = Math.max(max[axis] ?? value, value);
      }
    }
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
  const bounds = boundsIn({ min, max }, axes);
  if (!here || bounds === undefined) return undefined;
  return { level, id, position: middle(bounds) as Vector, attributes, bounds };
}

/** A group, and what people call it. */
export interface NamedGroup extends ObjectGroup {
  readonly name: string;
}

/** By the attribute that is called so, or the first that is text; else by their numbers. */
export async function namedGroups(dataset: VectorDataset, options: ReadOptions = {}): Promise<readonly NamedGroup[]> {
  const groups = await dataset.groups(0, options);
  if (groups.length === 0) return [];
  const columns = await dataset.groupColumns(0, options);
  const names = columns.get("name") ?? [...columns.values()].find(({ info }) => info.dtype.kind === "string");
  return groups.map((own, row) => ({ ...own, name: String(names?.values[row] ?? own.group) }));
}
