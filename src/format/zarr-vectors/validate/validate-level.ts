/**
 * One level: what should be there is there, directories are true, and then chunks, objects and links, each in its own file. What
 * the others need of it is a few numbers for each chunk.
 */
import type { JsonObject } from "../../../bytes/json.js";
import type { Finding, ValidateOptions } from "../../../model/format.js";
import type { ChunkTable } from "../../../model/source.js";
import { Directory } from "../nodes/nodes-directory.js";
import type { OpenedStore } from "../nodes/open-nodes.js";
import { chunkTable } from "../read/chunk-table.js";
import { geometryOf } from "../read/geometry.js";
import { levelSource } from "../read/level.js";
import { folderOf } from "../read/schema.js";
import type { Cells, LevelMeta, LevelNodes, RootMeta } from "../types.js";
import { checkChunks } from "./validate-chunks.js";
import { checkLevelDocument } from "./validate-documents.js";
import { checkLinks } from "./validate-links.js";
import { checkObjects } from "./validate-objects.js";
import { attempt, finding, isFinding, setting } from "./validate-rules.js";

/** What is checked, and where. */
export interface LevelCheck {
  readonly opened: OpenedStore;
  readonly root: RootMeta;
  readonly meta: LevelMeta;
  readonly nodes: LevelNodes;
  readonly options: ValidateOptions;
  readonly depth: number;
  /** Where something below the level is, for people. */
  at(path: string, chunk?: number): string;
}

/** What is known of a level after its chunks were looked at. Where a chunk could not be read, its numbers are 0 and `known` is off. */
export interface CheckedLevel extends LevelCheck {
  readonly table: ChunkTable;
  readonly known: Uint8Array;
  /** Entries of all fragments, which links number, and fragments. */
  readonly entries: Uint32Array;
  readonly fragments: Uint32Array;
  readonly vertexCount: number;
  /** The ids of objects, by row, where there are any. */
  ids: BigInt64Array | undefined;
}

export async function* checkLevel(
  opened: OpenedStore,
  number: number,
  options: ValidateOptions,
): AsyncGenerator<Finding, CheckedLevel | undefined> {
  const { root, url } = opened;
  const depth = options.level ?? 5;
  const meta = await attempt("metadata", `${url}, level ${number}`, () => opened.level(number, options));
  if (isFinding(meta)) return void (yield meta);
  const nodes = await attempt("array", `${url}/${meta.path}`, () => opened.nodes(number, options));
  if (isFinding(nodes)) return void (yield nodes);
  if (depth >= 2) yield* checkLevelDocument(opened, meta, nodes);
  const place = (table: ChunkTable, path: string, chunk: number | undefined): string =>
    `${meta.path}/${path}${chunk === undefined ? "" : ` of chunk ${Directory.key(table.coords, chunk * table.rank, table.rank)}`}`;
  let table: ChunkTable | undefined;
  const check: LevelCheck = {
    opened,
    root,
    meta,
    nodes,
    options,
    depth,
    at: (path, chunk) => place(table!, path, chunk),
  };
  const vertices = await attempt("array", `${meta.path}/vertices`, () => nodes.cells("vertices", options));
  if (isFinding(vertices)) return void (yield vertices);
  if (vertices === undefined)
    return void (yield finding("vertices", meta.path, `level ${number} should have vertices, but they are not there`));
  const directory = await attempt("directory", `${meta.path}/vertices`, () => vertices.directory(options));
  if (isFinding(directory)) return void (yield directory);
  table = chunkTable(directory, meta.chunkShape, undefined);
  if (depth >= 2) yield* checkPresent(check);
  if (depth >= 2) yield* checkGrid(check);
  const arrays = yield* perChunkArrays(check);
  if (depth >= 3) for (const cells of arrays) yield* checkDirectory(check, cells);

  const checked = yield* checkChunks(check, table, vertices);
  yield* checkObjects(checked);
  yield* checkLinks(checked);
  if (depth >= 4) yield* checkComposite(check);
  return checked;
}

/** `arrays_present` names families; it is often short, so that only what it has too many counts. */
async function* checkPresent({ meta, nodes, options, at }: LevelCheck): AsyncGenerator<Finding> {
  const there = await attempt("array", meta.path, () => nodes.children("", options));
  if (isFinding(there)) return yield there;
  if (there.length === 0) return; // a store that cannot list
  const lost = meta.arraysPresent.filter((name) => !there.includes(name.split("/")[0]!) && !/attributes$/.test(name));
  if (lost.length > 0)
    yield finding(
      "arrays-present",
      at(""),
      `arrays_present names ${lost.join(", ")}, which is not there`,
      setting(
        meta.path,
        "name what is there",
        { arrays_present: meta.arraysPresent.filter((name) => !lost.includes(name)) },
        "zarr_vectors_level",
      ),
    );
}

