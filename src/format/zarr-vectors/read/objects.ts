/** The objects of a level: ids, where their parts are, who owns a part, groups, and the attributes of objects. */
import { Corrupt, Unsupported } from "../../../errors.js";
import type { Column } from "../../../model/attributes.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { typed } from "../../../model/elements.js";
import type { ObjectSource, Parts, Placement } from "../../../model/source.js";
import { pick } from "../../../query/columns.js";
import { runOf } from "../../../query/layout.js";
import { RowList } from "../../../query/rows.js";
import { once } from "../nodes/once.js";
import type { IdRange } from "../payload/groups.js";
import type { LevelMeta, LevelNodes } from "../types.js";
import type { GridTable } from "./chunk-table.js";
import { jointsOf, linkedJoints } from "./joints.js";
import type { LinkSource } from "./link-source.js";
import { denseColumns } from "./object-columns.js";
import { type ObjectPages, objectPages } from "./object-pages.js";
import { ownerColumn } from "./owner-column.js";
import { ownersByColumn, ownersFrom } from "./owners.js";
import { membersOf, readGroups } from "./read-groups.js";
import { folderOf } from "./schema.js";
import type { Shelf } from "./shelf.js";
import type { Tiles } from "./tiles.js";

const RENUMBERED = "level0_object_id";

export interface ObjectContext {
  readonly meta: LevelMeta;
  readonly nodes: LevelNodes;
  readonly table: GridTable;
  readonly tiles: Tiles;
  readonly shelf: Shelf;
  readonly links: (options?: ReadOptions) => Promise<LinkSource | undefined>;
  /** Axes of space. */
  readonly dims: number;
}

export async function objectsOf(context: ObjectContext, options?: ReadOptions): Promise<ObjectSource | undefined> {
  const { meta, nodes, table, dims, shelf } = context;
  const where = `${meta.path}/object_index`;
  const pages = await objectPages(nodes, table, where, shelf, options);
  if (pages === undefined) return undefined;
  const table64 = once((now?: ReadOptions) => readIds(context, pages.rows, now));
  const column = once((now?: ReadOptions) => ownerColumn(nodes, table, now));
  const groups = once((now?: ReadOptions) => readGroups(nodes, now));
  const rowsOf = once(async (now?: ReadOptions) => rowFinder(await table64(now), pages.rows));

  const linksAreFound = once((now?: ReadOptions) => canList(nodes, "links/0", now));

  const rowsOfIds = async (ids: BigInt64Array, now?: ReadOptions): Promise<Int32Array> => {
    if ((await table64(now)) === undefined) return idsAsRows(ids, pages.rows);
    const find = await rowsOf(now);
    return Int32Array.from({ length: ids.length }, (_, i) => find(ids[i]!));
  };

  const source: ObjectSource = {
    rows: pages.rows,
    async ids(rows, now) {
      const all = await table64(now);
      if (all === undefined) return idsOf(rows ?? RowList.upTo(pages.rows));
      return rows === undefined ? all : (pick(all as unknown as Column["values"], 1, rows) as unknown as BigInt64Array);
    },
    async rowsOf(ids, now) {
      const find = await rowsOf(now);
      return Int32Array.from(ids, find);
    },
    place: (rows, now) => placeRows(pages, rows, where, now),
    async owners(parts, now) {
      const known = await column(now);
      const told = known && (await ownersByColumn(known, (ids) => rowsOfIds(ids, now), parts, now));
      return told ?? ownersFrom(pages, table.count, parts, now);
    },
    orphans: (now) => orphansOf(context, pages, now),
    async *joints(meets, now, skip) {
      const known = mostPages(pages, skip) ? undefined : await column(now);
      if (known?.joints === true && (await linksAreFound(now)))
        yield* linkedJoints(context, known, (ids) => rowsOfIds(ids, now), meets, now, skip);
      else yield* jointsOf(pages, table, context.tiles, dims, meets, now, skip);
    },
    columns: (wanted, rows, now) => denseColumns(nodes, "object_attributes", wanted, rows, pages.rows, now),
    async groupColumns(names, now) {
      const count = (await groups(now))?.count ?? 0;
      const all = Uint32Array.from({ length: count }, (_, group) => group);
      return { count, columns: await denseColumns(nodes, folderOf("group", nodes.dialect), names, all, count, now) };
    },
    async group(group, now) {
      const all = await groups(now);
      const range = all?.ranges.get(group);
      // A range may be longer than what there is: its ends are looked for among the ids, not each id in it.
      const members = range === undefined ? all && membersOf(all, group) : undefined;
      if (range !== undefined) return (await rowsWithin(source, range, now)).sort();
      if (members === undefined) return undefined;
      const rows = await source.rowsOf(members, now);
      const lost = rows.indexOf(-1);
      if (lost >= 0)
        throw new Corrupt(`group ${group} of ${meta.path} names object ${members[lost]}, which is not there`);
      return Uint32Array.from(rows);
    },
  };
  return source;
}

