/**
 * An .npy file as an array, of any shape. One with rows of numbers is taken for points (npy-table.ts) unless the caller says
 * "npy-array". What lies before and behind a region along the slowest axis is not read.
 */
import { type FixedDataType, swapUnit } from "../../bytes/dtype.js";
import { swapBytes } from "../../bytes/swap.js";
import { copyStrided } from "../../codec/strided.js";
import { Corrupt, InvalidInput, LimitExceeded } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { Region } from "../../model/array.js";
import type { ArrayDataset, ReadArrayOptions } from "../../model/dataset.js";
import type { Format, FormatOptions } from "../../model/format.js";
import { select } from "../../model/region.js";
import { elementCount, strides } from "../../space/shape.js";
import type { Key } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { type InputFile, openFile } from "./file.js";
import { readNpyHeader } from "./npy.js";
import { failure } from "./rules.js";

const HEAD_BYTES = 1 << 16;
const CHUNK_BYTES = 4 << 20;

export const npyArray: Format = {
  id: "npy-array",
  name: "a numpy array",
  single: true,
  async detect(store, _at, options = {}) {
    const { file, as } = options;
    if (file === undefined || !/\.npy(\.gz)?$/i.test(file) || (as !== undefined && as !== "npy-array"))
      return undefined;
    if ((await store.stat(file, { signal: options.signal })) === undefined) return undefined;
    const array = await arrayAt(store, file, options);
    if (as === undefined && isTable(array)) return undefined;
    return { format: "npy-array", version: "", summary: "numpy array", open: async () => array };
  },
  open: (store, _at, options = {}) => arrayAt(store, fileOf(options), options),
  async *validate(store, _at, options = {}) {
    const where = `${store.url}/${fileOf(options)}`;
    try {
      await arrayAt(store, fileOf(options), options);
    } catch (error) {
      yield failure("opens", where, error);
    }
  },
};

/** Rows that can be points: of numbers, two or more, or of named fields. */
const isTable = ({ shape, dtype }: ArrayDataset): boolean =>
  (shape.length === 2 && shape[1]! >= 2) || (shape.length === 1 && dtype.kind === "struct");

function fileOf({ file }: FormatOptions): Key {
  if (file === undefined) throw new InvalidInput("this is a format of files, and no file is named");
  return file;
}

async function arrayAt(store: Store, file: Key, options: FormatOptions): Promise<ArrayDataset> {
  const input = await openFile(store, file, options);
  const { where: url } = input;
  const head = await input.read(0, HEAD_BYTES, options);
  const { dtype, shape, fortran, offset } = readNpyHeader(head, withLimits(options.limits), url);
  const bytes = elementCount(shape) * dtype.size;
  if (input.size !== undefined && input.size - offset !== bytes)
    throw new Corrupt(`${url} has ${input.size - offset} bytes of elements, but its shape [${shape}] needs ${bytes}`, {
      where: url,
    });
  const native = "endian" in dtype ? { ...dtype, endian: "little" as const } : dtype;
  // The axes as they lie in the file, the slowest first.
  const order = shape.map((_, axis) => (fortran ? shape.length - 1 - axis : axis));
  const stored: Stored = { input, offset, order, dtype };
  const row = Math.max(1, dtype.size * order.slice(1).reduce((product, axis) => product * shape[axis]!, 1));
  return {
    kind: "array",
    format: "npy",
    version: "1",
    url,
    shape,
    chunkShape: shape.map((length, axis) =>
      Math.max(1, axis === order[0] ? Math.min(length, Math.floor(CHUNK_BYTES / row)) : length),
    ),
    dtype: native,
    fill: new Uint8Array(dtype.size),
    dimensionNames: undefined,
    attributes: {},
    notes: [],
    read: (region, now = {}) => read(stored, shape, native, region, { limits: options.limits, ...now }),
    async plan(region) {
      const { axes } = select(region, shape);
      const wanted = axes.some(({ count }) => count === 0) ? 0 : order.length === 0 ? 1 : span(axes[order[0]!]!).length;
      return { requests: wanted > 0 ? 1 : 0, bytes: wanted * row, exact: true };
    },
  };
}

interface Stored {
  readonly input: InputFile;
  readonly offset: number;
  readonly order: readonly number[];
  /** As it is stored. */
  readonly dtype: FixedDataType;
}

/** From the first index that is taken to the last. */
function span({ start, step, count }: ReturnType<typeof select>["axes"][number]): { first: number; length: number } {
  const end = start + step * (count - 1);
  return { first: Math.min(start, end), length: Math.abs(end - start) + 1 };
}

async function read(
  { input, offset, order, dtype }: Stored,
  shape: readonly number[],
  native: FixedDataType,
  region: Region | undefined,
  options: ReadArrayOptions,
) {
  const { axes, shape: result } = select(region, shape);
  const { resultBytes } = withLimits(options.limits);
  const bytes = elementCount(axes.map(({ count }) => count)) * dtype.size;
  const data = options.into ?? new Uint8Array(checked(bytes));
  if (data.length !== bytes) throw new InvalidInput(`into should have ${bytes} bytes, found ${data.length}`);
  if (bytes === 0) return { shape: result, dtype: native, data };
  // How far apart neighbours along each axis lie in the file, in elements.
  const apart = new Array<number>(shape.length).fill(1);
  for (let i = order.length - 2; i >= 0; i--) apart[order[i]!] = apart[order[i + 1]!]! * shape[order[i + 1]!]!;
  const slowest = order[0];
  const { first, length } = slowest === undefined ? { first: 0, length: 1 } : span(axes[slowest]!);
  const row = slowest === undefined ? 1 : apart[slowest]!;
  const from = await input.read(offset + first * row * dtype.size, checked(length * row * dtype.size), options);
  if (from.length < length * row * dtype.size) throw new Corrupt(`${input.where} ends before its elements do`);
  const own = "endian" in dtype && dtype.endian === "big" ? swapBytes(from, swapUnit(dtype)) : from;
  const start = axes.reduce((sum, axis, i) => sum + axis.start * apart[i]!, -first * row);
  const counts = axes.map(({ count }) => count);
  copyStrided(
    data,
    { offset: 0, strides: strides(counts) },
    own,
    { offset: start, strides: axes.map(({ step }, i) => step * apart[i]!) },
    counts,
    native,
  );
  return { shape: result, dtype: native, data };

  function checked(size: number): number {
    if (size <= resultBytes) return size;
    throw new LimitExceeded(`${input.where}: ${size} bytes are asked for, at most ${resultBytes} are read at once`);
  }
}
