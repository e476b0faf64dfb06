/**
 * Links whose ends come to lie in other chunks. They cannot be changed where they are: the chunks of their ends say in which array
 * and which cell a link is. So they are taken up in the order in which their ends were given, with their attributes, and put in
 * again at their new places.
 */
import { concat } from "../../../bytes/concat.js";
import { Corrupt } from "../../../errors.js";
import { LinkCell } from "../payload/link-cells.js";
import { Permutation } from "../payload/permutation.js";
import { pickRows } from "./edit-chunks.js";
import type { At, Place } from "./edit-cut.js";
import { endChunks, type Family, isCopy, linkAttributes, segmentsOf } from "./edit-families.js";
import type { NewLinks } from "./edit-links.js";
import type { Tree } from "./edit-tree.js";

/** An end as it was. */
export interface End extends At {
  readonly level: number;
}

/** Where ends have gone. */
export interface Relink {
  /** A vertex that was cut into another chunk, or may have been; undefined: it was left where it is. */
  cut(end: End): Place | undefined;
  /** Another one. */
  kept(end: End): At | undefined;
}

interface CellLinks {
  readonly segment: string;
  readonly chunk: string;
  readonly count: number;
  /** The ends of a link, as they were given. */
  given(link: number): End[];
}

/** All links of a family, cell by cell; those that are stored several times once, or with all `copies`. */
export async function* linksOf(tree: Tree, family: Family, copies = false): AsyncGenerator<CellLinks> {
  const { width, own, to, level, delta } = family;
  for (const { segment, cells, offsets, form } of await segmentsOf(tree, family)) {
    const where = `${level}/links/${delta}/${segment}`;
    for (const chunk of await cells.chunks()) {
      const chunks = endChunks(family, chunk, offsets);
      if (!copies && isCopy(family, chunks)) continue;
      const { count, ends, perms } = LinkCell.parse((await cells.get(chunk))!, form, where);
      const given = (link: number): End[] => {
        const stored = chunks.map((chunk, k) => ({
          level: (k === 0 ? own : to).level,
          chunk,
          entry: ends[link * width + k]!,
        }));
        const sigma = perms === undefined ? undefined : Permutation.decode(perms[link]!, width, where);
        if (sigma === undefined) return stored;
        const out = new Array<End>(width);
        for (const [k, at] of sigma.entries()) out[at] = stored[k]!;
        return out;
      };
      yield { segment, chunk, count, given };
    }
  }
}

/** The links of a family that have an end which was cut, at their new places; without those that `drop` is true of. */
export async function takeUp(
  tree: Tree,
  family: Family,
  { cut, kept }: Relink,
  drop: (ends: readonly (Place | undefined)[]) => boolean,
): Promise<NewLinks> {
  const { level, delta, width } = family;
  const names = await linkAttributes(tree, level, delta);
  const chunks: string[] = [];
  const entries: number[] = [];
  const columns = new Map<string, Uint8Array[]>(names.map((name) => [name, []]));
  for await (const { segment, chunk, count, given } of linksOf(tree, family)) {
    const taken: number[] = [];
    for (let link = 0; link < count; link++) {
      const ends = given(link);
      const places = ends.map(cut);
      if (places.every((place) => place === undefined) || drop(places)) continue;
      taken.push(link);
      for (const [k, end] of ends.entries()) {
        const { chunk, entry } = places[k] ?? kept(end) ?? lost(tree, family, end);
        chunks.push(chunk);
        entries.push(entry);
      }
    }
    for (const [name, rows] of taken.length === 0 ? [] : columns) {
      const column = await tree.cells(level, `link_attributes/${name}/${delta}/${segment}`);
      const bytes = (await column?.get(chunk)) ?? new Uint8Array();
      rows.push(pickRows(bytes, bytes.length / count, taken));
    }
  }
  return {
    width,
    chunks,
    entries: Uint32Array.from(entries),
    columns: new Map([...columns].map(([name, rows]) => [name, concat(rows)])),
  };
}

function lost(tree: Tree, { level, delta }: Family, { chunk, entry }: End): never {
  const where = `${tree.opened.url}/${level}/links/${delta}`;
  throw new Corrupt(`${where} has a link to vertex ${entry} of chunk ${chunk}, which is not there`, { where });
}
