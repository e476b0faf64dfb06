/**
 * Meshes as a dataset: each is an object and a piece of its own, in nanometres.
 *
 * Every mesh has levels of its own, and the info does not say how many. A level of the dataset shows each mesh at that level, or
 * at the coarsest it has; how many there are is told by the first meshes, or, where the store cannot list, not at all.
 *
 * There is no spatial index, but the manifests of several resolutions say which space a mesh takes: a region reads all of them,
 * and then the geometry of what may be there. In the older form it reads everything.
 */
import { Corrupt, Unsupported } from "../../../errors.js";
import type { ReadOptions, ReadPlan } from "../../../model/dataset.js";
import type { FormatOptions } from "../../../model/format.js";
import type { Query, Schema, VectorDataset, VectorLevel } from "../../../model/vectors.js";
import { namedIds, rowDataset } from "../../rows/row-dataset.js";
import { type Piece, rowSource } from "../../rows/row-source.js";
import { once } from "../../zarr-vectors/nodes/once.js";
import { allIds, costOf, present } from "../ids.js";
import { folderOf, type InfoAt, identityRows } from "../info.js";
import { columnsFor, groupsFor, openSegmentProperties, propertyInfos } from "../properties/read.js";
import { ahead } from "../sharded/ahead.js";
import { legacyCost } from "./cost.js";
import type { Mesh } from "./legacy.js";
import type { Lod } from "./manifest.js";
import { type Meshes, type MeshOutline, meshesAt } from "./read.js";

const EVERYWHERE = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
const SAMPLE = 64; // meshes that say how many levels there are
const UNKNOWN_LEVELS = 8; // where none can be found without its id; more than any that we know of
const KEPT = 1024; // outlines that a query keeps from finding to reading
const LANES = 8;

/** Meshes, opened. */
export interface MeshDataset extends VectorDataset {
  readonly meshes: Meshes;
}

export async function openMeshDataset(place: InfoAt, options: FormatOptions = {}): Promise<MeshDataset> {
  const meshes = await meshesAt(place, options);
  const { url, info, values, names } = meshes;
  const { limits } = options;
  const { levels, note } = await levelsOf(meshes, { signal: options.signal, limits });
  const files = { store: place.store, at: place.at, sharding: info.sharding, names };
  const table = once(async (now) =>
    info.segmentProperties === undefined
      ? undefined
      : openSegmentProperties(place.store, folderOf(place.at, info.segmentProperties, place.where), { ...now, limits }),
  );

  async function cost(ids: BigUint64Array, now: ReadOptions = {}): Promise<ReadPlan> {
    const plan = await costOf(files, ids, now);
    if (info.kind === "legacy") return legacyCost(meshes, files, ids, plan, now);
    // The fragments of a level are one request more; the files that are counted have those of all levels.
    return { ...plan, requests: plan.requests + ids.length, exact: false };
  }

  const dataset = rowDataset({
    format: "precomputed",
    version: "1",
    url,
    geometry: "mesh",
    axes: ["x", "y", "z"].map((name) => ({ name, type: "space", unit: "nanometer" })),
    bounds: { min: EVERYWHERE.map((size) => -size), max: EVERYWHERE },
    levels,
    attributes: {},
    notes: [...info.undrawn, ...note],
    ids: (_level, now) => allIds(values, { limits, ...now }),
    plan: async ({ object }, _level, now) =>
      cost(object === undefined ? await allIds(values, { limits, ...now }) : namedIds(object), now),
    async source(level, query, now = {}) {
      const reading = { limits, ...now };
      const [{ ids, boxes, kept }, properties] = await Promise.all([
        found(meshes, level, query, reading),
        table(reading),
      ]);
      const object = properties === undefined ? [] : propertyInfos(properties);
      const groups = properties && groupsFor(properties, ids);
      const group = [...(groups?.columns.values() ?? [])].map(({ info: own }) => own);
      const schema: Schema = { vertex: [], link: [], fragment: [], object, group };
      return rowSource({
        level,
        dims: 3,
        geometry: "mesh",
        linkWidth: 3,
        schema,
        rank: 1,
        coords: Int32Array.from(ids, (_, i) => i),
        boxes,
        groups,
        objects: { ids, starts: Uint32Array.from({ length: ids.length + 1 }, (_, i) => i) },
        async *load(pieces, call) {
          const own = { limits, ...call };
          const outlines =
            kept === undefined ? await outlinesOf(meshes, pieces, ids, own) : pieces.map((i) => kept[i]!);
          const rows = pieces.map((_, i) => i);
          const read = async (row: number) => [pieces[row]!, pieceOf(await outlines[row]!.read(level, own))] as const;
          yield* ahead(rows, LANES, read);
        },
        columns: async (wanted, of) => (properties === undefined ? new Map() : columnsFor(properties, wanted, of)),
        cost: (pieces, call) =>
          cost(
            BigUint64Array.from(pieces, (piece) => ids[piece]!),
            call,
          ),
      });
    },
  });
  return { ...dataset, meshes };
}

