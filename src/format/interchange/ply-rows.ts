/** Rows of PLY: numbers and lists, as text or as bytes, into a column for each property. */
import { swapBytes } from "../../bytes/swap.js";
import { type NumericType, numericView } from "../../codec/numeric.js";
import { Corrupt } from "../../errors.js";
import type { Columns } from "../../model/vectors.js";
import { fieldOf } from "./fields.js";
import { Growing } from "./growing.js";
import type { PlyElement } from "./ply-header.js";
import type { Polygons } from "./polygons.js";
import { column, columns, fits } from "./surface.js";
import { room } from "./surface-write.js";
import type { Scanner } from "./text.js";

/** Where numbers come from, one after the other: text, or bytes. */
export interface Numbers {
  next(type: NumericType, what: string): number;
  /** After each row. */
  endRow(): void;
  /** Bytes that are left, and the least that a row takes of them. */
  left(element: PlyElement): { readonly bytes: number; readonly row: number };
  corrupt(message: string): Corrupt;
  /** Of bytes: takes so many of them, so that rows without lists can be read field by field, which is faster. */
  take?(bytes: number): Uint8Array;
  readonly little?: boolean;
}

/** `size`: of everything from where the scanner began. */
export function textNumbers(scanner: Scanner, size = scanner.bytes.length): Numbers {
  return {
    next(type, what) {
      const value = scanner.number(what);
      if (!fits(type, value))
        throw scanner.corrupt(`${value} where ${what} was expected, which is ${type.kind}${8 * type.size}`);
      return value;
    },
    endRow() {
      if (!scanner.ends()) throw scanner.corrupt("more numbers than the header says");
      scanner.next();
    },
    left: ({ properties }) => ({
      bytes: size - scanner.at + 1, // the last line need not end
      row: Math.max(1, 2 * properties.length),
    }),
    corrupt: (message) => scanner.corrupt(message),
  };
}

/** `base`: where the bytes begin in the file; `size`: of everything from there on. */
export function byteNumbers(
  bytes: Uint8Array,
  little: boolean,
  where: string,
  base: number,
  size = bytes.length,
): Numbers {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const corrupt = (message: string) => new Corrupt(`${where}, byte ${base + at}: ${message}`, { where });
  return {
    next(type, what) {
      if (at + type.size > bytes.length) throw corrupt(`the file ends where ${what} was expected`);
      at += type.size;
      return get(view, at - type.size, type, little);
    },
    endRow() {},
    left: ({ stride }) => ({ bytes: size - at, row: stride }),
    corrupt,
    take(length) {
      at += length;
      return bytes.subarray(at - length, at);
    },
    little,
  };
}

export function get(view: DataView, at: number, { kind, size }: NumericType, little: boolean): number {
  if (kind === "float") return size === 4 ? view.getFloat32(at, little) : view.getFloat64(at, little);
  if (size === 1) return kind === "int" ? view.getInt8(at) : view.getUint8(at);
  if (size === 2) return kind === "int" ? view.getInt16(at, little) : view.getUint16(at, little);
  return kind === "int" ? view.getInt32(at, little) : view.getUint32(at, little);
}

/** A number that is there several times becomes one attribute: which properties, and under which name. */
export interface Field {
  readonly name: string;
  readonly properties: readonly string[];
  readonly type: NumericType;
}

const TOGETHER: readonly (readonly [name: string, ...properties: string[]])[] = [
  ["position", "x", "y", "z"],
  ["normal", "nx", "ny", "nz"],
  ["color", "red", "green", "blue", "alpha"],
  ["color", "red", "green", "blue"],
  ["uv", "s", "t"],
];

