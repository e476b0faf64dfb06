/** The owners that `fragment_attributes/object_id` gives, where that can be shown to be true; see owners.ts. */
import type { ReadOptions } from "../../model/dataset.js";
import type { ChunkTable, ObjectSource, Parts } from "../../model/source.js";
import { Int64 } from "./int64.js";
import { flatten, names, type Owners } from "./owners.js";
import type { Tiles } from "./tiles.js";
import type { LevelMeta, LevelNodes } from "./types.js";

const OWNER = "object_id";

export interface OwnerContext {
  readonly meta: LevelMeta;
  readonly nodes: LevelNodes;
  readonly table: ChunkTable;
  readonly tiles: Tiles;
}

export async function ownersByColumn(
  { meta, nodes, table, tiles }: OwnerContext,
  source: ObjectSource,
  { chunk, part }: Parts,
  options?: ReadOptions,
): Promise<Owners | undefined> {
  if (meta.sharedFragments || nodes.dialect.container !== "cells") return undefined;
  const cells = await nodes.cells(`fragment_attributes/${OWNER}`, options);
  if (cells === undefined || cells.attributes.dtype !== "int64") return undefined;
  const chunks = [...new Set(chunk)];
  const coords = new Int32Array(chunks.length * table.rank);
  for (const [i, c] of chunks.entries())
    coords.set(table.coords.subarray(c * table.rank, (c + 1) * table.rank), i * table.rank);
  const blobs = await cells.read(coords, options);
  const columns = new Map<number, BigInt64Array>();
  let i = 0;
  const want = { positions: false, vertex: [], fragment: [] };
  const counts = new Map<number, number>();
  for await (const tile of tiles.read(chunks, want, options)) counts.set(tile.chunk, tile.parts.length - 1);
  for (const c of chunks) {
    const blob = blobs[i++];
    if (blob === undefined || blob.length !== 8 * counts.get(c)!) return undefined;
    columns.set(c, Int64.values(blob));
  }
  const ids: bigint[] = [];
  for (let at = 0; at < chunk.length; at++) {
    const id = columns.get(chunk[at]!)![part[at]!];
    if (id === undefined || id < 0n) return undefined; // −1 nobody, −2 several: it does not say whether that is still so
    ids.push(id);
  }
  const different = [...new Set(ids)];
  const rows = await source.rowsOf(different, options);
  if (rows.includes(-1)) return undefined;
  const placed = await source.place(Uint32Array.from(rows), options);
  const order = new Map(different.map((id, at) => [id, at]));
  for (let at = 0; at < chunk.length; at++)
    if (!names(placed, order.get(ids[at]!)!, chunk[at]!, part[at]!)) return undefined;
  return flatten(ids.map((id) => [rows[order.get(id)!]!]));
}
