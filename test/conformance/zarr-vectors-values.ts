/**
 * What the reference read from a store, level by level and chunk by chunk (`dump` of expected.json), against what Octavo's
 * reader gives for the same. Numbers there are exact doubles, "NaN", or {"int": "…"} beyond 2^53; arrays are {dtype, shape, data}.
 */
import { halfToNumber } from "../../src/bytes/half.js";
import type { ZarrVectors } from "../../src/format/zarr-vectors/index.js";
import { linksBetween } from "../../src/format/zarr-vectors/read/link-levels.js";
import type { Column } from "../../src/model/attributes.js";
import type { LevelSource, Tile } from "../../src/model/source.js";
import { Failed } from "./case.js";

// biome-ignore lint/suspicious/noExplicitAny: its shape differs from store to store; what is wrong in it fails the case
export type Said = any;

/** Where the reference failed, the dump has its error instead of values: there is nothing to compare with. */
export const isError = (said: Said): boolean => said !== null && typeof said === "object" && "error" in said;

/** A value as the dump spells it. */
export function spell(value: unknown): unknown {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : { int: `${value}` };
  }
  if (typeof value === "number" && !Number.isFinite(value))
    return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  return value;
}

/** All values, one after the other, of nested lists. */
export function flat(said: Said): unknown[] {
  if (said !== null && typeof said === "object" && "data" in said) return flat(said.data);
  return Array.isArray(said) ? said.flatMap(flat) : [said];
}

/** Every number to its last bit: 0 is not −0. */
export function same(found: readonly unknown[], said: readonly unknown[], what: string): void {
  if (found.length !== said.length)
    throw new Failed(`${what} has ${found.length} values, the reference ${said.length}`);
  for (let i = 0; i < found.length; i++) {
    const [a, b] = [spell(found[i]), said[i]];
    const equal = typeof a === "object" ? JSON.stringify(a) === JSON.stringify(b) : Object.is(a, b);
    if (!equal) throw new Failed(`${what} has ${String(found[i])} as value ${i}, the reference ${JSON.stringify(b)}`);
  }
}

/** A column as numbers: float16 is kept as its bits, bools as 0 and 1. */
export function valuesOf({ info, values }: Column): unknown[] {
  const { dtype } = info;
  if (dtype.kind === "float" && "size" in dtype && dtype.size === 2)
    return Array.from(values as Uint16Array, halfToNumber);
  if (dtype.kind === "bool") return Array.from(values as Uint8Array, (value) => value === 1);
  return Array.from(values as Iterable<unknown>);
}

const keyOf = (coords: ArrayLike<number>, at: number, rank: number): string =>
  Array.from({ length: rank }, (_, axis) => coords[at + axis]).join(".");

/** Compares all of a level. */
export async function compareLevel(dataset: ZarrVectors, level: number, said: Said): Promise<void> {
  const source = await dataset.source(level);
  const at = `level ${level}`;
  await compareMetadata(dataset, level, said.metadata);
  const table = await source.chunks();
  const keys = Array.from({ length: table.count }, (_, chunk) => keyOf(table.coords, chunk * table.rank, table.rank));
  const order = (list: readonly string[]) => [...list].sort();
  same(order(keys), order(said.chunk_keys.map((key: number[]) => key.join("."))), `the chunks of ${at}`);
  const schema = await source.schema();
  const want = {
    positions: true,
    vertex: schema.vertex.map(({ name }) => name),
    fragment: schema.fragment.map(({ name }) => name),
  };
  for await (const tile of source.tiles([...keys.keys()], want))
    compareTile(source, tile, said.chunks[keys[tile.chunk]!] ?? {}, `chunk ${keys[tile.chunk]} of ${at}`);
  for (const [delta, links] of Object.entries<Said>(said.links ?? {}))
    await compareLinks(dataset, level, delta === "-" ? 0 : Number(delta), links, said);
  if (Object.keys(said.links ?? {}).length === 0)
    for (const [delta, links] of Object.entries<Said>(said.cross_chunk_links ?? {}))
      if (!isError(links)) await compareLinks(dataset, level, delta === "-" ? 0 : Number(delta), {}, said);
  await compareObjects(source, said, at);
  if (said.groups !== undefined && !isError(said.groups)) {
    for (const [group, members] of (said.groups as Said[]).entries())
      same([...(await dataset.groupMembers(group, level))], members, `group ${group} of ${at}`);
    same([(await dataset.groups(level)).length], [said.groups.length], `the groups of ${at}`);
  }
  if (said.group_attributes !== undefined) {
    const columns = await dataset.groupColumns(level);
    for (const [name, values] of Object.entries<Said>(said.group_attributes))
      same(valuesOf(columns.get(name)!), flat(values), `the group attribute ${name} of ${at}`);
  }
}

