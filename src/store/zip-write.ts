/**
 * A zip file that is being written: a store whose values go, one after another, into one value of another store. Nothing is
 * there before `close`, which writes the directory and commits. What has been written stays as it is: zip cannot take back.
 *
 * Values are stored as they are unless told otherwise: chunks are compressed already, and only of stored entries can a part
 * be read. The same values in the same order give the same bytes: no entry has a time.
 */
import { crc32 } from "../bytes/hash/crc.js";
import { encodeUtf8 } from "../bytes/text.js";
import { Writer } from "../bytes/writer.js";
import { loadDeflate } from "../codec/deflate.js";
import { InvalidInput, LimitExceeded, Unsupported } from "../errors.js";
import type { Key } from "./key.js";
import { bufferedSink } from "./sink.js";
import type { SetOptions, Store } from "./types.js";
import { cannot, childrenOf } from "./wrap.js";
import { encodeCommon, Wide, ZipDirectory, type ZipEntry } from "./zip-directory.js";

const MOST = 0xfffffffe; // larger ones need zip64 sizes in their local header, and memory that few have

/** How to write a zip file. */
export interface ZipWriteOptions extends SetOptions {
  /** "deflate" packs those values that become smaller by it. */
  readonly method?: "store" | "deflate" | undefined;
}

/** A zip file on its way. */
export interface ZipWriteStore extends Store {
  /** Writes the directory and makes the file visible. */
  close(): Promise<void>;
  /** Throws everything away; nothing after `close`. */
  abort(): Promise<void>;
}

/** A zip file, to be written once: it is there when the store is closed. */
export async function zipWriteStore(store: Store, key: Key, options: ZipWriteOptions = {}): Promise<ZipWriteStore> {
  const url = `${store.url}/${key}|zip:`;
  const sink = await store.write(key, { if: options.if, signal: options.signal });
  const entries = new Map<Key, ZipEntry>();
  let offset = 0;
  let state: "open" | "closed" | "failed" = "open";
  let last: Promise<unknown> = Promise.resolve(); // entries follow each other, whoever writes them at once

  function add(name: Key, value: Uint8Array, call: SetOptions | undefined): Promise<void> {
    const turn = last.then(async () => {
      call?.signal?.throwIfAborted();
      if (state !== "open") throw new InvalidInput(`${url} is no longer open to write ${name}`, { where: url });
      if (entries.has(name)) throw cannot(`${url}/${name}`, "overwrite");
      const entry = await pack(name, value, offset, options.method ?? "store");
      const head = localHeader(entry);
      try {
        await sink.write(head);
        await sink.write(entry.data);
      } catch (error) {
        state = "failed"; // what reached the sink of this entry is unknown
        throw error;
      }
      const { data, ...described } = entry;
      entries.set(name, described);
      offset += head.length + data.length;
    });
    last = turn.catch(() => {});
    return turn;
  }

  return {
    url,
    can: { list: true, write: true, conditional: false },
    async get(name, call) {
      call?.signal?.throwIfAborted();
      if (!entries.has(name)) return undefined;
      throw new Unsupported(`${url}/${name} cannot be read before the zip file is closed`, { where: url });
    },
    async stat(name, call) {
      call?.signal?.throwIfAborted();
      const entry = entries.get(name);
      return entry && { size: entry.size };
    },
    async *list(prefix, call) {
      call?.signal?.throwIfAborted();
      for (const { key, size } of [...entries.values()]) if (key.startsWith(prefix)) yield { key, size };
    },
    async children(prefix, call) {
      call?.signal?.throwIfAborted();
      return childrenOf(entries.keys(), prefix);
    },
    async set(name, value, call) {
      if (call?.if !== undefined) throw cannot(url, "conditional");
      await add(name, value, call);
    },
    async write(name, call) {
      if (call?.if !== undefined) throw cannot(url, "conditional");
      call?.signal?.throwIfAborted();
      return bufferedSink(`${url}/${name}`, (value) => add(name, value, call));
    },
    async delete(name, call) {
      call?.signal?.throwIfAborted();
      if (entries.has(name)) throw cannot(`${url}/${name}`, "overwrite");
    },
    async close() {
      await last;
      if (state === "closed") return;
      if (state === "failed") {
        await sink.abort();
        throw new InvalidInput(`${url} cannot be finished after a write to it has failed`, { where: url });
      }
      state = "failed"; // until it is done
      try {
        await sink.write(ZipDirectory.encode([...entries.values()], offset));
        await sink.commit();
      } catch (error) {
        await sink.abort();
        throw error;
      }
      state = "closed";
    },
    async abort() {
      await last;
      if (state === "open") state = "failed";
      await sink.abort();
    },
  };
}

async function pack(key: Key, value: Uint8Array, offset: number, method: "store" | "deflate") {
  const name = encodeUtf8(key, "the name");
  if (value.length > MOST)
    throw new LimitExceeded(`${key} has ${value.length} bytes, a zip file takes at most ${MOST} from here`, {
      where: key,
    });
  const packed = method === "deflate" ? (await loadDeflate()).deflate(value, 6) : value;
  const deflated = packed.length < value.length;
  const entry: ZipEntry = {
    key,
    flags: name.length === key.length ? 0 : 1 << 11, // beyond ASCII: the name is UTF-8
    method: deflated ? 8 : 0,
    crc: crc32(value),
    packed: deflated ? packed.length : value.length,
    size: value.length,
    offset,
    nameLength: name.length,
  };
  return { ...entry, data: deflated ? packed : value };
}

/** What comes before the data of an entry; sizes beyond 4 GiB are in its extra field. */
export function localHeader(entry: ZipEntry): Uint8Array {
  const name = encodeUtf8(entry.key, "the name");
  const extra = Wide.encode([entry.size, entry.packed]);
  const out = new Writer();
  out.u32(0x04034b50);
  encodeCommon(out, entry, name.length, extra.length);
  out.bytes(name);
  out.bytes(extra);
  return out.finish();
}
