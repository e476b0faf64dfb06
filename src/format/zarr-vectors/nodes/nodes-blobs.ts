/**
 * The nodes of a level before 0.9, whatever holds the blobs: raw files (nodes-files.ts) or a Zarr array for each blob
 * (nodes-blob-arrays.ts). A group has one blob for each chunk, named by its coordinates, or a few with names of their own
 * (`data`, `offsets`).
 *
 * `shard_store` of those versions put the blobs of several chunks into one, with an index from chunk to [offset, bytes] beside it:
 * `__shard_000000` with the attribute `shard_index`, or `shard_000000.bin` and `shard_000000.idx`. The reference's readers
 * find nothing in there; this one does.
 */
import type { Json, JsonObject } from "../../../bytes/json.js";
import { Corrupt, InvalidInput } from "../../../errors.js";
import { forEachConcurrent } from "../../../model/concurrent.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { asInteger, asList, asObject, asShape, wrong } from "../../zarr/document.js";
import { namedType } from "../read/schema.js";
import type { Cells, Dense, Dialect, LevelNodes, VlenArray } from "../types.js";
import { Directory } from "./nodes-directory.js";
import { oncePerKey } from "./once.js";

/** What holds groups and blobs. Paths are below the level. */
export interface BlobTree {
  /** For people. */
  where(path: string): string;
  attributes(path: string, options?: ReadOptions): Promise<JsonObject | undefined>;
  names(path: string, options?: ReadOptions): Promise<Names>;
  blob(path: string, options?: ReadOptions): Promise<Uint8Array | undefined>;
  /** The index of the shard whose blob has this name. */
  shardIndex(path: string, options?: ReadOptions): Promise<Json | undefined>;
  dense(path: string, options?: ReadOptions): Promise<Dense | undefined>;
  vlen(path: string, options?: ReadOptions): Promise<VlenArray | undefined>;
  /** Requests for each blob. */
  readonly requests: number;
  /** Stored bytes of each name directly below; undefined where the store cannot list. */
  sizes(path: string, options?: ReadOptions): Promise<ReadonlyMap<string, number> | undefined>;
}

export interface Names {
  readonly groups: readonly string[];
  readonly blobs: readonly string[];
  /** The names of blobs that are shards. */
  readonly shards: readonly string[];
}

const REQUESTS = 32;

/** `rank` is that of chunks: the axes of space, and the attribute that a level is chunked by. */
export function blobNodes(tree: BlobTree, dialect: Dialect, rank: number): LevelNodes {
  const cells = oncePerKey(async (path, signal): Promise<Cells | undefined> => {
    const attributes = await tree.attributes(path, { signal });
    return attributes && blobCells(tree, path, attributes, rank);
  });
  return {
    dialect,
    attributes: (path, options) => tree.attributes(path, options),
    document: async () => undefined,
    children: async (path, options) => (await tree.names(path, options)).groups,
    cells: (path, options) => cells(path, options?.signal),
    blob: (path, options) => tree.blob(path, options),
    dense: async (path, options) => (await tree.dense(path, options)) ?? denseBlob(tree, path, options),
    vlen: (path, options) => tree.vlen(path, options),
  };
}

/** Where the blob of a chunk lies: by itself, or in a shard. */
interface Place {
  readonly name: string;
  readonly offset?: number;
  readonly length?: number;
}

