/**
 * `sharding_indexed`: a chunk that consists of smaller chunks, each encoded by itself, and an index of where they lie.
 *
 * | part  | bytes                                                                                          |
 * |-------|------------------------------------------------------------------------------------------------|
 * | index | u64 offset, u64 length per inner chunk in C order, through `index_codecs`; both 2^64 − 1: absent |
 * | inner | the chunks, anywhere else in the shard, in any order, with or without gaps                     |
 *
 * The index is at the end or at the start, and its encoded size does not depend on its values. Offsets count from the start
 * of the shard. Two entries may name the same bytes; an entry that reaches into the index or past the end is Corrupt.
 */
import { isFixed } from "../bytes/dtype.js";
import { isJsonObject, type Json, showJson } from "../bytes/json.js";
import { InvalidInput } from "../errors.js";
import { elementCount, strides } from "../space/shape.js";
import { type ChunkCodec, CodecChain } from "./chain.js";
import { wordOption } from "./options.js";
import { indexSpec, ShardIndex } from "./shard-index.js";
import { copyStrided, fillStrided, type Layout } from "./strided.js";
import type { ArrayBytesCodec, ChunkData, ChunkSpec, CodecEntry, CodecSpec, Element } from "./types.js";

export interface Shard {
  readonly inner: ChunkCodec;
  /** Inner chunks per axis. */
  readonly grid: readonly number[];
  readonly index: ShardIndex;
}

export interface ShardingCodec extends ArrayBytesCodec {
  shard(spec: ChunkSpec): Shard;
}

export const shardingCodec: CodecEntry = {
  name: "sharding_indexed",
  async load(configuration, context): Promise<ShardingCodec> {
    const chunkShape = shapeOf(configuration.chunk_shape);
    const location = wordOption(configuration, "sharding_indexed", "index_location", ["start", "end"], "end");
    const chains = [configuration.codecs, configuration.index_codecs].map(async (list) => {
      const specs = specsOf(list);
      return CodecChain.of(
        await context.chain(specs),
        specs.map(({ name }) => name),
      );
    });
    const [innerChain, indexChain] = (await Promise.all(chains)) as [CodecChain, CodecChain];

    const bind = (spec: ChunkSpec): Shard => {
      const { shape } = spec;
      if (chunkShape.length !== shape.length || shape.some((length, axis) => length % chunkShape[axis]! !== 0))
        throw new InvalidInput(`the inner chunks of a shard should divide its shape [${shape}], found [${chunkShape}]`);
      const grid = shape.map((length, axis) => length / chunkShape[axis]!);
      const table = indexChain.bind(indexSpec(grid));
      return { inner: innerChain.bind({ ...spec, shape: chunkShape }), grid, index: ShardIndex.of(table, location) };
    };
    // A chain works on the same spec again and again.
    let last: { spec: ChunkSpec; shard: Shard } | undefined;
    const shard = (spec: ChunkSpec): Shard => {
      if (last?.spec !== spec) last = { spec, shard: bind(spec) };
      return last.shard;
    };

    return {
      kind: "array-bytes",
      shard,
      decode(bytes, spec, limits) {
        const { inner, grid, index } = shard(spec);
        const data = blank(spec);
        const parts = index.split(bytes, limits);
        eachInner(grid, spec.shape, inner.spec.shape, (i, into, own) => {
          const part = parts[i];
          if (part === undefined) fillStrided(data, into, spec.fill, inner.spec.shape, spec.dtype);
          else copyStrided(data, into, inner.decode(part, limits), own, inner.spec.shape, spec.dtype);
        });
        return data;
      },
      encode(data, spec, options) {
        const { inner, grid, index } = shard(spec);
        const parts: (Uint8Array | undefined)[] = [];
        eachInner(grid, spec.shape, inner.spec.shape, (i, from, own) => {
          const chunk = blank(inner.spec);
          copyStrided(chunk, own, data, from, inner.spec.shape, spec.dtype);
          parts[i] = !options?.keepEmpty && isFill(chunk, spec.fill) ? undefined : inner.encode(chunk, options);
        });
        return index.join(parts);
      },
    };
  },
};

/** Calls with the number of each inner chunk, its place in the shard, and its layout by itself. */
function eachInner(
  grid: readonly number[],
  shape: readonly number[],
  innerShape: readonly number[],
  call: (i: number, place: Layout, own: Layout) => void,
): void {
  const outer = strides(shape);
  const own: Layout = { offset: 0, strides: strides(innerShape) };
  const at = grid.map(() => 0);
  for (let i = 0, count = elementCount(grid); i < count; i++) {
    const offset = at.reduce((sum, n, axis) => sum + n * innerShape[axis]! * outer[axis]!, 0);
    call(i, { offset, strides: outer }, own);
    for (let axis = at.length - 1; axis >= 0 && ++at[axis]! === grid[axis]; axis--) at[axis] = 0;
  }
}

function blank({ shape, dtype }: ChunkSpec): ChunkData {
  const count = elementCount(shape);
  return isFixed(dtype) ? new Uint8Array(count * dtype.size) : new Array(count);
}

/** Whether every element is the fill value, bit for bit. */
export function isFill(data: ChunkData, fill: Element): boolean {
  if (Array.isArray(data)) return data.every((value) => sameValue(value, fill));
  const bytes = fill as Uint8Array;
  for (let i = 0; i < data.length; i++)
    if (data[i] !== (i < bytes.length ? bytes[i] : data[i - bytes.length])) return false;
  return true;
}

const sameValue = (a: Element, b: Element): boolean =>
  typeof a === "string" || typeof b === "string"
    ? a === b
    : a.length === b.length && (a as Uint8Array).every((value, i) => Object.is(value, b[i]));

function shapeOf(value: Json | undefined): number[] {
  if (!Array.isArray(value) || !value.every((n) => Number.isSafeInteger(n) && (n as number) > 0))
    throw new InvalidInput(`a shard's chunk_shape should be a list of lengths, found ${showJson(value)}`);
  return value as number[];
}

/** A list of codecs inside a configuration: texts, or objects with a name and perhaps a configuration. */
function specsOf(value: Json | undefined): CodecSpec[] {
  if (!Array.isArray(value)) throw new InvalidInput("a shard should have codecs and index_codecs, found no list");
  return (value as readonly Json[]).map((entry) => {
    const { name, configuration } = isJsonObject(entry) ? entry : { name: entry, configuration: {} };
    if (typeof name !== "string" || !(configuration === undefined || isJsonObject(configuration)))
      throw new InvalidInput(`a shard's codecs should be {name, configuration}, found ${showJson(entry)}`);
    return { name, configuration: configuration ?? {} };
  });
}
