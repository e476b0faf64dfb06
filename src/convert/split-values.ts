/**
 * Points by the values of an attribute that they have themselves: each part has the points with one of them, in their order. The first
 * pass finds the values, and every part is a question with a condition, so that nothing is held but the values.
 */
import { I64 } from "../bytes/u64.js";
import { meaningOf } from "../diff/values.js";
import { LimitExceeded } from "../errors.js";
import type { AttributeInfo, Column } from "../model/attributes.js";
import type { ReadOptions } from "../model/dataset.js";
import type { Batch, VectorDataset } from "../model/vectors.js";
import { type Condition, Where } from "../query/where.js";
import type { Part } from "./split-plan.js";

const MOST = 10_000; // values: each is a file, and a pass over all points

type Value = number | bigint | string | undefined;

export interface Valued {
  readonly parts: readonly Part[];
  readonly losses: readonly string[];
  readonly notes: readonly string[];
}

/** `objects` is how many there are, where points belong to some. */
export async function byValue(
  dataset: VectorDataset,
  info: AttributeInfo,
  objects: number,
  reading: ReadOptions,
): Promise<Valued> {
  const { url } = dataset;
  const values = new Set<Value>();
  let [placed, several] = [0, 0];
  const asked = { ...reading, attributes: [`vertex.${info.name}`] };
  for await (const batch of dataset.select({ level: 0 }).batches(asked)) {
    if (batch.repeats === true) continue;
    const column = batch.vertexColumns.get(info.name);
    const of = column === undefined ? () => undefined : valuesOf(column);
    const rows = batch.positions.length / batch.dims;
    for (let row = 0; row < rows; row++) values.add(of(row));
    const told = objectsIn(batch, of);
    placed += told.placed;
    several += told.several;
    if (values.size > MOST)
      throw new LimitExceeded(`${url} has more than ${MOST} values of ${info.name}: each would be a file`, {
        where: url,
      });
  }
  const bare = objects - placed;
  return {
    parts: Array.from(values, (value) => ({
      name: value === undefined ? `without ${info.name}` : `${value}`,
      selection: dataset.select({ level: 0, where: Where.format(isValue(info.name, value)), clip: "vertices" }),
    })),
    losses: bare === 0 ? [] : [`${url}: ${bare} objects without vertices, which have no ${info.name}`],
    notes: several === 0 ? [] : [`${url}: ${several} objects have points of several parts, and are in each with these`],
  };
}

/** What a condition takes a value for: codes without a text and times that are none are absent, and a truth is 0 or 1. */
function valuesOf(column: Column): (row: number) => Value {
  const { dtype, categories } = column.info;
  const of = meaningOf(column);
  const isTime = dtype.kind === "datetime" || dtype.kind === "timedelta";
  return (row) => {
    const value = of(row);
    if ((categories !== undefined && typeof value !== "string") || (isTime && value === I64.MIN)) return undefined;
    return dtype.kind === "bool" ? Math.min(1, Number(value)) : value;
  };
}

function isValue(name: string, value: Value): Condition {
  const own = { domain: "vertex", name } as const;
  if (value === undefined) return { op: "absent", ...own };
  if (value === Number.POSITIVE_INFINITY) return { op: ">", ...own, value: Number.MAX_VALUE };
  if (value === Number.NEGATIVE_INFINITY) return { op: "<", ...own, value: -Number.MAX_VALUE };
  return { op: "=", ...own, value };
}

/** Objects that have points, and those whose points have different values. */
function objectsIn(
  { ids, objects, parts }: Batch,
  of: (row: number) => Value,
): { readonly placed: number; readonly several: number } {
  const [seen, differs] = [new Map<number, Value>(), new Set<number>()];
  if (ids.length > 0)
    for (let part = 0; part < objects.length; part++)
      for (let row = parts[part]!; objects[part]! >= 0 && row < parts[part + 1]!; row++) {
        const object = objects[part]!;
        if (!seen.has(object)) seen.set(object, of(row));
        else if (seen.get(object) !== of(row)) differs.add(object);
      }
  return { placed: seen.size, several: differs.size };
}
