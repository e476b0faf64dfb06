/**
 * The chunks of a level, one group of them at a time: vertices, fragments, and the attributes of both. A cell that cannot be read
 * is a finding, and the others are looked at all the same.
 */
import { type FixedDataType, isFixed } from "../../bytes/dtype.js";
import { type Draco, loadDraco } from "../../codec/draco.js";
import { Corrupt } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { AttributeInfo } from "../../model/attributes.js";
import type { Finding } from "../../model/format.js";
import type { ChunkTable } from "../../model/source.js";
import type { Positions } from "../../model/vectors.js";
import { AttributeCell } from "./attribute-cell.js";
import { FragmentIndex } from "./fragment-index.js";
import { Directory } from "./nodes-directory.js";
import { OWNERS } from "./owner-column.js";
import { attributeInfo, folderOf, namedType } from "./schema.js";
import { positionsOf } from "./tiles.js";
import type { Cells } from "./types.js";
import type { CheckedLevel, LevelCheck } from "./validate-level.js";
import { PositionCheck } from "./validate-positions.js";
import { attempt, failure, finding, isFinding, type RuleId, setting } from "./validate-rules.js";

const GROUP = 16; // chunks in memory: each has a megabyte or so of every array

/** A per-chunk attribute; `channels` is found by the first cell where its document does not say. */
interface Attribute {
  readonly domain: "vertex" | "fragment";
  readonly cells: Cells;
  info: AttributeInfo;
  open: boolean;
}

export async function* checkChunks(
  check: LevelCheck,
  table: ChunkTable,
  vertices: Cells,
): AsyncGenerator<Finding, CheckedLevel> {
  const { nodes, options, depth, at, meta, root } = check;
  const { count } = table;
  const [known, entries, fragmentCounts] = [new Uint8Array(count), new Uint32Array(count), new Uint32Array(count)];
  const done = (vertexCount: number): CheckedLevel => ({
    ...check,
    table,
    known,
    entries,
    fragments: fragmentCounts,
    vertexCount,
    ids: undefined,
  });
  const indexed = nodes.dialect.fragments === "index";
  const path = indexed ? "vertex_fragments" : "vertex_group_offsets";
  const fragments = await quiet(() => nodes.cells(path, options));
  if (fragments !== undefined && depth >= 3) yield* checkSameChunks(check, table, fragments);
  const attributes = yield* attributesOf(check);
  const dtype = await attempt("array", at("vertices"), () =>
    namedType(vertices.attributes.dtype ?? "float32", "vertices"),
  );
  if (isFinding(dtype)) yield dtype;
  if (depth < 4 || isFinding(dtype)) return done(0);
  if (depth >= 3) for (const { cells } of attributes) yield* checkNoOthers(check, table, cells);

  const dims = root.axes.length;
  const rowBytes = dims * dtype.size;
  const draco = vertices.attributes.encoding === "draco" ? await loadDraco() : undefined;
  const limits = withLimits(options.limits);
  const positionCheck = PositionCheck.of(check, table, draco !== undefined);
  let total = 0;
  for (let from = 0; from < count; from += GROUP) {
    options.signal?.throwIfAborted();
    const chunks = Array.from({ length: Math.min(GROUP, count - from) }, (_, i) => from + i);
    const [buffers, indexes, ...columns] = await Promise.all([
      readEach(check, table, vertices, chunks),
      fragments && readEach(check, table, fragments, chunks),
      ...attributes.map(({ cells }) => readEach(check, table, cells, chunks)),
    ]);
    for (const [i, chunk] of chunks.entries()) {
      const decoded = yield* decodeVertices(buffers[i], draco, dtype, dims, at("vertices", chunk), check);
      if (decoded === undefined) continue;
      const rows = decoded.length / dims;
      total += rows;
      const index = yield* decodeIndex(check, indexes?.[i], rows, rowBytes, at(path, chunk), indexes === undefined);
      if (index === undefined) continue;
      known[chunk] = 1;
      entries[chunk] = FragmentIndex.total(index);
      fragmentCounts[chunk] = index.count;
      for (const [a, attribute] of attributes.entries())
        yield* checkAttribute(
          check,
          attribute,
          columns[a]![i],
          chunk,
          attribute.domain === "vertex" ? rows : index.count,
        );
      if (depth >= 5) {
        yield* checkFragments(check, index, rows, chunk);
        yield* positionCheck.chunk(chunk, decoded, index);
      }
    }
    options.onProgress?.({ done: Math.min(count, from + GROUP), total: count, unit: "chunks" });
  }
  if (depth >= 5) {
    yield* positionCheck.end();
    yield* checkCount(check, total);
  }
  return done(total);

  async function* decodeVertices(
    bytes: Uint8Array | Finding | undefined,
    draco: Draco | undefined,
    dtype: FixedDataType,
    dims: number,
    where: string,
    _: LevelCheck,
  ): AsyncGenerator<Finding, Positions | undefined> {
    if (isFinding(bytes)) return void (yield bytes);
    if (bytes === undefined) return undefined; // a finding already
    try {
      if (draco === undefined) {
        if (bytes.length % rowBytes !== 0)
          throw new Corrupt(`${where} has ${bytes.length} bytes, which is not whole rows of ${rowBytes}`);
        return positionsOf(bytes, dtype, where);
      }
      const { positions, components } = draco.decode(bytes, limits, where);
      if (components !== dims) throw new Corrupt(`${where} has positions of ${components} numbers, not ${dims}`);
      return positions;
    } catch (error) {
      return void (yield failure("vertices-decode", where, error));
    }
  }

  function* decodeIndex(
    { meta: own }: LevelCheck,
    bytes: Uint8Array | Finding | undefined,
    rows: number,
    rowBytes: number,
    where: string,
    absent: boolean,
  ): Generator<Finding, FragmentIndex | undefined> {
    if (absent) return FragmentIndex.ofRanges([rows]);
    if (isFinding(bytes)) return void (yield bytes);
    if (bytes === undefined) return undefined; // a finding already
    try {
      if (indexed) return FragmentIndex.parse(bytes, rows, limits, where);
      const form = nodes.dialect.fragments === "offsets" ? "single" : "paired";
      return FragmentIndex.fromGroupOffsets(bytes, form, rowBytes, rows * rowBytes, `${own.path}/${where}`).index;
    } catch (error) {
      return void (yield failure("fragments-decode", where, error));
    }
  }

  function* checkCount({ at }: LevelCheck, found: number): Generator<Finding> {
    if (meta.vertexCount === found || !known.every((each) => each === 1)) return;
    const says = `level ${meta.level} says that it has ${meta.vertexCount} vertices, but ${found} are there`;
    const never = meta.vertexCount === 0; // stores that were made by low-level calls
    yield finding(
      never ? "vertex-count-unset" : "vertex-count",
      at(""),
      says,
      setting(meta.path, "write the number of vertices", { vertex_count: found }, "zarr_vectors_level"),
    );
  }
}

