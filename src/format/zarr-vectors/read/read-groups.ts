/** The groups of a level, whatever the layout. */
import { isJsonObject, type JsonObject } from "../../../bytes/json.js";
import { Corrupt } from "../../../errors.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { Groups, type IdRange } from "../payload/groups.js";
import type { LevelNodes } from "../types.js";

/** undefined: the level has no groups. */
export async function readGroups(nodes: LevelNodes, options?: ReadOptions): Promise<Groups | undefined> {
  const path = nodes.dialect.names === "old" ? "groupings" : "groups";
  const attributes = await nodes.attributes(path, options);
  if (attributes === undefined) return undefined;
  if (nodes.dialect.objectAttributes === "array") {
    const array = await nodes.vlen(path, options);
    if (array === undefined) return undefined;
    const blobs = await array.blobs(0, array.length, options);
    return Groups.parse(blobs, rangesOf(array.attributes, path), path);
  }
  const [data, offsets] = await Promise.all([
    nodes.blob(`${path}/data`, options),
    nodes.blob(`${path}/offsets`, options),
  ]);
  return data === undefined || offsets === undefined ? undefined : Groups.fromOffsets(data, offsets, path);
}

function rangesOf({ group_ranges: ranges }: JsonObject, where: string): ReadonlyMap<number, IdRange> {
  const out = new Map<number, IdRange>();
  if (ranges === undefined) return out;
  if (!isJsonObject(ranges)) throw new Corrupt(`the group_ranges of ${where} should be an object`, { where });
  for (const [group, range] of Object.entries(ranges)) {
    const [start, stop] = Array.isArray(range) ? range : [];
    if (!/^\d+$/.test(group) || !isWhole(start) || !isWhole(stop))
      throw new Corrupt(`the range of group ${group} of ${where} should be two whole numbers`, { where });
    out.set(Number(group), { start: BigInt(start), stop: BigInt(stop) });
  }
  return out;
}

const isWhole = (value: unknown): value is number | bigint => typeof value === "bigint" || Number.isSafeInteger(value);

/** The ids of a group's members; undefined where there is no such group. */
export function membersOf({ count, offsets, ids, ranges }: Groups, group: number): bigint[] | undefined {
  if (!(group >= 0 && group < count)) return undefined;
  const range = ranges.get(group);
  if (range === undefined) return [...ids.subarray(offsets[group], offsets[group + 1])];
  const members: bigint[] = [];
  for (let id = range.start; id < range.stop; id++) members.push(id);
  return members;
}
