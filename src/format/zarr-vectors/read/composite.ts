/**
 * The further geometries of a composite store: `vertices_<type>` has cells but no fragments and no objects; `links_<type>` is one
 * array of links that number the vertices of all chunks, in the order of the chunks. How the vertices of streamlines follow each
 * other was not kept: they are points.
 */
import type { JsonObject } from "../../../bytes/json.js";
import { toNumber } from "../../../bytes/u64.js";
import { Corrupt } from "../../../errors.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { typed } from "../../../model/elements.js";
import type { LevelSource, LinkSet } from "../../../model/source.js";
import { runOf } from "../../../query/links.js";
import { once } from "../nodes/once.js";
import { chunkTable, roundingOf } from "./chunk-table.js";
import type { LevelContext } from "./level.js";
import { chooser, pickLinks } from "./link-source.js";
import { Shelf } from "./shelf.js";
import { sumOf, tilesOf } from "./tiles.js";

export async function compositeSource(
  { root, meta, nodes, geometry, shelf = new Shelf() }: LevelContext,
  type: string,
  entry: JsonObject,
  options?: ReadOptions,
): Promise<LevelSource> {
  const where = meta.path;
  const path = typeof entry.array === "string" ? entry.array : `vertices_${type}`;
  const vertices = await nodes.cells(path, options);
  if (vertices === undefined) throw new Corrupt(`${where} should have ${path}, but it is not there`, { where });
  const dims = root.axes.length;
  const table = chunkTable(
    await vertices.directory(options),
    meta.chunkShape,
    root.coordinateOffset,
    roundingOf(vertices.attributes),
  );
  const tiles = tilesOf({ root, meta, nodes, table, vertices, fragments: undefined, shelf });
  const all = Array.from({ length: table.count }, (_, chunk) => chunk);
  const linkPath = typeof entry.links_array === "string" ? entry.links_array : undefined;
  const array = linkPath === undefined ? undefined : await nodes.dense(linkPath, options);
  const width = array?.shape[1] ?? 0;
  const links = once(async (now): Promise<LinkSet> => {
    const offsets = new Uint32Array(table.count + 1);
    for (const [i, count] of (await tiles.counts(all, now)).entries()) offsets[i + 1] = offsets[i]! + count;
    const values = typed(await array!.read(undefined, undefined, now));
    const [chunks, ends] = [new Int32Array(values.length), new Uint32Array(values.length)];
    for (let i = 0; i < values.length; i++) {
      const vertex = toNumber(BigInt(values[i]!), `${where}/${linkPath}`);
      if (!(vertex >= 0 && vertex < offsets[table.count]!))
        throw new Corrupt(`${where}/${linkPath} has vertex ${vertex} of ${offsets[table.count]}`, { where });
      chunks[i] = runOf(offsets, vertex);
      ends[i] = vertex - offsets[chunks[i]!]!;
    }
    return { width, count: values.length / width, chunks, vertices: ends, columns: new Map() };
  });
  return {
    level: meta.level,
    dims,
    geometry: width > 0 ? geometry : "points",
    linkWidth: width,
    sequential: false,
    objects: undefined,
    schema: async () => ({ vertex: [], link: [], fragment: [], object: [], group: [] }),
    chunks: async () => table,
    tiles: (chunks, want, now) => tiles.read(chunks, want, now),
    async *links(filter, _, now) {
      if (width === 0) return;
      const set = await links(now);
      const choose = chooser({ nodes, table, dims, where, vertices, mesh: geometry === "mesh" }, width, filter);
      const rows: number[] = [];
      for (let l = 0; l < set.count; l++) if (choose(set.chunks, l * width)) rows.push(l);
      if (rows.length > 0) yield pickLinks(set, rows);
    },
    async cost(chunks, want, now) {
      const links = want.links === undefined ? undefined : { requests: 1, bytes: 0, exact: false };
      return sumOf([await tiles.cost(chunks, want, now), links]);
    },
    counts: (chunks, now) => tiles.counts(chunks, now),
  };
}
