/** What is put together at one time: so many objects as make about one batch. Objects ascend, parts without one come last. */
import type { ReadOptions } from "../model/dataset.js";
import type { Parts, Placement } from "../model/source.js";
import type { SelectOptions } from "../model/vectors.js";
import { isPath, linkWidthOf } from "./assemble.js";
import { partSizes } from "./bound.js";
import { type Candidates, chunksIn } from "./candidates.js";
import { pick } from "./columns.js";
import { hullTest, meeting } from "./hull.js";
import type { Items } from "./layout.js";
import { onlyVertices, type Resolved } from "./resolve.js";

export const BATCH = 2 ** 18; // vertices
const FIRST = 1024; // objects that are looked up at once, until it is known how large they are
const MOST = 65536;
const ALL = Number.POSITIVE_INFINITY;

export interface Window {
  readonly items: Items;
  /** The first is also the last. */
  readonly only: boolean;
}

export async function* windows(
  question: Resolved,
  { rows, orphans, exact }: Candidates,
  options: SelectOptions,
): AsyncGenerator<Window> {
  const { source, clip, where, region, nearest } = question;
  const target = options.batchVertices ?? BATCH;
  const needed = clip !== false && region !== undefined ? await neededChunks(question, options) : undefined;
  // Links between parts without an object are theirs together, and what is asked of links must see all of them.
  const linked = linkWidthOf(source) > 0;
  const loneTogether = linked && (clip !== false || where !== undefined || nearest !== undefined || !exact);
  const together = target === ALL || (linked && clip !== false && where?.domains.has("link") === true);
  const total = rows.length + orphans.part.length;
  let size = together ? total : FIRST;
  for (let from = 0; from < total; ) {
    options.signal?.throwIfAborted();
    const lone = from >= rows.length;
    const to = together || (lone && loneTogether) ? total : Math.min(lone ? total : rows.length, from + size);
    const looked = await look(question, rows, orphans, from, to, needed, options);
    const ends = together || (lone && loneTogether) ? [to - from] : slices(looked, target);
    for (let i = 0, start = 0; i < ends.length; start = ends[i++]!)
      yield { items: slice(looked, start, ends[i]!), only: total === ends[i]! - start };
    const average = Math.max(1, vertexCount(looked, 0, to - from) / (to - from));
    size = Math.min(MOST, Math.max(1, Math.round(target / average)));
    from = to;
  }
}

/** Where some objects, and parts without one, lie. */
async function look(
  question: Resolved,
  rows: Uint32Array,
  orphans: Parts,
  from: number,
  to: number,
  needed: Uint8Array | undefined,
  options: ReadOptions,
): Promise<Items> {
  const { source } = question;
  const some = rows.subarray(Math.min(from, rows.length), Math.min(to, rows.length));
  const place = some.length === 0 ? NOWHERE : await source.objects!.place(some, options);
  const [first, last] = [Math.max(0, from - rows.length), Math.max(0, to - rows.length)];
  const all = withOrphans({ rows: new Int32Array(some), place, sizes: new Map() }, orphans, first, last);
  if (needed === undefined) return { ...all, sizes: await partSizes(source, all.place.chunk, options) };
  if (!isPath(source) || onlyVertices(question)) {
    const kept = chooseBlocks(all.rows, all.place, inNeeded(all.place, needed));
    return { ...kept, sizes: await partSizes(source, kept.place.chunk, options) };
  }
  // Which steps of a path cross the region is only known of parts with vertices.
  const sizes = await partSizes(source, all.place.chunk, options);
  return { ...(await restrict(question, { ...all, sizes }, needed, options)), sizes };
}

const NOWHERE: Placement = {
  offsets: Uint32Array.of(0),
  chunk: new Int32Array(),
  first: new Uint32Array(),
  count: new Uint32Array(),
};

/** The vertices of items from … to. */
function vertexCount({ place, sizes }: Items, from: number, to: number): number {
  let vertices = 0;
  for (let b = place.offsets[from]!; b < place.offsets[to]!; b++) {
    const parts = sizes.get(place.chunk[b]!);
    vertices += (parts?.[place.first[b]! + place.count[b]!] ?? 0) - (parts?.[place.first[b]!] ?? 0);
  }
  return vertices;
}

/** Where to end each window so that it has about `target` vertices. */
function slices(items: Items, target: number): number[] {
  const ends: number[] = [];
  let vertices = 0;
  for (let i = 0; i < items.rows.length; i++) {
    vertices += vertexCount(items, i, i + 1);
    if (vertices < target && i + 1 < items.rows.length) continue;
    ends.push(i + 1);
    vertices = 0;
  }
  return ends;
}

