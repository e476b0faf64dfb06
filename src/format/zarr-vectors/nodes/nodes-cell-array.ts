/**
 * A per-chunk array from 0.9 on: one vlen-bytes array whose shape is the grid of chunks, one cell for each chunk.
 *
 * | attribute         | says                                                                                             |
 * |-------------------|--------------------------------------------------------------------------------------------------|
 * | nonempty_chunks   | the directory: every chunk with a payload, as absolute coordinates ("-1.0")                      |
 * | chunk_grid_origin | the chunk of cell 0; written only where that is not 0 on every axis                              |
 *
 * Which chunks there are is what the directory says, not what lies in the store: writers put a cell there before they name it, and
 * take its name away before they delete it. Without a directory, or while the level says that it is still to be written, the
 * store is listed, where it can be. The directories of `vertices` and `vertex_fragments` go together; a chunk that only one
 * of them names is looked for in the other, too, and a note says so if it is there. No listing is spent on more than that:
 * `validate` compares the directory with the store.
 *
 * A cell that the directory names and the store lacks is Corrupt; one that it does not name is not asked for.
 */
import type { Json } from "../../../bytes/json.js";
import { Corrupt, OctavoError, Unsupported } from "../../../errors.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { elementCount, strides } from "../../../space/shape.js";
import type { FileStore } from "../../../store/file.js";
import { wrong } from "../../zarr/document.js";
import type { ArrayMeta } from "../../zarr/types.js";
import { Blobs, Cell } from "../payload/blobs.js";
import type { CellOptions, Cells } from "../types.js";
import { Directory } from "./nodes-directory.js";
import { type Documents, placeOf, urlOf } from "./nodes-documents.js";
import { piecesOf } from "./nodes-pieces.js";
import { oncePerKey } from "./once.js";
import { numbers, optional, texts } from "./parse-root.js";

const TOGETHER: { readonly [name: string]: string } = {
  vertices: "vertex_fragments",
  vertex_fragments: "vertices",
};

export interface CellContext {
  readonly documents: Documents;
  /** The path of the level. */
  readonly level: string;
  /** Coordinates of a chunk: the axes of space, and the attribute that a level is chunked by. */
  readonly rank: number;
  /** The level says that its directories are still to be written. */
  readonly deferred: boolean;
  note(sentence: string): void;
}

/** A per-chunk array as one document describes it. */
type View = Omit<Cells, "path" | "attributes" | "near">;

/** `meta` is that of `path` below the level. Where it came from consolidated metadata and does not fit, the node's own takes its place. */
export async function cellArray(
  context: CellContext,
  path: string,
  meta: ArrayMeta,
  options?: ReadOptions,
): Promise<Cells> {
  let current = meta;
  let view = viewOf(context, path, meta);
  const attempt = async <T>(work: (view: View) => T | Promise<T>, options: ReadOptions | undefined): Promise<T> => {
    try {
      return await work(await view);
    } catch (error) {
      if (!(error instanceof Corrupt)) throw error;
      const fresh = await context.documents.fresh(`${context.level}/${path}`, options);
      if (fresh?.node?.node !== "array") throw error;
      current = fresh.node;
      view = viewOf(context, path, current);
      return work(await view);
    }
  };
  const stored = await attempt((view) => view.stored, options);
  return {
    path,
    get attributes() {
      return current.attributes;
    },
    near: (context.documents.store as Partial<FileStore>).pathOf !== undefined,
    directory: (options) => attempt((view) => view.directory(options), options),
    ...(stored && { stored }),
    read: (coords, options) => attempt((view) => view.read(coords, options), options),
    cost: (coords, options) => attempt((view) => view.cost(coords, options), options),
  };
}

