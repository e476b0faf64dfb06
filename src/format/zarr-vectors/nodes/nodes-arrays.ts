/** Ordinary Zarr arrays of a level: dense ones (ids and attributes of objects) and 1-D lists of blobs (manifests, groups). */
import { Corrupt, InvalidInput } from "../../../errors.js";
import { elementCount } from "../../../space/shape.js";
import type { Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { arrayNode } from "../../zarr/node.js";
import type { ArrayMeta } from "../../zarr/types.js";
import { Blobs } from "../payload/blobs.js";
import type { CellOptions, Dense, VlenArray } from "../types.js";
import { piecesOf } from "./nodes-pieces.js";

export function denseArray(store: Store, at: Prefix, meta: ArrayMeta): Dense {
  const array = arrayNode(store, at, meta);
  return {
    attributes: meta.attributes,
    shape: meta.shape,
    read: (from = 0, to = meta.shape[0] ?? 0, options) =>
      meta.shape.length === 0
        ? array.read([], options)
        : array.read([{ start: from, stop: checkRows(from, to, meta.shape[0]!, array.url) }], options),
  };
}

export async function vlenArray(store: Store, at: Prefix, meta: ArrayMeta, where: string): Promise<VlenArray> {
  const [length] = meta.shape;
  if (length === undefined || meta.shape.length !== 1)
    throw new Corrupt(`${where} should be a list of blobs, found ${meta.shape.length} dimensions`, { where });
  const pieces = await piecesOf(store, at, meta, where);
  const chunk = elementCount(pieces.shape);
  const blobs = async (from: number, to: number, options?: CellOptions): Promise<Blobs> => {
    checkRows(from, to, length, where);
    const first = Math.floor(from / chunk);
    const count = to > from ? Math.ceil(to / chunk) - first : 0;
    const chunks = await pieces.read(
      Array.from({ length: count }, (_, i) => first + i),
      options,
    );
    const parts = chunks.map((bytes, i) => {
      const start = (first + i) * chunk;
      const [low, high] = [Math.max(from, start) - start, Math.min(to, start + chunk) - start];
      // Writers leave out chunks of nothing but empty elements.
      return bytes === undefined
        ? Blobs.empty(high - low)
        : Blobs.slice(Blobs.parseChunk(bytes, chunk, `${where}, elements from ${start}`), low, high);
    });
    return Blobs.concat(parts);
  };
  return {
    attributes: meta.attributes,
    length,
    chunk,
    blobs,
    piece: async (i, options) => (await pieces.read([i], options))[0],
    async read(from, to, options) {
      const all = await blobs(from, to, options);
      return Array.from({ length: all.count }, (_, i) => Blobs.at(all, i));
    },
  };
}

function checkRows(from: number, to: number, length: number, where: string): number {
  if (Number.isSafeInteger(from) && Number.isSafeInteger(to) && 0 <= from && from <= to && to <= length) return to;
  throw new InvalidInput(`rows ${from} to ${to} of ${where} are asked for, which has ${length}`, { where });
}