async function compareMetadata({ opened }: ZarrVectors, level: number, said: Said): Promise<void> {
  const meta = await opened.level(level);
  const own = said.zarr_vectors_level;
  same([meta.level, meta.vertexCount], [own.level, own.vertex_count], `the document of level ${level}`);
  same(meta.arraysPresent, own.arrays_present, `arrays_present of level ${level}`);
  same([meta.objectSparsity ?? 1], [own.object_sparsity ?? 1], `object_sparsity of level ${level}`);
  same([meta.coarseningMethod ?? "none"], [own.coarsening_method ?? "none"], `coarsening_method of level ${level}`);
  same([meta.parentLevel ?? null], [own.parent_level ?? null], `parent_level of level ${level}`);
  if (own.bin_shape) same(meta.binShape, own.bin_shape, `bin_shape of level ${level}`);
  if (own.chunk_shape) same(meta.chunkShape, own.chunk_shape, `chunk_shape of level ${level}`);
  same(
    [meta.sharedFragments, meta.fragmentsTile, meta.preservesObjectIds],
    [
      own.shared_fragments === true || own.shared_vertex_groups === true,
      own.fragments_tile === true,
      own.preserves_object_ids === true,
    ],
    `the flags of level ${level}`,
  );
  if (own.chunk_attribute_name !== undefined) {
    same([meta.chunkAttribute?.name], [own.chunk_attribute_name], `chunk_attribute_name of level ${level}`);
    same(meta.chunkAttribute!.values, own.chunk_attribute_values, `chunk_attribute_values of level ${level}`);
  }
}

/** The root, with the defaults that the reference filled in. */
export function compareRoot({ opened }: ZarrVectors, { root_metadata, axes }: Said): void {
  const { root } = opened;
  const own = root_metadata.zarr_vectors;
  same([root.version], [own.zv_version ?? own.format_version], "the version");
  same(root.chunkShape, own.chunk_shape, "the chunk shape");
  same([...root.bounds.min, ...root.bounds.max], own.bounds.flat(), "the bounds");
  same(root.geometryTypes, own.geometry_types, "the geometry types");
  same([root.linksConvention], [own.links_convention], "the links convention");
  same([...root.capabilities].sort(), [...(own.format_capabilities ?? [])].sort(), "the capabilities");
  same([JSON.stringify(root.crs ?? null)], [JSON.stringify(own.crs ?? null)], "the CRS");
  if (own.base_bin_shape) same(root.baseBinShape ?? [], own.base_bin_shape, "the bins");
  same(
    root.axes.flatMap(({ name, type, unit }) => [name, type, unit ?? null]),
    axes.flatMap(({ name, type, unit }: Said) => [name, type, unit && unit !== "unit" ? unit : null]),
    "the axes",
  );
}

