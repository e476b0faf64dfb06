/**
 * Points that are objects of one vertex each in one dataset, and points with an attribute `id` in the other: a table with ids, and the
 * annotations made of it, which know no objects. Both say the same, so the first is seen here as the second is.
 */
import type { Column } from "../model/attributes.js";
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource } from "../model/source.js";
import type { Batch, Schema, VectorDataset } from "../model/vectors.js";
import { pickRows } from "../query/columns.js";
import type { Cloud } from "./cloud.js";

const ID = "id";
const INFO = { name: ID, dtype: { kind: "uint", size: 8, endian: "little" }, channels: 1 } as const;

export const hasObjects = ({ objects }: LevelSource): boolean => (objects?.rows ?? 0) > 0;

/** Whether objects are points of one vertex each, and nothing else is known of them than ids and attributes. */
export async function areSingle(
  { dataset, level }: Cloud,
  source: LevelSource,
  other: LevelSource,
  options: ReadOptions,
): Promise<boolean> {
  const { objects } = source;
  if (objects === undefined || !hasObjects(source) || hasObjects(other)) return false;
  const [own, its] = [await source.schema(options), await other.schema(options)];
  const names = [...own.vertex, ...own.object].map(({ name }) => name);
  if (names.includes(ID) || new Set(names).size < names.length || !its.vertex.some(({ name }) => name === ID))
    return false;
  if ((await dataset.groups(level, options)).length > 0) return false;
  const counts = await dataset.select({ level, geometry: "points" }).count({ ...options, exact: true });
  // As many objects as vertices, none of them empty: one for each, unless some vertex belongs to no object.
  return counts.objects === counts.vertices && objects.rows === counts.objects && !(await hasOrphans(source, options));
}

const hasOrphans = async ({ objects }: LevelSource, options: ReadOptions): Promise<boolean> =>
  (await objects!.orphans(options)).part.length > 0;

/** The schema of such objects as points: everything is said of vertices. */
export const schemaAsPoints = (source: LevelSource): Pick<LevelSource, "schema"> => ({
  async schema(options): Promise<Schema> {
    const { vertex, object, ...rest } = await source.schema(options);
    return { ...rest, vertex: [...vertex, ...object, INFO], object: [] };
  },
});

/** The same of their rows. */
export function asPoints<C extends Cloud>(cloud: C): C {
  const { dataset } = cloud;
  const select: VectorDataset["select"] = (query) => {
    const selection = dataset.select(query);
    return {
      ...selection,
      async *batches(options) {
        for await (const batch of selection.batches(options)) yield pointsOf(batch);
      },
    };
  };
  return { ...cloud, dataset: { ...dataset, select } };
}

function pointsOf(batch: Batch): Batch {
  const { parts, objects, ids, positions, dims } = batch;
  const rows = new Uint32Array(positions.length / dims);
  for (let part = 0; part < objects.length; part++) rows.fill(objects[part]!, parts[part]!, parts[part + 1]!);
  const values = new (ids.constructor as BigUint64ArrayConstructor)(rows.length);
  for (let i = 0; i < rows.length; i++) values[i] = ids[rows[i]!]!;
  const kind = ids instanceof BigInt64Array ? "int" : "uint";
  const id: Column = { info: { ...INFO, dtype: { ...INFO.dtype, kind } }, values };
  return {
    ...batch,
    vertexColumns: new Map([...batch.vertexColumns, ...pickRows(batch.objectColumns, rows), [ID, id]]),
  };
}
