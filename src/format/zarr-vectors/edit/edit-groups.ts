/** Groups of objects under edit: lists of ids, and ranges of them in the document. */
import type { Json, JsonObject } from "../../../bytes/json.js";
import { bytesOf } from "../../../codec/numeric.js";
import { InvalidInput } from "../../../errors.js";
import { describeArray } from "../../zarr/create.js";
import { Groups, type IdRange } from "../payload/groups.js";
import { readGroups } from "../read/read-groups.js";
import type { GroupMembers } from "../write/write-index.js";
import { editLevel, type LevelEdit } from "./edit-level.js";
import { present, type Tree } from "./edit-tree.js";

/** What an edit does to the list of groups. */
export type GroupChange = (groups: (bigint[] | IdRange)[]) => void;

/** Groups without these objects. A range that had one becomes a list of those of its objects that there are. */
export async function leaveGroups(tree: Tree, level: LevelEdit, gone: ReadonlySet<bigint>): Promise<void> {
  const groups = await listGroups(tree, level);
  if (groups === undefined) return;
  let changed = false;
  const left = groups.map((group) => {
    const hit =
      "start" in group
        ? [...gone].some((id) => id >= group.start && id < group.stop)
        : group.some((id) => gone.has(id));
    if (!hit) return group;
    changed = true;
    const members =
      "start" in group ? [...level.objects!.ids].filter((id) => id >= group.start && id < group.stop) : group;
    return members.filter((id) => !gone.has(id));
  });
  if (changed) await putGroups(tree, level, left);
}

/** Changes the groups of the finest level; every member must be there. `dropped` takes the rows of group attributes along. */
export async function changeGroups(tree: Tree, change: GroupChange, dropped?: number): Promise<void> {
  const level = await editLevel(tree, tree.opened.levels[0]!);
  const groups = (await listGroups(tree, level)) ?? [];
  const before = groups.length;
  change(groups);
  const { objects } = level;
  for (const [g, group] of groups.entries())
    for (const id of "start" in group ? [] : group)
      if ((objects?.rowOf(id) ?? -1) < 0)
        throw new InvalidInput(`group ${g} names the object ${id}, which ${tree.opened.url} does not have`);
  await putGroups(tree, level, groups);
  for (const name of await tree.names(`${level.meta.path}/group_attributes`)) {
    const table = await tree.rows(`${level.meta.path}/group_attributes/${name}`);
    if (table === undefined || groups.length === before) continue;
    const width =
      (table.meta.fill as Uint8Array).length * table.meta.shape.slice(1).reduce((product, n) => product * n, 1);
    if (dropped !== undefined) {
      const all = (await table.read(0, before)).data as Uint8Array;
      for (let g = dropped; g + 1 < before; g++) table.set(g, all.slice((g + 1) * width, (g + 2) * width));
    }
    table.resize(groups.length);
    if (table.meta.attributes.shape !== undefined)
      table.describe({ ...table.meta.attributes, shape: [...table.meta.shape] });
  }
}

/** The members as lists and ranges. */
export const membersOf = (members: GroupMembers): bigint[] | IdRange =>
  "start" in members ? { start: BigInt(members.start), stop: BigInt(members.stop) } : Array.from(members, BigInt);

async function listGroups({ opened, options }: Tree, { meta }: LevelEdit): Promise<(bigint[] | IdRange)[] | undefined> {
  const groups = await readGroups(await opened.nodes(meta.level, options), options);
  if (groups === undefined) return undefined;
  return Array.from(
    { length: groups.count },
    (_, g) => groups.ranges.get(g) ?? [...groups.ids.subarray(groups.offsets[g], groups.offsets[g + 1])],
  );
}

async function putGroups(tree: Tree, { meta }: LevelEdit, list: readonly (bigint[] | IdRange)[]): Promise<void> {
  const path = `${meta.path}/groups`;
  const groups = Groups.of(list);
  await present(tree, meta.path, "groups");
  const table =
    (await tree.rows(path)) ??
    tree.makeRows(
      path,
      describeArray({
        shape: [0],
        chunkShape: [1],
        dtype: { kind: "vlen-bytes" },
        codecs: "zstd",
        attributes: { zv_array: "groups" },
      }),
    );
  table.resize(groups.count);
  for (let g = 0; g < groups.count; g++)
    table.set(g, bytesOf(groups.ids.slice(groups.offsets[g], groups.offsets[g + 1])));
  const { group_ranges: _, ...rest } = table.meta.attributes;
  const ranges = Array.from(groups.ranges, ([g, { start, stop }]): [string, Json] => [`${g}`, [start, stop]]);
  const described: JsonObject = ranges.length === 0 ? {} : { group_ranges: Object.fromEntries(ranges) };
  table.describe({ ...rest, num_groups: groups.count, ...described });
}