function blobCells(tree: BlobTree, path: string, attributes: JsonObject, rank: number): Cells {
  const where = tree.where(path);
  const table = oncePerKey(async (_, signal) => {
    const { blobs, shards } = await tree.names(path, { signal });
    const places = new Map<string, Place>();
    await forEachConcurrent(shards, REQUESTS, async (name) => {
      const index = await tree.shardIndex(`${path}/${name}`, { signal });
      for (const [key, place] of parseShardIndex(index, name, where)) places.set(key, place);
    });
    for (const name of blobs) if (Directory.parseKey(name) !== undefined) places.set(name, { name });
    return { directory: Directory.ofKeys(places.keys(), rank, where), places };
  });

  /** The rows of a list of chunks by the blob that they lie in. */
  const byBlob = async (coords: Int32Array, options: ReadOptions | undefined) => {
    const { places } = await table("", options?.signal);
    const groups = new Map<string, { row: number; place: Place }[]>();
    const count = coords.length / rank;
    for (let row = 0; row < count; row++) {
      const place = places.get(Directory.key(coords, row * rank, rank));
      if (place === undefined) continue;
      const group = groups.get(place.name);
      if (group === undefined) groups.set(place.name, [{ row, place }]);
      else group.push({ row, place });
    }
    return { count, groups };
  };

  return {
    path,
    attributes,
    directory: async (options) => (await table("", options?.signal)).directory,
    async read(coords, options) {
      const { count, groups } = await byBlob(coords, options);
      const out = new Array<Uint8Array | undefined>(count).fill(undefined);
      await forEachConcurrent(groups, REQUESTS, async ([name, rows]) => {
        const blob = await tree.blob(`${path}/${name}`, options);
        if (blob === undefined)
          throw new Corrupt(`${where} has an entry ${name}, but its bytes are not there`, {
            where: `${where}/${name}`,
          });
        for (const { row, place } of rows) out[row] = cut(blob, place, where);
      });
      return out;
    },
    async cost(coords, options) {
      const { groups } = await byBlob(coords, options);
      const sizes = await tree.sizes(path, options);
      let bytes = 0;
      for (const name of groups.keys()) bytes += sizes?.get(name) ?? 0;
      return { requests: tree.requests * groups.size, bytes, exact: sizes !== undefined };
    },
  };
}

function parseShardIndex(value: Json | undefined, name: string, where: string): [string, Place][] {
  const entries = Object.entries(asObject(value, `an index of the shard ${name}`, where));
  return entries.map(([key, span]) => {
    const [offset, length, ...rest] = asList(span, "entries of a shard's index as [offset, bytes]", where);
    if (rest.length > 0) throw wrong(where, "entries of a shard's index as [offset, bytes]", span);
    const number = (value: Json | undefined) =>
      asInteger(value, 0, Number.MAX_SAFE_INTEGER, "a number in a shard's index", where);
    return [key, { name, offset: number(offset), length: number(length) }];
  });
}

function cut(blob: Uint8Array, { name, offset, length }: Place, where: string): Uint8Array {
  if (offset === undefined || length === undefined) return blob;
  if (offset + length <= blob.length) return blob.subarray(offset, offset + length);
  throw new Corrupt(
    `the index of the shard ${name} of ${where} has bytes ${offset} to ${offset + length}, the shard has ${blob.length}`,
    { where },
  );
}

/** A group with the blob `data`, whose attributes say what it is made of. */
async function denseBlob(tree: BlobTree, path: string, options: ReadOptions | undefined): Promise<Dense | undefined> {
  const attributes = await tree.attributes(path, options);
  if (attributes?.dtype === undefined) return undefined;
  const where = tree.where(path);
  const dtype = namedType(attributes.dtype, where);
  // parametric/objects has its shape in two other words
  const given = attributes.shape ?? [attributes.num_objects ?? null, attributes.max_row_length ?? null];
  const shape = asShape(given, "shape", where);
  const [rows = 1, ...row] = shape;
  const rowBytes = row.reduce((product, length) => product * length, dtype.size);
  return {
    attributes,
    shape,
    async read(from = 0, to = rows, options) {
      if (!(0 <= from && from <= to && to <= rows))
        throw new InvalidInput(`rows ${from} to ${to} of ${where} are asked for, which has ${rows}`, { where });
      const data = await tree.blob(`${path}/data`, options);
      if (data?.length !== rows * rowBytes)
        throw new Corrupt(
          `${where} should have ${rows * rowBytes} bytes for [${shape}] of ${String(attributes.dtype)}, found ${data?.length ?? "none"}`,
          { where },
        );
      return { shape: [to - from, ...row], dtype, data: data.subarray(from * rowBytes, to * rowBytes) };
    },
  };
}

/** Names of chunks and of what lies beside them are no names of groups. */
export const isGroupName = (name: string): boolean => !name.startsWith(".") && !name.startsWith("__shard_");
