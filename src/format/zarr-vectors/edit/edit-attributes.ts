/** Attributes under edit: values of some rows, new attributes, and attributes that go. */
import { isFixed } from "../../../bytes/dtype.js";
import { isJsonObject, type Json, type JsonObject } from "../../../bytes/json.js";
import { InvalidInput, NotFound, Unsupported } from "../../../errors.js";
import type { AttributeInfo, Column } from "../../../model/attributes.js";
import type { Domain } from "../../../model/vectors.js";
import { describeArray } from "../../zarr/create.js";
import { folderOf, sentinelOf } from "../read/schema.js";
import { described, dtypeName } from "../write/write-columns.js";
import { byPlace } from "./edit-cells.js";
import { sizeOf, total } from "./edit-chunks.js";
import { cellWords, infoOf, tableInfo, takeColumn } from "./edit-columns.js";
import { editLevel, fragmentsOf, type LevelEdit, pickRowsOf, rowOf, unknown, verticesOf } from "./edit-level.js";
import { addLinks, setLinks } from "./edit-link-attributes.js";
import type { RowsEdit } from "./edit-rows.js";
import { present, type Tree } from "./edit-tree.js";

/**
 * Whose values are meant: of objects, of groups, or of the vertices, links or fragments of one object, all or some of them, by
 * their rows as a query for it has them.
 */
export type AttributeRows =
  | { readonly ids: Iterable<number | bigint> }
  | { readonly id: number | bigint; readonly rows?: ArrayLike<number> | undefined }
  | { readonly groups: Iterable<number> };

/** Values of a new attribute, with the objects that they are of. */
export interface AddedValues {
  readonly ids?: Iterable<number | bigint> | undefined;
  readonly values: Column["values"];
}

const ROWS = 65536;
const OWNER = "object_id";

/** Sets the values of some rows of an attribute that is there. */
export async function setAttribute(
  tree: Tree,
  domain: Domain,
  name: string,
  target: AttributeRows,
  values: Column["values"],
): Promise<void> {
  const level = await editLevel(tree, tree.opened.levels[0]!);
  if (domain === "vertex" && "id" in target) return setVertices(level, name, BigInt(target.id), target.rows, values);
  if (domain === "fragment" && "id" in target) return setFragments(level, name, BigInt(target.id), target.rows, values);
  if (domain === "link" && "id" in target) return setLinks(level, name, [BigInt(target.id)], target.rows, values);
  if (domain === "object" && "ids" in target) {
    const rows = Array.from(target.ids, (id) => rowOf(level, BigInt(id)));
    const table = (await level.objects!.attributes()).get(name);
    if (table === undefined) throw unknown(level, domain, name);
    return setRows(table, level.objects!.rows, domain, name, rows, values);
  }
  if (domain === "group" && "groups" in target) {
    const table = await tree.rows(`${level.meta.path}/group_attributes/${name}`);
    if (table === undefined) throw unknown(level, domain, name);
    return setRows(table, table.length, domain, name, [...target.groups], values);
  }
  throw new InvalidInput(`the rows of a ${domain} attribute cannot be named so: ${Object.keys(target).join(", ")}`);
}

function setRows(
  table: RowsEdit,
  count: number,
  what: string,
  name: string,
  rows: readonly number[],
  values: Column["values"],
): void {
  const info = tableInfo(name, table, values, what);
  const bytes = takeColumn({ info }, { info: infoOf(info, values), values }, rows.length, what);
  if (table.length < count) table.resize(count);
  for (const [i, row] of rows.entries()) {
    if (!(Number.isInteger(row) && row >= 0 && row < table.length))
      throw new InvalidInput(`the ${what} attribute ${name} has no row ${row}, only ${table.length}`);
    table.set(row, bytes.slice((i * bytes.length) / rows.length, ((i + 1) * bytes.length) / rows.length));
  }
}

