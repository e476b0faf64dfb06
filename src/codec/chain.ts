/**
 * A list of codecs as one: array → array …, one array → bytes, bytes → bytes …, in the order of encoding.
 *
 * Bound to the chunk that it works on, a chain knows the size of everything between two codecs wherever that does not depend
 * on the values, and so what every decoder must give; only what lies behind a compressor is bounded by limits instead.
 */
import { isFixed, memorySize } from "../bytes/dtype.js";
import { Corrupt, InvalidInput, LimitExceeded } from "../errors.js";
import type { Limits } from "../limits.js";
import { elementCount } from "../space/shape.js";
import { type CodecRegistry, codecRegistry } from "./registry.js";
import type { Shard, ShardingCodec } from "./sharding.js";
import type {
  ArrayBytesCodec,
  ArrayCodec,
  BytesCodec,
  ChunkData,
  ChunkSpec,
  Codec,
  CodecSpec,
  EncodeOptions,
  Into,
  LoadContext,
} from "./types.js";

export interface CodecChain {
  readonly codecs: readonly Codec[];
  /** The chain for one kind of chunk; worth keeping. */
  bind(spec: ChunkSpec): ChunkCodec;
}

export interface ChunkCodec {
  readonly spec: ChunkSpec;
  /** Bytes in memory; for elements of variable size what they are taken for. */
  readonly bytes: number;
  /** Bytes when encoded, where that does not depend on the values. */
  readonly encodedSize: number | undefined;
  /** `into` has as many bytes as the chunk and may become the result, or part of the way there. */
  decode(bytes: Uint8Array, limits: Limits, into?: Into): ChunkData;
  encode(data: ChunkData, options?: EncodeOptions): Uint8Array;
  /** The chunks inside, where there are some and they can be had by themselves. */
  readonly shard: Shard | undefined;
}

const standard = codecRegistry();

export const CodecChain = {
  /** With `decodeOnly`, what only encoding needs is left out; with `onDemand`, what most of it never needs. */
  async load(
    specs: readonly CodecSpec[],
    registry: CodecRegistry = standard,
    use: Omit<LoadContext, "chain"> = {},
  ): Promise<CodecChain> {
    const context: LoadContext = { ...use, chain: (list) => chain(list) };
    const chain = (list: readonly CodecSpec[]): Promise<Codec[]> =>
      Promise.all(
        list.map(async ({ name, configuration }) => (await registry.find(name)).load(configuration, context)),
      );
    const codecs = await chain(specs);
    const names = specs.map(({ name }) => name);
    return CodecChain.of(codecs, names);
  },

  /** `names` are for the sentence that says what is wrong. */
  of(codecs: readonly Codec[], names: readonly string[] = codecs.map(({ kind }) => kind)): CodecChain {
    const arrays = codecs.filter((codec): codec is ArrayCodec => codec.kind === "array-array");
    const middle = codecs.filter((codec): codec is ArrayBytesCodec => codec.kind === "array-bytes");
    const bytes = codecs.filter((codec): codec is BytesCodec => codec.kind === "bytes-bytes");
    const [toBytes] = middle;
    if (toBytes === undefined || middle.length > 1)
      throw new InvalidInput(
        `a list of codecs should have one that turns an array into bytes, found ${middle.length} in [${names.join(", ")}]`,
      );
    if ([...arrays, toBytes, ...bytes].some((codec, i) => codec !== codecs[i]))
      throw new InvalidInput(
        `codecs should come in the order array to array, array to bytes, bytes to bytes, found [${names.join(", ")}]`,
      );
    return { codecs, bind: (spec) => bind(arrays, toBytes, bytes, spec) };
  },
};

function bind(
  arrays: readonly ArrayCodec[],
  toBytes: ArrayBytesCodec,
  onBytes: readonly BytesCodec[],
  spec: ChunkSpec,
): ChunkCodec {
  // specs[i] is what arrays[i] encodes, sizes[i] how much onBytes[i] encodes.
  const specs = [spec];
  for (const codec of arrays) specs.push(codec.encodedSpec(specs.at(-1)!));
  const inner = specs.at(-1)!;
  const sizes = [toBytes.encodedSize?.(inner)];
  for (const codec of onBytes) {
    const size = sizes.at(-1);
    sizes.push(size === undefined ? undefined : codec.encodedSize?.(size));
  }
  const count = elementCount(spec.shape);
  const bytes = count * memorySize(spec.dtype);
  const length = isFixed(spec.dtype) ? bytes : count;
  return {
    spec,
    bytes,
    encodedSize: sizes.at(-1),
    decode(encoded, limits, into) {
      if (bytes > limits.chunkBytes)
        throw new LimitExceeded(
          `a chunk of shape [${spec.shape}] is ${bytes} bytes, at most ${limits.chunkBytes} are allowed`,
          {
            reason: "chunk-bytes",
            hint: "Raise limits.chunkBytes.",
          },
        );
      let stage = encoded;
      for (let i = onBytes.length - 1; i >= 0; i--) {
        const fits = !(into instanceof Uint8Array) || into.length === sizes[0];
        const room = i === 0 && fits ? into : undefined;
        stage = onBytes[i]!.decode(stage, sizes[i], limits, room);
      }
      let data = toBytes.decode(stage, inner, limits, arrays.length === 0 && onBytes.length === 0 ? into : undefined);
      for (let i = arrays.length - 1; i >= 0; i--) data = arrays[i]!.decode(data, specs[i]!, limits);
      if (data.length !== length)
        throw new Corrupt(
          `a chunk of shape [${spec.shape}] should decode to ${length} ${isFixed(spec.dtype) ? "bytes" : "values"}, found ${data.length}`,
        );
      return data;
    },
    encode(data, options) {
      let array = data;
      for (let i = 0; i < arrays.length; i++) array = arrays[i]!.encode(array, specs[i]!);
      let stage = toBytes.encode(array, inner, options);
      for (const codec of onBytes) stage = codec.encode(stage);
      return stage;
    },
    shard: arrays.length === 0 && onBytes.length === 0 && isSharding(toBytes) ? toBytes.shard(spec) : undefined,
  };
}

const isSharding = (codec: ArrayBytesCodec): codec is ShardingCodec => "shard" in codec;
