/**
 * The directory of a zip file (APPNOTE 6.3): where it is, what it says, how it is written. All numbers are little-endian.
 *
 * | record            | bytes                                                                                             |
 * |-------------------|---------------------------------------------------------------------------------------------------|
 * | end (22 + n)      | "PK\5\6", u16 disk, u16 first disk, u16 entries here, u16 entries, u32 size, u32 offset, u16 n, comment |
 * | locator (20)      | "PK\6\7", u32 disk, u64 offset of end64, u32 disks; just before the end, in zip64                  |
 * | end64 (56 + n)    | "PK\6\6", u64 size of the rest, u16 made by, u16 needs, u32 disk, u32 first disk, u64 entries here, |
 * |                   | u64 entries, u64 size, u64 offset                                                                 |
 * | entry (46 + n)    | "PK\1\2", u16 made by, u16 needs, u16 flags, u16 method, u16 time, u16 date, u32 crc, u32 packed,  |
 * |                   | u32 size, u16 name, u16 extra, u16 comment, u16 disk, u16, u32, u32 offset, name, extra, comment   |
 * | extra field       | u16 id, u16 n, bytes; id 1 holds the u64 of size, packed and offset, those that are 0xffffffff above |
 *
 * Strict, because tools that read the same file differently are how zip files lie: the directory ends where its end record
 * starts, entries do not overlap, no name appears twice or could leave the root.
 */
import { Reader } from "../bytes/reader.js";
import { decodeUtf8, encodeUtf8 } from "../bytes/text.js";
import { Writer } from "../bytes/writer.js";
import { Corrupt, LimitExceeded, Unsupported } from "../errors.js";
import type { Limits } from "../limits.js";
import { Key } from "./key.js";

export interface ZipEntry {
  readonly key: Key;
  /** Bit 0 encrypted · 3 sizes after the data · 5 patch · 6 strongly encrypted · 11 name in UTF-8 · 13 masked. */
  readonly flags: number;
  /** 0 stored, 8 deflate. */
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  /** Of the local header. */
  readonly offset: number;
  readonly nameLength: number;
}

export interface Located {
  readonly offset: number;
  readonly size: number;
  readonly entries: number;
}

/** The zip64 end record starts at `record` and ends at its locator. */
export interface Elsewhere {
  readonly record: number;
  readonly locator: number;
}

export const TAIL = 22 + 0xffff; // the end record and the longest comment
const END = 0x06054b50;
const LOCATOR = 0x07064b50;
const END64 = 0x06064b50;
const ENTRY = 0x02014b50;
const FULL16 = 0xffff;
const FULL32 = 0xffffffff;

/** Where the end record starts in the last bytes of a file. */
function findEnd(tail: Uint8Array, where: string): number {
  const found: number[] = [];
  for (let at = tail.length - 22; at >= 0; at--) {
    if (tail[at] !== 0x50 || tail[at + 1] !== 0x4b || tail[at + 2] !== 5 || tail[at + 3] !== 6) continue;
    if (at + 22 + (tail[at + 20]! | (tail[at + 21]! << 8)) === tail.length) found.push(at);
  }
  if (found.length === 1) return found[0]!;
  throw new Corrupt(`${where} has ${found.length} end records of a zip file in its last bytes, expected one`, {
    where,
  });
}