async function setVertices(
  level: LevelEdit,
  name: string,
  id: bigint,
  rows: ArrayLike<number> | undefined,
  values: Column["values"],
): Promise<void> {
  const at = level.chunks.vertexAttributes.findIndex(({ info }) => info.name === name);
  if (at < 0) throw unknown(level, "vertex", name);
  const chosen = pickRowsOf(await verticesOf(level, rowOf(level, id)), rows, `vertices of object ${id}`);
  const attribute = level.chunks.vertexAttributes[at]!;
  const bytes = takeColumn(attribute, { info: infoOf(attribute.info, values), values }, chosen.length, "vertex");
  await putVertices(level, 1 + at, attribute.width, chosen, bytes);
  await level.finish();
}

async function setFragments(
  level: LevelEdit,
  name: string,
  id: bigint,
  rows: ArrayLike<number> | undefined,
  values: Column["values"],
): Promise<void> {
  const { chunks } = level;
  const at = chunks.fragmentAttributes.findIndex(({ info }) => info.name === name);
  if (at < 0) throw unknown(level, "fragment", name);
  if (name === OWNER)
    throw new InvalidInput(`the fragment attribute ${OWNER} says who owns a fragment, and is not set`);
  const chosen = pickRowsOf(await fragmentsOf(level, rowOf(level, id)), rows, `fragments of object ${id}`);
  const attribute = chunks.fragmentAttributes[at]!;
  const { width } = attribute;
  const bytes = takeColumn(attribute, { info: infoOf(attribute.info, values), values }, chosen.length, "fragment");
  for (const [i, { chunk, fragment }] of chosen.entries()) {
    const edit = await chunks.chunk(chunk);
    edit.fragmentColumns[at] = edit.fragmentColumns[at]!.slice();
    edit.fragmentColumns[at]!.set(bytes.subarray(i * width, (i + 1) * width), fragment * width);
  }
  await level.finish();
}

/** Writes rows of a column of vertices to their places. */
export async function putVertices(
  { chunks }: LevelEdit,
  column: number,
  width: number,
  places: readonly { chunk: string; entry: number }[],
  bytes: Uint8Array,
): Promise<void> {
  const fresh = new Set<string>();
  for (const [i, { chunk, entry }] of places.entries()) {
    const edit = await chunks.chunk(chunk);
    if (!fresh.has(chunk)) edit.columns[column] = edit.columns[column]!.slice(); // it may be a view of what was read
    fresh.add(chunk);
    edit.columns[column]!.set(bytes.subarray(i * width, (i + 1) * width), entry * width);
  }
}

/** A new attribute of the finest level. Values are those of these objects, or of their vertices, links or fragments one after the other. */
export async function addAttribute(
  tree: Tree,
  domain: Domain,
  info: AttributeInfo,
  values?: AddedValues,
): Promise<void> {
  const level = await editLevel(tree, tree.opened.levels[0]!);
  const folder = `${domain}_attributes`;
  const path = `${level.meta.path}/${folder}`;
  if (!isFixed(info.dtype))
    throw new Unsupported(`the attribute ${info.name} should be of a type of fixed size, found ${info.dtype.kind}`);
  if ((await tree.names(path)).includes(info.name))
    throw new InvalidInput(`${tree.opened.url} already has the ${domain} attribute ${info.name}`);
  await tree.makeGroup(path);
  await present(tree, level.meta.path, folder);
  if (domain === "vertex" || domain === "fragment") return addCellAttribute(level, domain, info, values);
  if (domain === "link") return addLinks(level, info, values);
  const { objects } = level;
  const groups = await tree.rows(`${level.meta.path}/groups`);
  const count = domain === "object" ? objects?.rows : groups?.length;
  if (count === undefined) throw new InvalidInput(`${tree.opened.url} has no ${domain}s that could have attributes`);
  const sentinel = domain === "object" ? sentinelOf(info.dtype) : undefined;
  const shape = info.channels === 1 ? [count] : [count, info.channels];
  const { row_shape: _, ...more } = described(info);
  const table = tree.makeRows(
    `${path}/${info.name}`,
    describeArray({
      shape,
      chunkShape: [ROWS, ...shape.slice(1)],
      dtype: info.dtype,
      codecs: "zstd",
      ...(sentinel === undefined ? {} : { fill: (Number.isNaN(sentinel) ? "NaN" : sentinel) as Json }),
      attributes: {
        zv_array: domain === "object" ? "object_attribute" : "groupings_attribute",
        name: info.name,
        dtype: dtypeName(info.dtype),
        shape,
        ...more,
        ...(sentinel === undefined ? {} : { fill_sentinel_meaning: "absent" }),
      } as JsonObject,
    }),
  );
  if (values === undefined && domain === "object" && sentinel === undefined)
    throw new InvalidInput(
      `the object attribute ${info.name} needs values: ${dtypeName(info.dtype)} has nothing that stands for none`,
    );
  if (values === undefined) return;
  const rows =
    values.ids === undefined
      ? Array.from({ length: count }, (_, row) => row)
      : Array.from(values.ids, (id) => rowOf(level, BigInt(id)));
  setRows(table, count, domain, info.name, rows, values.values);
}

