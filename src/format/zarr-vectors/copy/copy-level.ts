/**
 * A level of a store, chunk by chunk into a new one: same chunks, same fragments in the same order, same rows of objects. So
 * everything that names them stays true: manifests, fragments that objects share, attributes of fragments, links within the
 * level and to others. Only the way in which they are spelled is that of the new version.
 */
import { numberToHalf } from "../../../bytes/half.js";
import { bytesOf } from "../../../codec/numeric.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type { ChunkTable, LevelSource, Tile } from "../../../model/source.js";
import type { Positions } from "../../../model/vectors.js";
import type { Scratch } from "../../../store/scratch.js";
import type { OpenedStore } from "../nodes/open-nodes.js";
import { FragmentIndex } from "../payload/fragment-index.js";
import { OWNERS, sealsOf } from "../read/owner-column.js";
import type { LevelMeta } from "../types.js";
import type { Plan } from "../write/description.js";
import type { Arrays07 } from "../write/write-07-arrays.js";
import type { Arrays, CellArray, Grid } from "../write/write-arrays.js";
import { type Dtype, dtypeSize } from "../write/write-batch.js";
import { type Document, groupDocument, levelDocument } from "../write/write-documents.js";
import { unitsOf } from "../write/write-layout.js";
import { columnCopies } from "./copy-columns.js";
import { copyComposite } from "./copy-extras.js";
import { copyLinks } from "./copy-links.js";
import { copyGroups, copyIndex, copyObjectColumns, ownersOf, rowsOf } from "./copy-objects.js";

/** A level on its way. */
export interface LevelCopy {
  readonly opened: OpenedStore;
  readonly source: LevelSource;
  readonly meta: LevelMeta;
  /** What is asked of the new store, and its version. */
  readonly plan: Plan;
  readonly dtype: Dtype;
  /** Below the level; in 0.7.0 the second is the same. */
  readonly arrays: Arrays;
  readonly old: Arrays07 | undefined;
  readonly table: ChunkTable;
  readonly grid: Grid;
  readonly scratch: Scratch;
  readonly options: ReadOptions;
  /** Takes a sentence about what is not kept. */
  readonly lose: (sentence: string) => void;
  readonly onChunks: (count: number) => void;
}

/** Cells of elements of so many bytes. */
export const cellsOf = ({ arrays, grid }: LevelCopy, path: string, unit = 8): Promise<CellArray> =>
  arrays.cells(path, grid, unit);

/** What came of it; the extent is that of the vertices as they are stored. */
export interface CopiedLevel {
  readonly vertices: number;
  readonly objects: number;
  /** Objects share fragments. */
  readonly shared: boolean;
  /** There are links to other levels. */
  readonly between: boolean;
  readonly extent: { readonly min: Float64Array; readonly max: Float64Array };
}

