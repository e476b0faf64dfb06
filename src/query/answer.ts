/** The answer to a query: what is put together window by window, cut, and handed out. */
import type { ReadOptions } from "../model/dataset.js";
import type { Batch, Columns, SelectOptions } from "../model/vectors.js";
import { type Assembled, assemble, linkWidthOf } from "./assemble.js";
import { Answered, linkerOf, linksBetween } from "./between.js";
import { type Candidates, everything, touching } from "./candidates.js";
import { clipped, verticesInside } from "./clip.js";
import { cloud, isCloud } from "./cloud.js";
import { padded } from "./columns.js";
import { inOrder } from "./link-order.js";
import { masksOf } from "./masks.js";
import { nearest } from "./nearest-query.js";
import { onlyVertices, type Resolved } from "./resolve.js";
import { subset } from "./subset.js";
import { wholeObjects, withVertices } from "./whole.js";
import { windows } from "./windows.js";

/** The answer, batch by batch. */
export async function* answer(question: Resolved, options: SelectOptions): AsyncGenerator<Batch> {
  options.signal?.throwIfAborted();
  let left = question.limit;
  if (left === 0) return;
  const answered = new Answered(question);
  const batches = question.nearest === undefined ? matching(question, options) : nearest(question, options);
  for await (const batch of batches) {
    options.signal?.throwIfAborted();
    const kept = limited(batch, left);
    if (kept.positions.length === 0 && kept.ids.length === 0) continue;
    left -= things(kept);
    if (kept.links !== undefined) answered.add(kept);
    yield handed(kept, question);
    if (left <= 0) break;
  }
  options.signal?.throwIfAborted();
  if (!answered.open) return;
  for await (const batch of linksBetween(question, answered, (whole) => cutTo(whole, question), options))
    yield handed(batch, question);
}

/** Everything that matches, before `nearest` and `limit`; `found` says what, where that is known. */
export async function* matching(
  question: Resolved,
  options: SelectOptions,
  found?: Candidates,
): AsyncGenerator<Assembled> {
  const { source, region, where, rows, named } = question;
  if (isCloud(source)) {
    yield* cloud(question, options);
    return;
  }
  const candidates = found ?? (await candidatesFor(question, options));
  const sure = where === undefined && candidates.exact && !(source.geometry === "points" && region !== undefined);
  const keepEmpty = named && rows !== undefined && region === undefined && where === undefined;
  for await (const { items, only } of windows(question, candidates, options)) {
    const batch = await assemble(source, items, question.wanted, linkerOf(question, only, options), options, only);
    if (question.clip !== false && (region !== undefined || where !== undefined)) yield cutTo(batch, question);
    else if (!sure) yield wholeObjects(batch, region, masksOf(batch, where));
    else yield keepEmpty ? batch : withVertices(batch);
  }
}

const FEW = 256; // objects, up to which it is cheaper to read them than to find out which ones touch

async function candidatesFor(question: Resolved, options: ReadOptions): Promise<Candidates> {
  const { source, region, rows, orphans } = question;
  if (region === undefined) return everything(source, rows, orphans, options);
  const few = rows !== undefined && rows.length <= FEW && !orphans;
  if (few || source.scattered) return { ...(await everything(source, rows, orphans, options)), exact: false };
  return touching(source, region, rows, orphans, options, onlyVertices(question));
}

/** What `clip` leaves of a batch. */
function cutTo(batch: Assembled, { clip, region, where }: Resolved): Assembled {
  if (clip === false || (region === undefined && where === undefined)) return batch;
  const masks = masksOf(batch, where);
  return clip === "vertices" ? verticesInside(batch, region, masks) : clipped(batch, region, masks);
}

/** What a limit counts: objects and parts without one; of a cloud each point without an object. */
function things({ geometry, parts, objects, ids }: Assembled): number {
  let count = ids.length;
  for (let part = 0; part < objects.length; part++)
    if (objects[part]! < 0) count += geometry === "points" ? parts[part + 1]! - parts[part]! : 1;
  return count;
}

function limited(batch: Assembled, most: number): Assembled {
  if (things(batch) <= most) return batch;
  const mask = new Uint8Array(batch.positions.length / batch.dims);
  let left = most - Math.min(most, batch.ids.length);
  for (let part = 0; part < batch.objects.length; part++) {
    const [from, to] = [batch.parts[part]!, batch.parts[part + 1]!];
    const takes = batch.objects[part]! >= 0 ? 0 : batch.geometry === "points" ? to - from : 1;
    if (takes === 0 && batch.objects[part]! < most) mask.fill(1, from, to);
    if (takes > 0 && left > 0) mask.fill(1, from, batch.geometry === "points" ? Math.min(to, from + left) : to);
    left -= takes;
  }
  return subset(batch, mask, { objects: (place) => place < most });
}

/** What was asked for, and nothing that was only needed to find it. */
function handed(batch: Assembled, { given, schema }: Resolved): Batch {
  const only = (domain: keyof Resolved["given"], columns: Columns, rows: number): Columns =>
    new Map(
      schema[domain]
        .filter(({ name }) => given[domain].includes(name))
        .map((info) => [info.name, padded(columns.get(info.name), info, rows)]),
    );
  const { level, geometry, dims, positions, parts, objects, ids, links, fragments, chunk, repeats } = batch;
  return {
    level,
    geometry,
    dims,
    positions,
    parts,
    objects,
    ids,
    links: links && inOrder({ ...links, columns: only("link", links.columns, links.ends.length / links.width) }, batch),
    fragments:
      given.fragment.length === 0
        ? undefined
        : { offsets: fragments.offsets, columns: only("fragment", fragments.columns, fragments.chunk.length) },
    vertexColumns: only("vertex", batch.vertexColumns, positions.length / dims),
    objectColumns: only("object", batch.objectColumns, ids.length),
    repeats,
    chunk,
  };
}

/** An answer with nothing in it. */
export function nothing(question: Resolved): Batch {
  const { level, geometry, dims } = question.source;
  const width = linkWidthOf(question.source);
  return handed(
    {
      level,
      geometry,
      dims,
      positions: new Float32Array(),
      parts: Uint32Array.of(0),
      objects: new Int32Array(),
      ids: new BigInt64Array(),
      rows: new Uint32Array(),
      links: width === 0 ? undefined : { width, ends: new Uint32Array(), columns: new Map() },
      storedLinks: 0,
      loose: false,
      fragments: { offsets: Uint32Array.of(0), columns: new Map(), chunk: new Int32Array(), part: new Uint32Array() },
      vertexColumns: new Map(),
      objectColumns: new Map(),
      chunk: undefined,
    },
    question,
  );
}
