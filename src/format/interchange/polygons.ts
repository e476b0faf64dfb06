/** Polygons as triangles: a fan around the first corner, and strips with every second triangle turned. */
import type { Columns } from "../../model/vectors.js";
import { pickRows } from "../../query/columns.js";

/** Polygon i has the corners offsets[i] up to offsets[i + 1]. */
export interface Polygons {
  readonly offsets: Uint32Array;
  readonly corners: Uint32Array;
}

export interface Triangles {
  readonly links: Uint32Array;
  readonly linkColumns: Columns;
  /** The polygon that each comes from; undefined: each from its own. */
  readonly from: Uint32Array | undefined;
  /** Polygons of more than three corners, and of fewer. */
  readonly many: number;
  readonly few: number;
}

/** What is said of polygons that were no triangles. */
export function fanNotes({ many, few }: Pick<Triangles, "many" | "few">): string[] {
  const notes: string[] = [];
  if (many > 0)
    notes.push(`${many} polygons of more than three corners are triangles here, each a fan around its first corner`);
  if (few > 0) notes.push(`${few} faces of fewer than three corners are left out`);
  return notes;
}

export function fan({ offsets, corners }: Polygons, columns: Columns): Triangles {
  const count = offsets.length - 1;
  let [triangles, many, few] = [0, 0, 0];
  for (let i = 0; i < count; i++) {
    const size = offsets[i + 1]! - offsets[i]!;
    if (size > 3) many++;
    else if (size < 3) few++;
    triangles += Math.max(0, size - 2);
  }
  if (many + few === 0) return { links: corners, linkColumns: columns, from: undefined, many, few };
  const [links, from] = [new Uint32Array(3 * triangles), new Uint32Array(triangles)];
  let at = 0;
  for (let i = 0; i < count; i++)
    for (let k = offsets[i]! + 2; k < offsets[i + 1]!; k++) {
      links[3 * at] = corners[offsets[i]!]!;
      links[3 * at + 1] = corners[k - 1]!;
      links[3 * at + 2] = corners[k]!;
      from[at++] = i;
    }
  return { links, linkColumns: pickRows(columns, from), from, many, few };
}
