/**
 * The links of a level under edit. When entries of a chunk move, every cell with an end in that chunk is rewritten: within the
 * level, from it to others, and from others to it. A link that has lost an end goes, with its attributes. New links are put
 * behind those that are there, as a group of their own, in the order that the family asks for (write-links.ts has the table).
 */
import { concat } from "../../../bytes/concat.js";
import type { JsonObject } from "../../../bytes/json.js";
import { withLimits } from "../../../limits.js";
import { compare } from "../nodes/nodes-directory.js";
import { FragmentIndex } from "../payload/fragment-index.js";
import { LinkCell } from "../payload/link-cells.js";
import { LinkOffsets } from "../payload/link-offsets.js";
import { Permutation } from "../payload/permutation.js";
import { Delta } from "../read/link-levels.js";
import { attributeInfo } from "../read/schema.js";
import type { LevelMeta } from "../types.js";
import { type CellsEdit, parseChunk } from "./edit-cells.js";
import { pickRows, sizeOf } from "./edit-chunks.js";
import type { GroupEdit, Tree } from "./edit-tree.js";

/** Where the entries of chunks have gone; chunks that are not here are as they were. */
export type Moves = ReadonlyMap<string, Int32Array>;

interface Family {
  readonly level: string;
  readonly delta: string;
  readonly group: GroupEdit;
  readonly width: number;
  readonly duplicate: boolean;
  readonly directed: boolean;
}

/** New links within a level. */
export interface NewLinks {
  readonly width: number;
  /** The chunk and the entry of each end, `width` for each link, as given. */
  readonly chunks: readonly string[];
  readonly entries: Uint32Array;
  /** Rows of each attribute, by name. */
  readonly columns: ReadonlyMap<string, Uint8Array>;
}

async function familyOf(tree: Tree, level: string, delta: string): Promise<Family | undefined> {
  const group = await tree.group(`${level}/links/${delta}`);
  if (group === undefined) return undefined;
  const { link_width: width, store, directed } = group.attributes;
  return { level, delta, group, width: Number(width), duplicate: store === "duplicate", directed: directed === true };
}

/** The attributes of links of a family. */
export async function linkAttributes(tree: Tree, level: string, delta = "0"): Promise<string[]> {
  const names = await tree.names(`${level}/link_attributes`);
  const found = await Promise.all(names.map((name) => tree.names(`${level}/link_attributes/${name}/${delta}`)));
  return names.filter((_, i) => found[i]!.length > 0);
}

/** Brings all links to where their ends have gone. */
export async function moveLinks(tree: Tree, meta: LevelMeta, moves: Moves): Promise<void> {
  const { opened, options } = tree;
  for (const level of opened.levels) {
    const other = await opened.level(level, options);
    for (const delta of await tree.names(`${other.path}/links`)) {
      const step = Delta.parse(delta);
      if (step === undefined) continue;
      const target = level + step;
      if (level !== meta.level && target !== meta.level) continue;
      const family = await familyOf(tree, other.path, delta);
      const to = opened.levels.includes(target) ? await opened.level(target, options) : undefined;
      if (family !== undefined) await moveFamily(tree, family, other, to, meta.level, moves);
    }
  }
}

async function moveFamily(
  tree: Tree,
  family: Family,
  own: LevelMeta,
  to: LevelMeta | undefined,
  moved: number,
  moves: Moves,
): Promise<void> {
  const { level, delta, width } = family;
  const names = await linkAttributes(tree, level, delta);
  for (const segment of await tree.names(`${level}/links/${delta}`)) {
    const cells = await tree.cells(level, `links/${delta}/${segment}`);
    if (cells === undefined) continue;
    const where = `${level}/links/${delta}/${segment}`;
    const offsets = LinkOffsets.parse(segment, width, cells.meta.shape.length, where);
    const intra = delta === "0" && LinkOffsets.isIntra(offsets);
    const ratio = ratioOf(own, to ?? own, cells.meta.shape.length);
    for (const chunk of await cells.chunks()) {
      const coords = parseChunk(chunk);
      const ends = [
        chunk,
        ...offsets.map((by) => coords.map((c, axis) => Math.floor(c * ratio[axis]!) + by[axis]!).join(".")),
      ];
      // End 0 is of this level, the others of the one that the links lead to.
      const maps = ends.map((end, k) =>
        (k === 0 ? own.level : (to ?? own).level) === moved ? moves.get(end) : undefined,
      );
      if (maps.every((map) => map === undefined)) continue;
      const form = { width, ragged: !intra, perm: cells.attributes.has_perm === true };
      const cell = LinkCell.parse((await cells.get(chunk))!, form, where);
      const kept: number[] = [];
      for (let l = 0; l < cell.count; l++)
        if (maps.every((map, k) => map === undefined || map[cell.ends[l * width + k]!]! >= 0)) kept.push(l);
      const after = new Uint32Array(kept.length * width);
      for (const [i, l] of kept.entries())
        for (let k = 0; k < width; k++) {
          const end = cell.ends[l * width + k]!;
          after[i * width + k] = maps[k]?.[end] ?? end;
        }
      const groups = Array.from(cell.groups, (start) => kept.filter((l) => l < start).length);
      cells.set(
        chunk,
        kept.length === 0
          ? new Uint8Array()
          : LinkCell.encode(
              {
                count: kept.length,
                width,
                ends: after,
                perms: cell.perms && Uint32Array.from(kept, (l) => cell.perms![l]!),
                groups: Uint32Array.from(groups),
              },
              !intra,
            ),
      );
      if (kept.length === cell.count) continue;
      for (const name of names) {
        const column = await tree.cells(level, `link_attributes/${name}/${delta}/${segment}`);
        const bytes = await column?.get(chunk);
        if (bytes !== undefined) column!.set(chunk, pickRows(bytes, bytes.length / cell.count, kept));
      }
      if (intra) await keepGroups(tree, level, chunk, kept, cell.count);
      const isCopy = family.duplicate && ends.some((end) => compare(parseChunk(end), 0, coords, 0, coords.length) < 0);
      await count(tree, family, names, isCopy ? 0 : kept.length - cell.count, kept.length - cell.count);
    }
  }
}