/** Blobs of chunks, by their places in the table; what cannot be had is a finding. */
export async function readEach(
  { at, options, nodes }: LevelCheck,
  { rank, coords }: ChunkTable,
  cells: Cells,
  chunks: readonly number[],
): Promise<readonly (Uint8Array | Finding | undefined)[]> {
  const place = (some: readonly number[]): Int32Array => {
    const out = new Int32Array(some.length * rank);
    for (const [i, chunk] of some.entries()) out.set(coords.subarray(chunk * rank, (chunk + 1) * rank), i * rank);
    return out;
  };
  const all = await attempt("cell-decodes", at(cells.path), () => cells.read(place(chunks), options));
  if (!isFinding(all)) return all;
  const listed =
    nodes.dialect.container === "cells" && cells.stored !== undefined
      ? await quiet(() => cells.stored!(options))
      : undefined;
  return Promise.all(
    chunks.map(async (chunk) => {
      // What is named and not stored is a finding of the directory.
      if (listed !== undefined && Directory.find({ ...listed }, coords, chunk * rank) < 0) return undefined;
      const one = await attempt("cell-decodes", at(cells.path, chunk), () => cells.read(place([chunk]), options));
      return isFinding(one) ? one : one[0];
    }),
  );
}

async function quiet<T>(work: () => Promise<T>): Promise<T | undefined> {
  const found = await attempt("array", "", work);
  return isFinding(found) ? undefined : found;
}

/** Vertices and fragments must be there for the same chunks. */
async function* checkSameChunks(check: LevelCheck, table: ChunkTable, fragments: Cells): AsyncGenerator<Finding> {
  const { at, options } = check;
  const directory = await attempt("directory", at(fragments.path), () => fragments.directory(options));
  if (isFinding(directory)) return yield directory;
  for (let chunk = 0; chunk < table.count; chunk++)
    if (Directory.find(directory, table.coords, chunk * table.rank) < 0)
      yield finding("fragments-missing", at(fragments.path, chunk), "the chunk has vertices, but no fragments");
  yield* others(check, table, fragments, directory, "fragments-missing");
}

