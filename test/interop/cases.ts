/** Arrays that Octavo writes for the peers: every type, every codec, every layout, with the readers that can be asked. */
import type { DataType } from "../../src/bytes/dtype.js";
import type { CodecSpec } from "../../src/codec/types.js";
import type { ArrayDescription } from "../../src/format/zarr/index.js";
import type { NdArray } from "../../src/model/array.js";

export type Reader = "zarr-python" | "tensorstore" | "zarrita" | "v0";

export interface Case {
  readonly name: string;
  readonly description: ArrayDescription & { readonly dtype: DataType };
  readonly values: NdArray;
  readonly readers: readonly Reader[];
}

const little = { endian: "little" } as const;
const NUMBERS: DataType[] = [
  { kind: "bool", size: 1 },
  ...([1, 2, 4, 8] as const).flatMap((size): DataType[] => [
    { kind: "int", size, ...little },
    { kind: "uint", size, ...little },
  ]),
  ...([2, 4, 8] as const).map((size): DataType => ({ kind: "float", size, ...little })),
  ...([8, 16] as const).map((size): DataType => ({ kind: "complex", size, ...little })),
];
const OTHERS: DataType[] = [
  { kind: "datetime", size: 8, unit: "ns", scale: 1, ...little },
  { kind: "timedelta", size: 8, unit: "s", scale: 25, ...little },
  { kind: "bytes", size: 7 },
  { kind: "utf32", size: 20, ...little },
  { kind: "raw", size: 5 },
  {
    kind: "struct",
    size: 15,
    fields: [
      { name: "a", offset: 0, dtype: { kind: "int", size: 4, ...little } },
      { name: "b", offset: 4, dtype: { kind: "float", size: 8, ...little } },
      { name: "c", offset: 12, dtype: { kind: "bytes", size: 3 } },
    ],
  },
];

const chain = (...rest: CodecSpec[]): CodecSpec[] => [{ name: "bytes", configuration: { endian: "little" } }, ...rest];
const codec = (name: string, configuration: CodecSpec["configuration"] = {}): CodecSpec => ({ name, configuration });
const blosc = (cname: string, shuffle: string, clevel: number): CodecSpec =>
  codec("blosc", { cname, clevel, shuffle, typesize: 4, blocksize: 0 });

const INT32: DataType = { kind: "int", size: 4, endian: "little" };
const BOTH: Reader[] = ["zarr-python", "tensorstore"];