/** Whether the objects that are known to touch lie in most pages: then these are read in any case, and tell the joints of all. */
function mostPages({ rows, pageRows }: ObjectPages, known: Uint8Array | undefined): boolean {
  const count = Math.ceil(rows / pageRows);
  let used = 0;
  for (let page = 0; known !== undefined && page < count; page++)
    if (known.subarray(page * pageRows, (page + 1) * pageRows).includes(1)) used++;
  return 2 * used > count;
}

/** The rows whose id is in a range. */
async function rowsWithin(source: ObjectSource, { start, stop }: IdRange, options?: ReadOptions): Promise<Uint32Array> {
  const rows: number[] = [];
  const ids = await source.ids(undefined, options);
  for (let row = 0; row < ids.length; row++) if (ids[row]! >= start && ids[row]! < stop) rows.push(row);
  return Uint32Array.from(rows);
}

/** Whether what is below can be known: the names of arrays of links follow from nothing, and some servers do not list. */
async function canList(nodes: LevelNodes, path: string, options?: ReadOptions): Promise<boolean> {
  try {
    await nodes.children(path, options);
    return true;
  } catch (error) {
    if (error instanceof Unsupported && error.reason === "list") return false;
    throw error;
  }
}

/** The parts with vertices that no manifest names. */
async function orphansOf({ table, tiles }: ObjectContext, pages: ObjectPages, options?: ReadOptions): Promise<Parts> {
  const all = Array.from({ length: table.count }, (_, chunk) => chunk);
  const sizes: Uint32Array[] = new Array(table.count);
  for await (const { chunk, parts } of tiles.read(all, { positions: false, vertex: [], fragment: [] }, options))
    sizes[chunk] = parts;
  const starts = new Uint32Array(table.count + 1);
  for (const c of all) starts[c + 1] = starts[c]! + sizes[c]!.length - 1;
  const owned = new Uint8Array(starts[table.count]!);
  for (let i = 0; i * pages.pageRows < pages.rows; i++) markOwned(await pages.page(i, options), starts, owned);
  const [chunk, part]: [number[], number[]] = [[], []];
  for (let at = owned.indexOf(0), c = 0; at >= 0; at = owned.indexOf(0, at + 1)) {
    while (starts[c + 1]! <= at) c++;
    const p = at - starts[c]!;
    if (sizes[c]![p] === sizes[c]![p + 1]) continue;
    chunk.push(c);
    part.push(p);
  }
  return { chunk: Int32Array.from(chunk), part: Uint32Array.from(part) };
}

/** Parts of chunk c are owned[starts[c]] up to owned[starts[c + 1]]; one that there is not is found out by who reads its object. */
function markOwned({ chunk, first, count }: Placement, starts: Uint32Array, owned: Uint8Array): void {
  for (let b = 0; b < chunk.length; b++) {
    const c = chunk[b]!;
    if (c < 0) continue;
    const from = starts[c]! + first[b]!;
    const to = Math.min(from + count[b]!, starts[c + 1]!);
    for (let at = from; at < to; at++) owned[at] = 1;
  }
}

/** Row → id; undefined where they are the same. Of a level that was numbered anew, the ids of level 0. */
export async function readIds(
  { meta, nodes }: Pick<ObjectContext, "meta" | "nodes">,
  rows: number,
  options?: ReadOptions,
): Promise<BigInt64Array | undefined> {
  const path =
    meta.level > 0 &&
    !meta.preservesObjectIds &&
    (await nodes.children("object_attributes", options)).includes(RENUMBERED)
      ? `object_attributes/${RENUMBERED}`
      : "object_index/object_ids";
  const stored =
    nodes.dialect.manifests === "vlen" || nodes.dialect.manifests === "dense" || path.startsWith("object_attributes");
  const array = stored ? await nodes.dense(path, options) : undefined;
  if (array === undefined) return undefined;
  const where = `${meta.path}/${path}`;
  const values = typed(await array.read(undefined, undefined, options));
  if (values.length !== rows) throw new Corrupt(`${where} has ${values.length} ids for ${rows} objects`, { where });
  if (values instanceof BigInt64Array) return areRows(values) ? undefined : values;
  if (values instanceof BigUint64Array || values instanceof Float32Array || values instanceof Float64Array)
    throw new Corrupt(`${where} should hold int64 ids`, { where });
  return BigInt64Array.from(values as unknown as ArrayLike<bigint>, (value) => BigInt(value));
}

