/**
 * Writes a `.ptree` file: tree, particles and attributes one after the other, the sample of them again, and what describes them at the
 * end. Columns are read in pieces, so that particles may lie wherever there is room for them.
 */
import { xxh3 } from "../../../bytes/hash/xxh3.js";
import type { JsonObject } from "../../../bytes/json.js";
import { bytesOf, type NumericType } from "../../../codec/numeric.js";
import type { NumericArray } from "../../../codec/types.js";
import { InvalidInput } from "../../../errors.js";
import type { AttributeInfo, Column } from "../../../model/attributes.js";
import type { Key } from "../../../store/key.js";
import type { CallOptions, Store } from "../../../store/types.js";
import { encodeTree } from "../encode.js";
import { isLeaf, META, NEXT, ROW, START, STOP } from "../nodes.js";
import type { Particles } from "../particles.js";
import { encodePages } from "./blocks.js";
import { type FileColumn, ORDER_TYPE, ORIGINAL, particlesColumn } from "./description.js";
import { encodeEnd } from "./layout.js";
import { MAGIC } from "./magic.js";
import { BlockList, type Field, packBlocks, pieceOf } from "./pack.js";
import { rowsInMemory, type TreeRows } from "./rows.js";
import { type Sample, sampleOf } from "./sample.js";
import { sampledPieces } from "./sampled.js";

/** What goes into a file besides tree, particles and their order. */
export interface WriteParticlesOptions extends CallOptions {
  /** Attributes: numbers, `channels` for each particle, as the data were before the tree. */
  readonly attributes?: readonly Column[] | undefined;
  /** Whatever its owner keeps with it. */
  readonly about?: JsonObject | undefined;
}

/** A block has at most so many particles, where leaves allow it. */
const BLOCK_PARTICLES = 512;
/** Particles that are read and written together. */
const PIECE = 2 ** 16;

/** Writes particles with their tree as one file, which appears when it is whole. */
export async function writeParticles(
  store: Store,
  file: Key,
  particles: Particles,
  options: WriteParticlesOptions = {},
): Promise<void> {
  await writePieces(store, file, encodeParticles(particles, options), options);
}

/** The same of particles that may lie anywhere. */
export async function writeRows(
  store: Store,
  file: Key,
  rows: TreeRows,
  options: Omit<WriteParticlesOptions, "attributes"> = {},
): Promise<void> {
  await writePieces(store, file, encodeRows(rows, options.about), options);
}

async function writePieces(
  store: Store,
  file: Key,
  pieces: AsyncIterable<Uint8Array>,
  options: CallOptions,
): Promise<void> {
  const sink = await store.write(file, options);
  try {
    for await (const piece of pieces) {
      options.signal?.throwIfAborted();
      await sink.write(piece);
    }
    await sink.commit();
  } catch (error) {
    await sink.abort();
    throw error;
  }
}

/** The bytes of a file, piece by piece; what is wrong is said before the first. */
export function encodeParticles(particles: Particles, options: WriteParticlesOptions = {}): AsyncIterable<Uint8Array> {
  const { attributes = [], about } = options;
  for (const { info, values } of attributes) if (!ArrayBuffer.isView(values)) throw noNumbers(info);
  return encodeRows(rowsInMemory(particles, attributes), about);
}

/** The same of particles that may lie anywhere. */
export function encodeRows(rows: TreeRows, about: JsonObject = {}): AsyncIterable<Uint8Array> {
  for (const info of rows.attributes)
    if (!["int", "uint", "float"].includes(info.dtype.kind) || info.categories !== undefined) throw noNumbers(info);
  const names = [ORIGINAL, ...rows.attributes.map(({ name }) => name)];
  if (new Set(names).size < names.length)
    throw new InvalidInput(
      `attributes should have names of their own, not ${JSON.stringify(ORIGINAL)}; found ${names.slice(1).join(", ")}`,
    );
  return placed((place) => pieces(rows, about, place));
}

const noNumbers = ({ name, dtype }: AttributeInfo): InvalidInput =>
  new InvalidInput(`the attribute ${name} should be numbers, found ${dtype.kind}`);

/** Hands on what a generator gives, and tells it how much that was. */
async function* placed(make: (place: () => number) => AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let end = 0;
  for await (const piece of make(() => end)) {
    end += piece.length;
    if (piece.length > 0) yield piece;
  }
}

