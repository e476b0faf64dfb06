/** Writes TRX; trx.ts has the table. Every array is put aside until its length is known, then the zip file is written entry by entry. */
import type { FixedDataType } from "../../bytes/dtype.js";
import { halfToNumber, numberToHalf } from "../../bytes/half.js";
import { type JsonObject, stringifyJson } from "../../bytes/json.js";
import { encodeUtf8 } from "../../bytes/text.js";
import { bytesOf } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import { type AttributeInfo, type Column, lostUnit } from "../../model/attributes.js";
import type { Columns, Positions } from "../../model/vectors.js";
import { absentColumn, padded, pick } from "../../query/columns.js";
import { Key } from "../../store/key.js";
import type { Sink } from "../../store/types.js";
import { type Ids, rowFinder } from "../rows/row-source.js";
import { spoolIn } from "./spool.js";
import { imageOf, isNumeric, Losses, type PathBatch, pathBatches, tellUnheld } from "./streamlines-write.js";
import type { FileData, FileReport, WriteFileOptions } from "./types.js";
import { type Entry, put, zip } from "./zip-entries.js";

type PerRow = Entry & { readonly info: AttributeInfo };

/** A type by the name that numpy has for it. */
export const typeName = ({ kind, size }: FixedDataType): string => (kind === "bool" ? "bit" : `${kind}${8 * size}`);

export async function writeTrx(sink: Sink, data: FileData, options: WriteFileOptions): Promise<FileReport> {
  const losses = new Losses();
  const known = data.headers.get("trx") ?? {};
  const entries: Entry[] = [];
  const entry = (name: string): Entry => {
    const own = { key: Key.of(name), spool: spoolIn(options.scratch), crc: 0 };
    entries.push(own);
    return own;
  };
  const attributes = (folder: string, infos: readonly AttributeInfo[]): PerRow[] => {
    const taken = new Set<string>();
    const held = infos.filter((info) => isHeld(info, losses));
    return held.map((info) => Object.assign(entry(`${folder}/${fileName(info, taken, losses)}`), { info }));
  };
  tellUnheld(data, ["fragment", "link"], losses);
  const perVertex = attributes("dpv", data.schema.vertex);
  const perObject = attributes("dps", data.schema.object);
  const isNarrow = known.offsets_dtype === "uint32";
  const offsets = entry(`offsets.${isNarrow ? "uint32" : "uint64"}`);
  let positions: Entry | undefined;
  let [vertices, objects] = [0, 0];
  const ids: Ids[] = [];
  await put(offsets, offsetBytes(Uint32Array.of(0), 0, isNarrow));
  for await (const batch of pathBatches(data, options, losses)) {
    const half = known.positions_dtype === "float16";
    positions ??= entry(
      `positions.3.${half ? "float16" : batch.positions instanceof Float32Array ? "float32" : "float64"}`,
    );
    await put(positions, half ? halves(batch.positions, losses) : bytesOf(batch.positions));
    await put(offsets, offsetBytes(batch.parts.subarray(1), vertices, isNarrow));
    const count = batch.positions.length / 3;
    for (const own of perVertex) await put(own, bytesOf(valuesOf(batch.vertexColumns, own.info, count)));
    for (const own of perObject) await put(own, bytesOf(ofPaths(batch, own.info)));
    ids.push(idsOf(batch));
    vertices += count;
    objects += batch.paths;
  }
  positions ??= entry("positions.3.float32");
  await putGroups(data, joined(ids), entry, losses);
  const { affine, dimensions } = imageOf(data.headers, options.reference, losses);
  const { positions_dtype: _p, offsets_dtype: _o, ...kept } = known;
  const header: JsonObject = {
    ...kept,
    DIMENSIONS: [...dimensions],
    VOXEL_TO_RASMM: [0, 4, 8, 12].map((row) => affine.slice(row, row + 4)),
    NB_VERTICES: vertices,
    NB_STREAMLINES: objects,
  };
  await put(entry("header.json"), encodeUtf8(stringifyJson(header), "the header"));
  await zip(sink, entries);
  return { vertices, objects, losses: losses.sentences };
}

function isHeld(info: AttributeInfo, losses: Losses): boolean {
  const isHeld = isNumeric(info);
  for (const loss of isHeld ? lostUnit(info) : [`the attribute ${info.name}, which is no number`]) losses.tell(loss);
  return isHeld;
}