// Ids are handled as pairs of 32-bit words where they can be: a bigint for each of a million takes longer than reading them.

/** Rows as ids. */
function idsOf(rows: Uint32Array): BigInt64Array {
  const words = new Uint32Array(2 * rows.length);
  for (let i = 0; i < rows.length; i++) words[2 * i] = rows[i]!;
  return new BigInt64Array(words.buffer);
}

/** Ids as rows, where they are the same. */
function idsAsRows(ids: BigInt64Array, rows: number): Int32Array {
  const words = new Uint32Array(ids.buffer, ids.byteOffset, 2 * ids.length);
  const out = new Int32Array(ids.length);
  for (let i = 0; i < ids.length; i++) out[i] = words[2 * i + 1] === 0 && words[2 * i]! < rows ? words[2 * i]! : -1;
  return out;
}

/** Whether each id is its row. */
function areRows(ids: BigInt64Array): boolean {
  const words = new Uint32Array(ids.buffer, ids.byteOffset, 2 * ids.length);
  for (let i = 0; i < ids.length; i++) if (words[2 * i] !== i || words[2 * i + 1] !== 0) return false;
  return true;
}

function rowFinder(ids: BigInt64Array | undefined, rows: number): (id: bigint) => number {
  if (ids === undefined) return (id) => (id >= 0n && id < BigInt(rows) ? Number(id) : -1);
  let ascending = true;
  for (let i = 1; ascending && i < ids.length; i++) ascending = ids[i - 1]! < ids[i]!;
  if (!ascending) {
    const byId = new Map<bigint, number>();
    for (let i = 0; i < ids.length; i++) byId.set(ids[i]!, i);
    return (id) => byId.get(id) ?? -1;
  }
  return (id) => {
    let [low, high] = [0, ids.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (ids[middle] === id) return middle;
      if (ids[middle]! < id) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  };
}

async function placeRows(
  pages: ObjectPages,
  rows: Uint32Array,
  where: string,
  options?: ReadOptions,
): Promise<Placement> {
  const runs = runsOf(rows, pages.pageRows);
  const numbers = [...new Set(runs.map(({ page }) => page))];
  const loaded = new Map(
    await Promise.all(numbers.map(async (i): Promise<[number, Placement]> => [i, await pages.page(i, options)])),
  );
  const offsets = new Uint32Array(rows.length + 1);
  for (const { page, from, to } of runs) {
    const o = rows[from]! % pages.pageRows;
    const own = loaded.get(page)!.offsets;
    if (o + to - from >= own.length) throw new Corrupt(`${where} has no row ${rows[to - 1]}`, { where });
    for (let i = from; i < to; i++) offsets[i + 1] = offsets[from]! + own[o + i + 1 - from]! - own[o]!;
  }
  const size = offsets[rows.length]!;
  const out = { offsets, chunk: new Int32Array(size), first: new Uint32Array(size), count: new Uint32Array(size) };
  for (const { page, from, to } of runs) {
    const { offsets: own, chunk, first, count } = loaded.get(page)!;
    const o = rows[from]! % pages.pageRows;
    const [start, end] = [own[o]!, own[o + to - from]!];
    out.chunk.set(chunk.subarray(start, end), offsets[from]!);
    out.first.set(first.subarray(start, end), offsets[from]!);
    out.count.set(count.subarray(start, end), offsets[from]!);
  }
  const lost = out.chunk.indexOf(-1);
  if (lost >= 0)
    throw new Corrupt(
      `the manifest of row ${rows[runOf(offsets, lost)]} in ${where} names a chunk that has no vertices`,
      { where },
    );
  return out;
}

/** Rows from … to of a list that follow each other in one page. */
function runsOf(rows: Uint32Array, pageRows: number): { page: number; from: number; to: number }[] {
  const runs: { page: number; from: number; to: number }[] = [];
  for (let from = 0, to = 0; from < rows.length; from = to) {
    const page = Math.floor(rows[from]! / pageRows);
    const end = Math.min(rows.length, from + (page + 1) * pageRows - rows[from]!);
    to = from + 1;
    while (to < end && rows[to] === rows[from]! + to - from) to++;
    runs.push({ page, from, to });
  }
  return runs;
}
