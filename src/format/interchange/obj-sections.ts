/** What OBJ says of objects and groups, and what of it is not read. */
import { Corrupt } from "../../errors.js";
import type { RowGroups } from "../rows/row-source.js";
import type { ObjParser, ObjSection } from "./obj-parse.js";
import { calledBy, column, columns, type Surface } from "./surface.js";

/** Lines that are left out: those of other words, and paths beside faces. */
export function leftOut(others: ObjParser["others"], faces: number, paths: number): string[] {
  const notes = [...others].map(([word, count]) => `${count} lines of "${word}" are left out`);
  if (faces > 0 && paths > 0) notes.push(`${paths} lines are left out beside faces`);
  return notes;
}

/** What is said of a path that names a vertex which is not there. */
export const noPathVertex = (where: string, line: number, vertex: number, count: number): Corrupt =>
  new Corrupt(`${where}, line ${line}: a line points to vertex ${vertex + 1} of ${count}`, { where });

export const looseVertices = (count: number): string[] =>
  count > 0 ? [`${count} vertices that are on no line are left out`] : [];

export const unused = (normals: number): string => `${normals} normals that nothing points to are left out`;

/** Names of objects, or ids where all of them are numbers; and groups. */
export function named(sections: readonly ObjSection[]): Pick<Surface, "ids" | "objectColumns" | "groups"> {
  const names = sections.map(({ object, groups }) => object ?? groups.join(" "));
  const members = new Map<string, number[]>();
  for (const [row, { groups, object }] of sections.entries())
    if (object !== undefined || groups.length > 1)
      for (const group of new Set(groups)) {
        const rows = members.get(group);
        if (rows === undefined) members.set(group, [row]);
        else rows.push(row);
      }
  const groups: RowGroups | undefined =
    members.size === 0
      ? undefined
      : {
          members: [...members.values()].map((rows) => Uint32Array.from(rows)),
          columns: columns(column("name", [...members.keys()])),
        };
  return { ...calledBy(names), groups };
}