function compareTile({ dims }: LevelSource, tile: Tile, said: Said, at: string): void {
  const { parts, positions, vertexColumns, fragmentColumns } = tile;
  const count = parts.length - 1;
  const fragments = said.vertices_by_fragment;
  if (fragments !== undefined && !isError(fragments)) {
    same([count], [fragments.length], `the fragments of ${at}`);
    for (let f = 0; f < count; f++)
      same(
        Array.from(positions.subarray(parts[f]! * dims, parts[f + 1]! * dims)),
        flat(fragments[f]),
        `fragment ${f} of ${at}`,
      );
  }
  for (const [f, fragment] of (said.vertex_fragments ?? []).entries()) {
    const size = fragment.range?.[1] ?? fragment.explicit.length;
    same([parts[f + 1]! - parts[f]!], [size], `the size of fragment ${f} of ${at}`);
  }
  for (const [name, lists] of Object.entries<Said>(said.vertex_attributes ?? {})) {
    const column = vertexColumns.get(name);
    if (column === undefined) throw new Failed(`${at} has no attribute ${name}`);
    if (isError(lists)) continue;
    const { channels } = column.info;
    const values = valuesOf(column);
    for (let f = 0; f < count; f++)
      same(
        values.slice(parts[f]! * channels, parts[f + 1]! * channels),
        flat(lists[f]),
        `${name} of fragment ${f} of ${at}`,
      );
  }
  for (const [name, values] of Object.entries<Said>(said.fragment_attributes ?? {}))
    same(valuesOf(fragmentColumns.get(name)!), flat(values), `the fragment attribute ${name} of ${at}`);
}

/** [[chunk, vertex], …] of each link, in the order of its ends. */
type Record = [string, number][];
const spelled = (record: Record): string => record.map(([chunk, vertex]) => `${chunk}:${vertex}`).join(" ");

/**
 * Links within a level by the reader of queries, those to other levels by theirs. What the reference lists is not always the links:
 * - up to early 0.5 the faces of a mesh across chunks are there as their edges
 * - links that are stored with each of their chunks come once for each
 * - it does not decode the faces that Draco cells have; expected_draco_cells.json has those
 */
async function compareLinks(
  dataset: ZarrVectors,
  level: number,
  delta: number,
  links: Said,
  said: Said,
): Promise<void> {
  const at = `links ${delta} of level ${level}`;
  const wanted: Record[] = [];
  for (const record of links.records ?? []) wanted.push(recordOf(record));
  if (links.records === undefined) {
    for (const [chunk, groups] of Object.entries<Said>(links))
      for (const group of groups)
        for (const row of group.data) wanted.push(row.map((vertex: number) => [chunk, vertex]));
    const cross = said.cross_chunk_links?.["-" in said.cross_chunk_links ? "-" : spellDelta(delta)];
    for (const record of Array.isArray(cross) ? cross : []) wanted.push(recordOf(record));
  }
  const { found, columns } = await readLinks(dataset, level, delta, Object.keys(said.link_attributes ?? {}));
  const nodes = await dataset.opened.nodes(level);
  const draco = (await nodes.attributes("vertices"))?.encoding === "draco";
  const isIntra = (record: Record) => new Set(record.map(([chunk]) => chunk)).size === 1;
  const stored = draco ? found.filter((record) => !isIntra(record)) : found;
  const edges = wanted.some((record) => record.length === 2) && stored.some((record) => record.length === 3);
  const listed = edges ? stored.flatMap((record) => (isIntra(record) ? [record] : edgesOf(record))) : stored;
  const once = (list: string[]) => (links.family_meta?.store === "duplicate" ? [...new Set(list)] : list).sort();
  same(once(listed.map(spelled)), once(wanted.map(spelled)), at);
  for (const [name, deltas] of Object.entries<Said>(said.link_attributes ?? {})) {
    const values = deltas[spellDelta(delta)];
    if (values === undefined) continue;
    const pair = (records: readonly Record[], list: readonly unknown[]) =>
      once(records.map((record, i) => `${spelled(record)} = ${String(list[i])}`));
    same(pair(found, columns.get(name) ?? []), pair(wanted, flat(values)), `${name} of ${at}`);
  }
}

