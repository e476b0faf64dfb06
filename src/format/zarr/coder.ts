/**
 * Chunks decoded into a result and encoded from values, where the caller wants it: here, or in the workers of a pool. Workers
 * are asked only where that pays: elements of fixed size, and enough of them that handing the bytes over is the smaller part.
 *
 * A chunk on its way passes through memory that is used again (codec/room.ts). Where the result lies in shared memory, a
 * worker puts the elements there itself, and this thread copies nothing.
 */
import { isFixed } from "../../bytes/dtype.js";
import type { ChunkCodec } from "../../codec/chain.js";
import { outOfRoom, roomHere } from "../../codec/room.js";
import { copyMove, type Move } from "../../codec/strided.js";
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
  /** Decodes a chunk and moves a part of it into the result. */
  decode(codec: ChunkCodec, bytes: Uint8Array, move: Move): void | Promise<void>;
  /** The same with a whole chunk that is a plain file, read by the worker itself; false where the store must be asked. */
  decodeFile(codec: ChunkCodec, store: Store, key: Key, move: Move): Promise<boolean>;
  /** Memory for the elements of a chunk, with anything in it; it goes to `encode` before anything else is waited for. */
  room(codec: ChunkCodec): Uint8Array;
  encode(codec: ChunkCodec, data: ChunkData): Uint8Array | Promise<Uint8Array>;
}

interface Options {
  readonly pool?: Pool | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Of an array: what its chunks go through, and what they are made of. */
type Coded = Pick<ArrayMeta, "codecs" | "dtype">;

export function coderFor(meta: Coded, limits: Limits, { pool, signal }: Options, result?: ChunkData): Coder {
  const specs = innermost(meta.codecs);
  const workers = pool !== undefined && pool.size > 0 && isFixed(meta.dtype) ? pool : undefined;
  const poolFor = (codec: ChunkCodec): Pool | undefined => (codec.bytes >= WORTH_IT ? workers : undefined);

  // Memory goes to the workers empty and comes back full, again and again: never more than there are chunks under way.
  const spare: Uint8Array<ArrayBuffer>[] = [];
  const takeRoom = ({ bytes }: ChunkCodec): Uint8Array<ArrayBuffer> => {
    const room = spare.pop();
    return room?.length === bytes ? room : new Uint8Array(bytes);
  };
  const shared = result !== undefined && isShared(result) ? result : undefined;
  /** How the worker hands the elements over, and what is transferred for that. */
  const delivery = (codec: ChunkCodec, move: Move) => {
    if (shared !== undefined) return { ask: { place: { result: shared, move } }, buffers: [] };
    const into = takeRoom(codec);
    return { ask: { into }, buffers: [into.buffer] };
  };
  const receive = (data: ChunkData, move: Move): void => {
    if (shared !== undefined) return;
    copyMove(result!, data, move, meta.dtype);
    if (data instanceof Uint8Array) spare.push(alone(data));
  };

  // For encoding, workers read shared memory, so that it can stay here. Without that, each chunk is handed over in its own.
  const staged: Uint8Array<SharedArrayBuffer>[] = [];

  return {
    decode(codec, given, move) {
      const pool = poolFor(codec);
      if (pool === undefined) return copyMove(result!, codec.decode(given, limits, "lend"), move, meta.dtype);
      const bytes = alone(given);
      const { ask, buffers } = delivery(codec, move);
      return pool
        .run(
          "codec.decode",
          { specs, chunk: codec.spec, bytes, limits, ...ask },
          { signal, transfer: [bytes.buffer, ...buffers] },
        )
        .then((data) => receive(data, move));
    },
    async decodeFile(codec, store, key, move) {
      const pool = poolFor(codec);
      const path = pool && (store as { pathOf?(key: Key): string | undefined }).pathOf?.(key);
      if (pool === undefined || path === undefined) return false;
      const { ask, buffers } = delivery(codec, move);
      const task = { specs, chunk: codec.spec, path, limits, ...ask };
      const data = await pool.run("file.decode", task, { signal, transfer: buffers });
      if (data !== undefined) receive(data, move);
      return data !== undefined;
    },
    room(codec) {
      if (poolFor(codec) === undefined) return roomHere(codec.bytes);
      if (typeof SharedArrayBuffer === "undefined") return new Uint8Array(codec.bytes);
      const room = staged.pop();
      return room?.length === codec.bytes ? room : new Uint8Array(new SharedArrayBuffer(codec.bytes));
    },
    encode(codec, data) {
      const pool = poolFor(codec);
      if (pool === undefined) return outOfRoom(codec.encode(data));
      const task = { specs, chunk: codec.spec };
      if (!isShared(data)) {
        const given = alone(data as Uint8Array);
        return pool.run("codec.encode", { ...task, data: given }, { signal, transfer: [given.buffer] });
      }
      return pool.run("codec.encode", { ...task, data }, { signal }).then((bytes) => {
        staged.push(data);
        return bytes;
      });
    },
  };
}

const isShared = (data: ChunkData): data is Uint8Array<SharedArrayBuffer> =>
  typeof SharedArrayBuffer !== "undefined" && data instanceof Uint8Array && data.buffer instanceof SharedArrayBuffer;

/** The chain of the chunks inside, where there are shards. */
export function innermost(codecs: readonly CodecSpec[]): readonly CodecSpec[] {
  const [first, ...rest] = codecs;
  if (first?.name !== "sharding_indexed" || rest.length > 0) return codecs;
  return innermost(first.configuration.codecs as unknown as CodecSpec[]);
}
