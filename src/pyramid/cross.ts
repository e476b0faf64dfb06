/**
 * Links from level to level: from every vertex to the one that stands for it on the next coarser level, where its object is there. Of points
 * that is the one of its bin, of everything else the nearest of the same object. A vertex is named by its chunk and its number there.
 */
import { editZarrVectors } from "../format/zarr-vectors/edit/edit.js";
import { openZarrVectors } from "../format/zarr-vectors/index.js";
import type { ZarrVectors } from "../format/zarr-vectors/read/dataset.js";
import { anchorOf, type LevelLinks } from "../format/zarr-vectors/read/link-levels.js";
import type { ReadOptions } from "../model/dataset.js";
import type { ChunkTable, LevelSource, Tile } from "../model/source.js";
import type { Batch } from "../model/vectors.js";
import { Prefix } from "../store/key.js";
import type { Store } from "../store/types.js";
import { nearestOf, type Run } from "./nearest.js";
import type { PyramidOptions } from "./plan.js";
import { binOf } from "./points.js";

/** Links the levels of a store, anew where they are linked. */
export async function linkLevels(
  store: Store,
  at: Prefix = Prefix.root,
  { signal, limits, maxMemory = 512 << 20 }: PyramidOptions = {},
): Promise<void> {
  const reading = { signal, limits };
  const dataset = await openZarrVectors(store, at, reading);
  const transaction = await editZarrVectors(store, at, reading);
  transaction.linkLevels((level) => linksOf(dataset, level, { ...reading, maxMemory }), maxMemory / 2);
  await transaction.commit();
}

/** Those of the vertices of a level. */
async function* linksOf(dataset: ZarrVectors, level: number, options: PyramidOptions): AsyncGenerator<LevelLinks> {
  const { signal, limits, maxMemory = 512 << 20 } = options;
  const reading = { signal, limits };
  const [fine, coarse] = await Promise.all([dataset.source(level, reading), dataset.source(level + 1, reading)]);
  if (fine.objects === undefined || coarse.objects === undefined) {
    yield* linksOfPoints(dataset, fine, coarse, reading);
    return;
  }
  const [above, below] = [await placesIn(fine, reading), await placesIn(coarse, reading)];
  const batchVertices = Math.max(1 << 12, Math.min(1 << 16, Math.floor(maxMemory / 2048)));
  for await (const batch of dataset.select({ level }).batches({ ...reading, attributes: [], batchVertices })) {
    if (batch.repeats === true) continue;
    const others = await dataset.select({ level: level + 1, object: batch.ids }).read({ ...reading, attributes: [] });
    const [from, to] = [runsOf(batch), runsOf(others)];
    const pairs = pairsOf(above.table, below.table);
    const ids = [...to.keys()];
    const [ofFine, ofCoarse] = [await above.of(ids), await below.of(ids)];
    for (const [i, id] of ids.entries()) {
      const nearest = nearestOf(from.get(id)!, to.get(id)!, batch.dims);
      const [a, b] = [ofFine(i), ofCoarse(i)];
      for (let v = 0; v < nearest.length; v++)
        pairs.put(a.chunk[v]!, a.vertex[v]!, b.chunk[nearest[v]!]!, b.vertex[nearest[v]!]!);
    }
    yield pairs.done();
  }
}

/** The vertices of each object in a batch. */
function runsOf({ positions, parts, objects, ids }: Batch): Map<bigint, Run> {
  const runs = new Map<bigint, Run>();
  for (let part = 0; part < objects.length; part++) {
    if (objects[part]! < 0 || parts[part] === parts[part + 1]) continue;
    const id = ids[objects[part]!]!;
    runs.set(id, { positions, from: runs.get(id)?.from ?? parts[part]!, to: parts[part + 1]! });
  }
  return runs;
}

/** The chunk of each vertex of an object, and its number there, in the order in which a query has them. */
async function placesIn(source: LevelSource, options: ReadOptions) {
  const table = await source.chunks(options);
  const parts: Uint32Array[] = [];
  for await (const tile of source.tiles(everything(table), { positions: false, vertex: [], fragment: [] }, options))
    parts[tile.chunk] = tile.parts.slice();
  return {
    table,
    async of(ids: readonly bigint[]) {
      const rows = Uint32Array.from(await source.objects!.rowsOf(ids, options));
      const { offsets, chunk, first, count } = await source.objects!.place(rows, options);
      return (i: number): { readonly chunk: readonly number[]; readonly vertex: readonly number[] } => {
        const [chunks, vertices]: [number[], number[]] = [[], []];
        for (let block = offsets[i]!; block < offsets[i + 1]!; block++) {
          const own = parts[chunk[block]!]!;
          const end = own[first[block]! + count[block]!]!;
          for (let vertex = own[first[block]!]!; vertex < end; vertex++) {
            chunks.push(chunk[block]!);
            vertices.push(vertex);
          }
        }
        return { chunk: chunks, vertex: vertices };
      };
    },
  };
}

const everything = ({ count }: ChunkTable): number[] => Array.from({ length: count }, (_, chunk) => chunk);

/** Bins lie within the chunks of their level. */
async function* linksOfPoints(
  dataset: ZarrVectors,
  fine: LevelSource,
  coarse: LevelSource,
  options: ReadOptions,
): AsyncGenerator<LevelLinks> {
  const [above, below] = [await fine.chunks(options), await coarse.chunks(options)];
  const metas = await Promise.all([fine.level, coarse.level].map((level) => dataset.opened.level(level, options)));
  const bin = metas[1]!.binShape;
  const origin = bin.map(() => 0);
  const within = new Map<number, number[]>();
  for (const chunk of everything(above)) {
    const own = above.coords.subarray(chunk * above.rank, (chunk + 1) * above.rank);
    const other = below.find(anchorOf(own, metas[0]!, metas[1]!));
    within.set(other, [...(within.get(other) ?? []), chunk]);
  }
  const want = { positions: true, vertex: [], fragment: [] };
  const runOf = ({ positions, vertices }: Tile): Run => ({ positions, from: 0, to: vertices });
  for (const [other, chunks] of within) {
    if (other < 0) continue;
    for await (const few of coarse.tiles([other], want, options)) {
      const bins = new Map<number | string, number>();
      for (let v = 0; v < few.vertices; v++) bins.set(binOf(few.positions, coarse.dims, v, origin, bin), v);
      for await (const many of fine.tiles(chunks, want, options)) {
        const nearest = nearestOf(runOf(many), runOf(few), fine.dims); // for whom a rounding has put into another bin
        const pairs = pairsOf(above, below);
        for (let v = 0; v < many.vertices; v++)
          pairs.put(many.chunk, v, other, bins.get(binOf(many.positions, fine.dims, v, origin, bin)) ?? nearest[v]!);
        yield pairs.done();
      }
    }
  }
}

/** Links of two, as they come. */
function pairsOf(above: ChunkTable, below: ChunkTable) {
  const { rank } = above;
  const [chunks, vertices]: number[][] = [[], []];
  return {
    put(chunk: number, vertex: number, other: number, stands: number): void {
      for (let axis = 0; axis < rank; axis++) chunks!.push(above.coords[chunk * rank + axis]!);
      for (let axis = 0; axis < rank; axis++) chunks!.push(below.coords[other * rank + axis]!);
      vertices!.push(vertex, stands);
    },
    done: (): LevelLinks => ({
      path: "links/+1",
      width: 2,
      rank,
      chunks: Int32Array.from(chunks!),
      vertices: Uint32Array.from(vertices!),
    }),
  };
}
