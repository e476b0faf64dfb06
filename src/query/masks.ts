/** Which vertices, or which links, of a batch satisfy a condition. */
import { InvalidInput } from "../errors.js";
import type { Domain } from "../model/vectors.js";
import type { Assembled } from "./assemble.js";
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
  if (!where.domains.has("link")) {
    const vertices = new Uint8Array(count);
    Where.evaluate(where, columnsFor(batch, where, "vertex"), count, vertices);
    return { vertices, links: undefined };
  }
  const vertices = new Uint8Array(count);
  const { ends, width } = batch.links ?? { ends: new Uint32Array(), width: 2 };
  const links = new Uint8Array(ends.length / width);
  Where.evaluate(where, columnsFor(batch, where, "link"), links.length, links);
  for (let at = 0; at < ends.length; at++) if (links[Math.floor(at / width)] === 1) vertices[ends[at]!] = 1;
  return { vertices, links };
}

function columnsFor(batch: Assembled, where: Checked, rows: "vertex" | "link"): Map<string, ColumnRows> {
  const own: { readonly [D in Domain]?: ReadonlyMap<string, ColumnRows["column"]> | undefined } = {
    vertex: batch.vertexColumns,
    fragment: batch.fragments.columns,
    object: batch.objectColumns,
    link: batch.links?.columns,
  };
  const indexes = new Map<Domain, Int32Array>();
  const out = new Map<string, ColumnRows>();
  for (const { domain, info } of where.attributes.values()) {
    const column = own[domain]?.get(info.name) ?? { info, values: nothing(info) };
    if (domain === rows) out.set(attributeKey(domain, info.name), { column });
    else {
      let index = indexes.get(domain);
      if (index === undefined) {
        index = indexOf(batch, domain, rows);
        indexes.set(domain, index);
      }
      out.set(attributeKey(domain, info.name), { column, index: column.values.length === 0 ? index.fill(-1) : index });
    }
  }
  return out;
}

const nothing = ({ dtype, categories }: ColumnRows["column"]["info"]): ColumnRows["column"]["values"] =>
  categories === undefined && (dtype.kind === "utf32" || dtype.kind === "bytes") ? [] : new Float64Array();

/** From each vertex, or link, to its row in a coarser domain. */
function indexOf(batch: Assembled, domain: Domain, rows: "vertex" | "link"): Int32Array {
  const ofVertex = new Int32Array(batch.positions.length / batch.dims).fill(-1);
  const [offsets, value] =
    domain === "fragment"
      ? [batch.fragments.offsets, (f: number) => f]
      : [batch.parts, (part: number) => batch.objects[part]!];
  for (let i = 0; i + 1 < offsets.length; i++) ofVertex.fill(value(i), offsets[i]!, offsets[i + 1]!);
  if (rows === "vertex" || batch.links === undefined) return ofVertex;
  const { ends, width } = batch.links;
  return Int32Array.from({ length: ends.length / width }, (_, l) => ofVertex[ends[l * width]!]!);
}
