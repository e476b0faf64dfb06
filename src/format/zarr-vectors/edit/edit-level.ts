/**
 * A level under edit, and what follows from every change of it: links to where their ends have gone, the number of vertices, the
 * bounds, and the owners of fragments with their seals. What other software has left stale and follows from the rest is made
 * true again on the way: the owners, the number of vertices, rows of object attributes.
 */
import type { JsonObject } from "../../../bytes/json.js";
import { bytesOf } from "../../../codec/numeric.js";
import { Corrupt, InvalidInput, NotFound, Unsupported } from "../../../errors.js";
import { withLimits } from "../../../limits.js";
import { Directory } from "../nodes/nodes-directory.js";
import { FragmentIndex } from "../payload/fragment-index.js";
import * as Owner from "../payload/owner-cell.js";
import { chunkTable } from "../read/chunk-table.js";
import { ownerColumn, SEALS, sealOf } from "../read/owner-column.js";
import { namedType } from "../read/schema.js";
import type { LevelMeta } from "../types.js";
import type { Dtype } from "../write/write-batch.js";
import { dtypeName } from "../write/write-columns.js";
import { parseChunk } from "./edit-cells.js";
import { type ChunksEdit, editChunks } from "./edit-chunks.js";
import { moveLinks } from "./edit-links.js";
import { anyNegative, editObjects, type ObjectsEdit } from "./edit-objects.js";
import type { Tree } from "./edit-tree.js";

export interface LevelEdit {
  readonly tree: Tree;
  readonly meta: LevelMeta;
  /** Coordinates of a chunk. */
  readonly rank: number;
  readonly dtype: Dtype;
  readonly chunks: ChunksEdit;
  readonly objects: ObjectsEdit | undefined;
  /** The owner column can be believed, and whether the links hold every step of a path. */
  readonly owners: { readonly joints: boolean } | undefined;
  /** The place of the owner column among the fragment attributes, or −1. */
  readonly ownersAt: number;
  /** Brings links to where the entries of touched chunks have gone; once, before others are added. */
  settleLinks(): Promise<void>;
  /** Once everything has been changed. */
  finish(): Promise<void>;
}

export const NOBODY = BigInt(Owner.NOBODY);
export const SEVERAL = BigInt(Owner.SEVERAL);

export async function editLevel(tree: Tree, number: number): Promise<LevelEdit> {
  const { opened, options } = tree;
  const [meta, nodes] = await Promise.all([opened.level(number, options), opened.nodes(number, options)]);
  const rank = opened.root.axes.length + (meta.chunkAttribute === undefined ? 0 : 1);
  const where = `${opened.url}/${meta.path}`;
  const cells = await nodes.cells("vertices", options);
  if (cells === undefined) throw new Corrupt(`${where} should have vertices, but they are not there`, { where });
  const type = namedType(cells.attributes.dtype ?? "float32", where);
  const dtype = dtypeName(type);
  if (dtype !== "float16" && dtype !== "float32" && dtype !== "float64")
    throw new Unsupported(`${where} has positions of type ${dtype}, which Octavo reads but does not edit`, { where });
  const table = chunkTable(await cells.directory(options), meta.chunkShape, undefined);
  const [chunks, objects, owners] = await Promise.all([
    editChunks(tree, meta.path, opened.root.axes.length * type.size, "object_id"),
    editObjects(tree, meta, rank),
    ownerColumn(nodes, table, options),
  ]);
  const ownersAt = chunks.fragmentAttributes.findIndex(({ info }) => info.name === "object_id");
  let settled = false;

  const level: LevelEdit = {
    tree,
    meta,
    rank,
    dtype,
    chunks,
    objects,
    owners,
    ownersAt,
    async settleLinks() {
      if (settled) return;
      settled = true;
      const moves = [...chunks.touched.values()].flatMap(({ name, moved }) =>
        moved === undefined ? [] : [[name, moved] as const],
      );
      if (moves.length > 0) await moveLinks(tree, meta, new Map(moves));
    },
    async finish() {
      await level.settleLinks();
      if (chunks.touched.size > 0) await countVertices(level);
      await objects?.finish();
      if (ownersAt >= 0 && objects !== undefined && owners === undefined) await rebuildOwners(level, objects);
      chunks.finish();
      if (ownersAt >= 0 && objects !== undefined) await seal(level);
    },
  };
  return level;
}

/** Other software that edits takes the claim of tiling away, and does not count: then all are counted. */
async function countVertices({ tree, meta, chunks }: LevelEdit): Promise<void> {
  const document = (await tree.group(meta.path))!;
  const own = document.attributes.zarr_vectors_level as JsonObject;
  const vertices = meta.fragmentsTile ? Number(own.vertex_count) + chunks.gained() : await chunks.count();
  document.attributes = { ...document.attributes, zarr_vectors_level: { ...own, vertex_count: vertices } };
}

