/** An opened store as a dataset, as it was when it was opened; live.ts keeps up with commits. */
import { InvalidInput, NotFound } from "../../../errors.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type {
  Columns,
  Geometry,
  LevelOutline,
  Parametric,
  VectorDataset,
  VectorLevel,
} from "../../../model/vectors.js";
import { select } from "../../../query/select.js";
import { oncePerKey } from "../nodes/once.js";
import type { OpenedStore } from "../nodes/open-nodes.js";
import { geometryOf } from "./geometry.js";
import { levelSource } from "./level.js";
import { denseColumns } from "./object-columns.js";
import { readParametric } from "./parametric.js";
import { membersOf, readGroups } from "./read-groups.js";
import { folderOf } from "./schema.js";
import { Shelf } from "./shelf.js";

/** A Zarr Vectors store, opened. */
export interface ZarrVectors extends VectorDataset {
  readonly format: "zarr-vectors";
  readonly opened: OpenedStore;
  /** Planes, lines and spheres; undefined where the store has none. */
  parametric(options?: ReadOptions): Promise<Parametric | undefined>;
}

/** One generation of it. */
export async function datasetOf(opened: OpenedStore, options?: ReadOptions): Promise<ZarrVectors> {
  const { root, url } = opened;
  const geometries = root.geometryTypes.flatMap((type) => geometryOf(type) ?? []);
  const levels = await Promise.all(opened.levels.map((level) => outline(opened, level, options)));
  const shelf = new Shelf();
  const sources = oncePerKey(async (key, signal) => {
    const [level, geometry] = key.split(" ") as [string, Geometry];
    const number = Number(level);
    if (!opened.levels.includes(number))
      throw new NotFound(`${url} has no level ${level}; it has ${opened.levels.join(", ")}`);
    if (geometries.length > 0 && !geometries.includes(geometry))
      throw new InvalidInput(`${url} has no ${geometry}; it has ${geometries.join(", ")}`, { where: url });
    const [meta, nodes] = await Promise.all([opened.level(number, { signal }), opened.nodes(number, { signal })]);
    return levelSource({ root, meta, nodes, geometry, shelf }, { signal });
  });
  const dataset: ZarrVectors = {
    kind: "vectors",
    format: "zarr-vectors",
    version: root.version,
    url,
    opened,
    geometries,
    axes: root.axes,
    bounds: root.bounds,
    crs: root.crs,
    levels,
    attributes: root.userMetadata ?? {},
    notes: opened.notes,
    describe: (level = 0, now) => describe(opened, level, now),
    headers: (now) => opened.headers(now),
    source: (level, now, geometry = geometries[0] ?? "points") => sources(`${level} ${geometry}`, now?.signal),
    async parametric(now) {
      const nodes = await opened.parametric(now);
      return nodes && readParametric(nodes, now);
    },
    schema: async (level = 0, now) => (await dataset.source(level, now)).schema(now),
    async objectIds(level = 0, now) {
      const { objects } = await dataset.source(level, now);
      if (objects === undefined) return new BigInt64Array();
      const place = await objects.place(
        Uint32Array.from({ length: objects.rows }, (_, row) => row),
        now,
      );
      const rows = Uint32Array.from({ length: objects.rows }, (_, row) => row).filter(
        (row) => place.offsets[row]! < place.offsets[row + 1]!,
      );
      return objects.ids(rows, now);
    },
    async groups(level = 0, now) {
      const groups = await readGroups(await opened.nodes(level, now), now);
      return Array.from({ length: groups?.count ?? 0 }, (_, group) => {
        const range = groups!.ranges.get(group);
        const size =
          range === undefined
            ? groups!.offsets[group + 1]! - groups!.offsets[group]!
            : Number(range.stop - range.start);
        return { group, size };
      });
    },
    async groupMembers(group, level = 0, now) {
      const groups = await readGroups(await opened.nodes(level, now), now);
      const members = groups && membersOf(groups, group);
      if (members === undefined) throw new NotFound(`level ${level} of ${url} has no group ${group}`);
      return BigInt64Array.from(members);
    },
    async groupColumns(level = 0, now): Promise<Columns> {
      const nodes = await opened.nodes(level, now);
      const folder = folderOf("group", nodes.dialect);
      const names = await nodes.children(folder, now);
      const count = (await readGroups(nodes, now))?.count ?? 0;
      return denseColumns(
        nodes,
        folder,
        names,
        Uint32Array.from({ length: count }, (_, group) => group),
        count,
        now,
      );
    },
    select: (query) => ({ ...select(dataset, query), dataset }),
  };
  return dataset;
}

/** What is known of the level; where its document would be one more request to a server, only what the root says of it. */
async function outline(opened: OpenedStore, level: number, options?: ReadOptions): Promise<LevelOutline> {
  const { root, store, consolidated } = opened;
  const binShape = root.bins.get(level);
  if (!store.can.list && !consolidated && binShape !== undefined && level !== opened.levels[0])
    return { level, vertices: undefined, objects: undefined, chunkShape: undefined, binShape };
  return describe(opened, level, options);
}

/** What the level says of itself. */
async function describe(opened: OpenedStore, level: number, options?: ReadOptions): Promise<VectorLevel> {
  const meta = await opened.level(level, options);
  return {
    level,
    path: meta.path,
    vertices: meta.vertexCount,
    objects: undefined,
    chunkShape: meta.chunkShape,
    binShape: meta.binShape,
    parent: meta.parentLevel,
    method: meta.coarseningMethod,
    sparsity: meta.objectSparsity,
  };
}