/** Every per-chunk array but those of links, whose document can be used; findings for the others. */
async function* perChunkArrays({ nodes, options, at }: LevelCheck): AsyncGenerator<Finding, Cells[]> {
  const paths = ["vertices", nodes.dialect.fragments === "index" ? "vertex_fragments" : "vertex_group_offsets"];
  for (const folder of [folderOf("vertex", nodes.dialect), folderOf("fragment", nodes.dialect)]) {
    const names = await attempt("array", at(folder), () => nodes.children(folder, options));
    if (isFinding(names)) yield names;
    else for (const name of names) paths.push(`${folder}/${name}`);
  }
  const found: Cells[] = [];
  for (const path of paths) {
    const cells = await attempt("array", at(path), () => nodes.cells(path, options));
    if (isFinding(cells)) yield cells;
    else if (cells !== undefined) found.push(cells);
    else if (path === "vertex_fragments" || path === "vertex_group_offsets")
      yield finding("fragments-absent", at(path), `${path} is not there: every chunk is taken for one fragment`);
  }
  return found;
}

/** The grid that the bounds ask for: from the chunk of their lower corner to that of the upper one. */
async function* checkGrid({ nodes, options, at, root, meta }: LevelCheck): AsyncGenerator<Finding> {
  if (nodes.dialect.container !== "cells") return;
  const array = await attempt("array", at("vertices"), () => nodes.dense("vertices", options));
  if (isFinding(array) || array === undefined) return;
  const { chunkShape, chunkAttribute } = meta;
  const { min, max } = root.bounds;
  const lead = chunkAttribute === undefined ? [] : [chunkAttribute.values.length];
  const origin = [...lead.map(() => 0), ...min.map((low, axis) => Math.floor(low / chunkShape[axis]!))];
  // An upper corner on a border asks for the chunk beyond it; some writers leave that away.
  const reach = (round: (n: number) => number): number[] =>
    [...lead, ...max.map((high, axis) => round(high / chunkShape[axis]!))].map((end, axis) =>
      Math.max(1, end - origin[axis]!),
    );
  const [shape, least] = [reach((n) => Math.floor(n) + 1), reach(Math.ceil)];
  const own = array.attributes.chunk_grid_origin ?? origin.map(() => 0);
  const fits = array.shape.every((n, axis) => n === shape[axis] || n === least[axis]);
  if (`${own}` !== `${origin}` || array.shape.length !== shape.length || !fits)
    yield finding(
      "grid",
      at("vertices"),
      `the grid has [${array.shape}] chunks from [${String(own)}] on, but the bounds ask for [${shape}] from [${origin}] on`,
    );
}

/** The directory of an array against what is stored. */
export async function* checkDirectory({ at, meta, options }: LevelCheck, cells: Cells): AsyncGenerator<Finding> {
  const where = at(cells.path);
  if (cells.stored === undefined) return;
  const found = await attempt("directory", where, async () => ({
    stored: await cells.stored!(options),
    named: namedBy(cells.attributes, where, (await cells.directory(options)).rank),
  }));
  if (isFinding(found)) return yield found;
  const { stored, named } = found;
  // What is named and not stored stays named: a lost chunk must not become one that never was.
  const keys = new Set([...keysOf(stored), ...(named === undefined ? [] : keysOf(named))]);
  const fix = setting(`${meta.path}/${cells.path}`, "write the directory of the chunks that are stored", {
    nonempty_chunks: [...keys].sort(),
  });
  if (named === undefined) {
    if (!meta.presenceDeferred && stored.count > 0)
      yield finding(
        "directory-absent",
        where,
        `${cells.path} has no nonempty_chunks for its ${stored.count} chunks`,
        fix,
      );
    return;
  }
  const lost = missing(stored, named);
  if (lost.length > 0)
    yield finding(
      "directory",
      where,
      `nonempty_chunks leaves out ${lost.length} of ${stored.count} stored chunks, ${lost[0]} first`,
      fix,
    );
  for (const key of missing(named, stored))
    yield finding(
      "cell-missing",
      `${where} of chunk ${key}`,
      `nonempty_chunks names chunk ${key}, which is not stored`,
    );
}

function namedBy({ nonempty_chunks: keys }: JsonObject, where: string, rank: number): Directory | undefined {
  return Array.isArray(keys) ? Directory.ofKeys(keys as string[], rank, where) : undefined;
}

const keysOf = ({ count, rank, coords }: Directory): string[] =>
  Array.from({ length: count }, (_, row) => Directory.key(coords, row * rank, rank));

/** The keys of `all` that `some` does not have. */
function missing(all: Directory, some: Directory): string[] {
  const out: string[] = [];
  for (let row = 0; row < all.count; row++)
    if (Directory.find(some, all.coords, row * all.rank) < 0)
      out.push(Directory.key(all.coords, row * all.rank, all.rank));
  return out;
}

/** The further geometries of a composite store: all of their vertices and links are read. */
async function* checkComposite({ root, meta, nodes, options, at }: LevelCheck): AsyncGenerator<Finding> {
  const index = await attempt("array", at("geometry_index"), () => nodes.attributes("geometry_index", options));
  if (isFinding(index)) return yield index;
  if (index === undefined) return;
  for (const type of root.geometryTypes.slice(1)) {
    const geometry = geometryOf(type);
    if (geometry === undefined || geometry === "parametric") continue;
    const found = await attempt("composite", at(`vertices_${type}`), async () => {
      const source = await levelSource({ root, meta, nodes, geometry }, options);
      const { count } = await source.chunks(options);
      const all = Array.from({ length: count }, (_, chunk) => chunk);
      for await (const _ of source.tiles(all, { positions: true, vertex: [], fragment: [] }, options));
      for await (const _ of source.links({ chunks: all }, [], options));
      return undefined;
    });
    if (isFinding(found)) yield found;
  }
}