async function* checkNoOthers(check: LevelCheck, table: ChunkTable, cells: Cells): AsyncGenerator<Finding> {
  const directory = await attempt("directory", check.at(cells.path), () => cells.directory(check.options));
  if (isFinding(directory)) yield directory;
  else yield* others(check, table, cells, directory, "attribute-rows");
}

function* others(
  { at }: LevelCheck,
  table: ChunkTable,
  { path }: Cells,
  directory: Directory,
  rule: RuleId,
): Generator<Finding> {
  for (let row = 0; row < directory.count; row++)
    if (table.find(directory.coords, row * directory.rank) < 0)
      yield finding(
        rule,
        `${at(path)} of chunk ${Directory.key(directory.coords, row * directory.rank, directory.rank)}`,
        `${path} has a cell for a chunk that has no vertices`,
      );
}

/** The attributes of vertices and fragments whose documents can be understood. The owners are looked at with the objects. */
async function* attributesOf({ nodes, options, at, depth }: LevelCheck): AsyncGenerator<Finding, Attribute[]> {
  const found: Attribute[] = [];
  for (const domain of ["vertex", "fragment"] as const) {
    const folder = folderOf(domain, nodes.dialect);
    for (const name of (await quiet(() => nodes.children(folder, options))) ?? []) {
      const cells = await quiet(() => nodes.cells(`${folder}/${name}`, options));
      if (cells === undefined || cells.path === OWNERS) continue;
      const { attributes } = cells;
      const info = await attempt("attribute-metadata", at(cells.path), () => checkedInfo(name, cells, at(cells.path)));
      if (isFinding(info)) {
        if (depth >= 2) yield info;
        continue;
      }
      const open =
        Array.isArray(attributes.row_shape) && attributes.row_shape.length === 0 && !attributes.channel_names;
      found.push({ domain, cells, info, open });
    }
  }
  return found;
}

/** An attribute as its document describes it; Corrupt where the categories cannot be. */
export function checkedInfo(name: string, { attributes }: Pick<Cells, "attributes">, where: string): AttributeInfo {
  const info = attributeInfo(name, attributes, where);
  const categories = attributes.categories;
  const right =
    attributes.encoding !== "dictionary" ||
    (info.categories !== undefined && new Set(info.categories).size === info.categories.length);
  if (!right)
    throw new Corrupt(
      `the dictionary ${where} should have a list of different texts as categories, found ${Array.isArray(categories) ? "others" : typeof categories}`,
    );
  if (info.categories !== undefined && info.dtype.kind !== "int" && info.dtype.kind !== "uint")
    throw new Corrupt(`the dictionary ${where} should have whole numbers as codes, found ${info.dtype.kind}`);
  return info;
}

function* checkAttribute(
  { at }: LevelCheck,
  attribute: Attribute,
  bytes: Uint8Array | Finding | undefined,
  chunk: number,
  rows: number,
): Generator<Finding> {
  const where = at(attribute.cells.path, chunk);
  if (isFinding(bytes)) return yield bytes;
  if (bytes === undefined) {
    if (rows > 0)
      yield finding("attribute-rows", where, `the attribute has no values for the ${rows} rows of the chunk`);
    return;
  }
  const { dtype } = attribute.info;
  // The reference writes an empty row_shape also where rows have several values: then the first cell says how many.
  if (attribute.open && rows > 0 && isFixed(dtype)) {
    attribute.open = false;
    attribute.info = { ...attribute.info, channels: Math.max(1, Math.floor(bytes.length / (rows * dtype.size))) };
  }
  try {
    AttributeCell.parse(bytes, attribute.info, rows, where);
  } catch (error) {
    yield failure("attribute-rows", where, error);
  }
}

/** Whether fragments lie one after the other where that is said, and all rows are in one. */
function* checkFragments(
  { meta, at }: LevelCheck,
  index: FragmentIndex,
  rows: number,
  chunk: number,
): Generator<Finding> {
  const where = at("vertex_fragments", chunk);
  const total = FragmentIndex.total(index);
  if (meta.fragmentsTile && !(index.rows === undefined && total === rows))
    yield finding(
      "fragments-tile",
      where,
      `fragments_tile says that fragments are the ${rows} rows one after the other, but they are not`,
      setting(meta.path, "take fragments_tile away", { fragments_tile: false }, "zarr_vectors_level"),
    );
  let named = total;
  if (index.rows !== undefined) {
    const seen = new Uint8Array(rows);
    for (let e = 0; e < index.rows.length; e++) seen[index.rows[e]!] = 1;
    named = 0;
    for (let row = 0; row < rows; row++) named += seen[row]!;
  }
  if (named < rows) yield finding("rows-unnamed", where, `${rows - named} of ${rows} rows are in no fragment`);
}
