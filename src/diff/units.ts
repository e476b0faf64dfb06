/**
 * Attributes in other units: 1 micrometer is 1000 nanometer. Those of the second are brought to the unit that the first has them
 * in, with one rounding of float64; where one of the two is kept as float32, what that rounds is no difference.
 */
import type { AttributeInfo, Column } from "../model/attributes.js";
import type { Batch, Columns, Domain, Schema } from "../model/vectors.js";
import { inRatio, type Ratio, ratioOf } from "../space/units.js";
import type { Cloud } from "./cloud.js";
import { meaningOf } from "./values.js";

/** How an attribute of the second becomes what the first counts. */
interface Rescaling {
  readonly ratio: Ratio;
  /** Whether one of them is no more precise than float32. */
  readonly single: boolean;
}

export type Rescalings = { readonly [D in Domain]: ReadonlyMap<string, Rescaling> };

/** What attributes of one name and in different units need. */
export function rescalings(one: Schema, two: Schema): Rescalings {
  const of = (domain: Domain): ReadonlyMap<string, Rescaling> => {
    const own = new Map(one[domain].map((info) => [info.name, info]));
    return new Map(two[domain].flatMap((info) => between(own.get(info.name), info)));
  };
  return { vertex: of("vertex"), link: of("link"), fragment: new Map(), object: of("object"), group: of("group") };
}

function between(a: AttributeInfo | undefined, b: AttributeInfo): (readonly [string, Rescaling])[] {
  const ratio = ratioOf(b.unit, a?.unit);
  if (ratio === undefined || ratio.times === ratio.per || !isNumber(a!) || !isNumber(b)) return [];
  return [[b.name, { ratio, single: isSingle(a!) || isSingle(b) }]];
}

const isNumber = ({ dtype: { kind }, categories }: AttributeInfo): boolean =>
  categories === undefined && (kind === "float" || kind === "int" || kind === "uint");
const isSingle = ({ dtype }: AttributeInfo): boolean => dtype.kind === "float" && dtype.size < 8;

/** The second, as if its attributes were in the units of the first. */
export function inUnits<C extends Cloud>(cloud: C, units: Rescalings): C {
  if (Object.values(units).every(({ size }) => size === 0)) return cloud;
  const { dataset } = cloud;
  const rescaled = (batch: Batch): Batch => ({
    ...batch,
    vertexColumns: columnsIn(batch.vertexColumns, units.vertex),
    objectColumns: columnsIn(batch.objectColumns, units.object),
    links: batch.links && { ...batch.links, columns: columnsIn(batch.links.columns, units.link) },
  });
  const select: typeof dataset.select = (query) => {
    const selection = dataset.select(query);
    return {
      ...selection,
      async *batches(options) {
        for await (const batch of selection.batches(options)) yield rescaled(batch);
      },
      read: async (options) => rescaled(await selection.read(options)),
    };
  };
  const groupColumns: typeof dataset.groupColumns = async (...call) =>
    columnsIn(await dataset.groupColumns(...call), units.group);
  return { ...cloud, dataset: { ...dataset, select, groupColumns } };
}

const columnsIn = (columns: Columns, units: ReadonlyMap<string, Rescaling>): Columns =>
  new Map([...columns].map(([name, column]) => [name, inUnit(column, units.get(name)?.ratio)]));

function inUnit(column: Column, ratio: Ratio | undefined): Column {
  if (ratio === undefined) return column;
  const of = meaningOf(column);
  const info: AttributeInfo = {
    ...column.info,
    dtype: { kind: "float", size: 8, endian: "little" },
    absent: undefined, // NaN is
  };
  const values = new Float64Array(column.values.length);
  for (let i = 0; i < values.length; i++) values[i] = inRatio(Number(of(i)), ratio);
  return { info, values };
}
