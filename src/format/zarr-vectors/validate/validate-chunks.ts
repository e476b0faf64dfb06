/** The chunks of a level, some at a time: vertices, fragments, and the attributes of both. */
import { isFixed } from "../../../bytes/dtype.js";
import { loadDraco } from "../../../codec/draco.js";
import { Arena } from "../../../codec/room.js";
import { Corrupt } from "../../../errors.js";
import { withLimits } from "../../../limits.js";
import type { AttributeInfo } from "../../../model/attributes.js";
import type { Finding } from "../../../model/format.js";
import type { ChunkTable } from "../../../model/source.js";
import type { Positions } from "../../../model/vectors.js";
import { Directory } from "../nodes/nodes-directory.js";
import { AttributeCell } from "../payload/attribute-cell.js";
import { FragmentIndex } from "../payload/fragment-index.js";
import { OWNERS } from "../read/owner-column.js";
import { folderOf, namedType } from "../read/schema.js";
import { positionsOf } from "../read/tiles.js";
import type { Cells } from "../types.js";
import { type Blob, checkedInfo, coordsOf, decoded, placeAt, quiet, readCells } from "./validate-cells.js";
import type { CheckedLevel, LevelCheck } from "./validate-level.js";
import { PositionCheck } from "./validate-positions.js";
import { attempt, finding, isFinding, type RuleId, setting } from "./validate-rules.js";

const GROUP = 16; // chunks in memory: each has a megabyte or so of every array

export async function* checkChunks(
  check: LevelCheck,
  table: ChunkTable,
  vertices: Cells,
): AsyncGenerator<Finding, CheckedLevel> {
  const { nodes, options, depth, at, root } = check;
  const { count, rank } = table;
  const [known, entries, fragmentCounts] = [new Uint8Array(count), new Uint32Array(count), new Uint32Array(count)];
  const result = { ...check, table, known, entries, fragments: fragmentCounts, vertexCount: 0, ids: undefined };
  const path = nodes.dialect.fragments === "index" ? "vertex_fragments" : "vertex_group_offsets";
  const fragments = await quiet(() => nodes.cells(path, options));
  if (fragments !== undefined && depth >= 3) yield* checkSameChunks(check, table, fragments);
  const attributes = yield* attributesOf(check);
  const decode = await attempt("array", at("vertices"), () => decoderOf(check, vertices));
  if (isFinding(decode)) yield decode;
  if (depth < 4 || isFinding(decode)) return result;
  for (const { cells } of attributes) yield* checkNoOthers(check, table, cells, "attribute-rows");

  const positionCheck = PositionCheck.of(check, table, vertices.attributes.encoding === "draco");
  const room = new Arena(); // nothing of a group is looked at after it
  let total = 0;
  for (let from = 0; from < count; from += GROUP, room.clear()) {
    options.signal?.throwIfAborted();
    const to = Math.min(count, from + GROUP);
    const coords = coordsOf(table, from, to);
    const [buffers, indexes, ...columns] = await Promise.all([
      readCells(check, vertices, coords, rank, room),
      fragments && readCells(check, fragments, coords, rank, room),
      ...attributes.map(({ cells }) => readCells(check, cells, coords, rank, room)),
    ]);
    for (let chunk = from; chunk < to; chunk++) {
      const i = chunk - from;
      const where = at("vertices", chunk);
      const positions = yield* decoded("vertices-decode", where, buffers[i], (bytes) => decode.vertices(bytes, where));
      if (positions === undefined) continue;
      const rows = positions.length / root.axes.length;
      total += rows;
      const place = at(path, chunk);
      const index =
        indexes === undefined
          ? FragmentIndex.ofRanges([rows])
          : yield* decoded("fragments-decode", place, indexes[i], (bytes) => decode.fragments(bytes, rows, place));
      if (index === undefined) continue;
      known[chunk] = 1;
      entries[chunk] = FragmentIndex.total(index);
      fragmentCounts[chunk] = index.count;
      for (const [a, attribute] of attributes.entries())
        yield* attribute.check(columns[a]![i], attribute.domain === "vertex" ? rows : index.count, chunk);
      if (depth < 5) continue;
      yield* checkFragments(check, index, rows, chunk);
      yield* positionCheck.chunk(chunk, positions, index);
    }
    options.onProgress?.({ done: to, total: count, unit: "chunks" });
  }
  if (depth >= 5) yield* positionCheck.end();
  if (depth >= 5 && known.every((each) => each === 1)) yield* checkCount(check, total);
  return { ...result, vertexCount: total };
}

