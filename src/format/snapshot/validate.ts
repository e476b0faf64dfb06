/** Everything that can be said against particles in HDF5, of one type or of all. */
import { OctavoError } from "../../errors.js";
import type { Finding, ValidateOptions } from "../../model/format.js";
import type { Positions, VectorDataset } from "../../model/vectors.js";
import type { Key } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { openSnapshot, snapshotTypes } from "./open.js";
import { failure, finding, rules } from "./rules.js";

export async function* validateParticles(
  store: Store,
  key: Key,
  type: string | undefined,
  options: ValidateOptions = {},
): AsyncGenerator<Finding> {
  const { level = 5 } = options;
  const where = `${store.url}/${key}`;
  const datasets: VectorDataset[] = [];
  try {
    const types = type === undefined ? await snapshotTypes(store, key, options) : [type];
    for (const own of types.length === 0 ? [undefined] : types)
      datasets.push(await openSnapshot(store, key, { ...options, type: own, raw: true }));
  } catch (error) {
    yield failure("opens", where, error);
    return;
  }
  for (const dataset of datasets) {
    const place = `${where}/${dataset.attributes.type}`;
    if (level >= rules.fields.level) for (const note of dataset.notes) yield finding("fields", place, note);
    if (level >= rules["rows-decode"].level) yield* checkRows(dataset, place, options);
  }
}

async function* checkRows(
  dataset: VectorDataset,
  where: string,
  { level = 5, signal, onProgress }: ValidateOptions,
): AsyncGenerator<Finding> {
  const source = await dataset.source(0, { signal });
  const { count } = await source.chunks();
  const want = { positions: true, vertex: (await source.schema()).vertex.map(({ name }) => name), fragment: [] };
  let first = 0;
  for (let chunk = 0; chunk < count; chunk++) {
    try {
      for await (const { positions } of source.tiles([chunk], want, { signal }))
        if (level >= rules.finite.level) yield* checkPlaces(positions, dataset.bounds, where, first);
    } catch (error) {
      if (!(error instanceof OctavoError)) throw error;
      yield failure("rows-decode", where, error);
    }
    first += (await source.counts([chunk]))[0]!;
    onProgress?.({ done: chunk + 1, total: count, unit: "chunks" });
  }
}

/** The first of a piece that is wrong stands for the others. */
function* checkPlaces(
  positions: Positions,
  { min, max }: VectorDataset["bounds"],
  where: string,
  first: number,
): Generator<Finding> {
  const told = (at: number) => `particle ${first + Math.floor(at / 3)} lies at ${positions[at]} along ${"xyz"[at % 3]}`;
  const odd = positions.findIndex((value) => !Number.isFinite(value));
  if (odd >= 0) yield finding("finite", where, told(odd));
  const outside = positions.findIndex((value, at) => value < min[at % 3]! || value > max[at % 3]!);
  if (outside >= 0)
    yield finding("in-box", where, `${told(outside)}, and the box goes from ${min.join(", ")} to ${max.join(", ")}`);
}
