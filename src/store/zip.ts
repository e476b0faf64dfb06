/**
 * A zip file as a store to read from, wherever the file is: the directory is read once (two requests, if it is not long),
 * then every value with one. A range of a stored entry is a range of the file; of a deflated one the whole is inflated, and
 * the last is kept, or where that is too much it is inflated up to there. The crc is verified whenever a value is read whole.
 *
 * | local header | "PK\3\4", u16 needs, u16 flags, u16 method, u16 time, u16 date, u32 crc, u32 packed, u32 size, u16 name, u16 extra |
 * |--------------|-----------------------------------------------------------------------------------------------------------------|
 * | then         | name, extra, the data                                                                                           |
 */
import { crc32 } from "../bytes/hash/crc.js";
import { Reader } from "../bytes/reader.js";
import { decodeUtf8 } from "../bytes/text.js";
import { loadDeflate } from "../codec/deflate.js";
import { unpackStream } from "../codec/unpack-stream.js";
import { Conflict, Corrupt, LimitExceeded, NotFound, Unsupported } from "../errors.js";
import { type Limits, withLimits } from "../limits.js";
import { type ForwardReader, forwardReader } from "./forward.js";
import type { Key } from "./key.js";
import { spanFor } from "./range.js";
import { type Shared, share } from "./share.js";
import type { CallOptions, Store } from "./types.js";
import { childrenOf, withoutWriting } from "./wrap.js";
import { checkDirectorySize, TAIL, Wide, ZipDirectory, type ZipEntry } from "./zip-directory.js";

/** How to open a zip file. */
export interface ZipOptions extends CallOptions {
  readonly limits?: Partial<Limits> | undefined;
  /** Of larger deflated entries, ranges are inflated as they are asked for, best in order; limits.chunkBytes where nothing is said. */
  readonly most?: number | undefined;
}

const TOGETHER = 1 << 18; // packed bytes that are read together
const SMALL = 1 << 16; // up to here the whole entry costs no more than its header
const LOCAL = 0x04034b50;
const DESCRIBED_LATER = 8;
const ENCRYPTED = 0x2061; // bits 0, 5, 6 and 13: encrypted in one way or another, or a patch

