/** The answer to a query: what is put together window by window, cut, and handed out. */
import type { LevelSource, Parts } from "../model/source.js";
import type { Batch, Columns, SelectOptions } from "../model/vectors.js";
import { type Assembled, assemble } from "./assemble.js";
import { everyRow, partsOf } from "./bound.js";
import { touching } from "./candidates.js";
import { clipped, subset, verticesInside, wholeObjects } from "./cut.js";
import { masksOf } from "./masks.js";
import { nearest } from "./nearest-query.js";
import type { Resolved } from "./resolve.js";
import { neededChunks, pointWindows, windows } from "./windows.js";

/** The answer, batch by batch. */
export async function* answer(question: Resolved, options: SelectOptions): AsyncGenerator<Batch> {
  let left = question.limit;
  const batches = question.nearest === undefined ? matching(question, options) : nearest(question, options);
  for await (const batch of batches) {
    if (left <= 0) return;
    const kept = limited(batch, left, question.source);
    left -= question.source.objects === undefined ? kept.positions.length / kept.dims : kept.ids.length;
    if (kept.positions.length > 0 || kept.ids.length > 0) yield handed(kept, question);
  }
}

/** Everything that matches, before `nearest` and `limit`. */
export async function* matching(question: Resolved, options: SelectOptions): AsyncGenerator<Assembled> {
  const { source, clip, region, where, rows } = question;
  const test = (batch: Assembled, sure: boolean): Assembled => {
    const masks = masksOf(batch, where);
    if (clip === "vertices") return verticesInside(batch, region, masks);
    if (clip) return clipped(batch, region, masks);
    return sure && where === undefined ? batch : wholeObjects(batch, region, masks);
  };
  if (source.geometry === "points" && (source.objects === undefined || source.objects.rows === 0)) {
    for await (const items of pointWindows(question, options)) {
      const batch = await assemble(source, items, question.wanted, options);
      yield region === undefined && where === undefined ? batch : verticesInside(batch, region, masksOf(batch, where));
    }
    return;
  }
  const found =
    rows !== undefined
      ? { rows, orphans: NO_PARTS, exact: region === undefined }
      : region !== undefined
        ? await touching(source, region, options)
        : {
            rows: everyRow(source.objects?.rows ?? 0),
            orphans:
              (await source.objects?.orphans(options)) ??
              (await partsOf(source, allChunks(await source.chunks(options)), options)),
            exact: true,
          };
  const needed = clip !== false && region !== undefined ? await neededChunks(question, options) : undefined;
  for await (const items of windows(question, found, needed, options)) {
    const batch = await assemble(source, items, question.wanted, options);
    yield test(batch, found.exact);
  }
}

const NO_PARTS: Parts = { chunk: new Int32Array(), part: new Uint32Array() };
const allChunks = ({ count }: { readonly count: number }): number[] =>
  Array.from({ length: count }, (_, chunk) => chunk);

/** No more than so many objects, or vertices where there are no objects. */
function limited(batch: Assembled, left: number, source: LevelSource): Assembled {
  const count = source.objects === undefined ? batch.positions.length / batch.dims : batch.ids.length;
  if (count <= left) return batch;
  const vertices = new Uint8Array(batch.positions.length / batch.dims);
  if (source.objects === undefined) vertices.fill(1, 0, left);
  for (let part = 0; part < batch.objects.length; part++)
    if (batch.objects[part]! >= 0 && batch.objects[part]! < left)
      vertices.fill(1, batch.parts[part]!, batch.parts[part + 1]!);
  return subset(batch, vertices, undefined, (place) => place < left);
}

/** What was asked for, and nothing that was only needed to find it. */
function handed(batch: Assembled, { given }: Resolved): Batch {
  const only = (columns: Columns, names: readonly string[]): Columns =>
    new Map([...columns].filter(([name]) => names.includes(name)));
  const { level, geometry, dims, positions, parts, objects, ids, links, chunk, repeats } = batch;
  return {
    level,
    geometry,
    dims,
    positions,
    parts,
    objects,
    ids,
    links: links && { ...links, columns: only(links.columns, given.link) },
    fragments:
      given.fragment.length === 0
        ? undefined
        : { offsets: batch.fragments.offsets, columns: only(batch.fragments.columns, given.fragment) },
    vertexColumns: only(batch.vertexColumns, given.vertex),
    objectColumns: only(batch.objectColumns, given.object),
    repeats,
    chunk,
  };
}
