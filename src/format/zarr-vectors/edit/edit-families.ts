/** Families of links: those within a level, and those from a level to another. What they are made of, and where their ends lie. */
import type { JsonObject } from "../../../bytes/json.js";
import type { AttributeInfo } from "../../../model/attributes.js";
import { compare } from "../nodes/nodes-directory.js";
import type { LinkForm } from "../payload/link-cells.js";
import { LinkOffsets } from "../payload/link-offsets.js";
import { anchorOf, Delta } from "../read/link-levels.js";
import type { LevelMeta } from "../types.js";
import { type CellsEdit, parseChunk } from "./edit-cells.js";
import type { Taker } from "./edit-columns.js";
import type { GroupEdit, Tree } from "./edit-tree.js";

/** The links from a level to another, or within it. */
export interface Family {
  readonly own: LevelMeta;
  readonly to: LevelMeta;
  readonly level: string;
  readonly delta: string;
  readonly group: GroupEdit;
  readonly width: number;
  readonly duplicate: boolean;
  readonly directed: boolean;
}

async function familyOf(tree: Tree, own: LevelMeta, to: LevelMeta, delta: string): Promise<Family | undefined> {
  const group = await tree.group(`${own.path}/links/${delta}`);
  if (group === undefined) return undefined;
  const { link_width: width, store, directed } = group.attributes;
  return {
    own,
    to,
    level: own.path,
    delta,
    group,
    width: Number(width),
    duplicate: store === "duplicate",
    directed: directed === true,
  };
}

/** All families that have ends in one of these levels. */
export async function familiesOf(tree: Tree, levels: readonly number[]): Promise<Family[]> {
  const { opened, options } = tree;
  const found: Family[] = [];
  for (const level of opened.levels) {
    const own = await opened.level(level, options);
    for (const delta of await tree.names(`${own.path}/links`)) {
      const target = level + (Delta.parse(delta) ?? Number.NaN);
      if (!(levels.includes(level) || levels.includes(target))) continue;
      const to = opened.levels.includes(target) ? await opened.level(target, options) : own;
      const family = await familyOf(tree, own, to, delta);
      if (family !== undefined) found.push(family);
    }
  }
  return found;
}

/** The arrays of a family, each with the offsets that its name has. */
export async function segmentsOf(
  tree: Tree,
  { level, delta, width }: Family,
): Promise<{ segment: string; cells: CellsEdit; offsets: readonly (readonly number[])[]; form: LinkForm }[]> {
  const found = (await tree.names(`${level}/links/${delta}`)).map(async (segment) => {
    const cells = await tree.cells(level, `links/${delta}/${segment}`);
    if (cells === undefined) return [];
    const offsets = LinkOffsets.parse(segment, width, cells.meta.shape.length, `${level}/links/${delta}/${segment}`);
    const ragged = !(delta === "0" && LinkOffsets.isIntra(offsets));
    return [{ segment, cells, offsets, form: { width, ragged, perm: cells.attributes.has_perm === true } }];
  });
  return (await Promise.all(found)).flat();
}

/** The chunks of all ends of the links in a cell: end 0 is of this level, the others of the one that the links lead to. */
export function endChunks({ own, to }: Family, chunk: string, offsets: readonly (readonly number[])[]): string[] {
  const anchor = anchorOf(parseChunk(chunk), own, to);
  return [chunk, ...offsets.map((by) => anchor.map((c, axis) => c + by[axis]!).join("."))];
}

/** The links within a level; a family of its own where there is none yet. */
export async function linksWithin(tree: Tree, level: LevelMeta, width: number, rank: number): Promise<Family> {
  await tree.makeGroup(`${level.path}/links`);
  await tree.makeGroup(`${level.path}/links/0`, {
    zv_array: "links_family",
    level_delta: 0,
    link_width: width,
    directed: false,
    store: "canonical",
    sid_ndim: rank,
    num_links: 0,
    num_physical_records: 0,
  });
  return (await familyOf(tree, level, level, "0"))!;
}

/** Whether the links of a cell are stored once more, and counted there. */
export function isCopy({ duplicate }: Family, ends: readonly string[]): boolean {
  const [own, ...others] = ends.map(parseChunk);
  return duplicate && others.some((end) => compare(end, 0, own!, 0, end.length) < 0);
}

/** The attributes of links of a family. */
export async function linkAttributes(tree: Tree, level: string, delta = "0"): Promise<string[]> {
  const names = await tree.names(`${level}/link_attributes`);
  const found = await Promise.all(names.map((name) => tree.names(`${level}/link_attributes/${name}/${delta}`)));
  return names.filter((_, i) => found[i]!.length > 0);
}

/** What the arrays of a link attribute say of it. */
export async function linkDescription(
  tree: Tree,
  level: string,
  name: string,
  delta = "0",
): Promise<JsonObject | undefined> {
  const folder = `link_attributes/${name}/${delta}`;
  const [first] = await tree.names(`${level}/${folder}`);
  const cells = first === undefined ? undefined : await tree.cells(level, `${folder}/${first}`);
  if (cells === undefined) return undefined;
  const { nonempty_chunks: _, chunk_grid_origin: __, ...described } = cells.attributes;
  return described;
}

/** The arrays of an attribute, by the offsets in their names. */
export async function linkArrays(tree: Tree, family: Family, name: string): Promise<Map<string, CellsEdit>> {
  const found = new Map<string, CellsEdit>();
  for (const { segment } of await segmentsOf(tree, family)) {
    const cells = await tree.cells(family.level, `link_attributes/${name}/${family.delta}/${segment}`);
    if (cells !== undefined) found.set(segment, cells);
  }
  return found;
}

/** What takes texts: a dictionary that grows does so in every array. */
export function linkTaker(info: AttributeInfo, arrays: Iterable<CellsEdit>): Taker {
  const all = [...arrays];
  const describe = ({ categories }: JsonObject): void => {
    for (const cells of all) cells.describe({ ...cells.attributes, categories: categories! });
  };
  return { info, cells: all[0] && { attributes: all[0].attributes, describe } };
}
