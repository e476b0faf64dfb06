/**
 * Arrays from every format to every other and back: equal by `diff`, and where a format cannot hold the elements or the axes, it
 * says so before anything is written.
 */
import { describe, expect, it } from "vitest";
import type { DataType } from "../../src/bytes/dtype.js";
import type { ConvertToOptions } from "../../src/convert/options.js";
import { createArray, writeRegion } from "../../src/format/zarr/index.js";
import type { ArrayDataset } from "../../src/model/dataset.js";
import { convert, diff, open, openLocation } from "../../src/node.js";
import { random } from "../zarr-vectors-scenes.js";

interface Kind {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: DataType;
}

const number = (kind: "int" | "uint" | "float", size: 1 | 2 | 4 | 8): DataType =>
  ({ kind, size, endian: "little" }) as DataType;

/** One dimension to four, with edges that chunks do not divide. */
const KINDS: readonly Kind[] = [
  { name: "an image", shape: [9, 7, 5], dtype: number("uint", 1) },
  { name: "an image of three channels", shape: [7, 9, 5, 3], dtype: number("uint", 2) },
  { name: "labels", shape: [9, 5, 6], dtype: number("uint", 8) },
  { name: "small labels", shape: [6, 6, 6], dtype: number("uint", 4) },
  { name: "a field", shape: [9, 5, 6], dtype: number("float", 4) },
  { name: "doubles of two dimensions", shape: [11, 7], dtype: number("float", 8) },
  { name: "a row of integers", shape: [29], dtype: number("int", 8) },
  { name: "one of five dimensions", shape: [3, 4, 2, 5, 2], dtype: number("int", 2) },
];

interface Row {
  readonly name: string;
  /** What it is called; of .npy it is said that these are arrays, and no points. */
  readonly file: string;
  readonly options: ConvertToOptions;
  /** Whether it has such elements along such axes. */
  holds(kind: Kind): boolean;
}

const space = ({ shape }: Kind): boolean => shape.length === 3 || shape.length === 4;
const types =
  (...list: readonly string[]) =>
  ({ dtype }: Kind): boolean =>
    list.includes(`${dtype.kind}${"size" in dtype ? 8 * dtype.size : ""}`);
const VOXELS = types("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "float32");
const all = (): boolean => true;

const ROWS: readonly Row[] = [
  { name: "Zarr v3", file: "a3", options: { to: "zarr3" }, holds: all },
  { name: "Zarr v3, sharded", file: "a3s", options: { to: "zarr3" }, holds: all },
  { name: "Zarr v2", file: "a2", options: { to: "zarr2" }, holds: all },
  { name: "Zarr v0", file: "a0", options: { to: "zarr0" }, holds: all },
  { name: "npy", file: "a.npy", options: {}, holds: all },
  {
    name: "volume",
    file: "v",
    options: { to: "precomputed", encoding: "raw" },
    holds: (kind) => space(kind) && VOXELS(kind),
  },
  {
    name: "volume, sharded",
    file: "vs",
    options: { to: "precomputed", encoding: "raw", sharded: true },
    holds: (kind) => space(kind) && VOXELS(kind),
  },
  {
    name: "volume of compressed labels",
    file: "vc",
    options: { to: "precomputed", encoding: "compressed_segmentation" },
    holds: (kind) => space(kind) && types("uint32", "uint64")(kind),
  },
  {
    name: "volume of PNG",
    file: "vp",
    options: { to: "precomputed", encoding: "png" },
    holds: (kind) => space(kind) && types("uint8", "uint16")(kind),
  },
];

const opened = async (url: string): Promise<ArrayDataset> =>
  (await open(url, url.endsWith(".npy") ? { as: "npy-array" } : {})) as ArrayDataset;
const differences = async (one: string, two: string) => (await diff(await opened(one), await opened(two))).differences;

/** Converts what is at an address; Zarr in chunks of 4 along each axis that it has. */
async function step(from: string, to: string, { file, options }: Row): Promise<void> {
  const source = await opened(from);
  const { shape } = source;
  await convert(source, to, {
    ...options,
    overwrite: true,
    ...(options.to?.startsWith("zarr") && { chunkShape: shape.map(() => 4) }),
    ...(file === "a3s" && { shardShape: shape.map(() => 8) }),
  });
}

/** The kind as an array; volumes have axes x, y, z and channel. */
async function made(kind: Kind): Promise<string> {
  const url = `memory:matrix/arrays/${kind.name.replaceAll(" ", "-")}`;
  const { store, at } = await openLocation(url, { create: true });
  const { shape, dtype } = kind;
  const next = random(5);
  const size = "size" in dtype ? dtype.size : 1;
  const count = shape.reduce((product, length) => product * length, 1);
  const data = Uint8Array.from({ length: count * size }, () => 256 * next());
  if (dtype.kind === "float") {
    const values = Array.from({ length: count }, () => next() - 0.5);
    data.set(new Uint8Array((size === 4 ? Float32Array : Float64Array).from(values).buffer));
  }
  const dimensionNames = space(kind) ? ["x", "y", "z", "channel"].slice(0, shape.length) : undefined;
  const array = await createArray(
    store,
    at,
    { shape, dtype, chunkShape: shape.map(() => 3), dimensionNames },
    { overwrite: true },
  );
  await writeRegion(array, undefined, { shape, dtype, data });
  return url;
}

describe.each(KINDS)("$name", (kind) => {
  const able = ROWS.filter((row) => row.holds(kind));

  it("goes through every two of the formats that hold it, and is what it was", async () => {
    const url = await made(kind);
    for (const row of able) {
      const from = `${url}-in/${row.file}`;
      await step(url, from, row);
      expect([row.name, await differences(from, url)]).toEqual([row.name, []]);
      for (const other of able) {
        const way = `${row.name} → ${other.name} → ${row.name}`;
        const at = `${url}-in/${row.file}-${other.file}`.replaceAll(".", "_");
        await step(from, `${at}/${other.file}`, other);
        await step(`${at}/${other.file}`, `${at}/back/${row.file}`, row);
        expect([way, await differences(`${at}/back/${row.file}`, from)]).toEqual([way, []]);
      }
    }
  });

  it("is refused by the others, and leaves nothing there", async () => {
    const url = await made(kind);
    for (const row of ROWS.filter((one) => !able.includes(one))) {
      const to = `memory:matrix/arrays/refused/${row.file}`;
      await expect(step(url, to, row), row.name).rejects.toThrow();
      await expect(open(to)).rejects.toThrow();
    }
  });
});