/** How the vertices and fragments of this level are decoded; Corrupt where their documents do not say. */
async function decoderOf({ root, nodes, options }: LevelCheck, { attributes, path }: Cells) {
  const dims = root.axes.length;
  const dtype = namedType(attributes.dtype ?? "float32", path);
  const rowBytes = dims * dtype.size;
  const limits = withLimits(options.limits);
  const draco = attributes.encoding === "draco" ? await loadDraco() : undefined;
  return {
    vertices(bytes: Uint8Array, where: string): Positions {
      if (draco === undefined) {
        if (bytes.length % rowBytes === 0) return positionsOf(bytes, dtype, where);
        throw new Corrupt(`${where} has ${bytes.length} bytes, which is not whole rows of ${rowBytes}`);
      }
      const { positions, components } = draco.decode(bytes, limits, where);
      if (components === dims) return positions;
      throw new Corrupt(`${where} has positions of ${components} numbers, not ${dims}`);
    },
    fragments(bytes: Uint8Array, rows: number, where: string): FragmentIndex {
      if (nodes.dialect.fragments === "index") return FragmentIndex.parse(bytes, rows, limits, where);
      const form = nodes.dialect.fragments === "offsets" ? "single" : "paired";
      return FragmentIndex.fromGroupOffsets(bytes, form, rowBytes, rows * rowBytes, where).index;
    },
  };
}

function* checkCount({ meta, at }: LevelCheck, found: number): Generator<Finding> {
  if (meta.vertexCount === found) return;
  yield finding(
    meta.vertexCount === 0 ? "vertex-count-unset" : "vertex-count", // stores that were made by low-level calls
    at(""),
    `level ${meta.level} says that it has ${meta.vertexCount} vertices, but ${found} are there`,
    setting(meta.path, "write the number of vertices", { vertex_count: found }, "zarr_vectors_level"),
  );
}

/** Vertices and fragments must be there for the same chunks. */
async function* checkSameChunks(check: LevelCheck, table: ChunkTable, fragments: Cells): AsyncGenerator<Finding> {
  const directory = await quiet(() => fragments.directory(check.options));
  for (let chunk = 0; directory !== undefined && chunk < table.count; chunk++)
    if (Directory.find(directory, table.coords, chunk * table.rank) < 0)
      yield finding("fragments-missing", check.at(fragments.path, chunk), "the chunk has vertices, but no fragments");
  yield* checkNoOthers(check, table, fragments, "fragments-missing");
}

/** Cells for chunks without vertices belong to nothing. */
async function* checkNoOthers(
  check: LevelCheck,
  table: ChunkTable,
  cells: Cells,
  rule: RuleId,
): AsyncGenerator<Finding> {
  const directory = await attempt("directory", check.at(cells.path), () => cells.directory(check.options));
  if (isFinding(directory)) return yield directory;
  const { count, rank, coords } = directory;
  for (let row = 0; row < count; row++)
    if (table.find(coords, row * rank) < 0)
      yield finding(
        rule,
        placeAt(check, cells.path, coords, row, rank),
        `${cells.path} has a cell for a chunk that has no vertices`,
      );
}

/** A per-chunk attribute whose document can be understood. */
interface Attribute {
  readonly domain: "vertex" | "fragment";
  readonly cells: Cells;
  check(blob: Blob, rows: number, chunk: number): Generator<Finding>;
}

/** The owners are looked at with the objects. */
async function* attributesOf(check: LevelCheck): AsyncGenerator<Finding, Attribute[]> {
  const { nodes, options, at, depth } = check;
  const found: Attribute[] = [];
  for (const domain of ["vertex", "fragment"] as const) {
    const folder = folderOf(domain, nodes.dialect);
    for (const name of (await quiet(() => nodes.children(folder, options))) ?? []) {
      const cells = await quiet(() => nodes.cells(`${folder}/${name}`, options));
      if (cells === undefined || cells.path === OWNERS) continue;
      const where = at(cells.path);
      const info = await attempt("attribute-metadata", where, () => checkedInfo(name, cells, where));
      if (!isFinding(info)) found.push({ domain, cells, check: attributeCheck(check, cells, info) });
      else if (depth >= 2) yield info;
    }
  }
  return found;
}

function attributeCheck({ at }: LevelCheck, { path, attributes }: Cells, given: AttributeInfo): Attribute["check"] {
  let info = given;
  // The reference writes an empty row_shape also where rows have several values: then the first cell says how many.
  let open = Array.isArray(attributes.row_shape) && attributes.row_shape.length === 0 && !attributes.channel_names;
  return function* (blob, rows, chunk) {
    const where = at(path, chunk);
    if (blob === undefined && rows > 0)
      yield finding("attribute-rows", where, `the attribute has no values for the ${rows} rows of the chunk`);
    yield* decoded("attribute-rows", where, blob, (bytes) => {
      if (open && rows > 0 && isFixed(info.dtype)) {
        open = false;
        info = { ...info, channels: Math.max(1, Math.floor(bytes.length / (rows * info.dtype.size))) };
      }
      AttributeCell.parse(bytes, info, rows, where);
    });
  };
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
