/**
 * One array of a published store: the same elements, in few values of the store, with zstd and its checksum.
 *
 * | array                     | inner chunk                            | in a shard                                          |
 * |---------------------------|----------------------------------------|-----------------------------------------------------|
 * | cells of chunks           | a cell, as in the source               | in C order: rows of chunks lie together             |
 * | lists of blobs, manifests | as many as make 64 KiB                 | in order                                            |
 * | tables                    | all rows, or as many as make 256 KiB   | in order; up to 1 MiB there is no shard             |
 *
 * A shard holds the whole array up to 128 MiB and 32,768 inner chunks; beyond that its longest axis is halved until it fits. One
 * large value takes fewer requests than many small ones, since parts of it that lie near each other come together; web caches
 * take values of that size; and an index of 512 KiB is still read at once.
 */
import type { JsonObject } from "../../../bytes/json.js";
import { CodecChain } from "../../../codec/chain.js";
import type { ShardEntry, ShardIndex } from "../../../codec/shard-index.js";
import type { BytesCodec, CodecSpec } from "../../../codec/types.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { elementCount, strides } from "../../../space/shape.js";
import { Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { wrap } from "../../../store/wrap.js";
import { chainToV3 } from "../../zarr/chain.js";
import { codecsFor, shardOf } from "../../zarr/create.js";
import { loadCodec } from "../../zarr/decode.js";
import { chunkKey } from "../../zarr/keys.js";
import { arrayNode, type ZarrArray } from "../../zarr/node.js";
import type { ArrayMeta } from "../../zarr/types.js";
import { writeRegion } from "../../zarr/write.js";
import { Directory } from "../nodes/nodes-directory.js";
import { Blobs, Cell } from "../payload/blobs.js";
import type { Cells, VlenArray } from "../types.js";
import type { Output } from "./publish-output.js";

const SHARD_BYTES = 128 << 20;
const SHARD_CHUNKS = 32768;
const LIST_BYTES = 64 << 10;
const TABLE_BYTES = 256 << 10;
const TABLE_WHOLE = 1 << 20;
const BATCH_BYTES = 8 << 20; // cells that are held at once
const BATCH = 64;

/** An array of the source, and what it shall be. */
export interface ArrayPlan {
  readonly path: string;
  /** Pieces of work. */
  readonly chunks: number;
  /** Values of the store that it becomes, at most. */
  readonly keys: number;
  /** Writes it, and gives its document. */
  write(output: Output, document: JsonObject, step: (chunks: number) => void): Promise<JsonObject>;
}

/** Per-chunk arrays. */
export async function planCells(path: string, cells: Cells, meta: ArrayMeta, options: ReadOptions): Promise<ArrayPlan> {
  const { count, rank, coords } = await cells.directory(options);
  const { bytes } = await cells.cost(coords, options);
  const single = meta.shape.map(() => 1);
  const shard = shardShape(meta.shape, single, bytes);
  const shards = new Map<string, { place: number[]; rows: number[] }>();
  const origin = (meta.attributes.chunk_grid_origin as readonly number[] | undefined) ?? single.map(() => 0);
  for (let row = 0; row < count; row++) {
    const place = shard.map((size, axis) => Math.floor((coords[row * rank + axis]! - origin[axis]!) / size));
    const own = shards.get(`${place}`);
    if (own === undefined) shards.set(`${place}`, { place, rows: [row] });
    else own.rows.push(row);
  }
  return {
    path,
    chunks: count,
    keys: shards.size,
    async write(output, document, step) {
      const target = targetOf(meta, shard, single);
      const { index, compress } = await coderOf(target);
      const steps = strides(shard);
      const batch = Math.max(1, Math.min(BATCH, Math.floor((BATCH_BYTES * count) / Math.max(1, bytes))));
      for (const { place, rows } of shards.values()) {
        const slotOf = (row: number): number =>
          steps.reduce((sum, n, axis) => sum + n * ((coords[row * rank + axis]! - origin[axis]!) % shard[axis]!), 0);
        const sink = shardSink(output, `${path}/${chunkKey(target.keys, place)}`, index!);
        for (let from = 0; from < rows.length; from += batch) {
          options.signal?.throwIfAborted();
          const some = rows.slice(from, from + batch);
          const wanted = new Int32Array(some.length * rank);
          for (const [i, row] of some.entries()) wanted.set(coords.subarray(row * rank, (row + 1) * rank), i * rank);
          const payloads = await cells.read(wanted, options);
          for (const [i, row] of some.entries()) await sink.put(slotOf(row), compress(Cell.encode(payloads[i]!)));
          step(some.length);
        }
        await sink.end();
      }
      const named = Array.from({ length: count }, (_, row) => Directory.key(coords, row * rank, rank)).sort();
      const attributes = { ...(document.attributes as JsonObject), nonempty_chunks: named };
      return { ...described(document, target), attributes };
    },
  };
}

/** Lists of blobs: manifests, groups, names. */
export async function planBlobs(
  path: string,
  array: VlenArray,
  meta: ArrayMeta,
  options: ReadOptions,
): Promise<ArrayPlan> {
  const { length } = array;
  const sample = await array.blobs(0, Math.min(length, 1024), options);
  const each = sample.ends.reduce((sum, end, i) => sum + end - sample.starts[i]! + 4, 0) / Math.max(1, sample.count);
  let size = 1;
  while (size < length && 2 * size * each <= LIST_BYTES) size *= 2;
  const chunks = Math.ceil(length / size);
  const shard = shardShape([length], [size], length * each);
  const perShard = shard[0]! / size;
  return {
    path,
    chunks,
    keys: Math.ceil(chunks / perShard),
    async write(output, document, step) {
      if (length === 0) return document;
      const target = targetOf(meta, shard, [size]);
      const { index, compress } = await coderOf(target);
      const block = Math.max(1, Math.floor(array.chunk / size)) * size; // what the source has together is decoded once
      for (let first = 0; first < chunks; first += perShard) {
        const sink = shardSink(output, `${path}/${chunkKey(target.keys, [first / perShard])}`, index!);
        const end = Math.min(length, (first + perShard) * size);
        for (let from = first * size; from < end; from += block) {
          options.signal?.throwIfAborted();
          const blobs = await array.blobs(from, Math.min(end, from + block), options);
          for (let at = 0; at < blobs.count; at += size) {
            const chunk = Blobs.encodeChunk(blobs, at, Math.min(blobs.count, at + size), size);
            await sink.put((from + at) / size - first, compress(chunk));
            step(1);
          }
        }
        await sink.end();
      }
      return described(document, target);
    },
  };
}

/** Everything else: tables with a row for each object or group. */
export function planTable(path: string, array: ZarrArray, options: ReadOptions): ArrayPlan {
  const { meta } = array;
  const [rows = 1, ...rest] = meta.shape;
  const rowBytes = elementCount(rest) * ("size" in meta.dtype ? meta.dtype.size : 64);
  let size = Math.max(1, rows);
  if (rows * rowBytes > TABLE_WHOLE) size = 2 ** Math.floor(Math.log2(Math.max(1, TABLE_BYTES / rowBytes)));
  const inner = meta.shape.length === 0 ? [] : [size, ...rest.map((length) => Math.max(1, length))];
  const sharded = size < rows;
  const shard = sharded ? shardShape(meta.shape, inner, rows * rowBytes) : inner;
  const chunks = Math.ceil(rows / (shard[0] ?? 1));
  return {
    path,
    chunks,
    keys: chunks,
    async write(output, document, step) {
      const target = targetOf(meta, shard, sharded ? inner : undefined);
      const tail = (await loadCodec(target)).shard?.index.bytes ?? 0;
      const into = wrap(nowhere, { set: (key, bytes) => output.put(key, bytes, tail) });
      const to = arrayNode(into, Prefix.of(path), target);
      for (let from = 0; elementCount(meta.shape) > 0 && from < rows; from += shard[0] ?? 1) {
        options.signal?.throwIfAborted();
        const region = meta.shape.length === 0 ? [] : [{ start: from, stop: Math.min(rows, from + shard[0]!) }];
        await writeRegion(to, region, await array.read(region, options), { fresh: true, signal: options.signal });
        step(1);
      }
      return described(document, target);
    },
  };
}

/** Of a store only `set` is needed to write what is new. */
const nowhere = { url: "published", can: { list: false, write: true, conditional: false } } as Store;

/** All of the array, its longest axis in inner chunks halved until a shard has not too many bytes and inner chunks. */
export function shardShape(shape: readonly number[], inner: readonly number[], bytes: number): number[] {
  const grid = shape.map((length, axis) => Math.max(1, Math.ceil(length / inner[axis]!)));
  const all = elementCount(grid);
  const shard = [...grid];
  for (;;) {
    const chunks = elementCount(shard);
    if (chunks === 1 || (chunks <= SHARD_CHUNKS && (bytes * chunks) / all <= SHARD_BYTES)) break;
    const longest = shard.indexOf(Math.max(...shard));
    shard[longest] = Math.ceil(shard[longest]! / 2);
  }
  return shard.map((chunks, axis) => chunks * inner[axis]!);
}

/** `inner` undefined: no shards. */
function targetOf(meta: ArrayMeta, chunkShape: readonly number[], inner: readonly number[] | undefined): ArrayMeta {
  const chain: readonly CodecSpec[] = codecsFor(3, meta.dtype, "zstd");
  const codecs = inner === undefined ? chain : [shardOf(inner, chain)];
  return { ...meta, chunkShape, codecs, keys: { kind: "default", separator: "/" } };
}

/** The document of an array with the chunks and codecs of another description. */
const described = (document: JsonObject, { chunkShape, codecs }: ArrayMeta): JsonObject => ({
  ...document,
  chunk_grid: { name: "regular", configuration: { chunk_shape: [...chunkShape] } },
  chunk_key_encoding: { name: "default", configuration: { separator: "/" } },
  codecs: chainToV3(codecs),
});

async function coderOf(target: ArrayMeta) {
  const { index, inner } = (await loadCodec(target)).shard!;
  const chain = await CodecChain.load(codecsFor(3, target.dtype, "zstd"));
  const codecs = chain.codecs.filter((codec): codec is BytesCodec => codec.kind === "bytes-bytes");
  return { index, inner, compress: (bytes: Uint8Array) => codecs.reduce((stage, codec) => codec.encode(stage), bytes) };
}

function shardSink(output: Output, path: string, index: ShardIndex) {
  const sink = output.begin(path);
  const entries = new Array<ShardEntry | undefined>(index.count).fill(undefined);
  let offset = 0;
  return {
    async put(slot: number, bytes: Uint8Array): Promise<void> {
      entries[slot] = { offset, length: bytes.length };
      offset += bytes.length;
      await sink.write(bytes);
    },
    end: () => sink.end(index.encode(entries)),
  };
}
