/**
 * The owner of each fragment, `fragment_attributes/object_id`: what a query would otherwise have to read all manifests for.
 *
 * Other software's edits leave the column as it is: too short where fragments were added, and wrong at the right length where a
 * manifest was changed. But whoever changes a manifest writes the document of the object index anew, and not as Octavo does,
 * which writes it without white space. So the column carries a seal, a hash of that document: as long as it is the same, every
 * manifest is as it was when the column was written. Fragments beyond the end of a column were added since, and belong to nobody.
 *
 * In the same way it seals `links/0`: then the links hold every step of a path from chunk to chunk.
 */

import { xxh3 } from "../../../bytes/hash/xxh3.js";
import { isJsonObject, type JsonObject } from "../../../bytes/json.js";
import { decodeUtf8 } from "../../../bytes/text.js";
import { Corrupt } from "../../../errors.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type { ChunkTable } from "../../../model/source.js";
import { Int64 } from "../payload/int64.js";
import type { Cells, LevelNodes } from "../types.js";

export const OWNERS = "fragment_attributes/object_id";
/** The attribute of the column that has the seals. */
export const SEALS = "octavo_seals";

export const sealOf = (document: Uint8Array): string => xxh3(document).toString(16).padStart(16, "0");

/** The attribute that seals a column; `links` only where they hold every step of a path: null where there are none. */
export const sealsOf = (index: Uint8Array, links: Uint8Array | null | undefined): JsonObject => ({
  [SEALS]: {
    object_index: sealOf(index),
    ...(links === undefined ? {} : { links: links === null ? null : sealOf(links) }),
  },
});

/** Whether a document is written as Octavo does, which others never do: without white space. */
const isOurs = (document: Uint8Array): boolean =>
  !/\s/.test(decodeUtf8(document, "a zarr.json").replace(/"(?:[^"\\]|\\.)*"/g, ""));

export interface OwnerColumn {
  /** Links hold every step from chunk to chunk. */
  readonly joints: boolean;
  /** The ids of the owners of the fragments of these chunks: −1 nobody, −2 several. */
  ids(chunks: readonly number[], options?: ReadOptions): Promise<ReadonlyMap<number, BigInt64Array>>;
}

/** undefined: there is none, or it cannot be shown to be true. */
export async function ownerColumn(
  nodes: LevelNodes,
  table: ChunkTable,
  options?: ReadOptions,
): Promise<OwnerColumn | undefined> {
  if (nodes.dialect.container !== "cells") return undefined;
  const cells = await nodes.cells(OWNERS, options);
  const seals = cells?.attributes[SEALS];
  if (cells === undefined || !isJsonObject(seals) || cells.attributes.dtype !== "int64") return undefined;
  const [index, links] = await Promise.all([
    nodes.document("object_index", options),
    seals.links === undefined ? undefined : nodes.document("links/0", options),
  ]);
  if (index === undefined || sealOf(index) !== seals.object_index || !isOurs(index)) return undefined;
  const joints = seals.links === null || (links !== undefined && sealOf(links) === seals.links);
  return { joints, ids: (chunks, now) => readIds(cells, table, chunks, now) };
}

async function readIds(
  cells: Cells,
  { coords, rank }: ChunkTable,
  chunks: readonly number[],
  options?: ReadOptions,
): Promise<ReadonlyMap<number, BigInt64Array>> {
  const places = new Int32Array(chunks.length * rank);
  for (const [i, chunk] of chunks.entries()) places.set(coords.subarray(chunk * rank, (chunk + 1) * rank), i * rank);
  const blobs = await cells.read(places, options);
  return new Map(
    chunks.map((chunk, i) => {
      const blob = blobs[i] ?? new Uint8Array();
      if (blob.length % 8 !== 0) throw new Corrupt(`${cells.path} should hold whole int64, found ${blob.length} bytes`);
      return [chunk, Int64.values(blob)];
    }),
  );
}
