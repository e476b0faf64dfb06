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

/** `codec` is the chunks' own or, for shards, the innermost. */
export interface Coder {
  decode(codec: ChunkCodec, bytes: Uint8Array): ChunkData | Promise<ChunkData>;
  encode(codec: ChunkCodec, data: ChunkData): Uint8Array | Promise<Uint8Array>;
  /** A whole chunk that is a plain file, read by the worker itself; undefined where the store must be asked. */
  decodeFile(codec: ChunkCodec, store: Store, key: Key): Promise<ChunkData | undefined>;
}

interface Options {
  readonly pool?: Pool | undefined;
  readonly signal?: AbortSignal | undefined;
}

export function coderFor(meta: ArrayMeta, limits: Limits, { pool, signal }: Options): Coder {
  const specs = innermost(meta.codecs);
  const workers = pool !== undefined && pool.size > 0 && isFixed(meta.dtype) ? pool : undefined;
  const poolFor = (codec: ChunkCodec): Pool | undefined => (codec.bytes >= WORTH_IT ? workers : undefined);
  return {
    decode(codec, given) {
      const pool = poolFor(codec);
      if (pool === undefined) return codec.decode(given, limits);
      const bytes = alone(given);
      return pool.run(
        "codec.decode",
        { specs, chunk: codec.spec, bytes, limits },
        { signal, transfer: [bytes.buffer] },
      );
    },
    encode(codec, given) {
      const pool = poolFor(codec);
      if (pool === undefined) return codec.encode(given);
      const data = alone(given as Uint8Array);
      return pool.run("codec.encode", { specs, chunk: codec.spec, data }, { signal, transfer: [data.buffer] });
    },
    async decodeFile(codec, store, key) {
      const path = (store as { pathOf?(key: Key): string | undefined }).pathOf?.(key);
      if (path === undefined) return undefined;
      return poolFor(codec)?.run("file.decode", { specs, chunk: codec.spec, path, limits }, { signal });
    },
  };
}

/** The chain of the chunks inside, where there are shards. */
export function innermost(codecs: readonly CodecSpec[]): readonly CodecSpec[] {
  const [first, ...rest] = codecs;
  if (first?.name !== "sharding_indexed" || rest.length > 0) return codecs;
  return innermost(first.configuration.codecs as unknown as CodecSpec[]);
}