/** How many chunks of another level one of this level is wide; the attribute by which levels are chunked is the same on all. */
function ratioOf({ chunkShape: from }: LevelMeta, { chunkShape: to }: LevelMeta, rank: number): number[] {
  const lead = rank - from.length;
  return Array.from({ length: rank }, (_, axis) => (axis < lead ? 1 : from[axis - lead]! / to[axis - lead]!));
}

/** The groups of links within a chunk, without those that have gone. */
async function keepGroups(
  tree: Tree,
  level: string,
  chunk: string,
  kept: readonly number[],
  before: number,
): Promise<void> {
  const cells = await tree.cells(level, "link_fragments");
  const blob = await cells?.get(chunk);
  if (blob === undefined) return;
  const { count, offsets, rows } = FragmentIndex.parse(
    blob,
    before,
    withLimits(tree.options.limits),
    `${level}/link_fragments`,
  );
  const place = new Map(kept.map((l, i) => [l, i]));
  const groups = Array.from({ length: count }, (_, g) => {
    const links: number[] = [];
    for (let e = offsets[g]!; e < offsets[g + 1]!; e++) {
      const to = place.get(rows === undefined ? e : rows[e]!);
      if (to !== undefined) links.push(to);
    }
    return links.length === 0 ? { start: 0, count: 0 } : links;
  });
  cells!.set(chunk, kept.length === 0 ? new Uint8Array() : FragmentIndex.encode(FragmentIndex.of(groups)));
}

async function count(
  tree: Tree,
  { level, delta, group }: Family,
  names: readonly string[],
  links: number,
  records: number,
): Promise<void> {
  const { num_links: had, num_physical_records: physical } = group.attributes;
  group.attributes = {
    ...group.attributes,
    ...(typeof had === "number" ? { num_links: had + links } : {}),
    ...(typeof physical === "number" ? { num_physical_records: physical + records } : {}),
  };
  for (const name of names) {
    const family = await tree.group(`${level}/link_attributes/${name}/${delta}`);
    if (typeof family?.attributes.num_links === "number")
      family.attributes = { ...family.attributes, num_links: family.attributes.num_links + links };
  }
}