async function* pieces(rows: TreeRows, about: JsonObject, place: () => number): AsyncGenerator<Uint8Array> {
  const padding = (): Uint8Array => new Uint8Array((8 - (place() % 8)) % 8);
  yield MAGIC;
  const bytes = encodeTree(rows.tree);
  const tree = { offset: place(), bytes: bytes.length, sum: xxh3(bytes), box: rows.tree.box };
  yield bytes;
  yield padding();
  const sample = await sampleOf(rows);
  const columns = columnsOf(rows);
  const all = new BlockList(blockSizes(rows));
  const sampled = new BlockList();
  const offsets: [number, number][] = [];
  for (const [i, { fields }] of columns.entries()) {
    offsets.push([place(), 0]);
    yield* allPieces(fields, all, i === 0);
    yield padding();
  }
  for (const [i, { fields }] of columns.entries()) {
    offsets[i]![1] = place();
    yield* samplePieces(fields, sample, sampled, i === 0);
    yield padding();
  }
  const tables = [all, sampled].map(encodePages);
  const pages = { offset: place() };
  for (const table of tables) yield* table.pages;
  yield padding();
  const [particles, ...attributes] = columns.map(({ column }, i) => ({ ...column, offsets: offsets[i]! }));
  const description = {
    count: rows.count,
    levels: sample.levels,
    blocks: [all.count, sampled.count] as const,
    pages,
    tree,
    particles: particles!,
    attributes,
    about,
  };
  yield encodeEnd(
    description,
    tables.map(({ head }) => head),
    place(),
  );
}

/** The columns of a file and where their values come from. */
function columnsOf(rows: TreeRows): readonly { readonly column: FileColumn; readonly fields: readonly Field[] }[] {
  const of = (read: (start: number, stop: number) => NumericArray | Promise<NumericArray>, bytes: number): Field => ({
    bytes,
    read: async (start, stop) => bytesOf(await read(start, stop)),
  });
  const particles = particlesColumn(rows.precision === "float32" ? 4 : 8, [0, 0]);
  const fields = [
    of((start, stop) => rows.positions(start, stop), particles.bytes - ORDER_TYPE.size),
    of((start, stop) => rows.order(start, stop), ORDER_TYPE.size),
  ];
  const attributes = rows.attributes.map(({ name, dtype, channels, unit, description }, i) => {
    const bytes = (dtype as NumericType).size * channels;
    const column: FileColumn = {
      name,
      dtype: dtype as NumericType,
      channels,
      bytes,
      offsets: [0, 0],
      unit,
      description,
    };
    return { column, fields: [of((start, stop) => rows.values(i, start, stop), bytes)] };
  });
  return [{ column: particles, fields }, ...attributes];
}

/** A column of all particles. */
async function* allPieces(fields: readonly Field[], blocks: BlockList, measured: boolean): AsyncGenerator<Uint8Array> {
  let start = 0;
  for (let from = 0, to = 0; from < blocks.count; from = to) {
    let rows = 0;
    while (to < blocks.count && (to === from || rows + blocks.sizes[to]! <= PIECE)) rows += blocks.sizes[to++]!;
    const values = await pieceOf(fields, start, start + rows);
    const sizes = blocks.sizes.subarray(from, to);
    if (measured) blocks.measure(values[0]!, fields[0]!.bytes / 3, from, sizes);
    yield packBlocks(fields, values, sizes);
    start += rows;
  }
}

/** A column of the sample. */
async function* samplePieces(
  fields: readonly Field[],
  sample: Sample,
  blocks: BlockList,
  measured: boolean,
): AsyncGenerator<Uint8Array> {
  for await (const { values, counts } of sampledPieces(fields, sample, BLOCK_PARTICLES)) {
    const sizes = counts.flatMap((count) =>
      Array.from({ length: Math.ceil(count / BLOCK_PARTICLES) }, (_, i) =>
        Math.min(BLOCK_PARTICLES, count - i * BLOCK_PARTICLES),
      ),
    );
    if (measured) blocks.measure(values[0]!, fields[0]!.bytes / 3, blocks.add(sizes), sizes);
    yield packBlocks(fields, values, sizes);
  }
}

/** Nodes of at most so many particles, neighbours together as long as they are no more; leaves may have more, up to a piece. */
function blockSizes({ tree, count }: TreeRows): Uint32Array {
  const { rows } = tree.nodes;
  const sizes: number[] = [];
  let isOpen = false;
  for (let row = 0; row < rows.length && count > 0; ) {
    let size = rows[row + STOP]! - rows[row + START]!;
    if (size > BLOCK_PARTICLES && !isLeaf(rows[row + META]!)) {
      row += ROW;
      isOpen = false; // a block is not of two nodes that are far apart
      continue;
    }
    for (; size > PIECE; size -= PIECE) sizes.push(PIECE);
    if (isOpen && sizes.at(-1)! + size <= BLOCK_PARTICLES) sizes[sizes.length - 1]! += size;
    else sizes.push(size);
    isOpen = true;
    row = ROW * rows[row + NEXT]!;
  }
  return Uint32Array.from(sizes);
}
