/** The attributes of objects and groups, and the groups: one row for each, that decodes, and members that are there. */
import type { Finding } from "../../../model/format.js";
import type { Groups } from "../payload/groups.js";
import { readGroups } from "../read/read-groups.js";
import { folderOf } from "../read/schema.js";
import type { Dense } from "../types.js";
import { checkedInfo } from "./validate-cells.js";
import type { CheckedLevel } from "./validate-level.js";
import { attempt, finding, isFinding, type RuleId, setting } from "./validate-rules.js";

const ROWS = 65_536; // as many as writers put into a chunk

export async function* checkObjectAttributes(level: CheckedLevel, rows: number | undefined): AsyncGenerator<Finding> {
  const { nodes, options, depth, at } = level;
  for await (const { path, array } of dense(level, "object_attributes")) {
    if (isFinding(array)) yield array;
    if (isFinding(array)) continue;
    yield* checkDense(level, path, array, rows, "object-attribute-rows");
    if (depth < 5 || array.attributes.has_present_mask !== true) continue;
    const mask = await attempt("present-mask", at(path), () => nodes.blob(`${path}/present_mask`, options));
    if (isFinding(mask)) yield mask;
    else if (mask?.length !== (rows ?? mask?.length) || mask?.some((value) => value > 1))
      yield finding(
        "present-mask",
        at(path),
        `the mask should have a 0 or 1 for each of ${rows} objects, found ${mask?.length ?? "no"} bytes`,
      );
  }
}

export async function* checkGroups(level: CheckedLevel): AsyncGenerator<Finding> {
  const { nodes, options, depth, at, meta } = level;
  const path = nodes.dialect.names === "old" ? "groupings" : "groups";
  if (depth < 3) return;
  const groups = await attempt("groups-decode", at(path), () => readGroups(nodes, options));
  if (isFinding(groups)) {
    if (depth >= 4) yield groups;
    return;
  }
  const said = (await nodes.attributes(path, options))?.num_groups;
  if (groups !== undefined && typeof said === "number" && said !== groups.count)
    yield finding(
      "group-count",
      at(path),
      `num_groups is ${said}, but there are ${groups.count}`,
      setting(`${meta.path}/${path}`, "write the number of groups", { num_groups: groups.count }),
    );
  for await (const { path, array } of dense(level, folderOf("group", nodes.dialect))) {
    if (isFinding(array)) yield array;
    else yield* checkDense(level, path, array, groups?.count, "group-count");
  }
  if (groups !== undefined && depth >= 5) yield* checkMembers(level, groups, path);
}

/** Members are object ids; a range means all ids in it that are there. */
function* checkMembers({ ids, at }: CheckedLevel, groups: Groups, path: string): Generator<Finding> {
  if (ids === undefined) return;
  const there = new Set(ids);
  for (let group = 0; group < groups.count; group++) {
    const members = groups.ids.subarray(groups.offsets[group], groups.offsets[group + 1]);
    const lost = members.filter((id) => !there.has(id));
    if (lost.length > 0)
      yield finding(
        "group-members",
        `${at(path)}, group ${group}`,
        `${lost.length} of ${members.length} members are no objects, ${lost[0]} first`,
      );
  }
}

/** The dense arrays of a folder, by name. */
async function* dense(
  { nodes, options, at }: CheckedLevel,
  folder: string,
): AsyncGenerator<{ readonly path: string; readonly array: Dense | Finding }> {
  const names = await attempt("array", at(folder), () => nodes.children(folder, options));
  if (isFinding(names)) return void (yield { path: folder, array: names });
  for (const name of names) {
    const path = `${folder}/${name}`;
    const array = await attempt("array", at(path), () => nodes.dense(path, options));
    if (array !== undefined) yield { path, array };
  }
}

async function* checkDense(
  { options, depth, at }: CheckedLevel,
  path: string,
  array: Dense,
  rows: number | undefined,
  rule: RuleId,
): AsyncGenerator<Finding> {
  const where = at(path);
  const name = path.slice(path.indexOf("/") + 1);
  if (depth >= 2) {
    const info = await attempt("attribute-metadata", where, () => checkedInfo(name, array, where));
    if (isFinding(info)) yield info;
  }
  const [found = 0] = array.shape;
  if (depth >= 3 && rows !== undefined && found !== rows)
    yield finding(
      rule,
      where,
      `the attribute has ${found} rows, but there are ${rows} ${rule === "group-count" ? "groups" : "objects"}`,
    );
  if (depth < 4) return;
  for (let from = 0; from < found; from += ROWS) {
    const read = await attempt("object-attribute-decodes", where, () =>
      array.read(from, Math.min(found, from + ROWS), options),
    );
    if (isFinding(read)) return yield read;
  }
}
