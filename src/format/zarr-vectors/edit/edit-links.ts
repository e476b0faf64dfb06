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
import { anchorOf } from "../read/link-levels.js";
import type { LevelMeta } from "../types.js";
import { type CellsEdit, parseChunk } from "./edit-cells.js";
import { pickRows } from "./edit-chunks.js";
import {
  endChunks,
  type Family,
  familiesOf,
  isCopy,
  linkAttributes,
  linkDescription,
  segmentsOf,
} from "./edit-families.js";
import type { Tree } from "./edit-tree.js";

/** Where the entries of chunks have gone; chunks that are not here are as they were. */
export type Moves = ReadonlyMap<string, Int32Array>;

/** Links on their way to their places. */
export interface NewLinks {
  readonly width: number;
  /** The chunk and the entry of each end, `width` for each link, as given. */
  readonly chunks: readonly string[];
  readonly entries: Uint32Array;
  /** Rows of each attribute, by name. */
  readonly columns: ReadonlyMap<string, Uint8Array>;
}

/** Brings all links to where their ends have gone. */
export async function moveLinks(tree: Tree, { level }: LevelMeta, moves: Moves): Promise<void> {
  for (const family of await familiesOf(tree, [level])) await moveFamily(tree, family, level, moves);
}

async function moveFamily(tree: Tree, family: Family, moved: number, moves: Moves): Promise<void> {
  const { level, delta, width, own, to } = family;
  const names = await linkAttributes(tree, level, delta);
  for (const { segment, cells, offsets, form } of await segmentsOf(tree, family)) {
    const where = `${level}/links/${delta}/${segment}`;
    for (const chunk of await cells.chunks()) {
      const ends = endChunks(family, chunk, offsets);
      const maps = ends.map((end, k) => ((k === 0 ? own : to).level === moved ? moves.get(end) : undefined));
      if (maps.every((map) => map === undefined)) continue;
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
              form.ragged,
            ),
      );
      if (kept.length === cell.count) continue;
      for (const name of names) {
        const column = await tree.cells(level, `link_attributes/${name}/${delta}/${segment}`);
        const bytes = await column?.get(chunk);
        if (bytes !== undefined) column!.set(chunk, pickRows(bytes, bytes.length / cell.count, kept));
      }
      if (!form.ragged) await keepGroups(tree, level, chunk, kept, cell.count);
      const gone = kept.length - cell.count;
      await countLinks(tree, family, names, isCopy(family, ends) ? 0 : gone, gone);
    }
  }
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

export async function countLinks(
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

/** Puts links of a family to where they belong; arrays that are not there yet are made like `vertices`. */
export async function addLinks(
  tree: Tree,
  family: Family,
  { width, chunks, entries, columns }: NewLinks,
  vertices: CellsEdit,
): Promise<void> {
  if (entries.length === 0) return;
  const { level, delta, own: from, to } = family;
  const within = delta === "0";
  const places = new Map<string, number[]>();
  const placeOf = (name: string): number[] => {
    const place = places.get(name) ?? parseChunk(name);
    places.set(name, place);
    return place;
  };
  const cells = new Map<
    string,
    { segment: string; offsets: number[][]; chunk: string; ends: number[]; perms: number[]; links: number[] }
  >();
  let records = 0;
  for (let l = 0; l * width < entries.length; l++) {
    const own = chunks.slice(l * width, (l + 1) * width);
    const coords = own.map(placeOf);
    const ends = entries.subarray(l * width, (l + 1) * width);
    for (const sigma of within ? ordersOf(family, own, coords, ends) : [own.map((_, k) => k)]) {
      const [first, ...others] = sigma.map((k) => coords[k]!) as [number[], ...number[][]];
      const anchor = within ? first : anchorOf(first, from, to);
      const offsets = others.map((other) => other.map((c, axis) => c - anchor[axis]!));
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
    const intra = within && LinkOffsets.isIntra(offsets);
    const perm = within && !intra && (family.duplicate || !family.directed);
    const described = { dtype: "int64", offsets, has_perm: perm, link_width: width, level_delta: Number(delta) };
    const path = `links/${delta}/${segment}`;
    const array =
      (await tree.cells(level, path)) ??
      tree.makeCells(level, path, vertices.meta, { zv_array: "links", ...described });
    const blob = await array.get(chunk);
    const form = { width, ragged: !intra, perm };
    const old = blob && LinkCell.parse(blob, form, `${level}/${path}`);
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
      const column = await linkColumn(tree, family, name, segment, offsets, vertices);
      const size = rows.length / (entries.length / width);
      column.set(chunk, concat([(await column.get(chunk)) ?? new Uint8Array(), pickRows(rows, size, links)]));
    }
  }
  await countLinks(tree, family, [...columns.keys()], entries.length / width, records);
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
export async function linkColumn(
  tree: Tree,
  { level, delta }: Family,
  name: string,
  segment: string,
  offsets: readonly (readonly number[])[],
  vertices: CellsEdit,
): Promise<CellsEdit> {
  const folder = `link_attributes/${name}/${delta}`;
  const found = await tree.cells(level, `${folder}/${segment}`);
  if (found !== undefined) return found;
  const described = (await linkDescription(tree, level, name, delta)) ?? {};
  return tree.makeCells(level, `${folder}/${segment}`, vertices.meta, { ...described, offsets } as JsonObject);
}