/** Puts links within a level to where they belong; arrays that are not there yet are made like `vertices`. */
export async function addLinks(
  tree: Tree,
  level: string,
  { width, chunks, entries, columns }: NewLinks,
  vertices: CellsEdit,
): Promise<void> {
  if (entries.length === 0) return;
  const rank = vertices.meta.shape.length;
  await tree.makeGroup(`${level}/links`);
  await tree.makeGroup(`${level}/links/0`, {
    zv_array: "links_family",
    level_delta: 0,
    link_width: width,
    directed: false,
    store: "canonical",
    sid_ndim: rank,
    num_links: 0,
    num_physical_records: 0,
  });
  const family = (await familyOf(tree, level, "0"))!;
  const cells = new Map<
    string,
    { segment: string; offsets: number[][]; chunk: string; ends: number[]; perms: number[]; links: number[] }
  >();
  let records = 0;
  for (let l = 0; l * width < entries.length; l++) {
    const own = chunks.slice(l * width, (l + 1) * width);
    const coords = own.map(parseChunk);
    for (const sigma of ordersOf(family, own, coords, entries.subarray(l * width, (l + 1) * width))) {
      const [first, ...others] = sigma.map((k) => coords[k]!) as [number[], ...number[][]];
      const offsets = others.map((other) => other.map((c, axis) => c - first[axis]!));
      const segment = LinkOffsets.format(offsets);
      const chunk = own[sigma[0]!]!;
      const key = `${segment} ${chunk}`;
      const cell = cells.get(key) ?? { segment, offsets, chunk, ends: [], perms: [], links: [] };
      cells.set(key, cell);
      for (const k of sigma) cell.ends.push(entries[l * width + k]!);
      cell.perms.push(Permutation.encode(sigma));
      cell.links.push(l);
      records++;
    }
  }
  for (const { segment, offsets, chunk, ends, perms, links } of cells.values()) {
    const intra = LinkOffsets.isIntra(offsets);
    const perm = !intra && (family.duplicate || !family.directed);
    const described = { dtype: "int64", offsets, has_perm: perm, link_width: width, level_delta: 0 };
    const array =
      (await tree.cells(level, `links/0/${segment}`)) ??
      tree.makeCells(level, `links/0/${segment}`, vertices.meta, { zv_array: "links", ...described });
    const blob = await array.get(chunk);
    const form = { width, ragged: !intra, perm };
    const old = blob && LinkCell.parse(blob, form, `${level}/links/0/${segment}`);
    const before = old?.count ?? 0;
    array.set(
      chunk,
      LinkCell.encode(
        {
          count: before + links.length,
          width,
          ends: Uint32Array.from([...(old?.ends ?? []), ...ends]),
          perms: perm ? Uint32Array.from([...(old?.perms ?? []), ...perms]) : undefined,
          groups: Uint32Array.from([...(old?.groups ?? [0]), before + links.length]),
        },
        !intra,
      ),
    );
    if (intra) await addGroup(tree, level, chunk, before, links.length, vertices);
    for (const [name, rows] of columns) {
      const column = await linkColumn(tree, level, name, segment, offsets, vertices);
      const size = rows.length / (entries.length / width);
      column.set(chunk, concat([(await column.get(chunk)) ?? new Uint8Array(), pickRows(rows, size, links)]));
    }
  }
  await count(tree, family, [...columns.keys()], entries.length / width, records);
}

/** The orders in which a link is stored, each as places among its ends as given. */
function ordersOf(
  { duplicate, directed }: Family,
  chunks: readonly string[],
  coords: readonly number[][],
  entries: Uint32Array,
): number[][] {
  const given = chunks.map((_, k) => k);
  const intra = chunks.every((chunk) => chunk === chunks[0]);
  if (intra || (directed && !duplicate)) return [given];
  if (!duplicate)
    return [
      given.sort(
        (a, b) => compare(coords[a]!, 0, coords[b]!, 0, coords[a]!.length) || entries[a]! - entries[b]! || a - b,
      ),
    ];
  return given.filter((k) => chunks.indexOf(chunks[k]!) === k).map((k) => [k, ...given.filter((other) => other !== k)]);
}

async function addGroup(
  tree: Tree,
  level: string,
  chunk: string,
  before: number,
  count: number,
  vertices: CellsEdit,
): Promise<void> {
  const cells =
    (await tree.cells(level, "link_fragments")) ??
    tree.makeCells(level, "link_fragments", vertices.meta, {
      zv_array: "link_fragments",
      encoding: "fragment_index_v1",
    });
  const blob = await cells.get(chunk);
  const old = blob && FragmentIndex.parse(blob, before, withLimits(tree.options.limits), `${level}/link_fragments`);
  const groups = Array.from({ length: old?.count ?? 0 }, (_, g) => {
    const entries = Array.from({ length: old!.offsets[g + 1]! - old!.offsets[g]! }, (_, i) => old!.offsets[g]! + i);
    return old!.rows === undefined
      ? { start: old!.offsets[g]!, count: entries.length }
      : entries.map((e) => old!.rows![e]!);
  });
  cells.set(chunk, FragmentIndex.encode(FragmentIndex.of([...groups, { start: before, count }])));
}

/** The array of an attribute under these offsets; a new one is described as its siblings are. */
async function linkColumn(
  tree: Tree,
  level: string,
  name: string,
  segment: string,
  offsets: number[][],
  vertices: CellsEdit,
): Promise<CellsEdit> {
  const folder = `link_attributes/${name}/0`;
  const found = await tree.cells(level, `${folder}/${segment}`);
  if (found !== undefined) return found;
  const { nonempty_chunks: _, chunk_grid_origin: __, ...described } = (await linkDescription(tree, level, name)) ?? {};
  return tree.makeCells(level, `${folder}/${segment}`, vertices.meta, { ...described, offsets });
}

/** What the arrays of a link attribute say of it. */
export async function linkDescription(tree: Tree, level: string, name: string): Promise<JsonObject | undefined> {
  const folder = `link_attributes/${name}/0`;
  const [first] = await tree.names(`${level}/${folder}`);
  return first === undefined ? undefined : (await tree.cells(level, `${folder}/${first}`))?.attributes;
}

export const linkWidth = (name: string, attributes: JsonObject): number => {
  const info = attributeInfo(name, attributes, `link_attributes/${name}`);
  return info.channels * sizeOf(info);
};
