/** A `.ptree` file as a dataset: points, one level. */
import type { FormatOptions } from "../../../model/format.js";
import type { VectorDataset } from "../../../model/vectors.js";
import { select } from "../../../query/select.js";
import type { Key } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { rowDataset } from "../../rows/row-dataset.js";
import { openParticleFile, type ParticleFile } from "./read.js";
import { particleSource } from "./source.js";

/** The particles of a file; also as `file`, below the queries. */
export type ParticleDataset = VectorDataset & { readonly file: ParticleFile };

/** The particles of a `.ptree` file as points; what was asked for is read of it, not more. */
export async function openParticles(store: Store, key: Key, options: FormatOptions = {}): Promise<ParticleDataset> {
  const file = await openParticleFile(store, key, options);
  const { boxes } = file.blocks;
  const [min, max] = [
    [0, 1, 2].map((axis) => boxes.reduce((low, value, i) => (i % 6 === axis ? Math.min(low, value) : low), Infinity)),
    [3, 4, 5].map((axis) =>
      boxes.reduce((high, value, i) => (i % 6 === axis ? Math.max(high, value) : high), -Infinity),
    ),
  ];
  const none = file.description.count === 0;
  const bounds = none ? { min: [0, 0, 0], max: [0, 0, 0] } : { min: min!, max: max! };
  const size = bounds.max.map((high, axis) => high - bounds.min[axis]!);
  const source = particleSource(file);
  const own = {
    axes: ["x", "y", "z"].map((name) => ({ name, type: "space" })),
    levels: [{ level: 0, vertices: file.description.count, objects: 0, chunkShape: size, binShape: size }],
    source: async () => source,
  };
  const dataset = rowDataset({
    ...own,
    format: "packed-tree",
    version: "ptree 1",
    url: file.where,
    geometry: "points",
    bounds,
    attributes: file.description.about,
    notes: [],
    ids: async () => new BigUint64Array(),
    plan: (query, _level, options) => select(own, query).plan(options),
  });
  return { ...dataset, file };
}
