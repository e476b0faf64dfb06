/**
 * Chunks decoded and encoded where the caller wants it: here, or in the workers of a pool. Workers are asked only where that
 * pays: elements of fixed size, and enough of them that handing the bytes over is the smaller part.
 */
import { isFixed } from "../../bytes/dtype.js";
import type { ChunkCodec } from "../../codec/chain.js";
import type { ChunkData, CodecSpec } from "../../codec/types.js";
import type { Limits } from "../../limits.js";
import type { Key } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { alone } from "../../worker/message.js";
import type { Pool } from "../../worker/pool.js";
import type { ArrayMeta } from "./types.js";

const WORTH_IT = 1 << 16;
const ROOM = 16 << 20;

/** What becomes of a decoded chunk, at once: its memory is used again for the next. */
export type Use = (data: ChunkData) => void;

/** `codec` is the chunks' own or, for shards, the innermost. */
export interface Coder {
  decode(codec: ChunkCodec, bytes: Uint8Array, use: Use): void | Promise<void>;
  /** A whole chunk that is a plain file, read by the worker itself; false where the store must be asked. */
  decodeFile(codec: ChunkCodec, store: Store, key: Key, use: Use): Promise<boolean>;
  encode(codec: ChunkCodec, data: ChunkData): Uint8Array | Promise<Uint8Array>;
}

interface Options {
  readonly pool?: Pool | undefined;
  readonly signal?: AbortSignal | undefined;
}

export function coderFor(meta: ArrayMeta, limits: Limits, { pool, signal }: Options): Coder {
  const specs = innermost(meta.codecs);
  const workers = pool !== undefined && pool.size > 0 && isFixed(meta.dtype) ? pool : undefined;
  const poolFor = (codec: ChunkCodec): Pool | undefined => (codec.bytes >= WORTH_IT ? workers : undefined);

  // Memory goes to the workers empty and comes back full, again and again: fresh memory costs more than decoding.
  const spare: Uint8Array<ArrayBuffer>[] = [];
  const takeRoom = ({ bytes }: ChunkCodec): Uint8Array<ArrayBuffer> => {
    const room = spare.pop();
    return room?.length === bytes ? room : new Uint8Array(bytes);
  };
  const useAndKeep = (data: ChunkData, use: Use): void => {
    use(data);
    if (data instanceof Uint8Array) spare.push(alone(data)); // never more than there are chunks under way
  };

  return {
    decode(codec, given, use) {
      const pool = poolFor(codec);
      if (pool === undefined) return use(codec.decode(given, limits, roomHere(codec.bytes)));
      const bytes = alone(given);
      const into = takeRoom(codec);
      const transfer = [bytes.buffer, into.buffer];
      return pool
        .run("codec.decode", { specs, chunk: codec.spec, bytes, limits, into }, { signal, transfer })
        .then((data) => useAndKeep(data, use));
    },
    async decodeFile(codec, store, key, use) {
      const pool = poolFor(codec);
      const path = pool && (store as { pathOf?(key: Key): string | undefined }).pathOf?.(key);
      if (pool === undefined || path === undefined) return false;
      const into = takeRoom(codec);
      const task = { specs, chunk: codec.spec, path, limits, into };
      const data = await pool.run("file.decode", task, { signal, transfer: [into.buffer] });
      if (data !== undefined) useAndKeep(data, use);
      return data !== undefined;
    },
    encode(codec, given) {
      const pool = poolFor(codec);
      if (pool === undefined) return codec.encode(given);
      const data = alone(given as Uint8Array);
      return pool.run("codec.encode", { specs, chunk: codec.spec, data }, { signal, transfer: [data.buffer] });
    },
  };
}

let shared = new ArrayBuffer(0);

/** On this thread all chunks pass through the same memory, one after the other; undefined where that would be a lot to keep. */
function roomHere(bytes: number): Uint8Array | undefined {
  if (bytes > ROOM) return undefined;
  if (shared.byteLength < bytes) shared = new ArrayBuffer(bytes);
  return new Uint8Array(shared, 0, bytes);
}

/** The chain of the chunks inside, where there are shards. */
export function innermost(codecs: readonly CodecSpec[]): readonly CodecSpec[] {
  const [first, ...rest] = codecs;
  if (first?.name !== "sharding_indexed" || rest.length > 0) return codecs;
  return innermost(first.configuration.codecs as unknown as CodecSpec[]);
}
