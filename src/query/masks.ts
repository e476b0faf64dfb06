/** Which vertices, or which links, of a batch satisfy a condition. */
import { InvalidInput } from "../errors.js";
import type { Domain } from "../model/vectors.js";
import type { Assembled } from "./assemble.js";
import { noValues } from "./columns.js";
import { Where } from "./where.js";
import { attributeKey, type Checked } from "./where-check.js";
import type { ColumnRows } from "./where-eval.js";

/** 1 for each vertex, or link, that satisfies; undefined: nothing is asked of them. */
export interface Masks {
  readonly vertices: Uint8Array | undefined;
  readonly links: Uint8Array | undefined;
}

/** A condition is about links when it names one; vertices then cannot be meant as well. */
export function checkDomains({ domains }: Checked): void {
  if (domains.has("link") && (domains.has("vertex") || domains.has("fragment")))
    throw new InvalidInput("a where expression can ask about links or about vertices, not about both at once");
}

export function masksOf(batch: Assembled, where: Checked | undefined): Masks {
  if (where === undefined) return { vertices: undefined, links: undefined };
  const count = batch.positions.length / batch.dims;
  const vertices = new Uint8Array(count);
  if (!where.domains.has("link")) {
    Where.evaluate(where, columnsFor(batch, where, "vertex"), count, vertices);
    return { vertices, links: undefined };
  }
  const { ends, width } = batch.links ?? { ends: new Uint32Array(), width: 2 };
  const links = new Uint8Array(ends.length / width);
  Where.evaluate(where, columnsFor(batch, where, "link"), links.length, links);
  // The ends of a link satisfy with it, where it is their object's own.
  const owners = ownerOfVertices(batch);
  for (let l = 0; l < links.length; l++)
    if (links[l] === 1 && isOwn(owners, ends, width, l))
      for (let k = 0; k < width; k++) vertices[ends[l * width + k]!] = 1;
  return { vertices, links };
}

/** Whether a link counts: it satisfies, or all of its ends do where nothing is asked of links. */
export function linkCounts(ends: Uint32Array, width: number, link: number, { vertices, links }: Masks): boolean {
  if (links !== undefined) return links[link] === 1;
  if (vertices === undefined) return true;
  for (let k = 0; k < width; k++) if (vertices[ends[link * width + k]!] === 0) return false;
  return true;
}

/** For each vertex the place of its object in `ids`, or −1. */
export function ownerOfVertices({ positions, dims, parts, objects }: Assembled): Int32Array {
  const owners = new Int32Array(positions.length / dims).fill(-1);
  for (let part = 0; part < objects.length; part++) owners.fill(objects[part]!, parts[part]!, parts[part + 1]!);
  return owners;
}

/** Whether a link has all of its ends in one object, or in none; others lead from object to object. */
export function isOwn(owners: Int32Array, ends: Uint32Array, width: number, link: number): boolean {
  for (let k = 1; k < width; k++) if (owners[ends[link * width + k]!] !== owners[ends[link * width]!]) return false;
  return true;
}

function columnsFor(batch: Assembled, where: Checked, rows: "vertex" | "link"): Map<string, ColumnRows> {
  const own: { readonly [D in Domain]?: ReadonlyMap<string, ColumnRows["column"]> | undefined } = {
    vertex: batch.vertexColumns,
    fragment: batch.fragments.columns,
    object: batch.objectColumns,
    link: batch.links?.columns,
  };
  const indexes = new Map<Domain, Int32Array>();
  const indexFor = (domain: Domain): Int32Array => {
    const index = indexes.get(domain) ?? indexOf(batch, domain, rows);
    indexes.set(domain, index);
    return index;
  };
  const isImplied = batch.links !== undefined && batch.storedLinks < batch.links.ends.length / batch.links.width;
  const out = new Map<string, ColumnRows>();
  for (const { domain, info } of where.attributes.values()) {
    const column = own[domain]?.get(info.name);
    const key = attributeKey(domain, info.name);
    if (column === undefined) out.set(key, absentRows(info, rowCount(batch, rows)));
    else if (domain === rows && !(domain === "link" && isImplied)) out.set(key, { column });
    else out.set(key, { column, index: indexFor(domain) });
  }
  return out;
}

/** An attribute of which no row has a value. */
export const absentRows = (info: ColumnRows["column"]["info"], count: number): ColumnRows => ({
  column: { info, values: noValues(info) },
  index: new Int32Array(count).fill(-1),
});

const rowCount = ({ positions, dims, links }: Assembled, rows: "vertex" | "link"): number =>
  rows === "vertex" ? positions.length / dims : links === undefined ? 0 : links.ends.length / links.width;

/** From each vertex, or link, to its row in a coarser domain; a link has those of its first end, and none where it is implied. */
function indexOf(batch: Assembled, domain: Domain, rows: "vertex" | "link"): Int32Array {
  if (domain === "link")
    return Int32Array.from({ length: rowCount(batch, "link") }, (_, l) => (l < batch.storedLinks ? l : -1));
  const ofVertex = domain === "fragment" ? fragmentOfVertices(batch) : ownerOfVertices(batch);
  if (rows === "vertex" || batch.links === undefined) return ofVertex;
  const { ends, width } = batch.links;
  return Int32Array.from({ length: ends.length / width }, (_, l) => ofVertex[ends[l * width]!]!);
}

export function fragmentOfVertices({ positions, dims, fragments: { offsets } }: Assembled): Int32Array {
  const out = new Int32Array(positions.length / dims);
  for (let f = 0; f + 1 < offsets.length; f++) out.fill(f, offsets[f]!, offsets[f + 1]!);
  return out;
}
