/**
 * Conditions on groups are conditions on objects: one holds for an object if it holds for any of the groups that the object is
 * in; `is absent` if none of them has a value. Each becomes a column of objects that no store has.
 */

import type { Column } from "../model/attributes.js";
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource, ObjectSource } from "../model/source.js";
import { pick } from "./columns.js";
import { absentRows } from "./masks.js";
import { attributeKey, type Checked, checked, type Leaf, type Node } from "./where-check.js";
import { evaluate } from "./where-eval.js";

/** The condition without groups, over a source that has the columns it asks for. */
export async function groupsAsObjects(
  source: LevelSource,
  where: Checked | undefined,
  options: ReadOptions,
): Promise<{ readonly source: LevelSource; readonly where: Checked | undefined }> {
  if (where === undefined || !where.domains.has("group")) return { source, where };
  const { objects } = source;
  const made = new Map<string, Column>();
  const replace = async (node: Node): Promise<Node> => {
    if (node.op === "not") return { op: "not", arg: await replace(node.arg) };
    if (node.op !== "test") return { op: node.op, args: await Promise.all(node.args.map(replace)) };
    if (node.domain !== "group") return node;
    const name = `\0group ${made.size}`; // no attribute is called so
    const info = { name, dtype: { kind: "bool", size: 1 }, channels: 1 } as const;
    made.set(name, { info, values: new Uint8Array() });
    made.set(name, { info, values: await membersThat(node, objects, options) });
    const holds: Leaf = {
      op: "test",
      domain: "object",
      key: attributeKey("object", name),
      info,
      channel: 0,
      test: { kind: "range", low: 1, high: 1, negate: false },
    };
    return node.test.kind === "absent" ? { op: "not", arg: holds } : holds;
  };
  const node = await replace(where.node);
  return {
    source: objects === undefined ? source : { ...source, objects: withColumns(objects, made) },
    where: checked(node),
  };
}

/** For each object 1 where one of its groups satisfies, or has a value where the test is for absence. */
async function membersThat(leaf: Leaf, objects: ObjectSource | undefined, options: ReadOptions): Promise<Uint8Array> {
  const out = new Uint8Array(objects?.rows ?? 0);
  if (objects === undefined) return out;
  const { count, columns } = await objects.groupColumns([leaf.info.name], options);
  const column = columns.get(leaf.info.name);
  const mask = new Uint8Array(count);
  const rows = column === undefined ? absentRows(leaf.info, count) : { column };
  evaluate(checked(leaf), new Map([[leaf.key, rows]]), count, mask);
  const wanted = leaf.test.kind === "absent" ? 0 : 1;
  for (let group = 0; group < count; group++) {
    if (mask[group] !== wanted) continue;
    for (const row of (await objects.group(group, options)) ?? []) out[row] = 1;
  }
  return out;
}

const withColumns = (objects: ObjectSource, made: ReadonlyMap<string, Column>): ObjectSource => ({
  ...objects,
  async columns(names, rows, options) {
    const stored = names.filter((name) => !made.has(name));
    const columns = new Map(stored.length === 0 ? [] : await objects.columns(stored, rows, options));
    for (const name of names) {
      const column = made.get(name);
      if (column !== undefined) columns.set(name, { info: column.info, values: pick(column.values, 1, rows) });
    }
    return columns;
  },
});
