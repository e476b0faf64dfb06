/**
 * A file to be read: bytes by place, or all of them in order. What ends in ".gz" is unpacked on the way; going back in such a file
 * means unpacking it again from its start, so that who reads pieces in order pays once.
 */
import { unpackStream } from "../../codec/unpack-stream.js";
import { Corrupt, NotFound, Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { ReadOptions } from "../../model/dataset.js";
import { forwardReader } from "../../store/forward.js";
import type { Key } from "../../store/key.js";
import type { Store } from "../../store/types.js";

export interface InputFile {
  /** For messages. */
  readonly where: string;
  /** The last part of its name, without ".gz". */
  readonly name: string;
  /** The bytes that are read here; undefined of packed files, whose end tells. */
  readonly size: number | undefined;
  /** These bytes; fewer only where the file ends. */
  read(offset: number, length: number, options?: ReadOptions): Promise<Uint8Array>;
  /** All bytes from there on, in pieces. */
  stream(offset?: number, options?: ReadOptions): AsyncGenerator<Uint8Array>;
  readonly store: Store;
  readonly key: Key;
}

/** Bytes by their place, of which it is known how many they are. */
export interface ByteSource {
  readonly size: number;
  /** These bytes; fewer only where they end. */
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** A file as such; those of packed ones are counted. */
export async function sourceOf(file: InputFile, options?: ReadOptions): Promise<ByteSource> {
  let { size } = file;
  if (size === undefined) {
    size = 0;
    for await (const bytes of file.stream(0, options)) size += bytes.length;
  }
  return { size, read: (offset, length) => file.read(offset, length, options) };
}

/** A file as such for what it begins with, where it does not matter how many bytes it has. */
export const begin = (file: InputFile, options?: ReadOptions): ByteSource => ({
  size: file.size ?? Number.POSITIVE_INFINITY,
  read: (offset, length) => file.read(offset, length, options),
});

/** Bytes that are held as such. */
export const heldSource = (bytes: Uint8Array): ByteSource => ({
  size: bytes.length,
  read: async (offset, length) => bytes.subarray(offset, offset + length),
});

/** The bytes from one place up to another. */
export const partOf = ({ read }: ByteSource, from: number, to: number): ByteSource => ({
  size: to - from,
  read: (offset, length) => read(from + offset, Math.max(0, Math.min(length, to - from - offset))),
});

/** The place of a byte, from there on; −1 where there is none. */
export async function placeOf(source: ByteSource, byte: number, from: number): Promise<number> {
  for (let at = from; at < source.size; at += BLOCK) {
    const bytes = await source.read(at, BLOCK);
    const found = bytes.indexOf(byte);
    if (found >= 0) return at + found;
    if (bytes.length === 0) break;
  }
  return -1;
}

const BLOCK = 4 << 20; // bytes that are asked for at once

export async function openFile(store: Store, key: Key, options: ReadOptions = {}): Promise<InputFile> {
  const where = `${store.url}/${key}`;
  const stat = await store.stat(key, { signal: options.signal });
  if (stat === undefined) throw new NotFound(`${where} is not there`, { where });
  const last = key.slice(key.lastIndexOf("/") + 1);
  const plain = plainFile(store, key, where, last, stat.size);
  return /\.gz$/i.test(last) ? unpacked(plain, last.slice(0, -3)) : plain;
}

function plainFile(store: Store, key: Key, where: string, name: string, size: number): InputFile {
  async function read(offset: number, length: number, { signal }: ReadOptions = {}): Promise<Uint8Array> {
    const most = Math.max(0, Math.min(length, size - offset));
    if (most === 0) return new Uint8Array();
    const bytes = await store.get(key, { range: { offset, length: most }, signal });
    if (bytes === undefined) throw new NotFound(`${where} is no longer there`, { where });
    return bytes;
  }
  return {
    where,
    name,
    size,
    store,
    key,
    read,
    async *stream(offset = 0, options) {
      for (let at = offset; at < size; at += BLOCK) yield await read(at, BLOCK, options);
    },
  };
}

function unpacked(packed: InputFile, name: string): InputFile {
  // Of options only limits are those of who began: a signal is of one call.
  const reader = forwardReader(({ limits }: ReadOptions) => gunzip(packed, { limits }));
  const read: InputFile["read"] = (offset, length, options = {}) => reader(offset, length, options);
  return {
    ...packed,
    name,
    size: undefined,
    read,
    async *stream(offset = 0, options) {
      for (let at = offset; ; ) {
        const bytes = await read(at, BLOCK, options);
        if (bytes.length > 0) yield bytes;
        if (bytes.length < BLOCK) return;
        at += bytes.length;
      }
    },
  };
}

/** The unpacked bytes of a gzip file, checked. */
const gunzip = ({ where, stream }: InputFile, options: ReadOptions): AsyncGenerator<Uint8Array> =>
  unpackStream(
    "gzip",
    stream(0, options),
    (cause) => new Corrupt(`${where} is damaged: ${cause.message} where gzip was expected`, { where, cause }),
  );

/** A stretch of a file. */
export interface Range {
  readonly offset: number;
  readonly length: number;
}

/** Its bytes, in pieces. */
export async function* rangeOf(file: InputFile, { offset, length }: Range, options: ReadOptions) {
  let left = length;
  if (left <= 0) return;
  for await (const bytes of file.stream(offset, options)) {
    yield bytes.subarray(0, left);
    left -= bytes.length;
    if (left <= 0) return;
  }
}

/** The file with these bytes, which are all of it. */
export const bytesFile = (file: InputFile, bytes: Uint8Array): InputFile & { readonly size: number } => ({
  ...file,
  size: bytes.length,
  read: async (offset, length) => bytes.subarray(offset, offset + length),
  async *stream(offset = 0) {
    yield bytes.subarray(offset);
  },
});

/** The file with its size: packed ones are gone through for that. */
export async function sized(file: InputFile, options?: ReadOptions): Promise<InputFile & { readonly size: number }> {
  let size = file.size ?? 0;
  if (file.size === undefined) for await (const bytes of file.stream(0, options)) size += bytes.length;
  return { ...file, size };
}

/** Exactly these bytes; Corrupt where the file ends before. */
export async function exactly(
  file: InputFile,
  offset: number,
  length: number,
  what: string,
  options?: ReadOptions,
): Promise<Uint8Array> {
  const bytes = await file.read(offset, length, options);
  if (bytes.length === length) return bytes;
  const { where } = file;
  const found = offset + bytes.length;
  throw new Corrupt(`${where} ends at byte ${found}, within ${what}, which needs ${offset + length}`, { where });
}

export const COPIES = 2; // the bytes of what is read whole, and what is made of them
export const PASSED = 10; // the same, with all that is made of it on its way to a store, where the file need not be held for that

type WholeOptions = ReadOptions & { readonly maxMemory?: number | undefined };

/** Bytes that may be held of what is unpacked and then asked for piece by piece. */
export const roomToHold = ({ limits, maxMemory = Number.POSITIVE_INFINITY }: WholeOptions): number =>
  Math.min(withLimits(limits).resultBytes, Math.floor(maxMemory / COPIES));

/** Everything in one piece, of files that are read whole; Unsupported where that is more than `most` bytes, or than may be held. */
export async function whole(file: InputFile, most: number, options?: WholeOptions): Promise<Uint8Array> {
  const bytes = await wholeWithin(file, most, COPIES, options);
  if (bytes instanceof Unsupported) throw bytes;
  return bytes;
}

/** The same of files that can pass without being held: what would be thrown, where they are too large. */
export const wholeOrPassing = (
  file: InputFile,
  options: WholeOptions,
  most = withLimits(options.limits).resultBytes,
): Promise<Uint8Array | Unsupported> => wholeWithin(file, most, PASSED, options);

/** The bytes of a file; of one that is packed they are counted. */
export async function sizeOf(file: InputFile, options: ReadOptions): Promise<number> {
  if (file.size !== undefined) return file.size;
  let size = 0;
  for await (const bytes of file.stream(0, options)) size += bytes.length;
  return size;
}

async function wholeWithin(
  file: InputFile,
  most: number,
  copies: number,
  options?: WholeOptions,
): Promise<Uint8Array | Unsupported> {
  const room = roomFor(most, copies, options);
  const { where, size } = file;
  const bytes = size !== undefined && size > room ? undefined : await file.read(0, room + 1, options);
  return bytes !== undefined && bytes.length <= room ? bytes : tooLarge(where, size, most, copies, options);
}

const roomFor = (most: number, copies: number, options?: WholeOptions): number =>
  Math.min(most, Math.floor((options?.maxMemory ?? Number.POSITIVE_INFINITY) / copies));

/** Bytes that may be held of a file that can pass. */
export const passingRoom = (options: WholeOptions): number =>
  roomFor(withLimits(options.limits).resultBytes, PASSED, options);

/** What is said of so many bytes, where they can pass and are too many to be held. */
export const refusalOf = (where: string, size: number, options: WholeOptions): Unsupported | undefined =>
  size > passingRoom(options)
    ? tooLarge(where, size, withLimits(options.limits).resultBytes, PASSED, options)
    : undefined;

function tooLarge(
  where: string,
  size: number | undefined,
  most: number,
  copies: number,
  options?: WholeOptions,
): Unsupported {
  const room = roomFor(most, copies, options);
  if (room === most) {
    const hint = "Raise the limit resultBytes, or cut the file.";
    return new Unsupported(`${where} has more than the ${most} bytes that are read at once`, { where, hint });
  }
  const needed = size === undefined ? `more than ${copies * room}` : `about ${copies * size}`;
  const hint =
    copies === COPIES ? "or cut the file" : "or make it a store of Zarr Vectors as it is, which takes little";
  return new Unsupported(
    `${where} is of a kind that is read whole, which takes ${needed} bytes of memory, and ${options?.maxMemory} may be used`,
    { where, hint: `Allow more (--max-memory), ${hint}.` },
  );
}
