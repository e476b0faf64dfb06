/**
 * LAS, written: 1.4 with points of format 6, 7 or 8, or what the file was that the points came from, with its records, scale and offset. Attributes
 * that LAS has no field for become extra bytes. What must be known before the points (counts, bounds) comes after them, so they are put aside first.
 */
import type { JsonObject } from "../../bytes/json.js";
import { Writer } from "../../bytes/writer.js";
import { Unsupported } from "../../errors.js";
import type { AttributeInfo } from "../../model/attributes.js";
import type { Sink } from "../../store/types.js";
import { EXTRA_TYPES, extraFields, FORMATS, type LasField } from "./las-fields.js";
import { type Grid, putColumn } from "./las-points.js";
import { spoolIn } from "./spool.js";
import { sameDtype } from "./table-types.js";
import { tableRows } from "./table-write.js";
import type { FileData, FileReport, WriteFileOptions } from "./types.js";

interface Kept {
  readonly version: string;
  readonly format: number;
  readonly grid: Grid;
  readonly json: JsonObject;
  readonly records: readonly {
    readonly user: string;
    readonly id: number;
    readonly description: string;
    readonly data: Uint8Array;
    readonly extended: boolean;
  }[];
}

export async function writeLas(sink: Sink, data: FileData, options: WriteFileOptions): Promise<FileReport> {
  const dims = data.axes.length;
  if (dims > 3) throw new Unsupported(`LAS holds points in three dimensions, and ${data.url} has ${dims}`);
  const table = await tableRows(data, options, undefined, true);
  const { losses } = table;
  if (table.columns[0]?.name === "id") losses.push("that points are objects: their ids are an attribute");
  const kept = keptOf(data);
  const axes = data.axes.map(({ name }) => name);
  const rest = table.columns.filter(({ name }) => !axes.includes(name));
  const format = kept?.format ?? formatFor(rest);
  const grid = kept?.grid ?? (await gridFor(data, options));
  const extraRecord = kept?.records.find(({ user, id }) => user === "LASF_Spec" && id === 4)?.data;
  const { fields, bytes: pointBytes, described } = layoutOf(format, rest, extraRecord, losses);
  const spool = spoolIn(options.scratch);
  const [min, max] = [Array<number>(3).fill(Number.POSITIVE_INFINITY), Array<number>(3).fill(Number.NEGATIVE_INFINITY)];
  const returns = new Array<number>(15).fill(0);
  const changes = new Map<string, number>();
  let [points, error] = [0, 0];
  for await (const { count, columns } of table.rows()) {
    options.signal?.throwIfAborted();
    const bytes = new Uint8Array(count * pointBytes);
    const view = new DataView(bytes.buffer);
    for (let axis = 0; axis < dims; axis++) {
      const { values } = columns.find(({ info }) => info.name === axes[axis])!;
      error = Math.max(error, putAxis(view, count, pointBytes, axis, values as Float64Array, grid, min, max, data.url));
    }
    for (const column of columns) {
      const field = fields.get(column.info.name);
      if (field === undefined) continue;
      const changed = putColumn(bytes, count, pointBytes, field, column);
      if (changed > 0) changes.set(column.info.name, (changes.get(column.info.name) ?? 0) + changed);
      if (column.info.name === "return_number") countReturns(column.values as Uint8Array, returns);
    }
    points += count;
    await spool.write(bytes);
  }
  if (error > 0)
    losses.push(
      `coordinates by up to ${Number(error.toPrecision(2))}: LAS has them as multiples of ${grid.scale.join(", ")}`,
    );
  for (const [name, changed] of changes) losses.push(`${changed} values of ${name}, which do not fit its field`);
  const ends = points === 0 ? { min: [0, 0, 0], max: [0, 0, 0] } : { min, max };
  if (dims < 3 && points > 0)
    for (let axis = dims; axis < 3; axis++) ends.min[axis] = ends.max[axis] = grid.offset[axis]!;
  const { front, back } = recordsOf(data, kept, described);
  const { head, tail } = headOf({ kept, format, pointBytes, points, grid, ...ends, returns, front, back });
  await sink.write(head);
  await spool.pour(sink);
  await sink.write(tail);
  return { ...table.counts(), losses };
}

function countReturns(values: ArrayLike<number | bigint>, returns: number[]): void {
  for (let i = 0; i < values.length; i++) {
    const number = Number(values[i]);
    if (number >= 1 && number <= 15) returns[number - 1]!++;
  }
}

/** The header that the data once had, where it is one of LAS. */
function keptOf({ headers }: FileData): Kept | undefined {
  const json = headers.get("las") ?? headers.get("laz");
  const { version, pointFormat, scale, offset, records } = json ?? {};
  if (
    json === undefined ||
    typeof version !== "string" ||
    typeof pointFormat !== "number" ||
    FORMATS[pointFormat] === undefined
  )
    return undefined;
  const grid = { scale: scale as number[], offset: offset as number[] };
  if (![...(grid.scale ?? [0]), ...(grid.offset ?? [0])].every(Number.isFinite) || grid.scale?.length !== 3)
    return undefined;
  const list = (Array.isArray(records) ? records : []) as unknown as {
    user: string;
    id: number;
    description: string;
    data: string;
    extended: boolean;
  }[];
  return { version, format: pointFormat, grid, json, records: list.map((own) => ({ ...own, data: unhex(own.data) })) };
}

