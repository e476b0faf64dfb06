/** Chunks of a level as batches, as they come; beside one that is damaged, the others. */
import { OctavoError } from "../../errors.js";
import type { LevelSource } from "../../model/source.js";
import type { Batch } from "../../model/vectors.js";
import { linkWidthOf } from "../../query/assemble.js";
import { linkedChunks } from "./linked.js";
import { batchOf, columnsOf, type Dress } from "./piece.js";

/** A chunk; where it has links, with vertices of other chunks, and the chunk of each vertex. */
export interface ReadChunk {
  readonly chunk: number;
  readonly batch: Batch;
  readonly places: Int32Array | undefined;
}

export interface ChunkReading {
  readonly source: LevelSource;
  readonly dress: Dress;
  readonly signal: AbortSignal;
  /** Chunks are asked for together. */
  asks(count: number): void;
  takes(read: ReadChunk): void;
  /** One of them is damaged. */
  fails(chunk: number, error: OctavoError): void;
}

/** `apart`: of what has links, without those to chunks that are damaged. */
export async function readChunks(reading: ChunkReading, chunks: readonly number[], apart = false): Promise<void> {
  const { signal } = reading;
  const left = new Set(chunks);
  reading.asks(chunks.length);
  try {
    for await (const read of batches(reading, chunks, apart)) {
      if (signal.aborted) return;
      reading.takes(read);
      left.delete(read.chunk);
    }
  } catch (error) {
    if (signal.aborted || !(error instanceof OctavoError)) throw error;
    await readRest(reading, [...left], apart, error);
  }
}

async function* batches(
  { source, dress, signal }: ChunkReading,
  chunks: readonly number[],
  apart: boolean,
): AsyncGenerator<ReadChunk> {
  if (linkWidthOf(source) > 0) return yield* linkedChunks(source, chunks, dress, apart, { signal });
  const want = { positions: true, vertex: columnsOf(dress, "vertex"), fragment: [] };
  for await (const tile of source.tiles(chunks, want, { signal }))
    yield { chunk: tile.chunk, batch: await batchOf(source, tile, dress, { signal }), places: undefined };
}

/** One of these failed: it is looked for by halves, and the others are read. */
async function readRest(
  reading: ChunkReading,
  left: readonly number[],
  apart: boolean,
  error: OctavoError,
): Promise<void> {
  if (left.length > 1) {
    const half = left.length >> 1;
    await readChunks(reading, left.slice(0, half), apart);
    await readChunks(reading, left.slice(half), apart);
    return;
  }
  // It may be whole itself, and one that it has links to is not.
  if (linkWidthOf(reading.source) > 0 && !apart) return readChunks(reading, left, true);
  for (const chunk of left) reading.fails(chunk, error);
}
