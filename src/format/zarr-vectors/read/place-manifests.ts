/**
 * Manifests straight to places in the chunk table, by the kernel: an index of 100,000 is asked for whole by the first box, and the
 * loops that read it would be over before they are compiled. Nearly every index has single fragments only; every other, and
 * what is damaged, has its words in payload/manifest-parse.ts.
 */
import { loadVectorKernel } from "../../../kernel/vectors.js";
import type { Placement } from "../../../model/source.js";
import type { GridTable } from "./chunk-table.js";

/** Places the first `rows` manifests of a vlen chunk; undefined where they are not of the usual kind. */
export type Placer = (bytes: Uint8Array, rows: number) => Placement | undefined;

export async function placerFor({ rank, grid }: GridTable): Promise<Placer> {
  if (grid === undefined) return () => undefined;
  const kernel = await loadVectorKernel();
  return (bytes, rows) => {
    const most = Math.floor(bytes.length / (8 * rank + 9)); // blocks
    const room = kernel.reserve(grid.byteLength + 4 * (rows + 1) + 8 * most + bytes.length);
    const { memory, start, placeManifests } = room;
    if (placeManifests === undefined) return undefined;
    const offsets = start + grid.byteLength;
    const chunks = offsets + 4 * (rows + 1);
    const first = chunks + 4 * most;
    const src = first + 4 * most;
    memory.set(new Uint8Array(grid.buffer, grid.byteOffset, grid.byteLength), start);
    memory.set(bytes, src);
    const blocks = placeManifests(src, bytes.length, rows, rank, start, offsets, chunks, first);
    if (blocks < 0) return undefined;
    const words = (at: number, count: number): ArrayBuffer => memory.slice(at, at + 4 * count).buffer;
    return {
      offsets: new Uint32Array(words(offsets, rows + 1)),
      chunk: new Int32Array(words(chunks, blocks)),
      first: new Uint32Array(words(first, blocks)),
      count: new Uint32Array(blocks).fill(1),
    };
  };
}