async function addCellAttribute(
  level: LevelEdit,
  domain: "vertex" | "fragment",
  info: AttributeInfo,
  given?: AddedValues,
): Promise<void> {
  const { tree, meta, chunks, objects } = level;
  const ofVertices = domain === "vertex";
  const zv_array = ofVertices ? "attribute" : "fragment_attribute";
  const words = { zv_array, name: info.name, ...cellWords(info) };
  const cells = tree.makeCells(meta.path, `${domain}_attributes/${info.name}`, chunks.vertices.meta, words);
  const names = [...(await chunks.vertices.chunks())].sort(byPlace);
  const edits = await Promise.all(names.map((name) => chunks.chunk(name)));
  const counts = edits.map(({ sizes }) => (ofVertices ? total(sizes) : sizes.length));
  const places: { chunk: string; row: number }[] = [];
  const ids = given && (given.ids ?? objects?.ids);
  if (ids !== undefined)
    for (const id of ids) {
      const row = rowOf(level, BigInt(id));
      if (ofVertices) for (const { chunk, entry } of await verticesOf(level, row)) places.push({ chunk, row: entry });
      else for (const { chunk, fragment } of await fragmentsOf(level, row)) places.push({ chunk, row: fragment });
    }
  else if (given !== undefined)
    for (const [c, chunk] of names.entries()) for (let row = 0; row < counts[c]!; row++) places.push({ chunk, row });
  const all = new Set(places.map(({ chunk, row }) => `${chunk}:${row}`)).size === total(counts);
  const width = info.channels * sizeOf(info);
  const bytes =
    given &&
    takeColumn({ info, cells }, { info: infoOf(info, given.values), values: given.values }, places.length, domain);
  const payloads = new Map(
    names.map((name, c) => [
      name,
      all ? new Uint8Array(counts[c]! * width) : takeColumn({ info, cells }, undefined, counts[c]!, domain),
    ]),
  );
  for (const [i, { chunk, row }] of places.entries())
    payloads.get(chunk)!.set(bytes!.subarray(i * width, (i + 1) * width), row * width);
  for (const [name, payload] of payloads) cells.set(name, payload);
  await level.finish();
}

/** An attribute goes, from every level that has it. */
export async function dropAttribute(tree: Tree, domain: Domain, name: string): Promise<void> {
  let found = false;
  for (const number of tree.opened.levels) {
    const { path } = await tree.opened.level(number, tree.options);
    const nodes = await tree.opened.nodes(number, tree.options);
    const folder = `${path}/${folderOf(domain, nodes.dialect)}`;
    if (!(await tree.names(folder)).includes(name)) continue;
    found = true;
    await tree.remove(`${folder}/${name}`);
  }
  if (!found) throw new NotFound(`${tree.opened.url} has no ${domain} attribute ${name}`, { where: tree.opened.url });
  const root = (await tree.group(""))!;
  const own = root.attributes.zarr_vectors as JsonObject;
  const specs = own.attribute_specs;
  const ofDomain = isJsonObject(specs) ? specs[domain] : undefined;
  if (!isJsonObject(specs) || !isJsonObject(ofDomain) || ofDomain[name] === undefined) return;
  const { [name]: _, ...rest } = ofDomain;
  root.attributes = { ...root.attributes, zarr_vectors: { ...own, attribute_specs: { ...specs, [domain]: rest } } };
}
