/**
 * Blobs as 0.4 to 0.8 kept them: a Zarr array of uint8 for each, `<group>/<name>/zarr.json` and its one chunk `c/0`.
 *
 * - A chunk of nothing but zeros is not stored: then the blob is that many zeros.
 * - Groups between may have no document (0.5 – 0.7): what has something below it is a group without attributes.
 * - Compressed and plain blobs occur side by side, so that each blob's own document is read.
 */
import { stringifyJson, type WritableJson } from "../../../bytes/json.js";
import { CodecChain } from "../../../codec/chain.js";
import { withLimits } from "../../../limits.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { Key } from "../../../store/key.js";
import { chunkKey } from "../../zarr/keys.js";
import { inChunk } from "../../zarr/read.js";
import type { ArrayMeta } from "../../zarr/types.js";
import { denseArray, vlenArray } from "./nodes-arrays.js";
import { type BlobTree, isGroupName } from "./nodes-blobs.js";
import { type Documents, placeOf, urlOf } from "./nodes-documents.js";
import { oncePerKey } from "./once.js";

export function blobArrays(documents: Documents, level: string): BlobTree {
  const { store } = documents;
  const full = (path: string): string => (path === "" ? level : `${level}/${path}`);
  const where = (path: string): string => urlOf(documents, full(path));
  const place = (path: string) => placeOf(documents, full(path));
  /** A store has thousands of blobs and two or three ways to encode them. */
  const chains = oncePerKey((specs) => CodecChain.load(JSON.parse(specs), undefined, { decodeOnly: true }));

  const namesOf = async (path: string, options: ReadOptions | undefined): Promise<readonly string[]> =>
    (await documents.names(full(path), options)) ?? [];
  const arrayAt = async (path: string, options: ReadOptions | undefined): Promise<ArrayMeta | undefined> => {
    const node = await documents.node(full(path), options);
    return node?.node === "array" ? node : undefined;
  };

  return {
    where,
    requests: 2,
    async attributes(path, options) {
      const node = await documents.node(full(path), options);
      if (node !== undefined) return node.attributes;
      return (await namesOf(path, options)).length > 0 ? {} : undefined;
    },
    async names(path, options) {
      const names = await namesOf(path, options);
      const shards = names.filter((name) => name.startsWith("__shard_"));
      return { groups: names.filter(isGroupName), blobs: names, shards };
    },
    async blob(path, options) {
      const meta = await documents.passing(full(path), options);
      if (meta?.node !== "array") return undefined;
      const [length] = meta.shape;
      const { dtype } = meta;
      const plain =
        dtype.kind === "uint" && dtype.size === 1 && meta.shape.length === 1 && length! <= meta.chunkShape[0]!;
      if (!plain) return (await denseArray(store, place(path), meta).read(0, length, options)).data as Uint8Array;
      const limits = withLimits(options?.limits);
      const key = Key.join(place(path), chunkKey(meta.keys, [0]));
      const bytes =
        length === 0 ? undefined : await store.get(key, { signal: options?.signal, most: limits.chunkBytes });
      if (bytes === undefined) return new Uint8Array(length!).fill((meta.fill as Uint8Array)[0]!);
      const chain = await chains(stringifyJson(meta.codecs as unknown as WritableJson), options?.signal);
      const codec = chain.bind({ shape: meta.chunkShape, dtype, fill: meta.fill });
      const data = await inChunk(`${store.url}/${key}`, () => codec.decode(bytes, limits) as Uint8Array);
      return data.length === length ? data : data.subarray(0, length);
    },
    shardIndex: async (path, options) => (await arrayAt(path, options))?.attributes.shard_index,
    async dense(path, options) {
      const meta = await arrayAt(path, options);
      return meta && denseArray(store, place(path), meta);
    },
    async vlen(path, options) {
      const meta = await arrayAt(path, options);
      return meta && vlenArray(store, place(path), meta, where(path));
    },
    async sizes(path, options) {
      if (!store.can.list) return undefined;
      const at = place(path);
      const sizes = new Map<string, number>();
      for await (const { key, size = 0 } of store.list(at, { signal: options?.signal })) {
        const name = key.slice(at.length).split("/")[0]!;
        sizes.set(name, (sizes.get(name) ?? 0) + size);
      }
      return sizes;
    },
  };
}
