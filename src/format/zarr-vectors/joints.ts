/**
 * The joints of paths, from the manifests: the parts of an object follow each other, so the last vertex of one is joined to the
 * first of the next, in the same chunk or in another.
 */
import type { ReadOptions } from "../../model/dataset.js";
import type { ChunkTable, Joints } from "../../model/source.js";
import { hullTest } from "../../query/hull.js";
import type { ObjectPages } from "./object-pages.js";

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
