/**
 * Skeletons as a dataset: each is an object and a piece of its own, in nanometres. There is no spatial index, so that a
 * region is found by reading everything; `object` reads no more than what it names.
 */
import type { AttributeInfo, Column } from "../../../model/attributes.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type { FormatOptions } from "../../../model/format.js";
import type { Query, Schema, VectorDataset } from "../../../model/vectors.js";
import { Affine } from "../../../space/transform.js";
import { namedIds, rowDataset } from "../../rows/row-dataset.js";
import { type Piece, rowSource } from "../../rows/row-source.js";
import { once } from "../../zarr-vectors/nodes/once.js";
import { allIds, costOf, existingIds, present } from "../ids.js";
import { folderOf, type InfoAt, numberDtype } from "../info.js";
import { columnsFor, groupsFor, openSegmentProperties, propertyInfos } from "../properties/read.js";
import { NANOMETER, RADIUS } from "./info.js";
import { skeletonsAt } from "./read.js";
import type { Skeleton } from "./skeleton.js";

/** Nobody knows where skeletons lie before they are read. */
const EVERYWHERE = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];

/** Skeletons, opened. */
export interface SkeletonDataset extends VectorDataset {
  readonly skeletons: Awaited<ReturnType<typeof skeletonsAt>>;
}

export async function openSkeletonDataset(place: InfoAt, options: FormatOptions = {}): Promise<SkeletonDataset> {
  const skeletons = await skeletonsAt(place, options);
  const { url, info, values } = skeletons;
  const { limits } = options;
  const files = { store: place.store, at: place.at, sharding: info.sharding };
  const table = once(async (now) =>
    info.segmentProperties === undefined
      ? undefined
      : openSegmentProperties(place.store, folderOf(place.at, info.segmentProperties, place.where), { ...now, limits }),
  );
  const vertex = info.attributes.map(
    ({ id, type, components }): AttributeInfo => ({
      name: id,
      dtype: numberDtype(type),
      channels: components,
      ...(id === RADIUS && { unit: NANOMETER }),
    }),
  );

  /** The ids that are there: of those that a query names, or all. */
  async function idsFor({ object }: Query, now: ReadOptions): Promise<BigUint64Array> {
    if (object === undefined) return allIds(values, now);
    return existingIds(values, namedIds(object), now);
  }

  const dataset = rowDataset({
    format: "precomputed",
    version: "1",
    url,
    geometry: "skeletons",
    axes: ["x", "y", "z"].map((name) => ({ name, type: "space", unit: NANOMETER })),
    bounds: { min: EVERYWHERE.map((size) => -size), max: EVERYWHERE },
    levels: [{ level: 0, vertices: undefined, objects: undefined, chunkShape: EVERYWHERE, binShape: EVERYWHERE }],
    attributes: {},
    notes: info.undrawn,
    ids: (_level, now) => allIds(values, { limits, ...now }),
    plan: ({ object }, _level, now) => costOf(files, object && namedIds(object), now),
    async source(level, query, now = {}) {
      const reading = { limits, ...now };
      const [ids, properties] = await Promise.all([idsFor(query, reading), table(reading)]);
      const object = properties === undefined ? [] : propertyInfos(properties);
      const groups = properties && groupsFor(properties, ids);
      const group = [...(groups?.columns.values() ?? [])].map(({ info: own }) => own);
      const schema: Schema = { vertex, link: [], fragment: [], object, group };
      return rowSource({
        level,
        dims: 3,
        geometry: "skeletons",
        linkWidth: 2,
        schema,
        rank: 1,
        coords: Int32Array.from(ids, (_, i) => i),
        boxes: undefined,
        groups,
        objects: { ids, starts: Uint32Array.from({ length: ids.length + 1 }, (_, i) => i) },
        async *load(pieces, options) {
          const wanted = BigUint64Array.from(pieces, (piece) => ids[piece]!);
          for await (const { row, skeleton } of skeletons.getMany(wanted, { limits, ...options }))
            yield [pieces[row]!, pieceOf(present(skeleton, `${url}/${wanted[row]}`), vertex, info.transform)] as const;
        },
        columns: async (names, wanted) =>
          properties === undefined ? new Map() : columnsFor(properties, names, wanted),
        cost: (pieces, options) =>
          costOf(
            files,
            BigUint64Array.from(pieces, (piece) => ids[piece]!),
            options,
          ),
      });
    },
  });
  return { ...dataset, skeletons };
}

function pieceOf(
  { vertices, edges, attributes }: Skeleton,
  vertex: readonly AttributeInfo[],
  transform: Affine | undefined,
): Piece {
  return {
    positions: transform === undefined ? vertices : Affine.applyAll(transform, vertices),
    parts: Uint32Array.of(0, vertices.length / 3),
    links: edges,
    vertexColumns: new Map(
      vertex.map((info): [string, Column] => [info.name, { info, values: attributes.get(info.name)! }]),
    ),
    objectColumns: new Map(),
  };
}
