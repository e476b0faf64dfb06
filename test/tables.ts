/** Points with every type of attribute, for tests of tables. */
import type { FileData } from "../src/format/interchange/types.js";
import type { Column } from "../src/model/attributes.js";
import type { Batch } from "../src/model/vectors.js";

const little = "little" as const;
export const COLUMNS: readonly Column[] = [
  {
    info: { name: "i8", dtype: { kind: "int", size: 1, endian: little }, channels: 1 },
    values: Int8Array.of(-128, 0, 127),
  },
  {
    info: { name: "u16", dtype: { kind: "uint", size: 2, endian: little }, channels: 1 },
    values: Uint16Array.of(65535, 0, 1),
  },
  {
    info: { name: "u32", dtype: { kind: "uint", size: 4, endian: little }, channels: 1 },
    values: Uint32Array.of(2 ** 32 - 1, 0, 1),
  },
  {
    info: { name: "i64", dtype: { kind: "int", size: 8, endian: little }, channels: 1 },
    values: BigInt64Array.of(-(2n ** 63n), 2n ** 53n + 1n, 2n ** 63n - 1n),
  },
  {
    info: { name: "u64", dtype: { kind: "uint", size: 8, endian: little }, channels: 1 },
    values: BigUint64Array.of(2n ** 64n - 1n, 0n, 2n ** 63n),
  },
  {
    info: { name: "f32", dtype: { kind: "float", size: 4, endian: little }, channels: 1 },
    values: Float32Array.of(0.1, Number.NaN, -0),
  },
  {
    info: { name: "f64", dtype: { kind: "float", size: 8, endian: little }, channels: 1 },
    values: Float64Array.of(0.1, Number.POSITIVE_INFINITY, 5e-324),
  },
  { info: { name: "flag", dtype: { kind: "bool", size: 1 }, channels: 1 }, values: Uint8Array.of(1, 0, 1) },
  { info: { name: "name", dtype: { kind: "string" }, channels: 1 }, values: ["é", "", "a\0b"] },
  {
    info: { name: "colour", dtype: { kind: "uint", size: 1, endian: little }, channels: 3 },
    values: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 255),
  },
];

/** Three points with every type of attribute. */
export function everything(): FileData {
  const batch: Batch = {
    level: 0,
    geometry: "points",
    dims: 3,
    positions: Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9.5),
    parts: Uint32Array.of(0, 3),
    objects: Int32Array.of(-1),
    ids: new BigInt64Array(),
    links: undefined,
    fragments: undefined,
    vertexColumns: new Map(COLUMNS.map((column) => [column.info.name, column])),
    objectColumns: new Map(),
    chunk: undefined,
  };
  return {
    url: "memory:/a",
    axes: ["x", "y", "z"].map((name) => ({ name, type: "space" })),
    crs: undefined,
    attributes: {},
    bounds: { min: [0, 0, 0], max: [9, 9, 9] },
    geometry: "points",
    schema: { vertex: COLUMNS.map(({ info }) => info), object: [], link: [], fragment: [], group: [] },
    headers: new Map(),
    groups: async () => ({ members: [], columns: new Map() }),
    async *batches() {
      yield batch;
    },
  };
}
