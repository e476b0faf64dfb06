/** A `.ptree` file as a dataset: points, level 0 all of them, coarser levels from the sample that stands for them. */
import type { Json } from "../../../bytes/json.js";
import type { FormatOptions } from "../../../model/format.js";
import type { Query, VectorDataset, VectorLevel } from "../../../model/vectors.js";
import { select } from "../../../query/select.js";
import type { Key } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { type RowDataset, rowDataset } from "../../rows/row-dataset.js";
import { emptyBox, widenBox } from "./blocks.js";
import { ALL, type Description } from "./description.js";
import { openParticleFile, type ParticleFile } from "./read.js";
import { atLeast, particleSource } from "./source.js";

/** The particles of a file; also as `file`, below the queries. */
export type ParticleDataset = VectorDataset & { readonly file: ParticleFile };

/** The particles of a `.ptree` file as points; what was asked for is read of it, not more. */
export async function openParticles(store: Store, key: Key, options: FormatOptions = {}): Promise<ParticleDataset> {
  const file = await openParticleFile(store, key, options);
  const { description, pages } = file;
  const around = description.count === 0 ? new Float64Array(6) : emptyBox();
  for (let page = 0; page < pages[ALL].count; page++) widenBox(around, 0, pages[ALL].boxes, 6 * page);
  const { units } = description.about;
  const axes = ["x", "y", "z"].map((name, axis) => {
    const unit = Array.isArray(units) ? (units[axis] as Json) : undefined;
    return { name, type: "space", ...(typeof unit === "string" && { unit }) };
  });
  const levels = levelsOf(description);
  const sourceFor = async (level: number, query: Query) => particleSource(file, level, query);
  const rows: RowDataset = {
    format: "packed-tree",
    version: "ptree 1",
    url: file.where,
    geometry: "points",
    axes,
    levels,
    bounds: { min: [...around.subarray(0, 3)], max: [...around.subarray(3)] },
    attributes: description.about,
    notes: [],
    ids: async () => new BigUint64Array(),
    source: sourceFor,
    plan: (query, _level, options) =>
      select({ axes, levels, source: (level) => sourceFor(level, query) }, query).plan(options),
  };
  const dataset = rowDataset(rows);
  return {
    ...dataset,
    file,
    select(query = {}) {
      // Levels that the head shows to have too much are not looked at: their tables are not read.
      const { maxVertices = Infinity } = query;
      const some = levels.filter(({ level }) => !(atLeast(file, level, query) > maxVertices));
      return (some.length < levels.length ? rowDataset({ ...rows, levels: some }) : dataset).select(query);
    },
  };
}

/** Vertices that a chunk has about, where others ask how large they should be. */
const CHUNK = 2 ** 16;

/**
 * Bins are the cells of a level, halves of the tree's box along z, y, x and again; level 0 has half of those of the finest sample. Chunks
 * are halves of the box as well, the same along each axis.
 */
function levelsOf({ count, levels, tree: { box } }: Description): VectorLevel[] {
  const halved = (times: (axis: number) => number): number[] => box.size.map((size, axis) => size / 2 ** times(axis));
  const finest = Math.ceil((levels.at(-1)?.bits ?? 0) / 3) + 1;
  const of = (level: number, vertices: number, times: (axis: number) => number): VectorLevel => {
    const chunked = Math.max(0, Math.ceil(Math.log2(vertices / CHUNK) / 3));
    return {
      level,
      vertices,
      objects: 0,
      binShape: halved(times),
      chunkShape: halved((axis) => Math.min(chunked, times(axis))),
      ...(level > 0 && { parent: level - 1, sample: true }),
    };
  };
  return [
    of(0, count, () => finest),
    ...levels.toReversed().map((own, i) => of(i + 1, own.count, (axis) => Math.ceil((own.bits - (2 - axis)) / 3))),
  ];
}
