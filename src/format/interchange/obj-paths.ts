/** Lines of an OBJ without faces that is too large to be held: each `l` is a path over vertices that were put aside. */
import { pickRows } from "../../query/columns.js";
import type { ObjAside } from "./obj-aside.js";
import type { ObjSection } from "./obj-parse.js";
import { looseVertices, named, noPathVertex } from "./obj-sections.js";
import type { PathFile, PathObjects } from "./paths-passing.js";
import { column, columns } from "./surface.js";

const BLOCK = 1 << 15; // paths

export function pathFile(aside: ObjAside, notes: readonly string[], memory: number): PathFile {
  const { where, positions, colors, vertexAt, pathAt } = aside;
  const count = pathAt.count;
  const lineOf = async (rows: typeof pathAt, row: number): Promise<number> =>
    (await rows.pick(Uint32Array.of(row)))[0]!;
  return {
    where,
    count,
    points: positions.count,
    cells: {
      count,
      offsets: aside.pathStarts,
      ends: aside.pathEnds,
      name: (path) => `path ${path}`,
      width: 4 + positions.width + (colors.count > 0 ? colors.width : 0),
      memory,
    },
    async pick(rows, placesOnly) {
      const own = placesOnly || colors.count === 0 ? [] : [column("color", await colors.pick(rows), 3)];
      return { positions: await positions.pick(rows), vertexColumns: columns(...own) };
    },
    place: async (row) => `line ${await lineOf(vertexAt, row)}`,
    nowhere: async (path, row) => noPathVertex(where, await lineOf(pathAt, path), row, positions.count),
    async objects(lost): Promise<PathObjects> {
      const sections: ObjSection[] = [];
      for (let from = 0; from < count; from += BLOCK) {
        const at = await pathAt.slice(from, Math.min(from + BLOCK, count));
        for (let i = 0; 2 * i < at.length; i++)
          if (!lost.has(from + i)) sections.push(aside.parser.sections[at[2 * i + 1]!]!);
      }
      const { ids, groups, objectColumns = new Map() } = named(sections);
      return { ids, groups, columns: async (_, rows) => pickRows(objectColumns, rows) };
    },
    notes: (loose) => [...notes, ...looseVertices(loose)],
  };
}