export function* cases(): Generator<Case> {
  const shape = [37, 29];
  const chunkShape = [16, 16];
  for (const dtype of [...NUMBERS, ...NUMBERS.flatMap(big), ...OTHERS]) {
    const name = `${dtype.kind}${"size" in dtype ? dtype.size : ""}${"endian" in dtype && dtype.endian === "big" ? "be" : ""}`;
    const values = sample(dtype, shape);
    const number = NUMBERS.some(({ kind }) => kind === dtype.kind);
    const readers: Reader[] = number ? BOTH : ["zarr-python"];
    const zarrita: Reader[] =
      ["bool", "int", "uint"].includes(dtype.kind) || /^float[48]/.test(name) ? ["zarrita"] : [];
    yield {
      name: `v3_${name}`,
      description: { version: 3, shape, chunkShape, dtype },
      values,
      readers: [...readers, ...zarrita],
    };
    yield {
      name: `v2_${name}`,
      description: { version: 2, shape, chunkShape, dtype },
      values,
      readers: [...readers, ...zarrita],
    };
    yield { name: `v0_${name}`, description: { version: 0, shape, chunkShape, dtype }, values, readers: ["v0"] };
  }
  const deep = [50, 40, 6];
  const values = sample(INT32, deep);
  const v3 = (
    name: string,
    extra: Partial<ArrayDescription>,
    readers: readonly Reader[] = [...BOTH, "zarrita"],
  ): Case => ({
    name: `v3_${name}`,
    description: { version: 3, shape: deep, chunkShape: [17, 11, 4], dtype: INT32, ...extra } as Case["description"],
    values,
    readers,
  });
  for (const cname of ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]) {
    for (const shuffle of ["noshuffle", "shuffle", "bitshuffle"]) {
      for (const clevel of [0, 1, 5, 9]) {
        yield v3(`blosc_${cname}_${shuffle}_${clevel}`, {
          chunkShape: [50, 40, 6],
          codecs: chain(blosc(cname, shuffle, clevel)),
        });
      }
    }
  }
  yield v3("blosc_snappy", { codecs: chain(blosc("snappy", "shuffle", 5)) }, ["tensorstore", "zarrita"]);
  yield v3("none", { codecs: chain() });
  yield v3("gzip", { codecs: chain(codec("gzip", { level: 6 })) });
  yield v3("zstd", { codecs: chain(codec("zstd", { level: 3, checksum: true })) });
  yield v3("crc32c", { codecs: chain(codec("crc32c")) });
  yield v3("gzip_crc32c", { codecs: chain(codec("gzip", { level: 1 }), codec("crc32c")) });
  yield v3("transpose", {
    codecs: [codec("transpose", { order: [2, 0, 1] }), ...chain(codec("zstd", { level: 1, checksum: false }))],
  });
  yield v3("dots", { separator: "." });
  for (const where of ["start", "end"]) {
    const inner = shard([10, 10, 3], chain(codec("zstd", { level: 1, checksum: true })), where);
    // zarrita looks for every index at the end
    const readers: Reader[] = where === "end" ? [...BOTH, "zarrita"] : BOTH;
    yield v3(`shard_${where}`, { chunkShape: [20, 20, 6], codecs: [inner] }, readers);
    yield v3(`nested_${where}`, { chunkShape: [40, 40, 6], codecs: [shard([20, 20, 6], [inner], where)] }, [
      "zarr-python",
    ]);
  }
  for (const [name, codecs] of Object.entries({
    zlib: chain(codec("zlib", { level: 5 })),
    gzip: chain(codec("gzip", { level: 5 })),
    zstd: chain(codec("zstd", { level: 5, checksum: true })),
    lz4: chain(codec("lz4", { acceleration: 1 })),
    none: chain(),
    delta: [codec("delta", { dtype: "<i4", astype: "<i4" }), ...chain(codec("zlib", { level: 1 }))],
    shuffle: chain(codec("shuffle", { elementsize: 4 }), codec("crc32", {}), codec("zlib", { level: 1 })),
    F: [codec("transpose", { order: [2, 1, 0] }), ...chain(codec("zlib", { level: 1 }))],
  })) {
    const readers: Reader[] = ["zlib", "zstd", "none", "F"].includes(name) ? BOTH : ["zarr-python"];
    const description = {
      version: 2,
      shape: deep,
      chunkShape: [17, 11, 4],
      dtype: INT32,
      codecs,
    } as Case["description"];
    yield { name: `v2_${name}`, description, values, readers };
  }
  const texts: NdArray = {
    shape: [9],
    dtype: { kind: "string" },
    data: ["", "a", "é世", "x".repeat(300), "🚀", "q", "", "r", "s"],
  };
  for (const version of [2, 3] as const) {
    yield {
      name: `v${version}_string`,
      description: { version, shape: [9], chunkShape: [4], dtype: { kind: "string" } },
      values: texts,
      readers: ["zarr-python"],
    };
  }
  const scalar: NdArray = { shape: [], dtype: INT32, data: new Uint8Array([7, 0, 0, 0]) };
  for (const version of [2, 3] as const) {
    yield { name: `v${version}_0d`, description: { version, shape: [], dtype: INT32 }, values: scalar, readers: BOTH };
  }
}

const shard = (chunk: number[], codecs: CodecSpec[], where: string): CodecSpec =>
  codec("sharding_indexed", {
    chunk_shape: chunk,
    codecs: codecs as never,
    index_codecs: [
      { name: "bytes", configuration: { endian: "little" } },
      { name: "crc32c", configuration: {} },
    ],
    index_location: where,
  });

const big = (dtype: DataType): DataType[] => ("endian" in dtype && dtype.size > 1 ? [{ ...dtype, endian: "big" }] : []);

/** Values that look like data: the first half regular, the rest random; the same on every run. */
function sample(dtype: DataType, shape: number[]): NdArray {
  const count = shape.reduce((a, b) => a * b, 1);
  const size = "size" in dtype ? dtype.size : 1;
  const data = new Uint8Array(count * size);
  let state = 12345;
  for (let i = 0; i < data.length; i++) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    data[i] = i < data.length / 2 ? (i % size === 0 ? (i / size) % 100 : 0) : state >>> 16;
  }
  const view = new DataView(data.buffer);
  for (let i = 0; i < count; i++) {
    if (dtype.kind === "bool") data[i] = data[i]! & 1;
    if (dtype.kind === "float" || dtype.kind === "complex")
      setFloats(view, i * size, size, dtype.kind === "complex" ? size / 2 : size, i);
    if (dtype.kind === "utf32")
      for (let k = 0; k < size; k += 4) view.setUint32(i * size + k, k < (i % 6) * 4 ? 0x4e16 + k : 0, true);
    if (dtype.kind === "struct") setFloats(view, i * size + 4, 8, 8, i);
    if (dtype.kind === "bytes") for (let k = 0; k < size; k++) data[i * size + k] = k < i % 8 ? 97 + k : 0;
  }
  return { shape, dtype, data };
}

function setFloats(view: DataView, at: number, size: number, width: number, i: number): void {
  for (let k = 0; k < size; k += width) {
    if (width === 8) view.setFloat64(at + k, Math.sin(i + k) * 1e3, true);
    else if (width === 4) view.setFloat32(at + k, Math.sin(i + k) * 1e3, true);
    else view.setUint16(at + k, 0x3c00 + (i % 1000), true);
  }
}