export async function copyLevel(copy: LevelCopy): Promise<CopiedLevel> {
  const { source, meta, arrays, old, options, scratch, table, grid, dtype } = copy;
  const schema = await source.schema(options);
  const rows = await rowsOf(copy, schema);
  const owners = rows && ownersOf(rows, table.count);
  // 0.7.0 has no seal that would make owners worth their bytes; negative ids would be taken for "nobody".
  const owned = old === undefined && owners !== undefined && !rows!.renumbered && !rows!.ids.some((id) => id < 0n);

  const vertex = schema.vertex.map(({ name }) => name).filter((name) => name !== meta.chunkAttribute?.name);
  const fragment = schema.fragment.map(({ name }) => name).filter((name) => !(owned && name === "object_id"));
  const want = { positions: true, vertex, fragment };
  const positions = await cellsOf(copy, "vertices", dtypeSize(dtype));
  const fragments = await cellsOf(copy, "vertex_fragments");
  const columns = columnCopies(copy, schema, want);
  const ownerCells = owned ? await cellsOf(copy, OWNERS) : undefined;

  let vertices = 0;
  const dims = source.dims;
  const extent = { min: new Float64Array(dims).fill(Infinity), max: new Float64Array(dims).fill(-Infinity) };
  const all = Array.from({ length: table.count }, (_, chunk) => chunk);
  const rowBytes = grid.dims * dtypeSize(dtype) + 16 * vertex.length;
  const each = ((meta.vertexCount ?? 0) / Math.max(1, table.count)) * rowBytes;
  for (const unit of unitsOf(grid, all, () => each, scratch.memory)) {
    options.signal?.throwIfAborted();
    const tiles: Tile[] = [];
    for await (const tile of source.tiles(unit, want, options)) tiles.push(tile);
    const chunks = tiles.map(({ chunk }) => chunk);
    for (const tile of tiles) {
      vertices += tile.vertices;
      grow(extent, tile.positions);
    }
    await positions.put(
      chunks,
      tiles.map((tile) => stored(tile.positions, dtype)),
    );
    await fragments.put(
      chunks,
      tiles.map(({ parts }) => FragmentIndex.encode(FragmentIndex.ofRanges(sizesOf(parts)))),
    );
    await columns.put(tiles);
    await ownerCells?.put(
      chunks,
      tiles.map(({ chunk, parts }) => owners!.column(chunk, parts.length - 1)),
    );
    copy.onChunks(unit.length);
  }
  await positions.finish({ zv_array: "vertices", dtype, encoding: "raw" });
  await fragments.finish({ zv_array: "vertex_fragments", encoding: "fragment_index_v1" });
  const present = ["vertices", ...(await columns.finish())];
  if (owned && fragment.length === 0) {
    await arrays.document("fragment_attributes", groupDocument());
    present.push("fragment_attributes");
  }
  const links = await copyLinks(copy, schema);
  present.push(...links.present);
  if (rows !== undefined) {
    const index = await copyIndex(copy, rows);
    const said = { zv_array: "fragment_attribute", name: "object_id", dtype: "int64", row_shape: [] };
    await ownerCells?.finish({ ...said, ...sealsOf(index, undefined) });
    present.push("object_index");
    if (await copyObjectColumns(copy, schema, rows)) present.push("object_attributes");
  }
  present.push(...(await copyGroups(copy, schema)));
  await copyComposite(copy);
  const shared = owners?.shared ?? false;
  const facts = { vertices, arrays: present, shared, tiled: old === undefined, level: meta.level };
  await arrays.document("", levelDocument({ ...facts, more: saidOf(copy) }));
  return { vertices, objects: rows?.ids.length ?? 0, shared, between: links.between, extent };
}

/** What the level says of itself besides its arrays. */
function saidOf({ meta, opened: { root } }: LevelCopy): Document {
  const { level, chunkShape, chunkAttribute, inheritedNumObjects } = meta;
  return {
    ...(level === 0
      ? {}
      : {
          object_sparsity: meta.objectSparsity ?? 1,
          coarsening_method: meta.coarseningMethod ?? "manual",
          parent_level: meta.parentLevel ?? level - 1,
        }),
    ...(chunkShape.some((size, axis) => size !== root.chunkShape[axis]) ? { chunk_shape: [...chunkShape] } : {}),
    ...(meta.preservesObjectIds ? { preserves_object_ids: true } : {}),
    ...(inheritedNumObjects === undefined ? {} : { inherited_num_objects: inheritedNumObjects }),
    ...(chunkAttribute === undefined
      ? {}
      : {
          chunk_dims: [chunkAttribute.name, ...root.axes.map(({ name }) => name)],
          chunk_attribute_name: chunkAttribute.name,
          chunk_attribute_values: [...chunkAttribute.values],
        }),
  };
}

/** Positions in the type in which they are stored. */
function stored(positions: Positions, dtype: Dtype): Uint8Array {
  if (dtype === "float16") return bytesOf(Uint16Array.from(positions, numberToHalf));
  if (dtype === "float32") return bytesOf(positions instanceof Float32Array ? positions : new Float32Array(positions));
  return bytesOf(positions instanceof Float64Array ? positions : new Float64Array(positions));
}

function sizesOf(parts: Uint32Array): Uint32Array {
  const sizes = new Uint32Array(parts.length - 1);
  for (let p = 0; p < sizes.length; p++) sizes[p] = parts[p + 1]! - parts[p]!;
  return sizes;
}

function grow({ min, max }: CopiedLevel["extent"], positions: Positions): void {
  for (let i = 0; i < positions.length; i++) {
    const axis = i % min.length;
    if (positions[i]! < min[axis]!) min[axis] = positions[i]!;
    if (positions[i]! > max[axis]!) max[axis] = positions[i]!;
  }
}
