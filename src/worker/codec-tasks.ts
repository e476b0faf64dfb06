/** Chunks through their codecs. A worker keeps the chains that it has loaded, as thousands of chunks share one. */
import { type ChunkCodec, CodecChain } from "../codec/chain.js";
import { withMissingCode } from "../codec/on-demand.js";
import { copyMove, type Move } from "../codec/strided.js";
import type { ChunkData, ChunkSpec, CodecSpec, EncodeOptions } from "../codec/types.js";
import type { Limits } from "../limits.js";

export interface Coding {
  readonly specs: readonly CodecSpec[];
  readonly chunk: ChunkSpec;
}

export interface ChunkTask extends Coding {
  readonly bytes: Uint8Array;
  readonly limits: Limits;
  /** Memory for the result, as many bytes as the chunk has. */
  readonly into?: Uint8Array | undefined;
  readonly place?: Place | undefined;
}

/** A part of the chunk goes into shared memory, and nothing but an empty answer comes back. */
export interface Place {
  readonly result: Uint8Array;
  readonly move: Move;
}

export interface EncodeTask extends Coding {
  readonly data: ChunkData;
  readonly options?: EncodeOptions | undefined;
}

const KEPT = 64;
const loaded = new Map<string, Promise<ChunkCodec>>();

export function codecOf({ specs, chunk }: Coding, decodeOnly: boolean): Promise<ChunkCodec> {
  const key = JSON.stringify([specs, chunk, decodeOnly], (_, value) =>
    typeof value === "bigint" ? `${value}n` : value,
  );
  const known = loaded.get(key);
  if (known !== undefined) return known;
  if (loaded.size === KEPT) loaded.clear();
  const loading = CodecChain.load(specs, undefined, { decodeOnly }).then((chain) => chain.bind(chunk));
  loaded.set(key, loading);
  loading.catch(() => loaded.delete(key));
  return loading;
}

export async function decode(task: ChunkTask): Promise<ChunkData> {
  const codec = await codecOf(task, true);
  return withMissingCode(() => decodeWith(codec, task));
}

export function decodeWith(codec: ChunkCodec, { bytes, limits, into, place, chunk }: ChunkTask): ChunkData {
  if (place === undefined) return codec.decode(bytes, limits, into);
  copyMove(place.result, codec.decode(bytes, limits, "lend"), place.move, chunk.dtype);
  return new Uint8Array(0);
}

export async function encode(task: EncodeTask): Promise<Uint8Array> {
  return (await codecOf(task, false)).encode(task.data, task.options);
}
