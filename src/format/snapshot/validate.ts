/** Everything that can be said against particles in HDF5, of one type or of all. */
import type { Finding, ValidateOptions } from "../../model/format.js";
import type { Key } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { failure, finding, rules } from "./rules.js";
import { chooseType, openSnapshot, type ParticleType, readFields, type Snapshot } from "./snapshot.js";
import { cutPieces, type ParticleTable, particleSource } from "./source.js";

export async function* validateParticles(
  store: Store,
  key: Key,
  type: string | undefined,
  options: ValidateOptions = {},
): AsyncGenerator<Finding> {
  const { level = 5 } = options;
  let snapshot: Snapshot;
  let types: readonly ParticleType[];
  try {
    snapshot = await openSnapshot(store, key, options);
    types = type === undefined ? snapshot.types : [chooseType(snapshot, type)];
  } catch (error) {
    yield failure("opens", `${store.url}/${key}`, error);
    return;
  }
  for (const own of types) {
    const fields = readFields(own);
    if (level >= rules.fields.level)
      for (const note of fields.notes) yield finding("fields", `${snapshot.where}/${own.name}`, note);
    const table = { group: own.name, fields, pieces: cutPieces(own.parts, fields) };
    if (level >= rules["rows-decode"].level) yield* checkRows(table, snapshot, options);
  }
}

async function* checkRows(
  table: ParticleTable,
  { header }: Snapshot,
  { level = 5, signal, onProgress }: ValidateOptions,
): AsyncGenerator<Finding> {
  const source = particleSource(table);
  const vertex = table.fields.others.map(({ name }) => name);
  for (const [chunk, piece] of table.pieces.entries()) {
    const where = `${piece.source.where}/${table.group}`;
    try {
      for await (const { positions } of source.tiles([chunk], { positions: true, vertex, fragment: [] }, { signal }))
        if (level >= rules.finite.level) yield* checkPlaces(positions, header.bounds, where, piece.first);
    } catch (error) {
      yield failure("rows-decode", where, error);
    }
    onProgress?.({ done: chunk + 1, total: table.pieces.length, unit: "chunks" });
  }
}

/** The first of a piece that is wrong stands for the others. */
function* checkPlaces(
  positions: Float32Array | Float64Array,
  bounds: Snapshot["header"]["bounds"],
  where: string,
  first: number,
): Generator<Finding> {
  const odd = positions.findIndex((value) => !Number.isFinite(value));
  const told = (at: number) => `particle ${first + Math.floor(at / 3)} lies at ${positions[at]} along ${"xyz"[at % 3]}`;
  if (odd >= 0) yield finding("finite", where, told(odd));
  const outside =
    bounds === undefined
      ? -1
      : positions.findIndex((value, at) => value < bounds.min[at % 3]! || value > bounds.max[at % 3]!);
  if (outside >= 0)
    yield finding(
      "in-box",
      where,
      `${told(outside)}, and the box goes from ${bounds!.min.join(", ")} to ${bounds!.max.join(", ")}`,
    );
}
