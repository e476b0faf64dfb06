/**
 * The joints of paths, from the manifests: the parts of an object follow each other, so the last vertex of one is joined to the
 * first of the next, in the same chunk or in another. Where the links are known to hold all of these steps, they tell it for the
 * chunks in question alone.
 */
import type { ReadOptions } from "../../../model/dataset.js";
import type { ChunkTable, Joints } from "../../../model/source.js";
import { hullTest } from "../../../query/hull.js";
import { runOf } from "../../../query/links.js";
import type { LinkSource } from "./link-source.js";
import type { ObjectPages } from "./object-pages.js";
import type { OwnerColumn } from "./owner-column.js";
import type { Tiles } from "./tiles.js";

/** Page by page: consecutive blocks of an object, and consecutive parts of a block. */
export async function* jointsOf(
  pages: ObjectPages,
  table: ChunkTable,
  dims: number,
  meets: (min: Float64Array, max: Float64Array) => boolean,
  options?: ReadOptions,
): AsyncGenerator<Joints> {
  const meet = hullTest(table, dims, meets);
  for (let i = 0; i * pages.pageRows < pages.rows; i++) {
    const { offsets, chunk, first, count } = await pages.page(i, options);
    const found = {
      object: [] as number[],
      chunkA: [] as number[],
      partA: [] as number[],
      chunkB: [] as number[],
      partB: [] as number[],
    };
    const add = (object: number, a: number, partA: number, b: number, partB: number): void => {
      found.object.push(object);
      found.chunkA.push(a);
      found.partA.push(partA);
      found.chunkB.push(b);
      found.partB.push(partB);
    };
    for (let o = 0; o + 1 < offsets.length; o++) {
      const row = i * pages.pageRows + o;
      let [lastChunk, lastPart] = [-1, 0];
      for (let b = offsets[o]!; b < offsets[o + 1]!; b++) {
        const c = chunk[b]!;
        if (c < 0 || count[b] === 0) continue;
        if (lastChunk >= 0 && meet(lastChunk, c)) add(row, lastChunk, lastPart, c, first[b]!);
        if (count[b]! > 1 && meet(c, c))
          for (let p = first[b]!; p + 1 < first[b]! + count[b]!; p++) add(row, c, p, c, p + 1);
        [lastChunk, lastPart] = [c, first[b]! + count[b]! - 1];
      }
    }
    if (found.object.length > 0) {
      yield {
        count: found.object.length,
        object: Int32Array.from(found.object),
        chunkA: Int32Array.from(found.chunkA),
        partA: Uint32Array.from(found.partA),
        chunkB: Int32Array.from(found.chunkB),
        partB: Uint32Array.from(found.partB),
      };
    }
  }
}

/** The joints that links say: of each the last vertex of a part and the first of the next, in different chunks. */
export async function* linkedJoints(
  context: {
    readonly links: (options?: ReadOptions) => Promise<LinkSource | undefined>;
    readonly tiles: Tiles;
  },
  column: OwnerColumn,
  rowsOf: (ids: readonly bigint[]) => Promise<Int32Array>,
  meets: (min: Float64Array, max: Float64Array) => boolean,
  options?: ReadOptions,
): AsyncGenerator<Joints> {
  const { tiles } = context;
  const links = await context.links(options);
  if (links === undefined) return;
  for await (const { count, width, chunks, vertices } of links.read({ meets }, [], options)) {
    if (width !== 2 || count === 0) continue;
    const used = [...new Set(chunks)];
    const parts = new Map<number, Uint32Array>();
    for await (const tile of tiles.read(used, { positions: false, vertex: [], fragment: [] }, options))
      parts.set(tile.chunk, tile.parts);
    const owners = await column.ids(used, options);
    const [chunkA, chunkB] = [new Int32Array(count), new Int32Array(count)];
    const [partA, partB] = [new Uint32Array(count), new Uint32Array(count)];
    const ids: bigint[] = [];
    for (let l = 0; l < count; l++) {
      [chunkA[l], chunkB[l]] = [chunks[2 * l]!, chunks[2 * l + 1]!];
      partA[l] = runOf(parts.get(chunkA[l]!)!, vertices[2 * l]!);
      partB[l] = runOf(parts.get(chunkB[l]!)!, vertices[2 * l + 1]!);
      ids.push(owners.get(chunkA[l]!)![partA[l]!] ?? -1n);
    }
    const object = await rowsOf(ids);
    const own = object.reduce((sum, row) => sum + (row >= 0 ? 1 : 0), 0);
    if (own === count) yield { count, object, chunkA, partA, chunkB, partB };
    else {
      const keep = Array.from(object.keys()).filter((l) => object[l]! >= 0);
      const pick = <T extends Int32Array | Uint32Array>(from: T): T => from.filter((_, l) => object[l]! >= 0) as T;
      yield {
        count: keep.length,
        object: pick(object),
        chunkA: pick(chunkA),
        partA: pick(partA),
        chunkB: pick(chunkB),
        partB: pick(partB),
      };
    }
  }
}
