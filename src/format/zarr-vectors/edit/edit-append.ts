/** Objects that come and go: append, delete, replace. Ids stay what they are, on every level. */

import type { JsonObject } from "../../../bytes/json.js";
import { bytesOf } from "../../../codec/numeric.js";
import { InvalidInput } from "../../../errors.js";
import type { Columns } from "../../../model/vectors.js";
import type { Block } from "../payload/manifest-write.js";
import type { BatchParts } from "../write/write-batch.js";
import { removeFragments } from "./edit-chunks.js";
import { refuseOthers, tableInfo, takeColumn } from "./edit-columns.js";
import { leaveGroups } from "./edit-groups.js";
import { editLevel, fragmentsOf, type LevelEdit, NOBODY, ownersOf } from "./edit-level.js";
import { editObjects, largestOf } from "./edit-objects.js";
import { checkBatch, planFor, putGeometry } from "./edit-put.js";
import type { RowsEdit } from "./edit-rows.js";
import type { Tree } from "./edit-tree.js";

/** Adds objects, or points; the ids that the objects have, or with `newIds` get. */
export async function appendBatch(
  tree: Tree,
  batch: BatchParts,
  expand: boolean,
  newIds = false,
): Promise<BigInt64Array> {
  const level = await editLevel(tree, firstLevel(tree));
  const plan = await planFor(level);
  const { rows } = checkBatch(level, plan, batch);
  const { objects } = level;
  if (objects === undefined) {
    if (rows.ids.length > 0)
      throw new InvalidInput(`${tree.opened.url} has points without objects, and the batch has objects`);
    await putGeometry(level, plan, batch, rows.objects, [], expand);
    await level.finish();
    return new BigInt64Array();
  }
  let next = await largestId(tree, level);
  const ids: bigint[] = Array.from(rows.ids, (id: bigint) => (newIds ? ++next : BigInt.asIntN(64, id)));
  if (new Set(ids).size < ids.length) throw new InvalidInput("the batch names an object twice");
  for (const id of ids) {
    const row = objects.rowOf(id);
    if (row >= 0 && (await objects.read([row])).first.length > 0)
      throw new InvalidInput(`${tree.opened.url} already has the object ${id}`, {
        hint: "Replace it, or leave the id out.",
      });
  }
  // What nobody has named: each path is an object, of everything else the batch is one.
  for (const id of ids) if (id > next) next = id;
  const name = (): number => ids.push(++next) - 1;
  const alone = !plan.kind.path && ids.length === 0 && rows.count > 0 ? name() : -1;
  const owners = rows.objects.map((object, p) =>
    object >= 0 ? object : plan.kind.path && rows.parts[p]! < rows.parts[p + 1]! ? name() : alone,
  );
  const blocks = await putGeometry(level, plan, batch, owners, ids, expand);
  const placed = ids.map((id) => (objects.rowOf(id) >= 0 ? objects.rowOf(id) : objects.add(id)));
  for (const [i, row] of placed.entries()) await objects.set(row, blocks[i]!);
  // Who is not named has his attributes in the order of the ids that are given.
  const given = rows.ids.length === 0 && rows.objectColumns.size > 0 ? ids.length : rows.ids.length;
  await putObjectColumns(level, placed, given, rows.objectColumns, true);
  await level.finish();
  await keepRows(tree, level, ids);
  return BigInt64Array.from(ids);
}

const firstLevel = ({ opened }: Tree): number => {
  const [first] = opened.levels;
  if (first === undefined) throw new InvalidInput(`${opened.url} has no level that could be edited`);
  return first;
};

/** Of all levels, and of objects that are gone: no id ever means two objects. */
async function largestId(tree: Tree, level: LevelEdit): Promise<bigint> {
  let most = -1n;
  for (const number of tree.opened.levels) {
    const meta = await tree.opened.level(number, tree.options);
    const objects = number === level.meta.level ? level.objects : await editObjects(tree, meta, level.rank);
    const own = objects === undefined ? -1n : largestOf(objects.ids);
    if (own > most) most = own;
  }
  return most;
}

/** Levels that have the rows of the finest one get a row for each new id, too: empty until they are made anew. */
async function keepRows(tree: Tree, finest: LevelEdit, ids: readonly bigint[]): Promise<void> {
  for (const number of tree.opened.levels) {
    const { preservesObjectIds, path } = await tree.opened.level(number, tree.options);
    if (number === finest.meta.level || !preservesObjectIds) continue;
    const level = await editLevel(tree, number);
    for (const id of ids) if (level.objects !== undefined && level.objects.rowOf(id) < 0) level.objects.add(id);
    await level.finish();
    const document = (await tree.group(path))!;
    const own = document.attributes.zarr_vectors_level as JsonObject;
    if (own.inherited_num_objects === undefined) continue;
    const rows = { inherited_num_objects: finest.objects!.rows };
    document.attributes = { ...document.attributes, zarr_vectors_level: { ...own, ...rows } };
  }
}

/** The attributes of objects; of those beyond `given`, and where a column is left out, what stands for none. */
async function putObjectColumns(
  { objects }: LevelEdit,
  rows: readonly number[],
  given: number,
  columns: Columns,
  all: boolean,
): Promise<void> {
  const tables = await objects!.attributes();
  refuseOthers(columns, [...tables.keys()], "object");
  for (const [name, table] of tables) {
    const column = columns.get(name);
    if (column === undefined && !all) continue;
    const info = tableInfo(name, table, column?.values, "object");
    table.resize(Math.max(table.length, objects!.rows));
    const named = takeColumn({ info }, column, given, "object");
    const rest = takeColumn({ info }, undefined, rows.length - given, "object");
    const width = (named.length + rest.length) / Math.max(1, rows.length);
    for (const [i, row] of rows.entries())
      table.set(
        row,
        i < given ? named.slice(i * width, (i + 1) * width) : rest.slice((i - given) * width, (i - given + 1) * width),
      );
  }
}

