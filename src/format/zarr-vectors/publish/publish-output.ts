/**
 * Where a published store goes. A value is held until it is larger than a page may be; then it goes on piece by piece, so that a
 * shard need not fit in memory. What stays small is remembered for the pack, of large shards the index at their end.
 */
import { concat } from "../../../bytes/concat.js";
import { xxh3 } from "../../../bytes/hash/xxh3.js";
import { forEachConcurrent } from "../../../model/concurrent.js";
import { Key, type Prefix } from "../../../store/key.js";
import { encodePack, type PackPlace, REQUEST } from "../../../store/packed.js";
import type { Sink, Store } from "../../../store/types.js";

const SMALL = 2 * REQUEST; // beyond it, parts are asked for rather than all
const PACK = 64 << 20; // bytes of all that is small, and so of memory
const TAILS = 4 << 20; // bytes of all indexes

/** A value on its way. */
export interface ValueSink {
  write(bytes: Uint8Array): Promise<void>;
  /** `tail` is its last piece, the index of a shard. */
  end(tail: Uint8Array): Promise<void>;
}

export interface Output {
  readonly keys: number;
  readonly bytes: number;
  /** A value at a path; the last `tail` bytes of it are an index. */
  put(path: string, bytes: Uint8Array, tail?: number): Promise<void>;
  begin(path: string): ValueSink;
  /** Writes the pack of all that is small; what `group` gives the same text for is asked for together, and these texts are sorted. */
  pack(group: (path: string) => string): Promise<PackPlace>;
  /** Takes back what was written. */
  undo(): Promise<void>;
}

export function outputTo(store: Store, at: Prefix, signal: AbortSignal | undefined): Output {
  const written = new Set<Key>();
  const small = new Map<string, Uint8Array>();
  const tails: [path: string, size: number, tail: Uint8Array][] = [];
  let [bytes, packed, ends] = [0, 0, 0];

  const keyOf = (path: string): Key => {
    const key = Key.join(at, path);
    written.add(key);
    return key;
  };
  const remember = (path: string, size: number, value: Uint8Array | undefined, tail: Uint8Array): void => {
    bytes += size;
    if (value !== undefined && value.length <= SMALL && packed + size <= PACK) {
      small.set(path, value.slice());
      packed += size;
    } else if (tail.length > 0 && ends + tail.length <= TAILS) {
      tails.push([path, size, tail.slice()]);
      ends += tail.length;
    }
  };
  const put: Output["put"] = async (path, value, tail = 0) => {
    await store.set(keyOf(path), value, { signal });
    remember(path, value.length, value, value.subarray(value.length - tail));
  };

  return {
    get keys() {
      return written.size;
    },
    get bytes() {
      return bytes;
    },
    put,
    begin(path) {
      let held: Uint8Array[] = [];
      let size = 0;
      let sink: Sink | undefined;
      const write = async (piece: Uint8Array): Promise<void> => {
        size += piece.length;
        if (sink !== undefined) return sink.write(piece);
        held.push(piece);
        if (size <= SMALL) return;
        sink = await store.write(keyOf(path), { signal });
        for (const own of held.splice(0)) await sink.write(own);
      };
      return {
        async write(piece) {
          try {
            await write(piece);
          } catch (error) {
            await sink?.abort();
            throw error;
          }
        },
        async end(tail) {
          await write(tail);
          if (sink === undefined) return put(path, concat(held), tail.length);
          await sink.commit();
          held = [];
          remember(path, size, undefined, tail);
        },
      };
    },
    async pack(group) {
      const groups = new Map<string, [string, Uint8Array][]>();
      for (const [path, value] of small) {
        const own = groups.get(group(path));
        if (own === undefined) groups.set(group(path), [[path, value]]);
        else own.push([path, value]);
      }
      const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, values]) => values);
      const { head, body } = await encodePack(sorted, tails);
      const name = `octavo-${xxh3(head).toString(16).padStart(16, "0")}.pack`;
      await store.set(keyOf(name), concat([head, body]), { signal });
      bytes += head.length + body.length;
      return { key: name, head: head.length };
    },
    undo: () => forEachConcurrent(written, 16, (key) => store.delete(key)),
  };
}
