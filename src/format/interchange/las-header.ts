/**
 * The header of LAS files and what follows it up to the points.
 *
 * | offset | bytes | what                                      | offset | bytes | what                                   |
 * |--------|-------|-------------------------------------------|--------|-------|----------------------------------------|
 * | 0      | 4     | "LASF"                                    | 105    | 2     | bytes of a point                       |
 * | 4      | 2, 2  | source id, global encoding                | 107    | 4, 20 | points, points by return (to 1.3)      |
 * | 8      | 16    | GUID                                      | 131    | 24    | scale of x, y, z                       |
 * | 24     | 1, 1  | version                                   | 155    | 24    | offset of x, y, z                      |
 * | 26     | 32    | system identifier                         | 179    | 48    | max x, min x, max y, min y, max z, min z |
 * | 58     | 32    | generating software                       | 227    | 8     | waveforms (from 1.3)                   |
 * | 90     | 2, 2  | day of the year, year                     | 235    | 8, 4  | extended records: where, how many (1.4) |
 * | 94     | 2, 4  | bytes of the header, where points begin   | 247    | 8     | points (1.4)                           |
 * | 100    | 4     | records that follow the header            | 255    | 120   | points by return (1.4)                 |
 * | 104    | 1     | point format; 128 more: compressed        |        |       |                                        |
 *
 * A record: u16 reserved, 16 bytes user, u16 record id, u16 length (u64 of extended ones, which are at the end of the file), 32 bytes of text, data.
 */
import { Reader } from "../../bytes/reader.js";
import { Corrupt, LimitExceeded, Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { ReadOptions } from "../../model/dataset.js";
import { exactly, type InputFile } from "./file.js";
import { FORMATS } from "./las-fields.js";

export interface LasRecord {
  readonly user: string;
  readonly id: number;
  readonly description: string;
  readonly data: Uint8Array;
  readonly extended: boolean;
}

export interface LasHeader {
  readonly version: readonly [number, number];
  readonly sourceId: number;
  readonly encoding: number;
  readonly guid: Uint8Array;
  readonly system: string;
  readonly software: string;
  readonly day: number;
  readonly year: number;
  readonly pointsAt: number;
  readonly format: number;
  readonly compressed: boolean;
  readonly pointBytes: number;
  readonly points: number;
  readonly scale: readonly number[];
  readonly offset: readonly number[];
  readonly min: readonly number[];
  readonly max: readonly number[];
  readonly records: readonly LasRecord[];
}

const HEADER = 375; // the longest

export async function readLasHeader(file: InputFile, options: ReadOptions): Promise<LasHeader> {
  const { where } = file;
  const start = await file.read(0, HEADER, options);
  const reader = new Reader(start, where);
  if (String.fromCharCode(...reader.bytes(4)) !== "LASF")
    throw new Corrupt(`${where} does not begin with LASF`, { where });
  const [sourceId, encoding] = [reader.u16(), reader.u16()];
  const guid = reader.bytes(16).slice();
  const version = [reader.u8(), reader.u8()] as const;
  if (version[0] !== 1 || version[1] > 4)
    throw new Unsupported(`${where} is LAS ${version.join(".")}, expected 1.0 to 1.4`, { where });
  const [system, software] = [textOf(reader.bytes(32)), textOf(reader.bytes(32))];
  const [day, year] = [reader.u16(), reader.u16()];
  const [headerBytes, pointsAt, count] = [reader.u16(), reader.u32(), reader.u32()];
  const kind = reader.u8();
  const [format, pointBytes] = [kind & 63, reader.u16()];
  const legacy = reader.u32();
  reader.skip(20);
  const three = (): number[] => [reader.f64(), reader.f64(), reader.f64()];
  const [scale, offset] = [three(), three()];
  const bounds = Array.from({ length: 6 }, () => reader.f64());
  if (FORMATS[format] === undefined)
    throw new Unsupported(`${where} has points of format ${format}, expected 0 to 10`, { where });
  if (pointBytes < FORMATS[format].bytes)
    throw new Corrupt(
      `${where} has points of ${pointBytes} bytes; those of format ${format} have ${FORMATS[format].bytes}`,
      { where },
    );
  if (![...scale, ...offset].every(Number.isFinite) || scale.includes(0))
    throw new Corrupt(`${where} has the scale ${scale} and the offset ${offset}, which are no places`, { where });
  let [points, extendedAt, extended] = [legacy, 0, 0];
  if (version[1] >= 4 && headerBytes >= HEADER) {
    reader.seek(235);
    [extendedAt, extended, points] = [reader.size(), reader.u32(), reader.size()];
    if (points === 0) points = legacy;
  }
  const least = version[1] >= 4 ? HEADER : version[1] === 3 ? 235 : 227;
  if (headerBytes < Math.min(least, 227) || pointsAt < headerBytes)
    throw new Corrupt(`${where} has a header of ${headerBytes} bytes and points from byte ${pointsAt} on`, { where });
  const records = await recordsAt(file, headerBytes, pointsAt, count, false, options);
  if (extended > 0) records.push(...(await recordsAt(file, extendedAt, undefined, extended, true, options)));
  const own = {
    version,
    sourceId,
    encoding,
    guid,
    system,
    software,
    day,
    year,
    pointsAt,
    format,
    pointBytes,
    points,
    scale,
    offset,
    records,
  };
  return {
    ...own,
    compressed: kind >= 128,
    max: [bounds[0]!, bounds[2]!, bounds[4]!],
    min: [bounds[1]!, bounds[3]!, bounds[5]!],
  };
}

async function recordsAt(
  file: InputFile,
  start: number,
  end: number | undefined,
  count: number,
  extended: boolean,
  options: ReadOptions,
): Promise<LasRecord[]> {
  const { where } = file;
  const { metadataBytes } = withLimits(options.limits);
  const records: LasRecord[] = [];
  const head = extended ? 60 : 54;
  let total = 0;
  for (let i = 0, at = start; i < count; i++) {
    if (end !== undefined && at + head > end)
      throw new Corrupt(`${where} says that ${count} records follow its header, but the points begin after ${i}`, {
        where,
      });
    const reader = new Reader(await exactly(file, at, head, `record ${i}`, options), where);
    reader.skip(2);
    const user = textOf(reader.bytes(16));
    const [id, length] = [reader.u16(), extended ? reader.size() : reader.u16()];
    const description = textOf(reader.bytes(32));
    at += head;
    if (end !== undefined && at + length > end)
      throw new Corrupt(`${where} has a record ${user} ${id} of ${length} bytes, which reaches into the points`, {
        where,
      });
    // Waveforms and octrees may be long: nobody reads the ones, and the others are read by their pages.
    const wanted = !(user === "LASF_Spec" && id === 65535) && !(user === "copc" && id === 1000);
    total += (wanted ? length : 0) + head;
    if (total > metadataBytes)
      throw new LimitExceeded(`${where} has records of more than ${metadataBytes} bytes`, { where });
    const data = wanted ? (await exactly(file, at, length, `record ${user} ${id}`, options)).slice() : new Uint8Array();
    records.push({ user, id, description, data, extended });
    at += length;
  }
  return records;
}

const textOf = (bytes: Uint8Array): string => {
  const end = bytes.indexOf(0);
  return String.fromCharCode(...bytes.subarray(0, end < 0 ? bytes.length : end));
};

export const recordOf = ({ records }: Pick<LasHeader, "records">, user: string, id: number): LasRecord | undefined =>
  records.find((record) => record.user === user && record.id === id);
