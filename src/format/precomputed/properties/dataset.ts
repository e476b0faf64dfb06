/** Segment properties as a dataset: a group with an array for the ids and one for each property, all in memory. */

import type { NumericArray } from "../../../codec/types.js";
import { NotFound } from "../../../errors.js";
import type { ArrayDataset, GroupDataset } from "../../../model/dataset.js";
import { ndarray } from "../../../model/elements.js";
import { select } from "../../../model/region.js";
import { pick } from "../../../query/columns.js";
import type { InfoAt } from "../info.js";
import { SegmentProperties } from "./properties.js";
import { columnOf } from "./read.js";

/** A table of segment properties, opened. */
export interface SegmentPropertiesDataset extends GroupDataset {
  readonly table: SegmentProperties;
}

export async function openPropertiesDataset({ store, at, info, where }: InfoAt): Promise<SegmentPropertiesDataset> {
  const table = SegmentProperties.parse(info, where);
  const url = `${store.url}/${at}`.replace(/\/$/, "");
  const common = { format: "precomputed", version: "1", notes: [] };
  const arrays = new Map<string, ArrayDataset>();
  const add = (
    name: string,
    values: NumericArray | readonly string[],
    attributes: ArrayDataset["attributes"],
  ): void => {
    const whole = ndarray([values.length], values as NumericArray | string[]);
    const text = Array.isArray(values);
    arrays.set(name, {
      ...common,
      kind: "array",
      url: `${url}/${name}`,
      shape: whole.shape,
      chunkShape: whole.shape,
      dtype: whole.dtype,
      fill: text ? "" : new Uint8Array((values as NumericArray).BYTES_PER_ELEMENT),
      dimensionNames: ["id"],
      attributes,
      async read(region) {
        const { axes, shape } = select(region, whole.shape);
        const { start, step, count } = axes[0]!;
        const rows = Array.from({ length: count }, (_, i) => start + i * step);
        return ndarray(shape, pick(values, 1, rows) as NumericArray | string[]);
      },
      plan: async () => ({ requests: 0, bytes: 0, exact: true }),
    });
  };
  add("ids", table.ids, {});
  for (const own of table.properties) {
    const { description, type } = own;
    add(own.id, columnOf(own).values, { type, ...(description !== undefined && { description }) });
  }
  return {
    ...common,
    kind: "group",
    url,
    table,
    attributes: {},
    children: async () => [...arrays.keys()].map((name) => ({ name, kind: "array" })),
    async open(path) {
      const found = arrays.get(path);
      if (found === undefined)
        throw new NotFound(`${url} has no property ${JSON.stringify(path)}; it has ${[...arrays.keys()].join(", ")}`);
      return found;
    },
  };
}