/** The name of an attribute as the name of a file, which dots and slashes would end. */
function fileName(info: AttributeInfo, taken: Set<string>, losses: Losses): string {
  const name = plainName(info.name, taken);
  if (name !== info.name) losses.tell(`the name ${info.name}, which cannot be that of an entry: it is ${name}`);
  return `${name}${info.channels > 1 ? `.${info.channels}` : ""}.${typeName(info.dtype as FixedDataType)}`;
}

function plainName(text: string, taken: Set<string>): string {
  const plain = text.replace(/[./\\\p{C}]/gu, "_") || "_";
  let name = plain;
  for (let n = 2; taken.has(name); n++) name = `${plain}_${n}`;
  taken.add(name);
  return name;
}

const valuesOf = (columns: Columns, info: AttributeInfo, rows: number): NumericArray =>
  (columns.get(info.name) ?? absentColumn(info, rows)).values as NumericArray;

/** A row for each path: that of its object. */
function ofPaths({ objectColumns, objects, ids, paths }: PathBatch, info: AttributeInfo): NumericArray {
  const isPlain = paths === ids.length && objects.every((row, path) => row === path);
  if (isPlain) return valuesOf(objectColumns, info, paths);
  const { values } = padded(objectColumns.get(info.name), info, ids.length + 1); // the last one is that of paths without an object
  return pick(
    values,
    info.channels,
    objects.map((row) => (row < 0 ? ids.length : row)),
  ) as NumericArray;
}

/** The id of each path's object; −1 where it has none. */
function idsOf({ objects, ids }: PathBatch): Ids {
  const out = new (ids.constructor as new (length: number) => Ids)(objects.length);
  for (let path = 0; path < objects.length; path++) out[path] = objects[path]! < 0 ? -1n : ids[objects[path]!]!;
  return out;
}

function offsetBytes(ends: Uint32Array, before: number, isNarrow: boolean): Uint8Array {
  if (isNarrow) return bytesOf(ends.map((end) => before + end));
  const words = new Uint32Array(2 * ends.length);
  for (let i = 0; i < ends.length; i++) {
    const end = before + ends[i]!;
    words[2 * i] = end >>> 0;
    words[2 * i + 1] = Math.floor(end / 2 ** 32);
  }
  return bytesOf(words);
}

function halves(positions: Positions, losses: Losses): Uint8Array {
  const out = new Uint16Array(positions.length);
  for (let i = 0; i < out.length; i++) {
    out[i] = numberToHalf(positions[i]!);
    if (halfToNumber(out[i]!) !== positions[i] && !Number.isNaN(positions[i]!))
      losses.tell("digits of the coordinates, which are float16 there");
  }
  return bytesOf(out);
}

function joined(pieces: readonly Ids[]): Ids {
  const out = new ((pieces[0]?.constructor ?? BigInt64Array) as new (length: number) => Ids)(
    pieces.reduce((sum, own) => sum + own.length, 0),
  );
  let at = 0;
  for (const own of pieces) {
    out.set(own as never, at);
    at += own.length;
  }
  return out;
}

async function putGroups(data: FileData, ids: Ids, entry: (name: string) => Entry, losses: Losses): Promise<void> {
  const { members, columns } = await data.groups();
  if (members.length === 0) return;
  const rowOf = rowFinder(ids);
  const names = columns.get("name");
  const isNamed = names !== undefined && Array.isArray(names.values);
  const taken = new Set<string>();
  for (const [group, own] of members.entries()) {
    const name = plainName(isNamed ? String(names.values[group]) : `group_${group}`, taken);
    if (isNamed && name !== names.values[group])
      losses.tell(`the name of the group ${names.values[group]}: it is ${name}`);
    const rows = Uint32Array.from(Array.from(own, rowOf).filter((row) => row >= 0));
    await put(entry(`groups/${name}.uint32`), bytesOf(rows));
    const within = new Set<string>();
    for (const [key, column] of columns) {
      if ((key === "name" && isNamed) || !isHeld(column.info, losses)) continue;
      const values = rowValues(column, group);
      if (values !== undefined)
        await put(entry(`dpg/${name}/${fileName(column.info, within, losses)}`), bytesOf(values));
    }
  }
}

/** The values of one row; undefined where it has none. */
function rowValues({ info, values }: Column, row: number): NumericArray | undefined {
  const own = (values as Float64Array).subarray(row * info.channels, (row + 1) * info.channels);
  const isAbsent = info.absent !== undefined && own.every((value) => Object.is(value, info.absent));
  return isAbsent ? undefined : own;
}