export const ZipDirectory = {
  /** What the last bytes of a file of `size` bytes say about its directory, or about the zip64 record that knows it. */
  locate(tail: Uint8Array, size: number, where: string): Located | Elsewhere {
    const at = findEnd(tail, where);
    const start = size - tail.length; // of the tail, in the file
    const reader = new Reader(tail, `the end record of ${where}`);
    reader.seek(at + 4);
    const disks = [reader.u16(), reader.u16()];
    const counts = [reader.u16(), reader.u16()];
    const located = { entries: counts[1]!, size: reader.u32(), offset: reader.u32() };
    const is64 = at >= 20 && new DataView(tail.buffer, tail.byteOffset).getUint32(at - 20, true) === LOCATOR;
    if (!is64) {
      if (disks[0] !== 0 || disks[1] !== 0 || counts[0] !== counts[1]) throw split(where);
      return checked(located, start + at, where);
    }
    reader.seek(at - 16);
    const disk = reader.u32();
    const offset64 = reader.size();
    if (reader.u32() > 1 || disk !== 0) throw split(where);
    const elsewhere = { record: offset64, locator: start + at - 20 };
    if (offset64 < start) return elsewhere;
    reader.seek(Math.min(offset64 - start, tail.length));
    return ZipDirectory.locate64(reader.bytes(Math.min(56, reader.remaining)), elsewhere, where);
  },

  locate64(bytes: Uint8Array, { record, locator }: Elsewhere, where: string): Located {
    const reader = new Reader(bytes, `the zip64 end record of ${where}`);
    if (reader.u32() !== END64 || record + 12 + reader.size() !== locator)
      throw new Corrupt(`${where} has no zip64 end record from ${record} to its locator at ${locator}`, { where });
    reader.skip(4);
    if (reader.u32() !== 0 || reader.u32() !== 0) throw split(where);
    const here = reader.size();
    const located = { entries: reader.size(), size: reader.size(), offset: reader.size() };
    if (here !== located.entries) throw split(where);
    return checked(located, record, where);
  },

  parse(bytes: Uint8Array, located: Located, where: string): Map<Key, ZipEntry> {
    const reader = new Reader(bytes, `the directory of ${where}`);
    const entries = new Map<Key, ZipEntry>();
    const starts: { offset: number; end: number }[] = [];
    for (let left = reader.count(located.entries, 46); left > 0; left--) {
      const { name, ...entry } = parseEntry(reader, where);
      starts.push({ offset: entry.offset, end: entry.offset + 30 + entry.nameLength + entry.packed });
      if (name.endsWith("/")) {
        if (entry.size !== 0) throw new Corrupt(`the directory ${name} in ${where} has ${entry.size} bytes`, { where });
        continue;
      }
      if (!Key.is(name))
        throw new Corrupt(`${where} has an entry ${JSON.stringify(name)}, which is no key and could leave the root`, {
          where,
        });
      if (entries.has(name)) throw new Corrupt(`${where} has two entries ${JSON.stringify(name)}`, { where });
      entries.set(name, { key: name, ...entry });
    }
    reader.end();
    starts.sort((a, b) => a.offset - b.offset);
    starts.push({ offset: located.offset, end: 0 });
    for (let i = 1; i < starts.length; i++) {
      if (starts[i - 1]!.end > starts[i]!.offset)
        throw new Corrupt(`the entry at ${starts[i - 1]!.offset} of ${where} reaches into the next one`, { where });
    }
    return entries;
  },

  /** The directory and its end records, to follow what was written up to `offset`. */
  encode(entries: readonly ZipEntry[], offset: number): Uint8Array {
    const out = new Writer();
    for (const entry of entries) encodeEntry(out, entry);
    const size = out.length;
    if (entries.length >= FULL16 || size >= FULL32 || offset >= FULL32) {
      out.u32(END64);
      out.size(44);
      out.u16(45);
      out.u16(45);
      out.u32(0);
      out.u32(0);
      out.size(entries.length);
      out.size(entries.length);
      out.size(size);
      out.size(offset);
      out.u32(LOCATOR);
      out.u32(0);
      out.size(offset + size);
      out.u32(1);
    }
    out.u32(END);
    out.u32(0);
    out.u16(Math.min(entries.length, FULL16));
    out.u16(Math.min(entries.length, FULL16));
    out.u32(Math.min(size, FULL32));
    out.u32(Math.min(offset, FULL32));
    out.u16(0);
    return out.finish();
  },
};

function checked(located: Located, end: number, where: string): Located {
  if (located.offset + located.size !== end) {
    throw new Corrupt(
      `the directory of ${where} should end at its end record at ${end}, but it has ${located.size} bytes at ${located.offset}`,
      { where },
    );
  }
  return located;
}

const split = (where: string) =>
  new Unsupported(`${where} is one part of a zip file that is split over several`, { where });