/** Takes the vertices of objects out of a level, with their links; who shares a fragment keeps it. */
export async function removeObjects(level: LevelEdit, rows: readonly number[]): Promise<void> {
  const { objects, chunks, owners, ownersAt, rank } = level;
  const gone = new Set(rows);
  const named = new Map<string, Set<number>>();
  for (const row of rows)
    for (const { chunk, fragment } of await fragmentsOf(level, row)) {
      const own = named.get(chunk) ?? new Set<number>();
      named.set(chunk, own.add(fragment));
    }
  const edits = await Promise.all([...named.keys()].map((name) => chunks.chunk(name)));
  const ids = new Set(rows.map((row) => objects!.ids[row]!));
  const column = (at: number): BigInt64Array => {
    const bytes = edits[at]!.fragmentColumns[ownersAt]!.slice();
    return new BigInt64Array(bytes.buffer, 0, bytes.length / 8);
  };
  // The column says at once who owns a fragment; where it cannot be believed, or several do, all manifests are read.
  const believed =
    owners !== undefined && edits.every(({ name }, at) => [...named.get(name)!].every((f) => ids.has(column(at)[f]!)));
  const all = believed ? undefined : await ownersOf(objects!, rank, new Set(named.keys()));
  for (const [at, edit] of edits.entries()) {
    const own = named.get(edit.name)!;
    const free = new Set(
      [...own].filter(
        (f) =>
          believed ||
          all!
            .get(edit.name)!
            .get(f)!
            .every((row) => gone.has(row)),
      ),
    );
    const left = ownersAt >= 0 ? column(at) : undefined;
    for (const f of free) if (left !== undefined && f < left.length) left[f] = NOBODY;
    const empty = edit.sizes.every((size, f) => size === 0 || free.has(f));
    if (left !== undefined) edit.fragmentColumns[ownersAt] = bytesOf(left);
    const others = empty && (left === undefined || owners === undefined || left.some((id) => id !== NOBODY));
    if (others) await forget(level, edit.name, gone);
    removeFragments(edit, free);
  }
  for (const row of rows) await objects!.set(row, []);
}

/** Takes a chunk that will be gone out of the manifests of objects that have nothing but empty fragments there. */
async function forget(level: LevelEdit, chunk: string, gone: ReadonlySet<number>): Promise<void> {
  const { objects, rank } = level;
  const rows = new Set([...((await ownersOf(objects!, rank, new Set([chunk]))).get(chunk)?.values() ?? [])].flat());
  for (const row of rows) {
    if (gone.has(row)) continue;
    const left: Block[] = (await fragmentsOf(level, row))
      .filter((own) => own.chunk !== chunk)
      .map(({ coords, fragment }) => ({ chunk: coords, fragments: fragment }));
    await objects!.set(row, left);
  }
}

/** Objects go, on every level that has them; groups lose them, and their attributes say that there is none. */
export async function deleteObjects(tree: Tree, ids: readonly bigint[]): Promise<void> {
  const unknown = new Set(ids);
  for (const number of tree.opened.levels) {
    const level = await editLevel(tree, number);
    const rows = ids.map((id) => level.objects?.rowOf(id) ?? -1).filter((row) => row >= 0);
    if (number === firstLevel(tree)) for (const row of rows) unknown.delete(level.objects!.ids[row]!);
    if (number === firstLevel(tree) && unknown.size > 0)
      throw new InvalidInput(`${tree.opened.url} has no object ${[...unknown].slice(0, 5).join(", ")}`);
    if (rows.length === 0) continue;
    await removeObjects(level, [...new Set(rows)]);
    for (const [name, table] of await level.objects!.attributes())
      if (name !== "level0_object_id") for (const row of rows) if (row < table.length) table.set(row, fillOf(table));
    await leaveGroups(tree, level, new Set(ids));
    await level.finish();
  }
}

/** A row of fill: what stands for none, of bools false. */
function fillOf({ meta }: RowsEdit): Uint8Array {
  const fill = meta.fill as Uint8Array;
  const out = new Uint8Array(meta.shape.slice(1).reduce((product, n) => product * n, fill.length));
  for (let at = 0; at < out.length; at += fill.length) out.set(fill, at);
  return out;
}

/** Other geometry under the same id; attributes and groups stay. Coarser levels lose it until they are made anew. */
export async function replaceObject(tree: Tree, id: bigint, batch: BatchParts, expand: boolean): Promise<void> {
  for (const number of tree.opened.levels) {
    const level = await editLevel(tree, number);
    const row = level.objects?.rowOf(id) ?? -1;
    if (number === firstLevel(tree)) {
      if (row < 0) throw new InvalidInput(`${tree.opened.url} has no object ${id}`);
      const plan = await planFor(level);
      const own = { ...batch, ids: BigInt64Array.of(id) };
      const { rows } = checkBatch(level, plan, own);
      await removeObjects(level, [row]);
      const [blocks] = await putGeometry(
        level,
        plan,
        own,
        rows.objects.map(() => 0),
        [id],
        expand,
      );
      await level.objects!.set(row, blocks!);
      await putObjectColumns(level, [row], 1, rows.objectColumns, false);
    } else if (row >= 0) await removeObjects(level, [row]);
    else continue;
    await level.finish();
  }
}