const unhex = (text: string): Uint8Array =>
  Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

const formatFor = (infos: readonly AttributeInfo[]): number => {
  const has = (name: string): boolean => infos.some((info) => info.name === name);
  return has("nir") ? 8 : has("red") && has("green") && has("blue") ? 7 : 6;
};

/** Steps of a power of ten, as fine as 31 bits allow, from where the data begin. */
async function gridFor(data: FileData, options: WriteFileOptions): Promise<Grid> {
  let { min, max } = data.bounds;
  if (![...min, ...max].every(Number.isFinite)) {
    const [low, high] = [min.map(() => Number.POSITIVE_INFINITY), max.map(() => Number.NEGATIVE_INFINITY)];
    for await (const { positions, dims } of data.batches({ ...options, attributes: [] }))
      for (let i = 0; i < positions.length; i++) {
        const value = positions[i]!;
        const axis = i % dims;
        if (value < low[axis]!) low[axis] = value;
        if (value > high[axis]!) high[axis] = value;
      }
    [min, max] = [
      low.map((value) => (Number.isFinite(value) ? value : 0)),
      high.map((value) => (Number.isFinite(value) ? value : 0)),
    ];
  }
  const axis = (at: number): [number, number] => {
    const [low = 0, high = 0] = [min[at], max[at]];
    const offset = Math.floor(low);
    const range = Math.max(high - offset, Math.abs(high) * 1e-9, 1e-9);
    return [Number(`1e${-Math.min(15, Math.floor(Math.log10((2 ** 31 - 2) / range)))}`), offset];
  };
  const found = [0, 1, 2].map(axis);
  return { scale: found.map(([scale]) => scale), offset: found.map(([, offset]) => offset) };
}

function putAxis(
  view: DataView,
  count: number,
  pointBytes: number,
  axis: number,
  values: Float32Array | Float64Array,
  { scale, offset }: Grid,
  min: number[],
  max: number[],
  url: string,
): number {
  const [step, origin] = [scale[axis]!, offset[axis]!];
  let [low, high, error] = [min[axis]!, max[axis]!, 0];
  for (let i = 0, at = 4 * axis; i < count; i++, at += pointBytes) {
    const value = values[i]!;
    const whole = Math.round((value - origin) / step);
    if (!(whole >= -(2 ** 31) && whole < 2 ** 31))
      throw new Unsupported(
        `${url} has the coordinate ${value}, which LAS cannot hold in steps of ${step} from ${origin}`,
      );
    view.setInt32(at, whole, true);
    const kept = whole * step + origin;
    error = Math.max(error, Math.abs(kept - value));
    if (kept < low) low = kept;
    if (kept > high) high = kept;
  }
  [min[axis], max[axis]] = [low, high];
  return error;
}

/** Where each column goes: a field of the format, one of the extra bytes that the file had, or new extra bytes. */
function layoutOf(format: number, infos: readonly AttributeInfo[], had: Uint8Array | undefined, losses: string[]) {
  const known = FORMATS[format]!;
  const fields = new Map<string, LasField>();
  const described: Uint8Array[] = [];
  let bytes = known.bytes;
  const old = had === undefined ? [] : extraFields(had, known.bytes, 65535);
  if (old.every(({ info }) => infos.some((own) => own.name === info.name && own.channels === info.channels))) {
    for (const field of old) fields.set(field.info.name, field);
    if (had !== undefined && old.length > 0) described.push(had);
    bytes = old.reduce((end, { info, at, stored }) => Math.max(end, at + stored.size * info.channels), bytes);
  }
  for (const info of infos) {
    const { name, dtype, channels } = info;
    const own = known.fields.find((field) => field.info.name === name);
    if (fields.has(name)) continue;
    if (
      own !== undefined &&
      channels === 1 &&
      (sameDtype(own.info.dtype, dtype) ||
        (own.info.dtype.kind !== "float" && dtype.kind !== "float" && dtype.kind !== "string"))
    ) {
      fields.set(name, own);
      continue;
    }
    const type = EXTRA_TYPES.findIndex((extra) => sameDtype(extra, dtype.kind === "bool" ? EXTRA_TYPES[0]! : dtype));
    const title = own === undefined ? name : `${name}_`;
    if (type < 0 || channels > 3) {
      losses.push(
        `the attribute ${name}, of ${channels > 3 ? `${channels} values` : dtype.kind}, for which LAS has no place`,
      );
      continue;
    }
    if (own !== undefined) losses.push(`the name ${name}, which LAS has for something else: it is ${title} now`);
    const stored = EXTRA_TYPES[type]!;
    fields.set(name, { info: { ...info, name: title }, at: bytes, stored });
    described.push(extraRecord(title, type + 1 + 10 * (channels - 1), info.description ?? "", losses));
    bytes += stored.size * channels;
  }
  return { fields, bytes, described };
}