export function checkDirectorySize(located: Located, limits: Limits, where: string): void {
  if (located.size > limits.chunkBytes) {
    throw new LimitExceeded(
      `the directory of ${where} has ${located.size} bytes, at most ${limits.chunkBytes} are read`,
      { where },
    );
  }
}

function parseEntry(reader: Reader, where: string): Omit<ZipEntry, "key"> & { readonly name: string } {
  const at = reader.offset;
  if (reader.u32() !== ENTRY) throw new Corrupt(`the directory of ${where} has no entry at byte ${at}`, { where });
  reader.skip(4);
  const flags = reader.u16();
  const method = reader.u16();
  reader.skip(4);
  const crc = reader.u32();
  const packed = reader.u32();
  const size = reader.u32();
  const nameLength = reader.u16();
  const extraLength = reader.u16();
  const commentLength = reader.u16();
  const disk = reader.u16();
  reader.skip(6);
  const offset = reader.u32();
  // Without bit 11 the name should be in code page 437, but what is beyond ASCII there is nearly always UTF-8 all the same.
  const name = decodeUtf8(reader.bytes(nameLength), `the name of the entry at ${at} of ${where}`);
  const wide = Wide.parse(reader.bytes(extraLength), { size, packed, offset, disk }, `the entry ${name} of ${where}`);
  reader.skip(commentLength);
  if (wide.disk !== 0) throw split(where);
  return { name, flags, method, crc, packed: wide.packed, size: wide.size, offset: wide.offset, nameLength };
}

interface Wide {
  readonly size: number;
  readonly packed: number;
  readonly offset: number;
  readonly disk: number;
}

/** The numbers of an entry that do not fit into 32 bits, from the extra field with id 1. */
export const Wide = {
  parse(extra: Uint8Array, narrow: Wide, what: string): Wide {
    const needs = [narrow.size, narrow.packed, narrow.offset].includes(FULL32) || narrow.disk === FULL16;
    if (!needs) return narrow;
    const reader = new Reader(extra, `the extra fields of ${what}`);
    while (reader.remaining >= 4) {
      const id = reader.u16();
      const field = reader.bytes(reader.u16());
      if (id !== 1) continue;
      const wide = new Reader(field, `the zip64 field of ${what}`);
      return {
        size: narrow.size === FULL32 ? wide.size() : narrow.size,
        packed: narrow.packed === FULL32 ? wide.size() : narrow.packed,
        offset: narrow.offset === FULL32 ? wide.size() : narrow.offset,
        disk: narrow.disk === FULL16 ? wide.u32() : narrow.disk,
      };
    }
    return narrow; // without the field the numbers are what they are
  },

  encode(numbers: readonly number[]): Uint8Array {
    const wide = numbers.filter((number) => number >= FULL32);
    if (wide.length === 0) return new Uint8Array(0);
    const out = new Writer();
    out.u16(1);
    out.u16(8 * wide.length);
    for (const number of wide) out.size(number);
    return out.finish();
  },

  narrow: (number: number): number => Math.min(number, FULL32),
};

function encodeEntry(out: Writer, entry: ZipEntry): void {
  const name = encodeUtf8(entry.key, "the name");
  const extra = Wide.encode([entry.size, entry.packed, entry.offset]);
  out.u32(ENTRY);
  out.u16((3 << 8) | 45); // made on Unix, so that the permissions below count
  encodeCommon(out, entry, name.length, extra.length);
  out.u16(0);
  out.u16(0);
  out.u16(0);
  out.u32((0o100644 << 16) >>> 0);
  out.u32(Wide.narrow(entry.offset));
  out.bytes(name);
  out.bytes(extra);
}

/** What the local header and the entry in the directory have in common; every file is of the first moment zip knows. */
export function encodeCommon(out: Writer, entry: ZipEntry, nameLength: number, extraLength: number): void {
  out.u16(extraLength > 0 ? 45 : 20);
  out.u16(entry.flags);
  out.u16(entry.method);
  out.u16(0);
  out.u16(0x21); // 1980-01-01
  out.u32(entry.crc);
  out.u32(Wide.narrow(entry.packed));
  out.u32(Wide.narrow(entry.size));
  out.u16(nameLength);
  out.u16(extraLength);
}
