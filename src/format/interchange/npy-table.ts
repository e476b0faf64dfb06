/**
 * Arrays of numpy as tables. An .npy file has rows of numbers (x, y, z, column4 …) or a struct with named fields; in an .npz file every
 * array with as many rows as the positions is a column, of several numbers where it has two axes.
 */
import { type FixedDataType, isFixed, swapUnit } from "../../bytes/dtype.js";
import { swapBytes } from "../../bytes/swap.js";
import { copyStrided } from "../../codec/strided.js";
import { Corrupt, Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { NdArray } from "../../model/array.js";
import type { AttributeInfo, Column } from "../../model/attributes.js";
import type { ReadOptions } from "../../model/dataset.js";
import { typed, valueAt } from "../../model/elements.js";
import { elementCount, strides } from "../../space/shape.js";
import { Key, Prefix } from "../../store/key.js";
import { zipStore } from "../../store/zip.js";
import { COPIES, type InputFile, roomToHold } from "./file.js";
import { readNpyHeader } from "./npy.js";
import { writeNpyPoints, writeNpzPoints } from "./npy-table-write.js";
import { type Table, tableContent } from "./table.js";
import type { FileFormat, OpenFileOptions } from "./types.js";

export const file: FileFormat = {
  async open(input, options) {
    const array = await arrayIn(input.where, input.size, (at, length, now) => input.read(at, length, now), options);
    const columns = columnsOf(array, undefined);
    return tableContent(tableOf(input, [array], columns.columns, columns.left), options.table);
  },
  write: writeNpyPoints,
};

export const npz: FileFormat = {
  async open(input, options) {
    const arrays = await arraysIn(input, options);
    const places =
      arrays.find(({ name }) => /^(positions?|points|vertices|xyz|coordinates|x|start.*|x0)$/i.test(name)) ?? arrays[0];
    const same = arrays.filter(({ shape }) => shape.length > 0 && shape[0] === places?.shape[0]);
    const found = same.map((array) => columnsOf(array, array.name));
    const left = [
      ...found.flatMap((own) => own.left),
      ...arrays.filter((array) => !same.includes(array)).map(({ name }) => name),
    ];
    return tableContent(
      tableOf(
        input,
        same,
        found.flatMap(({ columns }) => columns),
        left,
      ),
      options.table,
    );
  },
  write: writeNpzPoints,
};

type Read = (offset: number, length: number, options: ReadOptions) => Promise<Uint8Array>;

interface NpyArray {
  readonly name: string;
  readonly where: string;
  readonly dtype: FixedDataType;
  readonly shape: readonly number[];
  readonly fortran: boolean;
  readonly offset: number;
  read: Read;
}

const HEAD = 1 << 16; // more than any header of numpy has

async function arrayIn(
  where: string,
  size: number | undefined,
  read: Read,
  options: ReadOptions,
  name = "",
): Promise<NpyArray> {
  const { dtype, shape, fortran, offset } = readNpyHeader(
    await read(0, Math.min(size ?? HEAD, HEAD), options),
    withLimits(options.limits),
    where,
  );
  const needed = elementCount(shape) * dtype.size;
  if (size !== undefined && size - offset !== needed)
    throw new Corrupt(
      `${where} has ${size - offset} bytes of elements, but its shape [${shape}] of ${dtype.size}-byte elements needs ${needed}`,
      { where },
    );
  return { name, where, dtype, shape, fortran, offset, read };
}

async function arraysIn(input: InputFile, options: OpenFileOptions): Promise<NpyArray[]> {
  const zip = await zipStore(input.store, input.key, { ...options, most: SMALL });
  const arrays: NpyArray[] = [];
  const entries: { readonly key: Key; readonly size: number }[] = [];
  for await (const { key, size = 0 } of zip.list(Prefix.root))
    if (key.endsWith(".npy") && !key.includes("/")) entries.push({ key: Key.of(key), size });
  const total = entries.reduce((sum, { size }) => sum + size, 0);
  const isHeld = total <= roomToHold(options);
  for (const { key, size } of entries) {
    // What can be held is inflated once, then, and kept as long as the file is open.
    let held: Promise<Uint8Array> | undefined;
    const whole: Read = async (offset, length, { signal }) => {
      held ??= zip.get(key, { signal }).then((bytes) => bytes ?? new Uint8Array());
      return (await held).subarray(offset, offset + length);
    };
    const part: Read = async (offset, length, { signal }) =>
      (await zip.get(key, { range: { offset, length: Math.min(length, size - offset) }, signal })) ?? new Uint8Array();
    const array = await arrayIn(`${zip.url}/${key}`, size, isHeld ? whole : part, options, key.slice(0, -4));
    if (!isHeld && total > (input.size ?? 0)) mustBeInOrder(array, size, options);
    arrays.push(array);
  }
  if (arrays.length === 0) throw new Corrupt(`${input.where} has no arrays`, { where: input.where });
  return arrays;
}

/** What is packed is read from its start to its end: rows must come one after the other. */
function mustBeInOrder({ where, fortran, shape }: NpyArray, size: number, { maxMemory }: OpenFileOptions): void {
  if (!fortran || shape.length < 2 || size <= SMALL) return;
  const allowed = maxMemory === undefined ? "limits.resultBytes allow less" : `${maxMemory} may be used`;
  throw new Unsupported(
    `${where} is packed and has its columns one after the other, so that it is read whole, which takes about ${COPIES * size} bytes of memory, and ${allowed}`,
    { where, hint: "Allow more (--max-memory), or save it in C order or without packing (numpy.savez)." },
  );
}

const SMALL = 1 << 20; // bytes of an entry that is inflated as a whole in any case

interface ArrayColumn {
  readonly info: AttributeInfo;
  readonly array: NpyArray;
  /** Elements of the struct, or of the row, before it. */
  readonly at: number;
  readonly dtype: FixedDataType;
}

const HELD = ["bool", "int", "uint", "float", "bytes", "utf32"];

/** The columns of an array; `name`: that of the array, which is one column then. */
function columnsOf(array: NpyArray, name: string | undefined): { columns: ArrayColumn[]; left: string[] } {
  const { dtype, shape, where } = array;
  const left: string[] = [];
  const column = (own: string, type: FixedDataType, channels: number, at: number): ArrayColumn[] => {
    if (!HELD.includes(type.kind) || channels < 1) {
      left.push(own);
      return [];
    }
    const isText = type.kind === "bytes" || type.kind === "utf32";
    const plain = isText
      ? ({ kind: "string" } as const)
      : "endian" in type
        ? { ...type, endian: "little" as const }
        : type;
    return [{ info: { name: own, dtype: plain, channels }, array, at, dtype: type }];
  };
  if (dtype.kind === "struct") {
    if (shape.length !== 1)
      throw new Unsupported(`${where} should have a list of structs, found the shape [${shape}]`, { where });
    const fields = dtype.fields.filter((field) => field.name !== "" && isFixed(field.dtype));
    return {
      columns: fields.flatMap((field) =>
        column(
          field.name,
          field.dtype as FixedDataType,
          (field.shape ?? []).reduce((a, b) => a * b, 1),
          field.offset,
        ),
      ),
      left,
    };
  }
  const width = shape.length === 1 ? 1 : shape[1]!;
  if (shape.length < 1 || shape.length > 2) {
    if (name === undefined)
      throw new Unsupported(`${where} should have rows of numbers, found the shape [${shape}]`, { where });
    return { columns: [], left: [name] };
  }
  if (name !== undefined) return { columns: column(name, dtype, width, 0), left };
  if (shape.length === 1 || width > 1024)
    throw new Unsupported(`${where} should have rows of numbers, found the shape [${shape}]`, { where });
  const columns = Array.from({ length: width }, (_, i) =>
    column(["x", "y", "z"][i] ?? `column${i + 1}`, dtype, 1, i * dtype.size),
  );
  return { columns: columns.flat(), left };
}

const PIECE = 4 << 20;

function tableOf(
  { where }: InputFile,
  arrays: readonly NpyArray[],
  columns: readonly ArrayColumn[],
  left: readonly string[],
): Table {
  const rows = arrays[0]?.shape[0] ?? 0;
  const rowBytes = (array: NpyArray): number =>
    rows === 0 ? 0 : (elementCount(array.shape) / rows) * array.dtype.size;
  const each = Math.max(
    1,
    Math.floor(
      PIECE /
        Math.max(
          1,
          arrays.reduce((sum, array) => sum + rowBytes(array), 0),
        ),
    ),
  );
  const pieces = Math.ceil(rows / each);
  const known = new Map(columns.map((column) => [column.info.name, column]));
  const counts = Array.from({ length: pieces }, (_, i) => Math.min(each, rows - i * each));
  return {
    where,
    version: "numpy",
    columns: columns.map(({ info }) => info),
    rows,
    losses: left.length === 0 ? [] : [`${left.join(", ")} cannot be columns, and are left out.`],
    async index() {
      return {
        types: new Map([...known].map(([name, { info }]) => [name, info])),
        rows: Uint32Array.from(counts),
        bytes: Float64Array.from(counts, (count) => arrays.reduce((sum, array) => sum + count * rowBytes(array), 0)),
        async read(piece, names, options) {
          const blocks = new Map<NpyArray, Promise<Uint8Array>>();
          const out = new Map<string, Column>();
          for (const name of names) {
            const column = known.get(name)!;
            const { array } = column;
            const block = blocks.get(array) ?? blockOf(array, piece * each, counts[piece]!, rowBytes(array), options);
            blocks.set(array, block);
            out.set(name, valuesOf(column, await block, counts[piece]!, rowBytes(array)));
          }
          return out;
        },
      };
    },
  };
}

/** Rows of an array, one after the other, whatever the order in the file. */
async function blockOf(
  array: NpyArray,
  first: number,
  count: number,
  rowBytes: number,
  options: ReadOptions,
): Promise<Uint8Array> {
  const { where, dtype, shape, fortran, offset, read } = array;
  const exact = async (at: number, length: number): Promise<Uint8Array> => {
    const bytes = await read(at, length, options);
    if (bytes.length === length) return bytes;
    throw new Corrupt(`${where} ends at byte ${at + bytes.length}, within its elements`, { where });
  };
  if (!fortran || shape.length < 2) return exact(offset + first * rowBytes, count * rowBytes);
  const [rows, width] = shape as [number, number];
  const block = new Uint8Array(count * rowBytes);
  const to = strides([count, width]);
  for (let column = 0; column < width; column++) {
    const values = await exact(offset + (column * rows + first) * dtype.size, count * dtype.size);
    copyStrided(block, { offset: column, strides: to }, values, { offset: 0, strides: [1, 1] }, [count, 1], dtype);
  }
  return block;
}

function valuesOf({ info, at, dtype }: ArrayColumn, block: Uint8Array, count: number, rowBytes: number): Column {
  const width = dtype.size * info.channels;
  const bytes = new Uint8Array(count * width);
  for (let row = 0, from = at, to = 0; row < count; row++, from += rowBytes)
    for (let k = 0; k < width; k++) bytes[to++] = block[from + k]!;
  const native = "endian" in dtype && dtype.endian === "big" ? swapBytes(bytes, swapUnit(dtype)) : bytes;
  const array: NdArray = { shape: [count * info.channels], dtype, data: native };
  if (info.dtype.kind !== "string") return { info, values: typed(array) };
  return { info, values: Array.from({ length: count * info.channels }, (_, i) => String(valueAt(array, i))) };
}
