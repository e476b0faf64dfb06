/**
 * Points that are objects of one point each, such as the rows of a table with ids: thinned as points are, chunk by chunk, and those that
 * stay keep their ids and what is said of them.
 */
import type { LevelSource } from "../model/source.js";
import type { Batch } from "../model/vectors.js";
import type { PyramidOptions } from "./plan.js";

const ROWS = 1 << 16; // objects that are looked at together

/** Whether every object is one fragment and as many points as there are objects; not where who builds says which objects stay. */
export async function areSingle(
  source: LevelSource,
  vertices: number,
  { keep, by, signal, limits }: PyramidOptions,
): Promise<boolean> {
  const { objects, geometry } = source;
  const reading = { signal, limits };
  if (geometry !== "points" || objects === undefined || objects.rows !== vertices) return false;
  if (keep !== undefined || by !== undefined || vertices === 0) return false;
  if ((await objects.orphans(reading)).part.length > 0) return false;
  for (let first = 0; first < objects.rows; first += ROWS) {
    const rows = Uint32Array.from({ length: Math.min(ROWS, objects.rows - first) }, (_, i) => first + i);
    const { offsets, count } = await objects.place(rows, reading);
    for (let i = 0; i < rows.length; i++)
      if (offsets[i + 1]! - offsets[i]! !== 1 || count[offsets[i]!] !== 1) return false;
  }
  return true;
}

/** A batch for each chunk, with the objects of its points. */
export async function* chunksOfSingle(source: LevelSource, { signal, limits }: PyramidOptions): AsyncGenerator<Batch> {
  const reading = { signal, limits };
  const { level, geometry, dims } = source;
  const objects = source.objects!;
  const { vertex, object } = await source.schema(reading);
  const [ofVertices, ofObjects] = [vertex, object].map((infos) => infos.map(({ name }) => name));
  const want = { positions: true, vertex: ofVertices!, fragment: [] };
  const { count } = await source.chunks(reading);
  for (let chunk = 0; chunk < count; chunk++)
    for await (const { positions, parts, vertexColumns } of source.tiles([chunk], want, reading)) {
      signal?.throwIfAborted();
      const part = Uint32Array.from({ length: parts.length - 1 }, (_, i) => i);
      const where = { chunk: new Int32Array(part.length).fill(chunk), part };
      const { offsets, rows } = await objects.owners(where, reading);
      yield {
        level,
        geometry,
        dims,
        positions,
        parts,
        objects: Int32Array.from(part, (p) => (offsets[p]! < offsets[p + 1]! ? offsets[p]! : -1)),
        ids: await objects.ids(rows, reading),
        links: undefined,
        fragments: undefined,
        vertexColumns,
        objectColumns: ofObjects!.length === 0 ? new Map() : await objects.columns(ofObjects!, rows, reading),
        chunk: undefined,
      };
    }
}
