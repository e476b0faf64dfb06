/**
 * Points as arrays of numpy: .npy has the coordinates alone, rows × axes; .npz has them as `positions` and an array for every attribute, all put
 * aside until their lengths are known, then written into the zip file as they are, without packing.
 */
import type { FixedDataType } from "../../bytes/dtype.js";
import { encodeUcs4 } from "../../bytes/text.js";
import { bytesOf } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import type { AttributeInfo, Column } from "../../model/attributes.js";
import { Key } from "../../store/key.js";
import type { Sink } from "../../store/types.js";
import { writeNpy } from "./npy.js";
import { type Spool, spoolIn } from "./spool.js";
import { tableRows } from "./table-write.js";
import type { FileData, FileReport, WriteFileOptions } from "./types.js";
import { put, zip } from "./zip-entries.js";

export async function writeNpyPoints(sink: Sink, data: FileData, options: WriteFileOptions): Promise<FileReport> {
  const spool = spoolIn(options.scratch);
  let [vertices, objects] = [0, 0];
  let size: 4 | 8 | undefined;
  for await (const { positions, ids, repeats } of data.batches({ ...options, attributes: [] })) {
    if (repeats === true) continue;
    size ??= positions instanceof Float64Array ? 8 : 4;
    vertices += positions.length / data.axes.length;
    objects += ids.length;
    await spool.write(bytesOf(positions));
  }
  const dtype = { kind: "float", size: size ?? 4, endian: "little" } as const;
  await sink.write(writeNpy({ shape: [vertices, data.axes.length], dtype, data: new Uint8Array() }));
  await spool.pour(sink);
  const { vertex, object, link } = data.schema;
  const names = [
    ...vertex.map(({ name }) => name),
    ...object.map(({ name }) => `object.${name}`),
    ...link.map(({ name }) => `link.${name}`),
  ];
  const losses =
    names.length === 0 ? [] : [`the attributes ${names.join(", ")}: an .npy file has coordinates; .npz has both`];
  if (data.geometry !== "points") losses.push(`how the vertices of ${data.geometry} are connected: a row is a vertex`);
  if (objects > 0) losses.push("which points belong to which object");
  return { vertices, objects, losses };
}

interface Held {
  readonly info: AttributeInfo;
  readonly dtype: FixedDataType;
  readonly spool: Spool;
}

const TEXT = 4 * 64; // numpy's texts have one length: so many characters, as UCS-4

export async function writeNpzPoints(sink: Sink, data: FileData, options: WriteFileOptions): Promise<FileReport> {
  const table = await tableRows(data, options, undefined, true);
  const axes = data.axes.map(({ name }) => name);
  const { losses } = table;
  let cut = 0;
  const places = table.columns.findIndex(({ name }) => name === axes[0]);
  const positions: Held = entryOf({ ...table.columns[places]!, name: "positions", channels: axes.length }, options);
  const rest = table.columns.filter(({ name }) => !axes.includes(name)).map((info) => entryOf(info, options));
  let rows = 0;
  for await (const { count, columns } of table.rows()) {
    rows += count;
    await positions.spool.write(bytesOf(interleaved(columns.slice(places, places + axes.length), count)));
    const others = columns.filter(({ info }) => !axes.includes(info.name));
    for (const [i, column] of others.entries()) {
      if (column.info.dtype.kind !== "string") await rest[i]!.spool.write(bytesOf(column.values as NumericArray));
      else
        for (const value of column.values as readonly string[]) {
          if (4 * [...value].length > TEXT) cut++;
          await rest[i]!.spool.write(encodeUcs4(value, TEXT));
        }
    }
  }
  if (cut > 0) losses.push(`the end of ${cut} texts of more than ${TEXT / 4} characters`);
  const entries = [];
  for (const { info, dtype, spool } of [positions, ...rest]) {
    const shape = info.channels === 1 ? [rows] : [rows, info.channels];
    const entry = { key: Key.of(`${info.name}.npy`), spool: spoolIn(options.scratch), crc: 0 };
    await put(entry, writeNpy({ shape, dtype, data: new Uint8Array() }));
    await spool.pour({ write: (bytes) => put(entry, bytes) });
    entries.push(entry);
  }
  await zip(sink, entries);
  return { ...table.counts(), losses };
}

function entryOf(info: AttributeInfo, options: WriteFileOptions): Held {
  const { dtype } = info;
  const own: FixedDataType =
    dtype.kind === "string" ? { kind: "utf32", size: TEXT, endian: "little" } : (dtype as FixedDataType);
  return { info, dtype: own, spool: spoolIn(options.scratch) };
}

function interleaved(columns: readonly Column[], count: number): Float32Array | Float64Array {
  const [first] = columns.map(({ values }) => values as Float64Array);
  const out = new (first!.constructor as Float64ArrayConstructor)(count * columns.length);
  for (const [axis, { values }] of columns.entries())
    for (let i = 0, at = axis; i < count; i++, at += columns.length) out[at] = (values as Float64Array)[i]!;
  return out;
}
