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
import { readThrift, type ThriftStruct } from "./thrift.js";

const [DATA, DICTIONARY, DATA_2] = [0, 2, 3];

const whole = (value: unknown): number => (typeof value === "number" && Number.isInteger(value) ? value : -1);

/** Corrupt or LimitExceeded where a page is not what its header says. */
export function checkPages(
  bytes: Uint8Array,
  { num_values, codec }: ColumnMetaData,
  rows: number,
  limits: Limits,
  where: string,
): void {
  const reader = new Reader(bytes, where);
  const most = Math.max(rows, Number(num_values));
  if (most > limits.chunkBytes / 8)
    throw new LimitExceeded(
      `${where} has ${most} values in a group of rows, at most ${limits.chunkBytes / 8} are read`,
    );
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
    if (type === DATA_2 && whole(own[5] ?? 0) + whole(own[6] ?? 0) > unpacked)
      throw new Corrupt(`${where} has a page at byte ${at} whose levels are longer than it is`);
    if (type !== DICTIONARY) values += count;
    reader.skip(packed);
  }
}

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
