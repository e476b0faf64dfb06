/**
 * Blobs as 0.2 and 0.3 kept them: plain folders and files, no Zarr at all.
 *
 * | key                                | holds                                           |
 * |------------------------------------|-------------------------------------------------|
 * | `<group>/.zattrs`                  | the group's attributes, as JSON; may be missing |
 * | `<group>/0.1.2`, `<group>/data`    | a blob                                          |
 * | `<group>/shard_000000.bin`, `.idx` | several blobs, and where they lie, as JSON      |
 *
 * Links had no deltas then. Here they have: `links/0` is the folder `links`, and so for all that hangs on links.
 */
import type { JsonObject } from "../../../bytes/json.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { Key } from "../../../store/key.js";
import { readDocument } from "../../zarr/document.js";
import { type BlobTree, isGroupName } from "./nodes-blobs.js";
import { type Documents, placeOf, urlOf } from "./nodes-documents.js";
import { oncePerKey } from "./once.js";

const WITH_DELTA = /^((?:cross_chunk_)?(?:links|link_attributes\/[^/]+))\/0(?=\/|$)/;
const ABOVE_DELTA = /^(?:cross_chunk_)?(?:links|link_attributes\/[^/]+)$/;
const SHARD = /^shard_\d+\.bin$/;

export function blobFiles(documents: Pick<Documents, "store" | "at" | "limits">, level: string): BlobTree {
  const { store, limits } = documents;
  const folder = (path: string): string => (path === "" ? level : `${level}/${path.replace(WITH_DELTA, "$1")}`);
  const place = (path: string) => placeOf(documents, folder(path));
  const where = (path: string): string => urlOf(documents, folder(path));

  const json = oncePerKey(async (path, signal): Promise<JsonObject | undefined> => {
    const key = Key.join(documents.at, path);
    const bytes = await store.get(key, { signal, most: limits.metadataBytes });
    return bytes && readDocument(bytes, limits, `${store.url}/${key}`);
  });
  const below = async (path: string, options: ReadOptions | undefined) => {
    const at = place(path);
    const { keys, prefixes } = await store.children(at, { signal: options?.signal });
    return {
      files: keys.map((key) => key.slice(at.length)),
      folders: prefixes.map((prefix) => prefix.slice(at.length, -1)).filter(isGroupName),
    };
  };

  return {
    where,
    requests: 1,
    async attributes(path, options) {
      const found = await json(`${folder(path)}/.zattrs`, options?.signal);
      if (found !== undefined) return found;
      const { files, folders } = await below(path, options);
      return files.length + folders.length > 0 ? {} : undefined;
    },
    async names(path, options) {
      const { files, folders } = await below(path, options);
      const groups = !ABOVE_DELTA.test(path) ? folders : files.length + folders.length > 0 ? ["0"] : [];
      return { groups, blobs: files, shards: files.filter((name) => SHARD.test(name)) };
    },
    blob: (path, options) =>
      store.get(Key.join(documents.at, folder(path)), { signal: options?.signal, most: limits.chunkBytes }),
    shardIndex: (path, options) => json(folder(path).replace(/\.bin$/, ".idx"), options?.signal),
    dense: async () => undefined,
    vlen: async () => undefined,
    async sizes(path, options) {
      const at = place(path);
      const sizes = new Map<string, number>();
      for await (const { key, size = 0 } of store.list(at, { signal: options?.signal }))
        sizes.set(key.slice(at.length), size);
      return sizes;
    },
  };
}
