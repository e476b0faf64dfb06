/**
 * Annotations as a dataset, in the units of their dimensions; shape.ts says which geometry.
 *
 * Level 0 is everything. The spatial index has levels that add to each other; what its first n have together is a sample of the
 * same density everywhere, and so the levels here are those samples: the last one is the index's coarsest level alone.
 *
 * A region reads the cells that it meets; `object` reads what it names from the index of ids, and nothing else. With what they are related to
 * (`related`), each annotation is read from there as well.
 */
import type { AttributeInfo } from "../../../model/attributes.js";
import type { ReadOptions, ReadPlan } from "../../../model/dataset.js";
import type { FormatOptions } from "../../../model/format.js";
import type { LevelSource } from "../../../model/source.js";
import type { Axis, Columns, Query, Schema, VectorDataset } from "../../../model/vectors.js";
import { Morton } from "../../../space/morton.js";
import { namedIds, rowDataset } from "../../rows/row-dataset.js";
import { type Piece, rowSource } from "../../rows/row-source.js";
import { once } from "../../zarr-vectors/nodes/once.js";
import { allIds, costOf, existingIds, present } from "../ids.js";
import type { InfoAt } from "../info.js";
import { ownPoints } from "./borders.js";
import { cellBox } from "./cells.js";
import { discover, type ReadCells } from "./discover.js";
import type { AnnotationInfo } from "./info.js";
import { type Annotations, parseList, parseOne } from "./list.js";
import { type AnnotationCollection, annotationsAt, type OpenedLevel } from "./read.js";
import { relationsOf } from "./related.js";
import { shapeOf, unused } from "./shape.js";

/** Annotations, opened. */
export interface AnnotationDataset extends VectorDataset {
  readonly collection: AnnotationCollection;
}

