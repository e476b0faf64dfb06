/** What is put together at one time: so many objects, or so many chunks of points, as make about one batch. */
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource, Parts, Placement } from "../model/source.js";
import type { SelectOptions } from "../model/vectors.js";
import { type Items, isPath } from "./assemble.js";
import { NOTHING } from "./bound.js";
import { chunksIn } from "./candidates.js";
import { hullTest, meeting } from "./hull.js";
import type { Resolved } from "./resolve.js";

const BATCH = 2 ** 18;
const FIRST_WINDOW = 1024; // objects, until it is known how large they are
const ALL = Number.POSITIVE_INFINITY;

/** Chunks of a point cloud without objects. */
export async function* pointWindows({ source, region }: Resolved, options: SelectOptions): AsyncGenerator<Items> {
  const target = options.batchVertices ?? BATCH;
  const chunks = chunksIn(await source.chunks(options), region, source.dims);
  let group: { chunk: number; parts: number }[] = [];
  let vertices = 0;
  const done = (): Items => ({
    rows: new Int32Array(group.length).fill(-1),
    place: {
      offsets: Uint32Array.from({ length: group.length + 1 }, (_, i) => i),
      chunk: Int32Array.from(group, ({ chunk }) => chunk),
      first: new Uint32Array(group.length),
      count: Uint32Array.from(group, ({ parts }) => parts),
    },
  });
  for await (const tile of source.tiles(chunks, NOTHING, options)) {
    if (group.length > 0 && vertices + tile.vertices > target) {
      yield done();
      [group, vertices] = [[], 0];
    }
    group.push({ chunk: tile.chunk, parts: tile.parts.length - 1 });
    vertices += tile.vertices;
  }
  if (group.length > 0) yield done();
}

/** Objects, a window at a time; the next one is as many as should make about `batchVertices`. */
export async function* windows(
  question: Resolved,
  { rows, orphans }: { readonly rows: Uint32Array; readonly orphans: Parts },
  needed: Uint8Array | undefined,
  options: SelectOptions,
): AsyncGenerator<Items> {
  const { source, clip } = question;
  const target = options.batchVertices ?? BATCH;
  const together = target === ALL || (clip !== false && !isPath(source) && source.linkWidth > 0);
  let size = together ? rows.length + orphans.part.length : FIRST_WINDOW;
  const total = rows.length + orphans.part.length;
  for (let from = 0; from < total; ) {
    const to = Math.min(total, from + Math.max(1, size));
    const some = rows.subarray(Math.min(from, rows.length), Math.min(to, rows.length));
    const lone = [Math.max(0, from - rows.length), Math.max(0, to - rows.length)] as const;
    const place = some.length === 0 ? NOWHERE : await source.objects!.place(some, options);
    const items = withOrphans({ rows: Int32Array.from(some), place }, orphans, lone);
    const kept = needed === undefined ? items : await restrict(question, items, needed, options);
    yield kept;
    if (!together) {
      const vertices = await vertexCount(source, kept.place, options);
      size = Math.min(65536, Math.max(1, Math.round(((to - from) * target) / Math.max(1, vertices))));
    }
    from = to;
  }
}

const NOWHERE: Placement = {
  offsets: Uint32Array.of(0),
  chunk: new Int32Array(),
  first: new Uint32Array(),
  count: new Uint32Array(),
};

async function vertexCount(
  source: LevelSource,
  { chunk, first, count }: Placement,
  options: ReadOptions,
): Promise<number> {
  const sizes = new Map<number, Uint32Array>();
  for await (const tile of source.tiles([...new Set(chunk)], NOTHING, options)) sizes.set(tile.chunk, tile.parts);
  let vertices = 0;
  for (let b = 0; b < chunk.length; b++) {
    const parts = sizes.get(chunk[b]!)!;
    vertices += parts[first[b]! + count[b]!]! - parts[first[b]!]!;
  }
  return vertices;
}

function withOrphans({ rows, place }: Items, orphans: Parts, [from, to]: readonly [number, number]): Items {
  if (from >= to) return { rows, place };
  const more = to - from;
  const blocks = place.chunk.length;
  const offsets = new Uint32Array(rows.length + more + 1);
  offsets.set(place.offsets);
  for (let i = 0; i < more; i++) offsets[rows.length + i + 1] = blocks + i + 1;
  const join = <T extends Int32Array | Uint32Array>(a: T, b: T): T => {
    const out = new (a.constructor as new (length: number) => T)(a.length + b.length);
    out.set(a);
    out.set(b, a.length);
    return out;
  };
  return {
    rows: join(rows, new Int32Array(more).fill(-1)),
    place: {
      offsets,
      chunk: join(place.chunk, orphans.chunk.subarray(from, to)),
      first: join(place.first, orphans.part.subarray(from, to)),
      count: join(place.count, new Uint32Array(more).fill(1)),
    },
  };
}

/** For each chunk 1 where it holds something that may lie in the region: it meets it, or an end of a link that does. */
export async function neededChunks(
  { source, region, where, clip }: Resolved,
  options: ReadOptions,
): Promise<Uint8Array> {
  const table = await source.chunks(options);
  const needed = new Uint8Array(table.count);
  for (const chunk of chunksIn(table, region, source.dims)) needed[chunk] = 1;
  const withLinks = clip === true || where?.domains.has("link") === true;
  if (source.linkWidth > 0 && !isPath(source) && withLinks) {
    const meets = meeting(region!);
    for await (const { chunks } of source.links({ meets }, [], options)) for (const chunk of chunks) needed[chunk] = 1;
  }
  return needed;
}

/** Only the blocks that are needed; of paths also those joined across the region. */
async function restrict(
  { source, region }: Resolved,
  { rows, place }: Items,
  needed: Uint8Array,
  options: ReadOptions,
): Promise<Items> {
  const keep = new Uint8Array(place.chunk.length);
  for (let b = 0; b < keep.length; b++) keep[b] = needed[place.chunk[b]!]!;
  if (isPath(source) && region !== undefined) {
    const joined = hullTest(await source.chunks(options), source.dims, meeting(region));
    for (let i = 0; i < rows.length; i++) {
      for (let b = place.offsets[i]! + 1; b < place.offsets[i + 1]!; b++)
        if (joined(place.chunk[b - 1]!, place.chunk[b]!)) keep.fill(1, b - 1, b + 1);
    }
  }
  return chooseBlocks({ rows, place }, keep);
}

function chooseBlocks({ rows, place }: Items, keep: Uint8Array): Items {
  const offsets = new Uint32Array(rows.length + 1);
  const blocks: number[] = [];
  const gaps: number[] = [];
  for (let i = 0; i < rows.length; i++) {
    for (let b = place.offsets[i]!; b < place.offsets[i + 1]!; b++) {
      if (keep[b] === 0) continue;
      gaps.push(b > place.offsets[i]! && keep[b - 1] === 0 ? 1 : 0);
      blocks.push(b);
    }
    offsets[i + 1] = blocks.length;
  }
  return {
    rows,
    gaps: Uint8Array.from(gaps),
    place: {
      offsets,
      chunk: Int32Array.from(blocks, (b) => place.chunk[b]!),
      first: Uint32Array.from(blocks, (b) => place.first[b]!),
      count: Uint32Array.from(blocks, (b) => place.count[b]!),
    },
  };
}
