/** A zip file of entries that are put aside until their lengths are known, then written one after the other as they are, without packing. */
import { crc32 } from "../../bytes/hash/crc.js";
import { encodeUtf8 } from "../../bytes/text.js";
import type { Key } from "../../store/key.js";
import type { Sink } from "../../store/types.js";
import { ZipDirectory, type ZipEntry } from "../../store/zip-directory.js";
import { localHeader } from "../../store/zip-write.js";
import type { Spool } from "./spool.js";

/** An entry on its way. */
export interface Entry {
  readonly key: Key;
  readonly spool: Spool;
  crc: number;
}

export async function put(to: Entry, bytes: Uint8Array): Promise<void> {
  to.crc = crc32(bytes, to.crc);
  await to.spool.write(bytes);
}

export async function zip(sink: Sink, entries: readonly Entry[]): Promise<void> {
  const done: ZipEntry[] = [];
  let offset = 0;
  for (const { key, spool, crc } of entries) {
    const size = spool.length;
    const nameLength = encodeUtf8(key, "the name").length;
    const flags = nameLength === key.length ? 0 : 1 << 11;
    const entry = { key, flags, method: 0, crc, packed: size, size, offset, nameLength };
    const head = localHeader(entry);
    await sink.write(head);
    await spool.pour(sink);
    done.push(entry);
    offset += head.length + size;
  }
  await sink.write(ZipDirectory.encode(done, offset));
}