export async function openAnnotationDataset(place: InfoAt, options: FormatOptions = {}): Promise<AnnotationDataset> {
  const collection = await annotationsAt(place, options);
  const { store } = place;
  const { url, info, byId, levels, form } = collection;
  const { limits } = options;
  const dims = info.dimensions.length;
  const isRelated = options.related === true && info.relationships.length > 0;
  const shape = shapeOf(info);
  const domain = info.type === "point" ? "vertex" : "object"; // of what is said of an annotation
  const relationships = info.relationships.map(({ id }) => (isRelated ? unused(id, shape.schema[domain]) : id));
  const relations = once((now) => relationsOf(collection, relationships, { limits, ...now }));
  const related = async (now: ReadOptions) => (isRelated ? await relations(now) : undefined);
  const named = { store, at: byId.folder, sharding: info.byId.sharding };

  /** Annotations by their ids, a piece each. */
  async function idSource(level: number, ids: BigUint64Array, now: ReadOptions): Promise<LevelSource> {
    const known = await related(now);
    const wanted = (pieces: readonly number[]) => BigUint64Array.from(pieces, (piece) => ids[piece]!);
    return rowSource({
      level,
      dims,
      geometry: shape.geometry,
      linkWidth: 0,
      schema: withInfos(shape.schema, domain, known?.infos),
      rank: 1,
      coords: Int32Array.from(ids, (_, i) => i),
      boxes: undefined,
      objects: { ids, starts: Uint32Array.from({ length: ids.length + 1 }, (_, i) => i) },
      async *load(pieces, now) {
        const some = wanted(pieces);
        for await (const { rows, values } of byId.values.getMany(some, { limits, ...now }))
          for (let i = 0; i < rows.length; i++) {
            const id = some[rows[i]!]!;
            const where = `${store.url}/${byId.folder}${id}`;
            const one = parseOne(present(values[i], where), id, form, where);
            yield [pieces[rows[i]!]!, withColumns(shape.piece(one), domain, known?.columns([one]))] as const;
          }
      },
      cost: (pieces, now) => costOf(named, wanted(pieces), now),
    });
  }

  /** The cells of the index that a query of a level may need. */
  async function cellsFor(level: number, query: Query, now: ReadOptions): Promise<Cell[]> {
    const box = boxOf(query, dims);
    const found = await Promise.all(
      levels.slice(0, levels.length - level).map(async (own, number) =>
        Array.from(await own.codes(box, { limits, ...now }), (code): Cell => {
          return { level: number, code, cell: Morton.decode(code, own.gridShape)! };
        }),
      ),
    );
    return found.flatMap((cells) => cells.sort((a, b) => compare(a.cell, b.cell)));
  }

  async function cellSource(level: number, query: Query, now: ReadOptions): Promise<LevelSource> {
    const cells = await cellsFor(level, query, now);
    const known = await related(now);
    const read = reader(cells, levels, (bytes, where) => parseList(bytes, form, where), { ...options, ...now });
    const rest = {
      level,
      dims,
      geometry: shape.geometry,
      linkWidth: 0,
      schema: withInfos(shape.schema, domain, known?.infos),
      rank: 1 + dims,
      coords: Int32Array.from(cells.flatMap((own) => [own.level, ...own.cell])),
      cost: (pieces: readonly number[], call?: ReadOptions) =>
        cost(
          pieces.map((piece) => cells[piece]!),
          call,
        ),
    };
    if (info.type !== "point") {
      const found = await discover(cells.length, dims, shape, read, { limits, ...now });
      if (known === undefined) return rowSource({ ...rest, ...found });
      const { ids, starts } = found.objects;
      return rowSource({
        ...rest,
        ...found,
        async *load(pieces, call) {
          for await (const [piece, decoded] of found.load(pieces, call)) {
            const own = ids.subarray(starts[piece], starts[piece + 1]);
            yield [piece, withColumns(decoded, domain, await known.read(own, { limits, ...call }))] as const;
          }
        },
      });
    }
    return rowSource({
      ...rest,
      boxes: Float64Array.from(cells.flatMap((own) => cellBox(info, levels[own.level]!, own.cell))),
      objects: undefined,
      async *load(pieces, call) {
        for await (const [piece, annotations] of read(pieces, call)) {
          const { level: number, cell } = cells[piece]!;
          const rows = await ownPoints(annotations, cell, info, levels[number]!, form, { limits, ...call });
          const { ids } = annotations;
          const own = rows === undefined ? ids : BigUint64Array.from(rows, (row) => ids[row]!);
          const columns = await known?.read(own, { limits, ...call });
          yield [piece, withColumns(shape.piece(annotations, rows), domain, columns)] as const;
        }
      },
    });
  }

  async function cost(cells: readonly Cell[], now?: ReadOptions): Promise<ReadPlan> {
    const plans = await Promise.all(
      levels.map(({ folder, sharding, names }, number) => {
        const codes = cells.filter((own) => own.level === number).map(({ code }) => code);
        return costOf({ store, at: folder, sharding, names }, BigUint64Array.from(codes), now);
      }),
    );
    return plans.reduce((a, b) => ({
      requests: a.requests + b.requests,
      bytes: a.bytes + b.bytes,
      exact: a.exact && b.exact,
    }));
  }

  const size = (own: AnnotationInfo["spatial"][number] | undefined): readonly number[] =>
    own?.chunkSize ?? info.upper.map((high, axis) => high - info.lower[axis]!);
  const dataset = rowDataset({
    format: "precomputed",
    version: "1",
    url,
    geometry: shape.geometry,
    axes: info.dimensions.map(axisOf),
    bounds: { min: info.lower, max: info.upper },
    levels: Array.from({ length: Math.max(1, levels.length) }, (_, level) => ({
      level,
      vertices: undefined,
      objects: undefined,
      chunkShape: size(info.spatial.at(-1 - level)),
      binShape: size(info.spatial.at(-1 - level)),
      ...(level > 0 && { sample: true as const }),
    })),
    attributes: {
      annotation_type: info.type,
      dimensions: Object.fromEntries(info.dimensions.map(({ name, scale, unit }) => [name, [scale, unit]])),
      relationships,
    },
    notes: [...collection.notes, ...(SAYS[info.type] ?? [])],
    async ids(level, now) {
      if (level === 0) return allIds(byId.values, { limits, ...now });
      return (await (await cellSource(level, {}, { limits, ...now })).objects?.ids()) ?? new BigUint64Array();
    },
    async plan(query, level, now = {}) {
      if (query.object !== undefined) return costOf(named, namedIds(query.object), now);
      if (levels.length === 0) return costOf(named, undefined, now);
      return cost(await cellsFor(level, query, now), now);
    },
    async source(level, query, now = {}) {
      const reading = { limits, ...now };
      if (query.object !== undefined)
        return idSource(level, await existingIds(byId.values, namedIds(query.object), reading), now);
      if (levels.length === 0) return idSource(level, await allIds(byId.values, reading), now);
      return cellSource(level, query, reading);
    },
  });
  return { ...dataset, collection };
}

