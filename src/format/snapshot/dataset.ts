/** Particles of one type as a dataset: points, one level, all fields as attributes. */
import type { Json } from "../../bytes/json.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { VectorDataset } from "../../model/vectors.js";
import { select } from "../../query/select.js";
import { rowDataset } from "../rows/row-dataset.js";
import { chooseType, type ParticleType, readFields, type Snapshot } from "./snapshot.js";
import { cutPieces, type ParticleTable, particleSource, rowsOf, withoutBad } from "./source.js";

/** Particles, with the snapshot that they are of where there is one. */
export interface SnapshotDataset extends VectorDataset {
  /** The name of their type. */
  readonly type: string;
  readonly snapshot?: Snapshot | undefined;
}

/** What makes the difference between a snapshot and Cubes. */
export interface ParticleData {
  readonly where: string;
  readonly version: string;
  readonly table: ParticleTable;
  readonly bounds: VectorDataset["bounds"];
  readonly attributes: { readonly [key: string]: Json };
  readonly notes: readonly string[];
  readonly snapshot?: Snapshot | undefined;
}

/** What becomes of particles that lie nowhere; the first one is an error where nothing is said. */
export interface BadOptions {
  /** They are left out, and told here. */
  readonly onBad?: ((problem: Error) => void) | undefined;
  /** They are passed on as they are, for those who look for them. */
  readonly raw?: boolean | undefined;
}

/** The particles of one type of a snapshot; the first type that has any where none is named. */
export async function snapshotDataset(
  snapshot: Snapshot,
  named: string | undefined,
  { onBad, raw, ...options }: BadOptions & ReadOptions = {},
): Promise<SnapshotDataset> {
  const type = chooseType(snapshot, named);
  const fields = readFields(type);
  const all = { group: type.name, fields, pieces: cutPieces(type.parts, fields), raw };
  const table = onBad === undefined ? all : await withoutBad(all, onBad, options);
  const counts = Object.fromEntries(snapshot.types.map(({ name, count }) => [name, count]));
  return particleDataset({
    snapshot,
    where: snapshot.where,
    version: "Gadget",
    table,
    bounds: snapshot.header.bounds ?? (await measure(table, options)),
    attributes: {
      type: type.name,
      particles: counts,
      files: snapshot.files.length,
      ...snapshot.header.summary,
      ...snapshot.header.groups,
    },
    notes: [...fields.notes, ...others(snapshot, type, named)],
  });
}

/** Who did not choose should know that there was a choice. */
function others({ types }: Snapshot, type: ParticleType, named: string | undefined): readonly string[] {
  const rest = types.filter((own) => own !== type).map(({ name, count }) => `${name} (${count})`);
  if (named !== undefined || rest.length === 0) return [];
  return [
    `this is ${type.name}; there are also ${rest.join(", ")}: --type, or "|snapshot:NAME" behind the address, chooses`,
  ];
}

export function particleDataset(particles: ParticleData): SnapshotDataset {
  const { where, version, table, bounds, attributes, notes, snapshot } = particles;
  const source = particleSource(table);
  const size = bounds.max.map((high, axis) => high - bounds.min[axis]!);
  const vertices = table.pieces.reduce((sum, _, chunk) => sum + rowsOf(table, chunk), 0);
  const { unit } = table.fields.coordinates.info;
  const own = {
    axes: ["x", "y", "z"].map((name) => ({ name, type: "space", unit })),
    levels: [{ level: 0, vertices, objects: undefined, chunkShape: size, binShape: size }],
    source: async () => source,
  };
  const dataset = rowDataset({
    ...own,
    format: "snapshot",
    version,
    url: where,
    geometry: "points",
    bounds,
    attributes,
    notes,
    ids: async () => new BigUint64Array(),
    plan: (query, _level, options) => select(own, query).plan(options),
  });
  return { ...dataset, type: table.group, snapshot };
}

/** The corners around all particles, where the snapshot does not tell: all of them are looked at. */
async function measure(table: ParticleTable, options: ReadOptions): Promise<VectorDataset["bounds"]> {
  const min = [Infinity, Infinity, Infinity];
  const max = [-Infinity, -Infinity, -Infinity];
  const all = table.pieces.map((_, chunk) => chunk);
  const want = { positions: true, vertex: [], fragment: [] };
  for await (const { positions } of particleSource(table).tiles(all, want, options))
    for (let at = 0; at < positions.length; at++) {
      const value = positions[at]!;
      if (value < min[at % 3]!) min[at % 3] = value;
      if (value > max[at % 3]!) max[at % 3] = value;
    }
  return { min, max };
}
