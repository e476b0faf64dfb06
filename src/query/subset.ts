/** Some of the vertices of a batch, with everything that belongs to them. */
import type { Column } from "../model/attributes.js";
import type { Columns, Links } from "../model/vectors.js";
import { type Assembled, isPath } from "./assemble.js";
import { pick, pickRows } from "./columns.js";

/** What of `subset` is not said by the vertices alone. */
export interface Kept {
  /** Links that do not count, though all of their ends stay, have 0 here. */
  readonly links?: Uint8Array | undefined;
  /** Objects that stay although they have no vertices. */
  readonly objects?: ((place: number) => boolean) | undefined;
}

/** The vertices of a mask, with the links all of whose ends are among them; paths break where one is left out. */
export function subset(batch: Assembled, mask: Uint8Array, { links, objects: stays }: Kept = {}): Assembled {
  const { dims, parts } = batch;
  let count = 0;
  for (let v = 0; v < mask.length; v++) count += mask[v]!;
  const rows = new Uint32Array(count);
  const starts: number[] = [];
  const owners: number[] = [];
  const breaks = isPath(batch);
  let at = 0;
  for (let part = 0; part < batch.objects.length; part++) {
    let open = false;
    for (let v = parts[part]!; v < parts[part + 1]!; v++) {
      if (mask[v] === 0) {
        if (breaks) open = false;
        continue;
      }
      if (!open) {
        starts.push(at);
        owners.push(batch.objects[part]!);
        open = true;
      }
      rows[at++] = v;
    }
  }
  starts.push(at);
  return {
    ...batch,
    ...ownersOf(batch, owners, stays),
    positions: pick(batch.positions, dims, rows),
    parts: Uint32Array.from(starts),
    ...(batch.links && keptLinks(batch.links, batch.storedLinks, rows, mask, links)),
    fragments: keptFragments(batch.fragments, mask),
    vertexColumns: pickRows(batch.vertexColumns, rows),
  };
}

/** The ids that are still named, in their order, and the parts' places among them. */
export function ownersOf(
  batch: Assembled,
  objects: readonly number[],
  stays: (place: number) => boolean = () => false,
): Pick<Assembled, "objects" | "ids" | "rows" | "objectColumns"> {
  const named = new Uint8Array(batch.ids.length);
  for (const place of objects) if (place >= 0) named[place] = 1;
  const place = new Int32Array(batch.ids.length).fill(-1);
  const places: number[] = [];
  for (let i = 0; i < named.length; i++) {
    if (named[i] === 0 && !stays(i)) continue;
    place[i] = places.length;
    places.push(i);
  }
  return {
    objects: Int32Array.from(objects, (old) => (old < 0 ? -1 : place[old]!)),
    ids: pick(batch.ids as unknown as Column["values"], 1, places) as unknown as Assembled["ids"],
    rows: pick(batch.rows, 1, places),
    objectColumns: pickRows(batch.objectColumns, places),
  };
}

function keptLinks(
  { width, ends, columns }: Links,
  storedLinks: number,
  vertices: Uint32Array,
  mask: Uint8Array,
  counts: Uint8Array | undefined,
): Pick<Assembled, "links" | "storedLinks"> {
  const place = new Uint32Array(mask.length);
  for (let i = 0; i < vertices.length; i++) place[vertices[i]!] = i;
  const rows = new Uint32Array(ends.length / width);
  const out = new Uint32Array(ends.length);
  let kept = 0;
  for (let l = 0; l < rows.length; l++) {
    let all = counts === undefined || counts[l] === 1;
    for (let k = 0; all && k < width; k++) all = mask[ends[l * width + k]!] === 1;
    if (!all) continue;
    for (let k = 0; k < width; k++) out[kept * width + k] = place[ends[l * width + k]!]!;
    rows[kept++] = l;
  }
  return linkRows({ width, ends: out.slice(0, kept * width), columns }, storedLinks, rows.subarray(0, kept));
}

/** Links with the columns of these rows, which ascend: those from `storedLinks` on are implied. */
export function linkRows(
  { width, ends, columns }: Links,
  storedLinks: number,
  rows: Uint32Array,
): { readonly links: Links; readonly storedLinks: number } {
  let stored = rows.length;
  while (stored > 0 && rows[stored - 1]! >= storedLinks) stored--;
  return { links: { width, ends, columns: pickRows(columns, rows.subarray(0, stored)) }, storedLinks: stored };
}

function keptFragments(
  { offsets, columns, chunk, part }: Assembled["fragments"],
  mask: Uint8Array,
): Assembled["fragments"] {
  const rows: number[] = [];
  const ends: number[] = [0];
  for (let f = 0, at = 0; f + 1 < offsets.length; f++) {
    const before = at;
    for (let v = offsets[f]!; v < offsets[f + 1]!; v++) at += mask[v]!;
    if (at === before) continue;
    rows.push(f);
    ends.push(at);
  }
  return fragmentRows({ offsets, columns, chunk, part }, rows, Uint32Array.from(ends));
}

/** Some of the fragments, in the order given, with new offsets. */
export function fragmentRows(
  {
    columns,
    chunk,
    part,
  }: { readonly columns: Columns; readonly chunk: Int32Array; readonly part: Uint32Array } & {
    readonly offsets?: Uint32Array;
  },
  rows: readonly number[],
  offsets: Uint32Array,
): Assembled["fragments"] {
  return { offsets, columns: pickRows(columns, rows), chunk: pick(chunk, 1, rows), part: pick(part, 1, rows) };
}