/** What a level of the dataset resolves is what most of its meshes do; here, the largest of the first ones. */
async function levelsOf(
  meshes: Meshes,
  options: ReadOptions,
): Promise<{ readonly levels: readonly VectorLevel[]; readonly note: readonly string[] }> {
  const outline = (level: number, binShape: readonly number[]): VectorLevel => ({
    level,
    vertices: undefined,
    objects: undefined,
    chunkShape: EVERYWHERE,
    binShape,
  });
  const { info, values } = meshes;
  if (info.kind === "legacy") return { levels: [outline(0, EVERYWHERE)], note: [] };
  const scales = [0];
  let seen = 0;
  try {
    for await (const ids of values.ids(options)) {
      for await (const lods of soundLods(meshes, ids.subarray(0, SAMPLE - seen), options))
        for (const [lod, { scale }] of lods.entries()) scales[lod] = Math.max(scales[lod] ?? 0, scale);
      seen += ids.length;
      if (seen >= SAMPLE) break;
    }
  } catch (error) {
    if (!(error instanceof Unsupported || error instanceof Corrupt)) throw error;
    return {
      levels: Array.from({ length: UNKNOWN_LEVELS }, (_, level) => outline(level, EVERYWHERE)),
      note: [
        "The meshes cannot be listed, so that nobody knows how many levels there are: each shows the coarsest it has.",
      ],
    };
  }
  const rows = info.transform?.rows ?? identityRows;
  const bins = scales.map((scale) =>
    [0, 4, 8].map((row) => {
      const size = rows.slice(row, row + 3).reduce((sum, value) => sum + Math.abs(value), 0);
      return scale * info.lodScaleMultiplier * size;
    }),
  );
  const note = `The levels are those of the first ${SAMPLE} meshes; others may have more.`;
  return { levels: bins.map((bin, level) => outline(level, bin)), note: seen > SAMPLE ? [note] : [] };
}

/** The lods of these meshes. One that is damaged says so when it is asked for; the others can be opened nevertheless. */
async function* soundLods(meshes: Meshes, ids: BigUint64Array, options: ReadOptions): AsyncGenerator<readonly Lod[]> {
  for await (const { rows, values } of meshes.values.getMany(ids, options))
    for (const [i, bytes] of values.entries()) {
      if (bytes === undefined) continue;
      try {
        yield meshes.outlineOf(ids[rows[i]!]!, bytes).manifest?.lods ?? [];
      } catch (error) {
        if (!(error instanceof Corrupt)) throw error;
      }
    }
}

interface Found {
  readonly ids: BigUint64Array;
  /** min, then max of each. */
  readonly boxes: Float64Array | undefined;
  readonly kept: readonly MeshOutline[] | undefined;
}

/** The meshes that a query may mean; where they lie, if it asks for that. */
async function found(meshes: Meshes, level: number, query: Query, options: ReadOptions): Promise<Found> {
  const { object, box, sphere, nearest } = query;
  const everywhere = box === undefined && sphere === undefined && nearest === undefined;
  const wanted = object === undefined ? await allIds(meshes.values, options) : namedIds(object);
  // Ids that were listed are there; without a region, nothing else is asked about them.
  if (object === undefined && (everywhere || meshes.info.kind === "legacy"))
    return { ids: wanted, boxes: undefined, kept: undefined };
  const there = new Uint8Array(wanted.length);
  const boxes = new Float64Array(6 * wanted.length);
  const kept: MeshOutline[] | undefined = wanted.length <= KEPT ? new Array(wanted.length) : undefined;
  for await (const { row, outline } of meshes.outlines(wanted, options)) {
    if (outline === undefined) continue;
    there[row] = 1;
    boxes.set(outline.box(level) ?? UNKNOWN_BOX, 6 * row);
    if (kept !== undefined) kept[row] = outline;
  }
  return {
    ids: wanted.filter((_, row) => there[row] === 1),
    boxes: meshes.info.kind === "legacy" ? undefined : boxes.filter((_, i) => there[Math.floor(i / 6)] === 1),
    kept: kept?.filter((_, row) => there[row] === 1),
  };
}

const UNKNOWN_BOX = [...EVERYWHERE.map((size) => -size), ...EVERYWHERE];

async function outlinesOf(
  meshes: Meshes,
  pieces: readonly number[],
  all: BigUint64Array,
  options: ReadOptions,
): Promise<MeshOutline[]> {
  const ids = BigUint64Array.from(pieces, (piece) => all[piece]!);
  const outlines: MeshOutline[] = new Array(ids.length);
  for await (const { row, outline } of meshes.outlines(ids, options))
    outlines[row] = present(outline, `${meshes.url}/${ids[row]}`);
  return outlines;
}

const pieceOf = ({ positions, faces }: Mesh): Piece => ({
  positions,
  parts: Uint32Array.of(0, positions.length / 3),
  links: faces,
  vertexColumns: new Map(),
  objectColumns: new Map(),
});