/** The attributes of an element's numbers: `nx ny nz` is one, and so is `w_0 w_1 w_2`. */
export function fieldsOf({ properties }: PlyElement): Field[] {
  const plain = properties.filter(({ count }) => count === undefined);
  const fields: Field[] = [];
  for (let i = 0; i < plain.length; ) {
    const { name, type } = plain[i]!;
    const same = (list: readonly string[]): boolean =>
      list.every((own, k) => plain[i + k]?.name === own && sameType(plain[i + k]!.type, type));
    const known = TOGETHER.find(([own, ...list]) => same(list) && !fields.some((other) => other.name === own));
    let width = known === undefined ? 1 : known.length - 1;
    const stem = /^(.+)_0$/.exec(name)?.[1];
    if (known === undefined && stem !== undefined && !plain.some((other) => other.name === stem))
      while (same([name, ...Array.from({ length: width }, (_, k) => `${stem}_${k + 1}`)])) width++;
    const own = known?.[0] ?? (width > 1 ? stem! : name);
    fields.push({ name: own, properties: plain.slice(i, i + width).map((property) => property.name), type });
    i += width;
  }
  return fields;
}

const sameType = (a: NumericType, b: NumericType): boolean => a.kind === b.kind && a.size === b.size;

/** The properties of one attribute as a writer of PLY names them. */
export function propertyNames(name: string, channels: number): readonly string[] {
  const known = TOGETHER.find(([own, ...list]) => own === name && list.length === channels && own !== "position");
  if (known !== undefined) return known.slice(1);
  const plain = name.replace(/[^\x21-\x7e]/g, "_");
  return channels === 1 ? [plain] : Array.from({ length: channels }, (_, i) => `${plain}_${i}`);
}

export interface Rows {
  readonly columns: Columns;
  /** Of the property that was asked for. */
  readonly lists: Polygons;
}

const NO_LISTS: Polygons = { offsets: new Uint32Array(1), corners: new Uint32Array() };

/** Corrupt where the bytes that are left are too few for all rows of an element. */
export function checkRoom(element: PlyElement, from: Pick<Numbers, "left" | "corrupt">): void {
  const { count, name } = element;
  const { bytes, row } = from.left(element);
  if (count * row > bytes)
    throw from.corrupt(`the file ends before ${count} rows of ${name}, each at least ${row} bytes`);
}

/** `count` rows of an element; lists only of the property with that name, the others are passed over. */
export function readRows(element: PlyElement, count: number, from: Numbers, list?: string): Rows {
  const { properties, stride } = element;
  if (from.take !== undefined && properties.every((property) => property.count === undefined))
    return {
      columns: plainColumns(fieldsOf(element), from.take(count * stride), count, stride, from.little!),
      lists: NO_LISTS,
    };
  const fields = fieldsOf(element).map((field) => ({
    ...field,
    values: room(field.type, count * field.properties.length),
  }));
  const slots = properties.map((property) => {
    const field = fields.find((own) => own.properties.includes(property.name));
    return field && { ...field, channel: field.properties.indexOf(property.name), channels: field.properties.length };
  });
  const [offsets, corners] = [new Uint32Array(list === undefined ? 1 : count + 1), new Growing(new Uint32Array())];
  for (let i = 0; i < count; i++) {
    for (let p = 0; p < properties.length; p++) {
      const { type, count: counted, name: own } = properties[p]!;
      if (counted === undefined) {
        const { values, channel, channels } = slots[p]!;
        values[i * channels + channel] = from.next(type, own);
        continue;
      }
      const size = from.next(counted, `the length of ${own}`);
      if (size < 0) throw from.corrupt(`a list ${own} of ${size} numbers`);
      if (own === list) for (let k = 0; k < size; k++) corners.push(from.next(type, own));
      else for (let k = 0; k < size; k++) from.next(type, own);
    }
    if (list !== undefined) offsets[i + 1] = corners.length;
    from.endRow();
  }
  const found = fields.map((field) => column(field.name, field.values, field.properties.length));
  return { columns: columns(...found), lists: { offsets, corners: corners.done() } };
}

/** Rows without lists: a field lies in the same place of each. */
function plainColumns(
  fields: readonly Field[],
  rows: Uint8Array,
  count: number,
  stride: number,
  little: boolean,
): Columns {
  let at = 0;
  const found = fields.map(({ name, properties, type }) => {
    const bytes = fieldOf(rows, count, stride, at, type.size * properties.length);
    at += type.size * properties.length;
    return column(
      name,
      numericView(type, little ? bytes : swapBytes(bytes, type.size as 1 | 2 | 4 | 8)),
      properties.length,
    );
  });
  return columns(...found);
}
