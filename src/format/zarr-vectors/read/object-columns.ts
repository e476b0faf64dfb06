/** The attributes of objects and of groups: dense arrays, one row for each row of the object index, or group. */
import { Corrupt, LimitExceeded } from "../../../errors.js";
import { withLimits } from "../../../limits.js";
import type { Column } from "../../../model/attributes.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { typed, valueAt } from "../../../model/elements.js";
import type { Columns } from "../../../model/vectors.js";
import type { LevelNodes } from "../types.js";
import { attributeInfo, sentinelOf } from "./schema.js";

/** Attributes of some rows; the rows of the mask that are not there hold the sentinel. */
export async function denseColumns(
  nodes: LevelNodes,
  folder: string,
  wanted: readonly string[],
  rows: Uint32Array,
  total: number,
  options?: ReadOptions,
): Promise<Columns> {
  const columns = new Map<string, Column>();
  if (rows.length === 0 || wanted.length === 0) return columns;
  let [from, to] = [total, 0];
  for (let i = 0; i < rows.length; i++) {
    from = Math.min(from, rows[i]!);
    to = Math.max(to, rows[i]! + 1);
  }
  await Promise.all(
    wanted.map(async (name) => {
      const path = `${folder}/${name}`;
      const array = await nodes.dense(path, options);
      if (array === undefined) return;
      if (array.shape[0] !== total)
        throw new Corrupt(`${path} has ${array.shape[0]} rows for ${total} that it should have`, { where: path });
      const read = await array.read(from, to, options);
      const info = attributeInfo(name, { ...array.attributes, shape: [...array.shape] }, path);
      const mask =
        array.attributes.has_present_mask === true ? await nodes.blob(`${path}/present_mask`, options) : undefined;
      if (mask !== undefined && mask.length !== total)
        throw new Corrupt(`${path}/present_mask has ${mask.length} rows for ${total} that it should have`, {
          where: path,
        });
      const { channels } = info;
      const limits = withLimits(options?.limits);
      if (rows.length * channels * 8 > limits.resultBytes)
        throw new LimitExceeded(`${path} of ${rows.length} objects is more than ${limits.resultBytes} bytes`);
      const text = info.dtype.kind === "utf32" || info.dtype.kind === "bytes";
      const all = text ? undefined : (typed(read) as Uint8Array);
      const out =
        all === undefined
          ? new Array<string>(rows.length * channels)
          : new (all.constructor as Uint8ArrayConstructor)(rows.length * channels);
      const none = sentinelOf(info.dtype);
      for (let i = 0; i < rows.length; i++) {
        const absent = mask !== undefined && mask[rows[i]!] === 0;
        for (let c = 0; c < channels; c++) {
          const at = (rows[i]! - from) * channels + c;
          (out as unknown[])[i * channels + c] = absent ? none : all === undefined ? valueAt(read, at) : all[at];
        }
      }
      columns.set(name, {
        info: mask === undefined ? info : { ...info, absent: none },
        values: out as Column["values"],
      });
    }),
  );
  return columns;
}