async function viewOf(context: CellContext, path: string, meta: ArrayMeta): Promise<View> {
  const { documents, level, rank, deferred, note } = context;
  const { store } = documents;
  const full = `${level}/${path}`;
  const where = urlOf(documents, full);
  const pieces = await piecesOf(store, placeOf(documents, full), meta, where);
  if (meta.shape.length !== rank)
    throw new Corrupt(`${where} should have a grid of ${rank} axes, found [${meta.shape}]`, { where });
  const { origin, named } = parseNamed(meta, where);
  const gridStrides = strides(pieces.grid);
  const size = elementCount(pieces.shape);
  const inStrides = strides(pieces.shape);

  const keyOf = (coords: Int32Array, row: number): string => Directory.key(coords, row * rank, rank);
  const pieceOf = (coords: Int32Array, row: number): number => {
    let piece = 0;
    for (let axis = 0; axis < rank; axis++) {
      const cell = coords[row * rank + axis]! - origin[axis]!;
      piece += Math.floor(cell / pieces.shape[axis]!) * gridStrides[axis]!;
    }
    return piece;
  };
  const elementOf = (coords: Int32Array, row: number): number => {
    let element = 0;
    for (let axis = 0; axis < rank; axis++)
      element += ((coords[row * rank + axis]! - origin[axis]!) % pieces.shape[axis]!) * inStrides[axis]!;
    return element;
  };

  /** The payloads of these rows of a list of chunks, all of them inside the grid. */
  const readRows = async (coords: Int32Array, rows: readonly number[], options: CellOptions | undefined) => {
    const chunks = await pieces.read(
      rows.map((row) => pieceOf(coords, row)),
      options,
    );
    return chunks.map((chunk, i) => {
      const at = `${where}, chunk ${keyOf(coords, rows[i]!)}`;
      if (chunk === undefined || size === 1) return chunk && Cell.parse(chunk, at);
      return Blobs.at(Blobs.parseChunk(chunk, size, at), elementOf(coords, rows[i]!));
    });
  };

  const stored = async (options?: ReadOptions): Promise<Directory> => {
    const places: number[] = [];
    for (const piece of await pieces.stored(options)) {
      for (let axis = 0; axis < rank; axis++)
        places.push((Math.floor(piece / gridStrides[axis]!) % pieces.grid[axis]!) + origin[axis]!);
    }
    return Directory.of(places, rank, where);
  };

  const list = async (options: ReadOptions): Promise<Directory> => {
    const missing = deferred ? "is still to be written" : "is missing";
    const what = `the directory of ${where} (nonempty_chunks) ${missing}`;
    if (!store.can.list)
      throw new Unsupported(`${what}, and the store ${store.url} cannot list its chunks`, {
        where,
        reason: "list",
        hint: "Read it from a store that can list, such as a folder or s3.",
      });
    if (size > 1) throw new Unsupported(`${what}, and its cells are stored ${size} together`, { where });
    note(`The directory of ${full} ${missing}; its chunks were found by listing the store.`);
    return stored(options);
  };

  /** The directory, and what only the other array of a pair names and is here all the same. */
  const complete = async (own: Directory, options: ReadOptions): Promise<Directory> => {
    const other = TOGETHER[path];
    const node = other === undefined ? undefined : await documents.node(`${level}/${other}`, options);
    if (node?.node !== "array" || `${node.shape}` !== `${meta.shape}`) return own;
    if (isSame(node.attributes.nonempty_chunks, meta.attributes.nonempty_chunks)) return own;
    const theirs = parseNamed(node, urlOf(documents, `${level}/${other}`)).named;
    const rows: number[] = [];
    for (let row = 0; row < (theirs?.count ?? 0); row++)
      if (Directory.find(own, theirs!.coords, row * rank) < 0) rows.push(row);
    if (rows.length === 0) return own;
    const found = await readRows(theirs!.coords, rows, options).catch((error: unknown) => {
      if (error instanceof OctavoError && error.reason === "forbidden") return []; // absent, as the directory says
      throw error;
    });
    const here = rows.filter((_, i) => found[i] !== undefined);
    if (here.length === 0) return own;
    note(
      `The directory of ${full} leaves out ${here.length} of its chunks, which that of ${other} names; they are read.`,
    );
    const more = here.flatMap((row) => [...theirs!.coords.subarray(row * rank, (row + 1) * rank)]);
    return Directory.of([...own.coords, ...more], rank, where);
  };

  const directory = oncePerKey(async (_, signal): Promise<Directory> => {
    if (named === undefined || (deferred && store.can.list)) return list({ signal });
    if (deferred)
      note(`The directory of ${full} is still to be written: chunks that it does not name yet are not seen.`);
    return complete(named, { signal });
  });

  /** The rows of a list of chunks that the directory has. */
  const known = async (coords: Int32Array, options: ReadOptions | undefined): Promise<number[]> => {
    const there = await directory("", options?.signal);
    const rows: number[] = [];
    for (let row = 0; row * rank < coords.length; row++)
      if (Directory.find(there, coords, row * rank) >= 0) rows.push(row);
    return rows;
  };

  return {
    directory: (options) => directory("", options?.signal),
    ...(store.can.list && size === 1 ? { stored } : {}),
    async read(coords, options) {
      const rows = await known(coords, options);
      const payloads = await readRows(coords, rows, options);
      const out = new Array<Uint8Array | undefined>(coords.length / rank).fill(undefined);
      for (let i = 0; i < rows.length; i++) {
        out[rows[i]!] = payloads[i];
        if (payloads[i] === undefined)
          throw new Corrupt(`the directory of ${where} names chunk ${keyOf(coords, rows[i]!)}, which is not there`, {
            where,
          });
      }
      return out;
    },
    async cost(coords, options) {
      const rows = await known(coords, options);
      return pieces.cost([...new Set(rows.map((row) => pieceOf(coords, row)))], options);
    },
  };
}

/** Whether two lists are the same, word for word: most are, and then nothing needs to be parsed. */
function isSame(a: Json | undefined, b: Json | undefined): boolean {
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Where the grid begins, and the directory, all of whose chunks must lie in the grid. */
function parseNamed(
  { attributes, shape }: ArrayMeta,
  where: string,
): { origin: number[]; named: Directory | undefined } {
  const rank = shape.length;
  const origin =
    optional(attributes.chunk_grid_origin, (value) => numbers(value, rank, "chunk_grid_origin", where)) ??
    new Array<number>(rank).fill(0);
  if (!origin.every(Number.isSafeInteger)) throw wrong(where, "whole numbers as chunk_grid_origin", origin);
  if (attributes.nonempty_chunks === undefined || attributes.nonempty_chunks === null)
    return { origin, named: undefined };
  const keys = texts(attributes.nonempty_chunks, "nonempty_chunks", where);
  const named = Directory.ofKeys(keys, rank, where);
  const { coords } = named;
  for (let i = 0; i < coords.length; i++) {
    const axis = i % rank;
    const cell = coords[i]! - origin[axis]!;
    if (cell >= 0 && cell < shape[axis]!) continue;
    const key = Directory.key(coords, i - axis, rank);
    throw new Corrupt(`${where} names chunk ${key}, outside its grid of [${shape}] from [${origin}]`, { where });
  }
  return { origin, named };
}