function slice({ rows, place, gaps, sizes }: Items, from: number, to: number): Items {
  const [first, last] = [place.offsets[from]!, place.offsets[to]!];
  return {
    rows: rows.subarray(from, to),
    gaps: gaps?.subarray(first, last),
    sizes,
    place: {
      offsets: first === 0 ? place.offsets.subarray(from, to + 1) : shifted(place.offsets, from, to, first),
      chunk: place.chunk.subarray(first, last),
      first: place.first.subarray(first, last),
      count: place.count.subarray(first, last),
    },
  };
}

function shifted(offsets: Uint32Array, from: number, to: number, by: number): Uint32Array {
  const out = offsets.slice(from, to + 1);
  for (let i = 0; i < out.length; i++) out[i]! -= by;
  return out;
}

function withOrphans({ rows, place, sizes }: Items, orphans: Parts, from: number, to: number): Items {
  if (from >= to) return { rows, place, sizes };
  const more = to - from;
  const blocks = place.chunk.length;
  const offsets = new Uint32Array(rows.length + more + 1);
  offsets.set(place.offsets);
  for (let i = 0; i < more; i++) offsets[rows.length + i + 1] = blocks + i + 1;
  return {
    rows: joined(rows, new Int32Array(more).fill(-1)),
    sizes,
    place: {
      offsets,
      chunk: joined(place.chunk, orphans.chunk.subarray(from, to)),
      first: joined(place.first, orphans.part.subarray(from, to)),
      count: joined(place.count, new Uint32Array(more).fill(1)),
    },
  };
}

function joined<T extends Int32Array | Uint32Array>(a: T, b: T): T {
  const out = new (a.constructor as new (length: number) => T)(a.length + b.length);
  out.set(a);
  out.set(b, a.length);
  return out;
}

/** For each chunk 1 where it holds something that may lie in the region: it meets it, or an end of a link that does. */
async function neededChunks(question: Resolved, options: ReadOptions): Promise<Uint8Array> {
  const { source, region } = question;
  const table = await source.chunks(options);
  const needed = new Uint8Array(table.count);
  for (const chunk of chunksIn(table, region, source.dims)) needed[chunk] = 1;
  if (source.linkWidth > 0 && !isPath(source) && !source.scattered && !onlyVertices(question)) {
    for await (const { chunks } of source.links({ meets: meeting(region!) }, [], options)) {
      options.signal?.throwIfAborted();
      for (let i = 0; i < chunks.length; i++) needed[chunks[i]!] = 1;
    }
  }
  return needed;
}

function inNeeded({ chunk }: Placement, needed: Uint8Array): Uint8Array {
  const keep = new Uint8Array(chunk.length);
  for (let b = 0; b < keep.length; b++) keep[b] = needed[chunk[b]!]!;
  return keep;
}

/** Of paths the blocks that are needed, and those joined across the region with all that is between them. */
async function restrict(
  { source, region }: Resolved,
  { rows, place, sizes }: Items,
  needed: Uint8Array,
  options: ReadOptions,
): Promise<Omit<Items, "sizes">> {
  const keep = inNeeded(place, needed);
  const meets = hullTest(await source.chunks(options), source.dims, meeting(region!));
  const { offsets, chunk, first, count } = place;
  for (let i = 0; i < rows.length; i++) {
    let last = -1;
    for (let b = offsets[i]!; b < offsets[i + 1]!; b++) {
      const parts = sizes.get(chunk[b]!);
      if (parts?.[first[b]!] === parts?.[first[b]! + count[b]!]) continue;
      if (last >= 0 && meets(chunk[last]!, chunk[b]!)) keep.fill(1, last, b + 1);
      last = b;
    }
  }
  return chooseBlocks(rows, place, keep);
}

function chooseBlocks(rows: Int32Array, place: Placement, keep: Uint8Array): Omit<Items, "sizes"> {
  const offsets = new Uint32Array(rows.length + 1);
  const blocks = new Uint32Array(keep.length);
  const gaps = new Uint8Array(keep.length);
  let count = 0;
  for (let i = 0; i < rows.length; i++) {
    for (let b = place.offsets[i]!; b < place.offsets[i + 1]!; b++) {
      if (keep[b] === 0) continue;
      gaps[count] = b > place.offsets[i]! && keep[b - 1] === 0 ? 1 : 0;
      blocks[count++] = b;
    }
    offsets[i + 1] = count;
  }
  const kept = blocks.subarray(0, count);
  return {
    rows,
    gaps: gaps.subarray(0, count),
    place: {
      offsets,
      chunk: pick(place.chunk, 1, kept),
      first: pick(place.first, 1, kept),
      count: pick(place.count, 1, kept),
    },
  };
}