const recordOf = (record: Said): Record => record.map(([chunk, vertex]: Said) => [chunk.join("."), vertex]);
const edgesOf = (face: Record): Record[] => face.map((end, k) => [end, face[(k + 1) % face.length]!]);

async function readLinks(dataset: ZarrVectors, level: number, delta: number, names: readonly string[]) {
  const found: Record[] = [];
  const columns = new Map<string, unknown[]>();
  if (delta !== 0) {
    for await (const { width, vertices, chunks, rank } of linksBetween(dataset.opened, level, delta))
      for (let from = 0; from < vertices.length; from += width)
        found.push(
          Array.from({ length: width }, (_, k) => [keyOf(chunks, (from + k) * rank, rank), vertices[from + k]!]),
        );
    return { found, columns };
  }
  const source = await dataset.source(level);
  const { rank, coords } = await source.chunks();
  for await (const { width, count, chunks, vertices, columns: read } of source.links({ meets: () => true }, names)) {
    for (let from = 0; from < count * width; from += width)
      found.push(
        Array.from({ length: width }, (_, k) => [keyOf(coords, chunks[from + k]! * rank, rank), vertices[from + k]!]),
      );
    for (const [name, column] of read) columns.set(name, [...(columns.get(name) ?? []), ...valuesOf(column)]);
  }
  return { found, columns };
}

const spellDelta = (delta: number): string => (delta > 0 ? `+${delta}` : `${delta}`);

async function compareObjects({ objects, chunks }: LevelSource, said: Said, at: string): Promise<void> {
  const manifests = said.object_manifests;
  if (!Array.isArray(manifests)) {
    if (said.object_index_meta?.num_objects > 0 && !isError(manifests)) throw new Failed(`${at} should have objects`);
    return;
  }
  if (objects === undefined) throw new Failed(`${at} has no objects, the reference read ${manifests.length}`);
  same([objects.rows], [manifests.length], `the objects of ${at}`);
  const { rank, coords } = await chunks();
  const rows = Uint32Array.from({ length: objects.rows }, (_, row) => row);
  const { offsets, chunk, first, count } = await objects.place(rows);
  for (const row of rows) {
    const found: string[] = [];
    for (let b = offsets[row]!; b < offsets[row + 1]!; b++)
      for (let part = 0; part < count[b]!; part++)
        found.push(`${keyOf(coords, chunk[b]! * rank, rank)}:${first[b]! + part}`);
    const wanted = manifests[row].map(([key, fragment]: Said) => `${key.join(".")}:${fragment}`);
    same(found, wanted, `the manifest of row ${row} of ${at}`);
  }
  const renumbered = said.object_attributes?.level0_object_id;
  const ids = renumbered ?? said.object_id_table;
  if (ids) same([...(await objects.ids())], flat(renumbered ? ids.data : ids), `the ids of ${at}`);
  const mask = said.object_present_mask;
  if (mask !== undefined && !isError(mask))
    same(
      Array.from(rows, (row) => offsets[row + 1]! > offsets[row]!),
      flat(mask),
      `the objects that are there in ${at}`,
    );
  for (const [name, { data, present_mask: present }] of Object.entries<Said>(said.object_attributes ?? {})) {
    const column = (await objects.columns([name], rows)).get(name);
    if (column === undefined) throw new Failed(`${at} has no object attribute ${name}`);
    const values = valuesOf(column);
    const wanted = flat(data);
    const { channels, absent } = column.info;
    // Before 0.8.1 a mask says which rows are real; what lies under the others is nothing.
    for (const [row, real] of (present === null ? [] : flat(present)).entries())
      for (let c = 0; c < channels; c++) if (real === 0) wanted[row * channels + c] = spell(absent);
    same(values, wanted, `the object attribute ${name} of ${at}`);
  }
}
