/** Generated arrays: any version that is written, any element type, shape, chunk shape and chain, from one seed. */
import type { DataType } from "../../src/bytes/dtype.js";
import type { CodecSpec, VlenValue } from "../../src/codec/types.js";
import type { ArrayDescription } from "../../src/format/zarr/index.js";
import type { NdArray } from "../../src/model/array.js";
import { type Random, random } from "../fuzz/mutate.js";

export interface Generated {
  readonly seed: number;
  readonly description: ArrayDescription & { readonly dtype: DataType; readonly version: 0 | 2 | 3 };
  readonly values: NdArray;
}

const pick = <T>(dice: Random, list: readonly T[]): T => list[dice.below(list.length)]!;

export function generate(seed: number): Generated {
  const dice = random(seed);
  const version = pick(dice, [0, 2, 3] as const);
  const dtype = anyType(dice, version);
  const rank = version === 0 ? 1 + dice.below(3) : dice.below(5);
  const shape = Array.from({ length: rank }, () => dice.below(14));
  const inner = shape.map(() => 1 + dice.below(6));
  const isSharded = version === 3 && rank > 0 && dice.below(3) === 0;
  const shardShape = isSharded ? inner.map((n) => n * (1 + dice.below(3))) : undefined;
  return {
    seed,
    description: {
      version,
      shape,
      dtype,
      chunkShape: inner,
      ...(shardShape === undefined ? {} : { shardShape }),
      codecs: anyChain(dice, version, dtype, rank),
    },
    values: anyValues(dice, dtype, shape),
  };
}

function anyType(dice: Random, version: 0 | 2 | 3): DataType {
  const endian = pick(dice, ["little", "big"] as const);
  const kinds: (() => DataType)[] = [
    () => ({ kind: "bool", size: 1 }),
    () => ({ kind: "int", size: pick(dice, [1, 2, 4, 8] as const), endian }),
    () => ({ kind: "uint", size: pick(dice, [1, 2, 4, 8] as const), endian }),
    () => ({ kind: "float", size: pick(dice, [2, 4, 8] as const), endian }),
    () => ({ kind: "complex", size: pick(dice, [8, 16] as const), endian }),
    () => ({ kind: "datetime", size: 8, unit: "ms", scale: 1, endian }),
    () => ({ kind: "bytes", size: 1 + dice.below(9) }),
    () => ({ kind: "utf32", size: 4 * (1 + dice.below(5)), endian }),
    () => ({ kind: "raw", size: 1 + dice.below(300) }),
    () => ({
      kind: "struct",
      size: 12,
      fields: [
        { name: "id", dtype: { kind: "uint", size: 4, endian: "little" }, offset: 0 },
        { name: "at", dtype: { kind: "float", size: 8, endian: "little" }, offset: 4 },
      ],
    }),
  ];
  if (version !== 0) kinds.push(() => ({ kind: "string" }));
  return pick(dice, kinds)();
}

function anyChain(dice: Random, version: 0 | 2 | 3, dtype: DataType, rank: number): ArrayDescription["codecs"] {
  if (!("size" in dtype)) return pick(dice, ["zstd", "gzip", "none"] as const);
  const typesize = dtype.size > 255 ? 1 : dtype.size;
  const blosc = (): CodecSpec => ({
    name: "blosc",
    configuration: {
      cname: pick(dice, ["blosclz", "lz4", "lz4hc", "snappy", "zlib", ...(version === 0 ? [] : ["zstd"])]),
      clevel: dice.below(10),
      shuffle: pick(dice, ["noshuffle", "shuffle", "bitshuffle"]),
      typesize,
      blocksize: 0,
    },
  });
  const endian = "endian" in dtype && dtype.kind !== "utf32" ? dtype.endian : "little";
  const bytes: CodecSpec = { name: "bytes", configuration: { endian: "endian" in dtype ? dtype.endian : endian } };
  if (version === 0) return [bytes, blosc()];
  const chain: CodecSpec[] = [bytes];
  if (version === 3 && rank > 1 && dice.below(3) === 0) {
    const order = Array.from({ length: rank }, (_, axis) => (axis + 1) % rank);
    chain.unshift({ name: "transpose", configuration: { order } });
  }
  const compressors: (() => CodecSpec)[] = [
    blosc,
    () => ({ name: "zstd", configuration: { level: 1 + dice.below(9), checksum: dice.below(2) === 0 } }),
    () => ({ name: "gzip", configuration: { level: dice.below(10) } }),
  ];
  if (dice.below(5) > 0) chain.push(pick(dice, compressors)());
  if (version === 3 && dice.below(2) === 0) chain.push({ name: "crc32c", configuration: {} });
  return chain;
}

/** Data with structure: runs, small steps, or noise; some of it fill, so that chunks are elided. */
export function anyValues(dice: Random, dtype: DataType, shape: readonly number[]): NdArray {
  const count = shape.reduce((product, n) => product * n, 1);
  if (!("size" in dtype)) {
    const data = Array.from(
      { length: count },
      (): VlenValue => pick(dice, ["", "a", "é世", "🚀", "z".repeat(dice.below(40))]),
    );
    return { shape, dtype, data };
  }
  const data = new Uint8Array(count * dtype.size);
  const style = dice.below(4);
  for (let i = 0; i < data.length; i++)
    data[i] = style === 0 ? 0 : style === 1 ? i & 7 : style === 2 ? i >> 5 : dice.below(256);
  if (dtype.kind === "bool") for (let i = 0; i < data.length; i++) data[i]! &= 1;
  if (dtype.kind === "utf32") for (let i = 0; i < data.length; i += 4) data.set([65 + (data[i]! % 26), 0, 0, 0], i);
  return { shape, dtype, data };
}

/** Equal element by element; bytes for what has a fixed size. */
export function same(a: NdArray, b: NdArray): boolean {
  if (`${a.shape}` !== `${b.shape}` || a.data.length !== b.data.length) return false;
  for (let i = 0; i < a.data.length; i++) if (a.data[i] !== b.data[i]) return false;
  return true;
}
