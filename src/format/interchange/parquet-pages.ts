/** Pages of Parquet columns: what their headers claim is compared with what is there before anything is unpacked, and unpacked by our own codecs. */
import type { ColumnMetaData, Compressors } from "hyparquet";
import { Reader } from "../../bytes/reader.js";
import { loadDeflate } from "../../codec/deflate.js";
import { gzipWith } from "../../codec/gzip.js";
import { loadZstdDecoder } from "../../codec/zstd.js";
import { Corrupt, LimitExceeded } from "../../errors.js";
import { decodeFault, loadKernel } from "../../kernel/index.js";
import { decodedCap, type Limits } from "../../limits.js";
import { builtin } from "../../platform.js";
import { checkLevels, checkValues, type Leaf } from "./parquet-runs.js";
import { readThrift, type ThriftStruct } from "./thrift.js";

const [DATA, DICTIONARY, DATA_2] = [0, 2, 3];

const whole = (value: unknown): number => (typeof value === "number" && Number.isInteger(value) ? value : -1);

/** Looks at what a page has unpacked to. */
export type PageCheck = (unpacked: Uint8Array) => void;

export interface Pages {
  /** Behind the last page of the column. */
  readonly end: number;
  /** By where in the column the bytes begin that are unpacked. */
  readonly checks: ReadonlyMap<number, PageCheck>;
}

/** Corrupt or LimitExceeded where a page is not what its header says. What is packed is looked at when it is unpacked. */
export function checkPages(
  bytes: Uint8Array,
  { num_values, codec }: ColumnMetaData,
  leaf: Leaf,
  rows: number,
  limits: Limits,
  where: string,
): Pages {
  const reader = new Reader(bytes, where);
  const most = Math.max(rows, Number(num_values));
  if (most > limits.chunkBytes / 8)
    throw new LimitExceeded(
      `${where} has ${most} values in a group of rows, at most ${limits.chunkBytes / 8} are read`,
    );
  const checks = new Map<number, PageCheck>();
  let values = 0;
  while (reader.remaining > 0 && values < Number(num_values)) {
    const at = reader.offset;
    const header = readThrift(reader);
    const [type, unpacked, packed] = [header[1], whole(header[2]), whole(header[3])];
    const own = (type === DATA ? header[5] : type === DICTIONARY ? header[7] : type === DATA_2 ? header[8] : {}) as
      | ThriftStruct
      | undefined;
    const count = whole(own?.[1] ?? 0);
    if (own === undefined || count < 0 || unpacked < 0 || packed < 0)
      throw new Corrupt(`${where} has a page at byte ${at} whose header makes no sense`);
    const cap = codec === "UNCOMPRESSED" ? packed : decodedCap(packed, limits);
    if (unpacked > cap)
      throw new LimitExceeded(`${where} has a page at byte ${at} of ${unpacked} bytes, at most ${cap} are unpacked`);
    if (count > most) throw new Corrupt(`${where} has a page at byte ${at} of ${count} values, in a column of ${most}`);
    const text = decodedCap(unpacked, limits);
    const what = `${where}, page at byte ${at}`;
    const start = reader.offset;
    const body = new Reader(reader.bytes(packed), what);
    let check: PageCheck = () => {};
    if (type === DATA)
      check = (page) => {
        const inside = new Reader(page, what);
        if (leaf.repetition > 0) checkLevels(inside, leaf.repetition, count);
        const there = leaf.definition > 0 ? checkLevels(inside, leaf.definition, count) : count;
        checkValues(inside, leaf, { encoding: own[2], version: 1, count: there }, text);
      };
    if (type === DATA_2) {
      const [nulls, definition, repetition] = [whole(own[2]), whole(own[5]), whole(own[6])];
      if (Math.min(nulls, definition, repetition) < 0 || nulls > count || definition + repetition > unpacked)
        throw new Corrupt(
          `${what} has levels of ${repetition} and ${definition} bytes, and ${nulls} nulls of ${count}`,
        );
      if (leaf.repetition > 0) checkLevels(body, leaf.repetition, count, repetition);
      else body.skip(repetition);
      if (leaf.definition > 0) checkLevels(body, leaf.definition, count, definition);
      check = (page) =>
        checkValues(new Reader(page, what), leaf, { encoding: own[4], version: 2, count: count - nulls }, text);
    }
    const isPacked = codec !== "UNCOMPRESSED" && (type !== DATA_2 || own[7] !== false);
    if (isPacked) checks.set(start + body.offset, check);
    else check(body.bytes(body.remaining));
    if (type !== DICTIONARY) values += count;
  }
  return { end: reader.offset, checks };
}

/** Unpackers that look at pages by the buffers of their columns. */
export const checking = (unpackers: Compressors, columns: ReadonlyMap<ArrayBufferLike, Pages>): Compressors =>
  Object.fromEntries(
    Object.entries(unpackers).map(([codec, unpack]) => [
      codec,
      (bytes: Uint8Array, size: number) => {
        const check = columns.get(bytes.buffer)?.checks.get(bytes.byteOffset);
        if (check === undefined) throw new Corrupt(`a page at byte ${bytes.byteOffset} is not where it should be`);
        const page = unpack(bytes, size);
        check(page);
        return page;
      },
    ]),
  );

/** By the names that files have for them; snappy, lz4 and zstd run in the kernel. */
export async function loadUnpackers(limits: Limits): Promise<Compressors> {
  const [kernel, zstd, deflate] = await Promise.all([loadKernel(), loadZstdDecoder(), loadDeflate()]);
  const gzip = gzipWith(deflate);
  const inKernel = (name: "snappyDecode" | "lz4Decode") => (bytes: Uint8Array, size: number) => {
    const room = kernel.reserve(bytes.length + size);
    const target = room.start + bytes.length;
    room.memory.set(bytes, room.start);
    const result = room[name](room.start, bytes.length, target, size);
    if (result !== size) throw new Corrupt(`a page of ${size} bytes is damaged: ${decodeFault(result)}`);
    return room.memory.slice(target, target + size);
  };
  return {
    SNAPPY: inKernel("snappyDecode"),
    LZ4_RAW: inKernel("lz4Decode"),
    GZIP: (bytes, size) => gzip.decompress(bytes, size, limits),
    ZSTD: (bytes, size) => zstd.decompress(bytes, size, limits),
    BROTLI(bytes, size) {
      const zlib = builtin("node:zlib");
      if (zlib === undefined) throw new Error("brotli is not supported here");
      const page = zlib.brotliDecompressSync(bytes, { maxOutputLength: Math.max(1, size) });
      if (page.length !== size) throw new Corrupt(`a page should have ${size} bytes, found ${page.length}`);
      return page;
    },
  };
}