function extraRecord(name: string, type: number, description: string, losses: string[]): Uint8Array {
  const record = new Uint8Array(192);
  record[2] = type;
  const text = (value: string, at: number): void => {
    const bytes = new TextEncoder().encode(value);
    if (bytes.length > 32) losses.push(`the end of ${JSON.stringify(value)}, of which LAS keeps 32 bytes`);
    record.set(bytes.subarray(0, 32), at);
  };
  text(name, 4);
  text(description, 160);
  return record;
}

/** The records before the points, and those after them. */
function recordsOf({ crs }: FileData, kept: Kept | undefined, described: readonly Uint8Array[]) {
  const records = (kept?.records ?? []).filter(({ user, id }) => !(user === "LASF_Spec" && (id === 4 || id === 65535)));
  const wkt = typeof crs === "string" ? crs : undefined;
  const has = records.some(({ user, id }) => user === "LASF_Projection" && id === 2112);
  if (wkt !== undefined && !has)
    records.push({
      user: "LASF_Projection",
      id: 2112,
      description: "WKT",
      data: new TextEncoder().encode(`${wkt}\0`),
      extended: false,
    });
  const extra = new Uint8Array(described.reduce((sum, own) => sum + own.length, 0));
  let at = 0;
  for (const own of described) {
    extra.set(own, at);
    at += own.length;
  }
  const place = (kept?.records ?? []).findIndex(({ user, id }) => user === "LASF_Spec" && id === 4);
  const description = kept?.records[place]?.description ?? "Extra Bytes Record";
  const own = { user: "LASF_Spec", id: 4, description, data: extra, extended: at > 65535 };
  if (at > 0) records.splice(place < 0 ? records.length : place, 0, own);
  const front = records.filter(({ extended }) => !extended);
  return { front, back: records.filter(({ extended }) => extended) };
}

function headOf(own: {
  readonly kept: Kept | undefined;
  readonly format: number;
  readonly pointBytes: number;
  readonly points: number;
  readonly grid: Grid;
  readonly min: readonly number[];
  readonly max: readonly number[];
  readonly returns: readonly number[];
  readonly front: Kept["records"];
  readonly back: Kept["records"];
}): { head: Uint8Array; tail: Uint8Array } {
  const { kept, format, pointBytes, points, grid, min, max, returns, front, back } = own;
  const json = kept?.json ?? {};
  // What 1.0 to 1.3 cannot say, extended records and points beyond 2^32, is 1.4.
  const minor = format > 5 || points >= 2 ** 32 || back.length > 0 ? 4 : Number((kept?.version ?? "1.4").split(".")[1]);
  const size = minor >= 4 ? 375 : minor === 3 ? 235 : 227;
  const number = (value: unknown): number => (typeof value === "number" ? value : 0);
  const fixed = (writer: Writer, text: unknown, length: number): void => {
    const bytes = new Uint8Array(length);
    bytes.set(
      Array.from(typeof text === "string" ? text : "", (letter) => letter.charCodeAt(0) & 255).slice(0, length),
    );
    writer.bytes(bytes);
  };
  const records = (list: Kept["records"], extended: boolean): Uint8Array => {
    const writer = new Writer();
    for (const { user, id, description, data } of list) {
      writer.u16(0);
      fixed(writer, user, 16);
      writer.u16(id);
      if (extended) writer.size(data.length);
      else writer.u16(data.length);
      fixed(writer, description, 32);
      writer.bytes(data);
    }
    return writer.finish();
  };
  const [before, after] = [records(front, false), records(back, true)];
  const wkt = [...front, ...back].some(({ user, id }) => user === "LASF_Projection" && id === 2112) ? 16 : 0;
  const legacy = format < 6 && points < 2 ** 32;
  const writer = new Writer("little", size + before.length);
  fixed(writer, "LASF", 4);
  writer.u16(number(json.sourceId));
  writer.u16(number(json.encoding) | wkt);
  writer.bytes(typeof json.guid === "string" && json.guid.length === 32 ? unhex(json.guid) : new Uint8Array(16));
  writer.u8(1);
  writer.u8(minor);
  fixed(writer, json.system ?? "OTHER", 32);
  fixed(writer, json.software ?? "octavo", 32);
  writer.u16(number(json.day));
  writer.u16(number(json.year));
  writer.u16(size);
  writer.u32(size + before.length);
  writer.u32(front.length);
  writer.u8(format);
  writer.u16(pointBytes);
  writer.u32(legacy ? points : 0);
  for (let i = 0; i < 5; i++) writer.u32(legacy ? returns[i]! : 0);
  for (const value of [...grid.scale, ...grid.offset]) writer.f64(value);
  for (let axis = 0; axis < 3; axis++) {
    writer.f64(max[axis]!);
    writer.f64(min[axis]!);
  }
  if (minor >= 3) writer.size(0);
  if (minor >= 4) {
    writer.size(back.length > 0 ? size + before.length + points * pointBytes : 0);
    writer.u32(back.length);
    writer.size(points);
    for (const count of returns) writer.size(count);
  }
  writer.bytes(before);
  return { head: writer.finish(), tail: after };
}
