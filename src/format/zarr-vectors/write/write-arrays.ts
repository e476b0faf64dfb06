/**
 * The arrays of a new level: cells of chunks, and tables with a row for each object or group. Every array's document is written
 * after its data, and the root's after everything.
 */
import type { DataType } from "../../../bytes/dtype.js";
import type { Json, JsonObject } from "../../../bytes/json.js";
import { CodecChain } from "../../../codec/chain.js";
import { withMissingCode } from "../../../codec/on-demand.js";
import type { BytesCodec, CodecSpec } from "../../../codec/types.js";
import type { NdArray } from "../../../model/array.js";
import { forEachConcurrent } from "../../../model/concurrent.js";
import { strides } from "../../../space/shape.js";
import { Key, Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { codecsFor, describeArray } from "../../zarr/create.js";
import { loadCodec } from "../../zarr/decode.js";
import { encodeNode } from "../../zarr/encode.js";
import { arrayNode } from "../../zarr/node.js";
import type { ArrayMeta } from "../../zarr/types.js";
import { writeRegion } from "../../zarr/write.js";
import { Cell } from "../payload/blobs.js";
import type { Plan } from "./description.js";
import { shardAt } from "./write-layout.js";

/** The chunks of a level, by number. */
export interface Grid {
  readonly dims: number;
  /** Coordinates by number, `dims` each. */
  readonly coords: Int32Array;
  readonly origin: readonly number[];
  readonly shape: readonly number[];
  /** Cells of a shard along each axis; undefined: every cell has its own key. */
  readonly shard: readonly number[] | undefined;
}

export interface CellArray {
  /**
   * Cells by chunk: of shards all that they have, at once; those that are wider than the grid's wait for all of their chunks. Cells
   * without bytes are not stored.
   */
  put(chunks: ArrayLike<number>, payloads: readonly Uint8Array[]): Promise<void>;
  /** The document, with the directory of the chunks. */
  finish(attributes: JsonObject): Promise<void>;
}

export interface Arrays {
  /** A document at a path below the store. */
  document(path: string, bytes: Uint8Array): Promise<void>;
  /** `unit`: bytes of an element, by which some codecs shuffle; `shard`: wider ones than the grid has. */
  cells(path: string, grid: Grid, unit?: number, shard?: Grid["shard"]): Promise<CellArray>;
  /** A table, a chunk of it at most `rows` rows. */
  table(path: string, values: NdArray, fill: Json, rows: number, attributes: JsonObject): Promise<void>;
  /** A list of blobs of so many bytes on average, of which `chunk` makes those from, up to as one vlen chunk of so many elements. */
  blobs(
    path: string,
    count: number,
    chunk: (from: number, to: number, size: number) => Uint8Array | Promise<Uint8Array>,
    attributes: JsonObject,
    bytes?: number,
  ): Promise<void>;
}

const BLOBS: DataType = { kind: "vlen-bytes" };
const MANIFESTS = 16384; // rows of one vlen chunk, as the reference has it; less where they are large:
const PAGE = 1 << 20; // bytes of one, since it is decoded whole for one row

export function arraysIn(store: Store, at: Prefix, plan: Plan, signal: AbortSignal | undefined): Arrays {
  const put = (path: string, bytes: Uint8Array): Promise<void> => store.set(Key.join(at, path), bytes, { signal });
  const isWanted = (path: string): boolean => store.wants?.(Key.join(at, path)) !== false;
  const finish = (path: string, meta: ArrayMeta): Promise<void> =>
    put(`${path}/zarr.json`, encodeNode(meta).get("zarr.json")!);

  return {
    document: (path, bytes) => put(path === "" ? "zarr.json" : `${path}/zarr.json`, bytes),

    async cells(path, grid, _unit, shard = grid.shard) {
      const { dims, coords, origin, shape } = grid;
      const codecs = chainFor(plan, BLOBS);
      const describe = (attributes: JsonObject): ArrayMeta =>
        describeArray({ shape, dtype: BLOBS, chunkShape: shape.map(() => 1), shardShape: shard, codecs, attributes });
      const compress = await compressor(codecs);
      const encode = (payload: Uint8Array): Uint8Array => compress(payload, true);
      const index = shard && (await loadCodec(describe({}), { decodeOnly: true })).shard!.index;
      const single = shape.map(() => 1);
      const keyOf = (chunk: number): string => `${path}/c/${shardAt(grid, chunk, shard ?? single).join("/")}`;
      const inShard = shard && strides(shard);
      const stored: string[] = [];
      const waiting = new Map<string, (Uint8Array | undefined)[]>(); // wider shards
      const missing = new Map<string, number>(); // chunks that these wait for
      const waits = shard !== grid.shard;
      for (let chunk = 0; waits && chunk < coords.length / dims; chunk++)
        missing.set(keyOf(chunk), (missing.get(keyOf(chunk)) ?? 0) + 1);
      return {
        async put(chunks, payloads) {
          const keys = Array.from(chunks, keyOf);
          const cellOf = (payload: Uint8Array, i: number): Uint8Array | undefined =>
            payload.length > 0 && isWanted(keys[i]!) ? encode(payload) : undefined;
          const encoded = await withMissingCode(() => payloads.map(cellOf));
          const shards = waits ? waiting : new Map<string, (Uint8Array | undefined)[]>();
          const values: [string, () => Uint8Array][] = [];
          for (let i = 0; i < chunks.length; i++) {
            const [chunk, key, bytes] = [chunks[i]!, keys[i]!, encoded[i]];
            if (waits) missing.set(key, missing.get(key)! - 1);
            if (payloads[i]!.length > 0) stored.push(coords.subarray(chunk * dims, (chunk + 1) * dims).join("."));
            if (bytes === undefined) continue;
            if (shard === undefined) {
              values.push([key, () => bytes]);
              continue;
            }
            let cells = shards.get(key);
            if (cells === undefined) {
              cells = new Array<Uint8Array | undefined>(index!.count).fill(undefined);
              shards.set(key, cells);
            }
            const place = inShard!.reduce(
              (sum, step, axis) => sum + step * ((coords[chunk * dims + axis]! - origin[axis]!) % shard[axis]!),
              0,
            );
            cells[place] = bytes;
          }
          for (const [key, cells] of shards) {
            if (waits && missing.get(key)! > 0) continue;
            shards.delete(key);
            values.push([key, () => index!.join(cells)]);
          }
          await forEachConcurrent(values, 8, ([key, bytes]) => put(key, bytes()));
        },
        async finish(attributes) {
          for (const [key, cells] of waiting) await put(key, index!.join(cells)); // where chunks never came
          await finish(
            path,
            describe({
              nonempty_chunks: stored.sort(),
              ...(origin.every((first) => first === 0) ? {} : { chunk_grid_origin: origin }),
              ...attributes,
            }),
          );
        },
      };
    },

    async table(path, values, fill, rows, attributes) {
      const [count, ...rest] = values.shape;
      const meta = describeArray({
        shape: values.shape,
        dtype: values.dtype,
        chunkShape: [Math.max(1, Math.min(rows, count!)), ...rest],
        fill,
        codecs: chainFor(plan, values.dtype),
        attributes,
      });
      if (count! > 0)
        await writeRegion(arrayNode(store, Prefix.join(at, path), meta), undefined, values, { fresh: true, signal });
      await finish(path, meta);
    },

    async blobs(path, count, chunk, attributes, bytes = 1) {
      const few = 2 ** Math.floor(Math.log2(Math.max(256, PAGE / bytes)));
      const size = Math.max(1, Math.min(MANIFESTS, few, count));
      // Never a checksum alone: the reference takes an index whose crc32c fails for an empty one.
      const codecs = codecsFor(3, BLOBS, "zstd");
      const compress = await compressor(codecs);
      for (let from = 0; from < count; from += size) {
        const to = Math.min(count, from + size);
        const key = `${path}/c/${from / size}`;
        if (!isWanted(key)) continue;
        const bytes = await chunk(from, to, size);
        await put(key, await withMissingCode(() => compress(bytes)));
      }
      await finish(path, describeArray({ shape: [count], dtype: BLOBS, chunkShape: [size], codecs, attributes }));
    },
  };
}

/** The chain of an array of such elements. */
function chainFor({ codecs = "zstd", checksums = true }: Plan, dtype: DataType): CodecSpec[] {
  if (typeof codecs !== "string") return [codecsFor(3, dtype, "none")[0]!, ...codecs];
  const chain = codecsFor(3, dtype, codecs);
  if (checksums) return chain;
  return chain
    .filter(({ name }) => name !== "crc32c")
    .map((spec) =>
      spec.name === "zstd" ? { name: "zstd", configuration: { ...spec.configuration, checksum: false } } : spec,
    );
}

let room = new Uint8Array(1 << 16); // for cells on their way through codecs: fresh memory costs more than the copy

/** What the codecs after the first make of bytes, or of the cell that has them, where nothing is missing that is loaded on demand. */
async function compressor(codecs: readonly CodecSpec[]): Promise<(bytes: Uint8Array, cell?: boolean) => Uint8Array> {
  const chain = (await CodecChain.load(codecs, undefined, { onDemand: true })).codecs.filter(
    (codec): codec is BytesCodec => codec.kind === "bytes-bytes",
  );
  const through = (bytes: Uint8Array): Uint8Array => chain.reduce((stage, codec) => codec.encode(stage), bytes);
  return (bytes, cell = false) => {
    if (!cell) return through(bytes);
    if (chain.length === 0) return Cell.encode(bytes);
    if (room.length < bytes.length + 8) room = new Uint8Array(2 * bytes.length + 8);
    const out = through(Cell.encode(bytes, room));
    return out.buffer === room.buffer ? out.slice() : out;
  };
}