/** Opens the zip file that is the value of `key`. */
export async function zipStore(store: Store, key: Key, options: ZipOptions = {}): Promise<Store> {
  const limits = withLimits(options.limits);
  const where = `${store.url}/${key}`;
  const url = `${where}|zip:`;

  async function bytesAt(offset: number, length: number, call: CallOptions): Promise<Uint8Array> {
    const bytes = await store.get(key, { range: { offset, length }, signal: call.signal });
    if (bytes === undefined) throw new Conflict(`${where} is no longer there`, { where });
    return bytes;
  }

  const file = await store.stat(key, { signal: options.signal });
  if (file === undefined) throw new NotFound(`${where} is not there`, { where });
  const { size } = file;
  const entries = await directory();
  const dataAt = new Map<Key, number>();
  const streams = new Map<Key, ForwardReader<CallOptions>>(); // of entries that are not inflated as a whole
  let inflated: { readonly key: Key; readonly value: Shared<Uint8Array> } | undefined; // the last one

  async function directory(): Promise<Map<Key, ZipEntry>> {
    const start = size - Math.min(size, TAIL);
    const tail = await bytesAt(start, size - start, options);
    let located = ZipDirectory.locate(tail, size, where);
    if ("record" in located)
      located = ZipDirectory.locate64(await bytesAt(located.record, 56, options), located, where);
    checkDirectorySize(located, limits, where);
    const bytes =
      located.offset >= start
        ? tail.subarray(located.offset - start, located.offset - start + located.size)
        : await bytesAt(located.offset, located.size, options);
    return ZipDirectory.parse(bytes, located, where);
  }

  /** The bytes of an entry from its local header on, which is checked: where its data start, and `length` bytes of them. */
  async function fromHeader(entry: ZipEntry, length: number, call: CallOptions) {
    const usual = 30 + entry.nameLength + 64 + length; // extra fields are short as a rule
    let bytes = await bytesAt(entry.offset, Math.min(usual, size - entry.offset), call);
    const lengths = new DataView(bytes.buffer, bytes.byteOffset + 26, 4);
    const start = 30 + lengths.getUint16(0, true) + lengths.getUint16(2, true);
    if (start + length > bytes.length) bytes = await bytesAt(entry.offset, start + length, call);
    checkHeader(bytes.subarray(0, start), entry, `the local header of ${entry.key} in ${where}`);
    dataAt.set(entry.key, entry.offset + start);
    return bytes.subarray(start, start + length);
  }

  /** A whole value: header and data in one request, decoded, with its crc verified. */
  async function whole(entry: ZipEntry, call: CallOptions): Promise<Uint8Array> {
    const { packed, size } = entry;
    const name = `${url}/${entry.key}`;
    if (size > limits.chunkBytes)
      throw new LimitExceeded(`${name} has ${size} bytes, at most ${limits.chunkBytes} are read in one piece`, {
        where: name,
      });
    checkSizes(entry, name);
    const data = await fromHeader(entry, packed, call);
    const value = entry.method === 0 ? data.slice() : await inflate(data, size, name);
    const crc = crc32(value);
    if (crc !== entry.crc) throw new Corrupt(`${name} should have the crc ${entry.crc}, found ${crc}`, { where: name });
    return value;
  }

  /** Where the data of an entry begin. */
  async function startOf(entry: ZipEntry, call: CallOptions): Promise<number> {
    if (!dataAt.has(entry.key)) await fromHeader(entry, 0, call);
    return dataAt.get(entry.key)!;
  }

  /** A deflated entry from its start on. Its crc is verified at its end. */
  async function* inflating(entry: ZipEntry): AsyncGenerator<Uint8Array> {
    const { packed, size, crc } = entry;
    const where = `${url}/${entry.key}`;
    checkSizes(entry, where);
    const start = await startOf(entry, {});
    const source = async function* (): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < packed; at += TOGETHER)
        yield await bytesAt(start + at, Math.min(TOGETHER, packed - at), {});
    };
    const damaged = (cause: Error) => new Corrupt(`${where} is damaged: ${cause.message}`, { where, cause });
    let [found, length] = [0, 0];
    for await (const bytes of unpackStream("deflate-raw", source(), damaged)) {
      found = crc32(bytes, found);
      length += bytes.length;
      if (length > size) break;
      if (length === size && found !== crc)
        throw new Corrupt(`${where} should have the crc ${crc}, found ${found}`, { where }); // who has the last bytes asks for no more
      yield bytes;
    }
    if (length !== size)
      throw new Corrupt(`${where} should inflate to ${size} bytes, found ${length > size ? "more" : length}`, {
        where,
      });
  }

  async function part(entry: ZipEntry, offset: number, length: number, call: CallOptions): Promise<Uint8Array> {
    const { key } = entry;
    if (entry.method === 8 && entry.size > (options.most ?? limits.chunkBytes)) {
      const read = streams.get(key) ?? forwardReader(() => inflating(entry));
      streams.set(key, read);
      return (await read(offset, length, call)).slice();
    }
    if (entry.method === 8) {
      if (inflated?.key !== key || inflated.value.abandoned) {
        const value = share(async (signal) => {
          try {
            return await whole(entry, { signal });
          } catch (error) {
            if (inflated?.value === value) inflated = undefined;
            throw error;
          }
        });
        inflated = { key, value };
      }
      return (await inflated.value.join(call.signal)).slice(offset, offset + length);
    }
    if (entry.packed <= SMALL) return (await whole(entry, call)).slice(offset, offset + length);
    if (entry.packed !== entry.size)
      throw new Corrupt(`${url}/${key} is stored, but its two sizes differ`, { where: `${url}/${key}` });
    return bytesAt((await startOf(entry, call)) + offset, length, call);
  }

  return {
    url,
    can: { list: true, write: false, conditional: false },
    async get(key, call = {}) {
      call.signal?.throwIfAborted();
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      const { offset, length } = spanFor(call, entry.size, `${url}/${key}`);
      if ((entry.flags & ENCRYPTED) !== 0 || (entry.method !== 0 && entry.method !== 8)) {
        const how = (entry.flags & ENCRYPTED) !== 0 ? "encrypted" : `packed with method ${entry.method}`;
        throw new Unsupported(`${url}/${key} is ${how}; stored and deflate are read`, { where: `${url}/${key}` });
      }
      if (call.range === undefined) return whole(entry, call);
      return length === 0 ? new Uint8Array(0) : part(entry, offset, length, call);
    },
    async stat(key, call) {
      call?.signal?.throwIfAborted();
      const entry = entries.get(key);
      return entry && { size: entry.size, version: `${entry.crc.toString(36)}-${entry.size.toString(36)}` };
    },
    async *list(prefix, call) {
      call?.signal?.throwIfAborted();
      for (const { key, size } of entries.values()) if (key.startsWith(prefix)) yield { key, size };
    },
    async children(prefix, call) {
      call?.signal?.throwIfAborted();
      return childrenOf(entries.keys(), prefix);
    },
    ...withoutWriting(url),
    get forbidden() {
      return store.forbidden;
    },
    close: async () => store.close?.(),
  };
}

/** Deflate gives at most 1032 bytes for one: what claims more is refused before anything is read. */
function checkSizes({ method, packed, size }: ZipEntry, where: string): void {
  if (method === 0 ? packed !== size : size > 1032 * packed)
    throw new Corrupt(`${where} claims ${size} bytes, which its ${packed} packed bytes cannot hold`, { where });
}

/** A local header must say what the directory says, except for sizes that follow the data. */
function checkHeader(bytes: Uint8Array, entry: ZipEntry, what: string): void {
  const reader = new Reader(bytes, what);
  const signature = reader.u32();
  reader.skip(2);
  const flags = reader.u16();
  const method = reader.u16();
  reader.skip(4);
  const crc = reader.u32();
  const narrow = { packed: reader.u32(), size: reader.u32(), offset: 0, disk: 0 };
  const nameLength = reader.u16();
  reader.skip(2);
  const name = decodeUtf8(reader.bytes(nameLength), what);
  const { packed, size } = Wide.parse(reader.bytes(reader.remaining), narrow, what);
  const same =
    signature === LOCAL &&
    flags === entry.flags &&
    method === entry.method &&
    name === entry.key &&
    ((flags & DESCRIBED_LATER) !== 0 || (crc === entry.crc && packed === entry.packed && size === entry.size));
  if (!same) throw new Corrupt(`${what} says something else than the directory`, { where: what });
}

async function inflate(data: Uint8Array, size: number, where: string): Promise<Uint8Array> {
  const result = (await loadDeflate()).inflate(data, 0, size, size);
  if (result !== "full" && result.content.length === size && result.end === data.length) return result.content;
  const found = result === "full" ? "more" : `${result.content.length}, ${data.length - result.end} of them unread`;
  throw new Corrupt(`${where} should inflate to ${size} bytes, found ${found}`, { where });
}