const withInfos = (schema: Schema, domain: "vertex" | "object", infos: readonly AttributeInfo[] = []): Schema => ({
  ...schema,
  [domain]: [...schema[domain], ...infos],
});

function withColumns(piece: Piece, domain: "vertex" | "object", columns: Columns = new Map()): Piece {
  const name = `${domain}Columns` as const;
  return columns.size === 0 ? piece : { ...piece, [name]: new Map([...piece[name], ...columns]) };
}

interface Cell {
  /** Of the spatial index. */
  readonly level: number;
  readonly code: bigint;
  readonly cell: readonly number[];
}

const SAYS: { readonly [type: string]: readonly string[] } = {
  axis_aligned_bounding_box: ["Boxes are given as the line from one corner to the other; pictures show the boxes."],
  ellipsoid: ["Ellipsoids are given as their centres, with their radii; pictures show the ellipsoids."],
};

/** The box around what a query asks for; undefined for everything. */
function boxOf({ box, sphere, nearest }: Query, dims: number): readonly number[] | undefined {
  if (nearest !== undefined) return undefined;
  if (box !== undefined) return box.length === 2 * dims ? box : undefined;
  if (sphere === undefined || sphere.length !== dims + 1) return undefined;
  const radius = sphere[dims]! * (1 + 1e-12); // what rounding takes away here is found by nobody later
  const centre = sphere.slice(0, dims);
  return [...centre.map((own) => own - radius), ...centre.map((own) => own + radius)];
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let axis = 0; axis < a.length; axis++) if (a[axis] !== b[axis]) return a[axis]! - b[axis]!;
  return 0;
}

/** Reads cells of several levels; one that is not stored has no annotations. */
function reader(
  cells: readonly Cell[],
  levels: readonly OpenedLevel[],
  parse: (bytes: Uint8Array, where: string) => Annotations,
  options: FormatOptions,
): ReadCells {
  const { signal, limits } = options;
  return async function* (pieces, now) {
    for (const [number, { values, key }] of levels.entries()) {
      const own = pieces.filter((piece) => cells[piece]!.level === number);
      const codes = BigUint64Array.from(own, (piece) => cells[piece]!.code);
      for await (const { rows, values: found } of values.getMany(codes, { signal, limits, ...now }))
        for (let i = 0; i < rows.length; i++) {
          const piece = own[rows[i]!]!;
          yield [piece, parse(found[i] ?? NONE, `${key}/${cells[piece]!.cell.join("_")}`)] as const;
        }
    }
  };
}

const NONE = new Uint8Array(8); // a list of no annotations

const PREFIXES = [
  [1, ""],
  [1e-3, "m"],
  [1e-6, "µ"],
  [1e-9, "n"],
] as const;

/** "nm", or "4 nm" where a coordinate counts so many. */
function axisOf({ name, scale, unit }: AnnotationInfo["dimensions"][number]): Axis {
  if (unit === "") return { name, type: "space" };
  const [factor, prefix] = PREFIXES.find(([own]) => scale >= own * (1 - 1e-9)) ?? PREFIXES[3];
  const times = Number((scale / factor).toPrecision(12));
  return { name, type: unit === "s" ? "time" : "space", unit: `${times === 1 ? "" : `${times} `}${prefix}${unit}` };
}
