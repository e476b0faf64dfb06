/**
 * The fields of LAS points, by point format, under the names that laspy has for them.
 *
 * | format | bytes | after x, y, z                                                        |
 * |--------|-------|----------------------------------------------------------------------|
 * | 0      | 20    | intensity, returns (3 bits each), flags, class (5 bits), angle (int8)  |
 * | 1, 3   | 28/34 | + gps_time · + colours (3)                                           |
 * | 2      | 26    | + colours                                                            |
 * | 4, 5   | 57/63 | 1 and 3 + waveform                                                   |
 * | 6      | 30    | intensity, returns (4 bits each), flags, channel, class, angle (int16), gps_time |
 * | 7, 8   | 36/38 | + colours · + near infrared                                          |
 * | 9, 10  | 59/67 | 6 and 8 + waveform                                                   |
 *
 * Extra bytes follow; record LASF_Spec 4 says what they are, 192 bytes for each.
 */
import type { FixedDataType } from "../../bytes/dtype.js";
import { Reader } from "../../bytes/reader.js";
import type { AttributeInfo } from "../../model/attributes.js";

export interface LasField {
  readonly info: AttributeInfo;
  readonly at: number;
  /** Within the byte at `at`: lowest bit and how many. */
  readonly bits?: readonly [number, number] | undefined;
  /** Value × scale + offset is the value, of each channel. */
  readonly scale?: readonly number[] | undefined;
  readonly offset?: readonly number[] | undefined;
  /** How it lies in the file, where that is not `info.dtype`. */
  readonly stored: FixedDataType;
}

const little = "little" as const;
const U8 = { kind: "uint", size: 1, endian: little } as const;
const U16 = { kind: "uint", size: 2, endian: little } as const;
const F32 = { kind: "float", size: 4, endian: little } as const;
const F64 = { kind: "float", size: 8, endian: little } as const;
const BOOL = { kind: "bool", size: 1 } as const;

const field = (name: string, dtype: FixedDataType, at: number, bits?: readonly [number, number]): LasField => ({
  info: { name, dtype, channels: 1 },
  at,
  bits,
  stored: dtype.kind === "bool" ? U8 : dtype,
});

const OLD = [
  field("intensity", U16, 12),
  field("return_number", U8, 14, [0, 3]),
  field("number_of_returns", U8, 14, [3, 3]),
  field("scan_direction_flag", BOOL, 14, [6, 1]),
  field("edge_of_flight_line", BOOL, 14, [7, 1]),
  field("classification", U8, 15, [0, 5]),
  field("synthetic", BOOL, 15, [5, 1]),
  field("key_point", BOOL, 15, [6, 1]),
  field("withheld", BOOL, 15, [7, 1]),
  field("scan_angle_rank", { kind: "int", size: 1, endian: little }, 16),
  field("user_data", U8, 17),
  field("point_source_id", U16, 18),
];
const NEW = [
  field("intensity", U16, 12),
  field("return_number", U8, 14, [0, 4]),
  field("number_of_returns", U8, 14, [4, 4]),
  field("synthetic", BOOL, 15, [0, 1]),
  field("key_point", BOOL, 15, [1, 1]),
  field("withheld", BOOL, 15, [2, 1]),
  field("overlap", BOOL, 15, [3, 1]),
  field("scanner_channel", U8, 15, [4, 2]),
  field("scan_direction_flag", BOOL, 15, [6, 1]),
  field("edge_of_flight_line", BOOL, 15, [7, 1]),
  field("classification", U8, 16),
  field("user_data", U8, 17),
  field("scan_angle", { kind: "int", size: 2, endian: little }, 18),
  field("point_source_id", U16, 20),
  field("gps_time", F64, 22),
];
const gps = (at: number) => [field("gps_time", F64, at)];
const colours = (at: number) => ["red", "green", "blue"].map((name, i) => field(name, U16, at + 2 * i));
const wave = (at: number) => [
  field("wavepacket_index", U8, at),
  field("wavepacket_offset", { kind: "uint", size: 8, endian: little }, at + 1),
  field("wavepacket_size", { kind: "uint", size: 4, endian: little }, at + 9),
  ...["return_point_wave_location", "x_t", "y_t", "z_t"].map((name, i) => field(name, F32, at + 13 + 4 * i)),
];
const format = (bytes: number, ...fields: readonly (readonly LasField[])[]) => ({ bytes, fields: fields.flat() });

export const FORMATS: readonly { readonly bytes: number; readonly fields: readonly LasField[] }[] = [
  format(20, OLD),
  format(28, OLD, gps(20)),
  format(26, OLD, colours(20)),
  format(34, OLD, gps(20), colours(28)),
  format(57, OLD, gps(20), wave(28)),
  format(63, OLD, gps(20), colours(28), wave(34)),
  format(30, NEW),
  format(36, NEW, colours(30)),
  format(38, NEW, colours(30), [field("nir", U16, 36)]),
  format(59, NEW, wave(30)),
  format(67, NEW, colours(30), [field("nir", U16, 36)], wave(38)),
];

const EXTRA = 192;
/** By their numbers from 1 on; 10 more are pairs of them, 20 more are three. */
export const EXTRA_TYPES: readonly FixedDataType[] = [
  U8,
  { kind: "int", size: 1, endian: little },
  U16,
  { kind: "int", size: 2, endian: little },
  { kind: "uint", size: 4, endian: little },
  { kind: "int", size: 4, endian: little },
  { kind: "uint", size: 8, endian: little },
  { kind: "int", size: 8, endian: little },
  F32,
  F64,
];

/** The fields that extra bytes are; bytes that nothing describes are left out. */
export function extraFields(record: Uint8Array | undefined, from: number, pointBytes: number): LasField[] {
  const fields: LasField[] = [];
  const names = new Set<string>();
  let at = from;
  for (let start = 0; record !== undefined && start + EXTRA <= record.length; start += EXTRA) {
    const reader = new Reader(record.subarray(start, start + EXTRA), "the description of extra bytes");
    reader.skip(2);
    const [type, options] = [reader.u8(), reader.u8()];
    const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).replace(/\0.*$/s, "");
    const name = text(reader.bytes(32));
    if (type === 0 || type > 30) {
      at += options;
      continue;
    }
    const dtype = EXTRA_TYPES[(type - 1) % 10]!;
    const channels = 1 + Math.floor((type - 1) / 10);
    if (at + dtype.size * channels > pointBytes || name === "" || names.has(name)) break;
    names.add(name);
    reader.seek(112);
    const three = (): number[] => [reader.f64(), reader.f64(), reader.f64()];
    const [scale, offset] = [three(), three()];
    const description = text(reader.bytes(32));
    const scaled = (options & 24) !== 0;
    fields.push({
      info: { name, dtype: scaled ? F64 : dtype, channels, ...(description !== "" && { description }) },
      at,
      stored: dtype,
      ...(scaled && { scale: options & 8 ? scale : [1, 1, 1], offset: options & 16 ? offset : [0, 0, 0] }),
    });
    at += dtype.size * channels;
  }
  return fields;
}
