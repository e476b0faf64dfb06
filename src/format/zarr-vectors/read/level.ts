/** One level of a store as the query engine wants it. */
import { isJsonObject } from "../../../bytes/json.js";
import { Corrupt, NotFound } from "../../../errors.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type { LevelSource } from "../../../model/source.js";
import type { Geometry } from "../../../model/vectors.js";
import { isPath } from "../../../query/assemble.js";
import { once } from "../nodes/once.js";
import type { LevelMeta, LevelNodes, RootMeta } from "../types.js";
import { chunkTable, roundingOf } from "./chunk-table.js";
import { compositeSource } from "./composite.js";
import { geometryOf } from "./geometry.js";
import { linksOf } from "./link-source.js";
import { objectsOf } from "./objects.js";
import { readSchema } from "./schema.js";
import { Shelf } from "./shelf.js";
import { sumOf, tilesOf } from "./tiles.js";

export interface LevelContext {
  readonly root: RootMeta;
  readonly meta: LevelMeta;
  readonly nodes: LevelNodes;
  readonly geometry: Geometry;
  /** Where what was decoded is kept, together with that of other levels. */
  readonly shelf?: Shelf | undefined;
}

/** The level, or one of the further geometries of a composite store. */
export async function levelSource(context: LevelContext, options?: ReadOptions): Promise<LevelSource> {
  const { root, nodes, geometry } = context;
  if (geometry !== geometryOf(root.geometryTypes[0])) {
    const index = await nodes.attributes("geometry_index", options);
    const type = root.geometryTypes.find((own) => geometryOf(own) === geometry);
    const entry = type === undefined ? undefined : index?.[type];
    if (isJsonObject(entry)) return compositeSource(context, type!, entry, options);
    if (index !== undefined)
      throw new NotFound(`${context.meta.path} has no ${geometry}`, { where: context.meta.path });
  }
  return ownSource(context, options);
}

async function ownSource(
  { root, meta, nodes, geometry, shelf = new Shelf() }: LevelContext,
  options?: ReadOptions,
): Promise<LevelSource> {
  const dims = root.axes.length;
  const fragmentsPath = nodes.dialect.fragments === "index" ? "vertex_fragments" : "vertex_group_offsets";
  const [vertices, fragments] = await Promise.all([
    nodes.cells("vertices", options),
    nodes.cells(fragmentsPath, options),
  ]);
  const where = meta.path;
  if (vertices === undefined) throw new Corrupt(`${where} should have vertices, but they are not there`, { where });
  const table = chunkTable(
    await vertices.directory(options),
    meta.chunkShape,
    root.coordinateOffset,
    roundingOf(vertices.attributes),
  );
  const tiles = tilesOf({ root, meta, nodes, table, vertices, fragments, shelf });
  const path = isPath({ geometry });
  const linked = once((now) => linksOf({ nodes, table, dims, where, vertices, mesh: geometry === "mesh" }, now));
  // Manifests say how the parts of a path follow each other: its links are not looked for.
  const [links, objects] = await Promise.all([
    geometry === "points" || path ? undefined : linked(options),
    objectsOf({ meta, nodes, table, tiles, dims, shelf, links: linked }, options),
  ]);
  const schema = once((now) => readSchema(nodes, meta, now));
  const source: LevelSource = {
    level: meta.level,
    dims,
    geometry,
    linkWidth: links?.width ?? 0,
    sequential: path || (geometry === "skeletons" && root.linksConvention !== "explicit"),
    objects,
    schema,
    chunks: async () => table,
    tiles: (chunks, want, now) => tiles.read(chunks, want, now),
    async *links(filter, columns, now) {
      const stored = await linked(now);
      if (stored !== undefined) yield* stored.read(filter, columns, now);
    },
    async cost(chunks, want, now) {
      const stored = want.links === undefined ? undefined : await linked(now);
      const filter = { chunks, incoming: source.sequential };
      return sumOf(await Promise.all([tiles.cost(chunks, want, now), stored?.cost(filter, want.links!, now)]));
    },
    counts: (chunks, now) => tiles.counts(chunks, now),
  };
  return source;
}