/** Every cell of the owner column, from the manifests. */
async function rebuildOwners({ tree, meta, rank, chunks, ownersAt }: LevelEdit, objects: ObjectsEdit): Promise<void> {
  const limits = withLimits(tree.options.limits);
  const fragments = (await tree.cells(meta.path, "vertex_fragments"))!;
  const { cells } = chunks.fragmentAttributes[ownersAt]!;
  const columns = new Map<string, BigInt64Array>();
  const named = new Set([...(await fragments.chunks()), ...chunks.touched.keys()]);
  for (const name of named) {
    const touched = chunks.touched.get(name);
    const count =
      touched?.sizes.length ??
      FragmentIndex.parse((await fragments.get(name))!, undefined, limits, `vertex_fragments of ${name}`).count;
    columns.set(name, new BigInt64Array(count).fill(NOBODY));
  }
  const { offsets, chunks: coords, first, count } = await objects.all();
  for (const [row, id] of objects.ids.entries())
    for (let b = offsets[row]!; b < offsets[row + 1]!; b++) {
      const column = columns.get(Directory.key(coords, b * rank, rank));
      for (let f = first[b]!; column !== undefined && f < first[b]! + count[b]!; f++)
        if (f < column.length) column[f] = column[f] === NOBODY ? id : SEVERAL;
    }
  for (const [name, column] of columns) {
    const touched = chunks.touched.get(name);
    if (touched !== undefined) touched.fragmentColumns[ownersAt] = bytesOf(column);
    else cells.set(name, bytesOf(column));
  }
  for (const name of await cells.chunks()) if (!named.has(name)) cells.set(name, new Uint8Array());
}

/** Says which object index, and which links, the owners go with. An id below 0 could be taken for "nobody". */
async function seal({ tree, meta, chunks, ownersAt, owners, objects }: LevelEdit): Promise<void> {
  const { cells } = chunks.fragmentAttributes[ownersAt]!;
  const { [SEALS]: _, ...attributes } = cells.attributes;
  if (anyNegative(objects!.ids)) return cells.describe(attributes);
  const [index, links] = await Promise.all([
    tree.encoded(`${meta.path}/object_index`),
    tree.encoded(`${meta.path}/links/0`),
  ]);
  const joints = owners?.joints === true ? { links: links === undefined ? null : sealOf(links) } : {};
  cells.describe({ ...attributes, [SEALS]: { object_index: sealOf(index!), ...joints } });
}

/** Which rows own each fragment of these chunks, from all manifests. */
export async function ownersOf(
  objects: ObjectsEdit,
  rank: number,
  wanted: ReadonlySet<string>,
): Promise<Map<string, Map<number, number[]>>> {
  const { offsets, chunks, first, count } = await objects.all();
  const found = new Map<string, Map<number, number[]>>();
  for (let row = 0; row < objects.rows; row++)
    for (let b = offsets[row]!; b < offsets[row + 1]!; b++) {
      const name = Directory.key(chunks, b * rank, rank);
      if (!wanted.has(name)) continue;
      const own = found.get(name) ?? new Map<number, number[]>();
      found.set(name, own);
      for (let f = first[b]!; f < first[b]! + count[b]!; f++) {
        const rows = own.get(f);
        if (rows === undefined) own.set(f, [row]);
        else if (!rows.includes(row)) rows.push(row);
      }
    }
  return found;
}

/** The fragments of a row, in its order. */
export async function fragmentsOf(
  { objects, rank }: LevelEdit,
  row: number,
): Promise<{ chunk: string; coords: number[]; fragment: number }[]> {
  const { chunks, first, count } = await objects!.read([row]);
  const out: { chunk: string; coords: number[]; fragment: number }[] = [];
  for (let b = 0; b < first.length; b++) {
    const chunk = Directory.key(chunks, b * rank, rank);
    for (let f = first[b]!; f < first[b]! + count[b]!; f++) out.push({ chunk, coords: parseChunk(chunk), fragment: f });
  }
  return out;
}

/** Where each vertex of an object lies: its chunk and its entry there. */
export async function verticesOf(
  level: LevelEdit,
  row: number,
): Promise<{ chunk: string; fragment: number; entry: number }[]> {
  const out: { chunk: string; fragment: number; entry: number }[] = [];
  for (const { chunk, fragment } of await fragmentsOf(level, row)) {
    const { sizes } = await level.chunks.chunk(chunk);
    let entry = 0;
    for (let f = 0; f < fragment; f++) entry += sizes[f]!;
    for (let i = 0; i < (sizes[fragment] ?? 0); i++) out.push({ chunk, fragment, entry: entry + i });
  }
  return out;
}

/** These rows of what there is, or all of it. */
export function pickRowsOf<T>(all: readonly T[], rows: ArrayLike<number> | undefined, what: string): T[] {
  if (rows === undefined) return [...all];
  return Array.from(rows, (row) => {
    const one = all[row];
    if (one === undefined) throw new InvalidInput(`there are ${all.length} ${what}, and no row ${row}`);
    return one;
  });
}

/** There is no such attribute. */
export const unknown = ({ meta, tree }: LevelEdit, domain: string, name: string): NotFound =>
  new NotFound(`${tree.opened.url}/${meta.path} has no ${domain} attribute ${name}`, { where: tree.opened.url });

/** The row of an object that is there. */
export function rowOf({ objects, tree }: LevelEdit, id: bigint): number {
  const row = objects?.rowOf(id) ?? -1;
  if (row < 0) throw new InvalidInput(`${tree.opened.url} has no object ${id}`);
  return row;
}
