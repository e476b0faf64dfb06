/** Writes a `.ptree` file: tree, order, positions and attributes, one after the other, and what describes them at the end. */
import { xxh3 } from "../../../bytes/hash/xxh3.js";
import type { JsonObject } from "../../../bytes/json.js";
import { U64 } from "../../../bytes/u64.js";
import { bytesOf, type NumericType } from "../../../codec/numeric.js";
import type { NumericArray } from "../../../codec/types.js";
import { InvalidInput } from "../../../errors.js";
import type { Column } from "../../../model/attributes.js";
import type { Key } from "../../../store/key.js";
import type { CallOptions, Store } from "../../../store/types.js";
import { encodeTree } from "../encode.js";
import { isLeaf, META, NEXT, ROW, START, STOP } from "../nodes.js";
import type { Particles } from "../particles.js";
import { type FileColumn, ORIGINAL, rowBytes } from "./description.js";
import { encodeEnd } from "./layout.js";
import { MAGIC } from "./magic.js";
import { type Blocks, SUM_BYTES } from "./plan.js";

/** What goes into a file besides tree, particles and their order. */
export interface WriteParticlesOptions extends CallOptions {
  /** Attributes: numbers, `channels` for each particle, as the data were before the tree. */
  readonly attributes?: readonly Column[] | undefined;
  /** Whatever its owner keeps with it. */
  readonly about?: JsonObject | undefined;
}

/** A block has at most so many particles, where nodes allow it; so many more that there are at most 2^14 blocks. */
const BLOCK_PARTICLES = 4096;
const MOST_BLOCKS = 2 ** 14;

/** Writes particles with their tree as one file, which appears when it is whole. */
export async function writeParticles(
  store: Store,
  file: Key,
  particles: Particles,
  options: WriteParticlesOptions = {},
): Promise<void> {
  const pieces = encodeParticles(particles, options);
  const sink = await store.write(file, options);
  try {
    for (const piece of pieces) {
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
export function encodeParticles(particles: Particles, options: WriteParticlesOptions = {}): Iterable<Uint8Array> {
  const { tree, count, positions } = particles;
  const order = particles.order ?? Uint32Array.from({ length: count }, (_, i) => i);
  const attributes = (options.attributes ?? []).map((column) => checked(column, count));
  const names = [ORIGINAL, ...attributes.map(({ info }) => info.name)];
  if (new Set(names).size < names.length)
    throw new InvalidInput(
      `attributes should have names of their own, not ${JSON.stringify(ORIGINAL)}; found ${names.slice(1).join(", ")}`,
    );
  const blocks = blocksOf(particles);
  const bytes = encodeTree(tree);
  let end = MAGIC.length;
  const place = (length: number): number => {
    const at = end;
    end = Math.ceil((end + length) / 8) * 8;
    return at;
  };
  const column = (own: Omit<FileColumn, "offset">): FileColumn => ({
    ...own,
    offset: place(count * rowBytes(own) + blocks.count * SUM_BYTES),
  });
  const at = { offset: place(bytes.length), bytes: bytes.length };
  const size = positions instanceof Float32Array ? 4 : 8;
  const columns = {
    order: column({ name: "order", dtype: { kind: "uint", size: 4, endian: "little" }, channels: 1 }),
    positions: column({ name: "positions", dtype: { kind: "float", size, endian: "little" }, channels: 3 }),
    attributes: attributes.map(({ info: { name, dtype, channels, unit, description } }) =>
      column({ name, dtype: dtype as NumericType, channels, unit, description }),
    ),
  };
  const description = { count, tree: at, ...columns, about: options.about ?? {} };
  const padding = (length: number): Uint8Array => new Uint8Array((8 - (length % 8)) % 8);

  return (function* pieces() {
    yield MAGIC;
    yield bytes;
    yield padding(bytes.length);
    for (const [own, values, by] of [
      [columns.order, order, undefined],
      [columns.positions, positions, undefined],
      ...columns.attributes.map((own, i) => [own, attributes[i]!.values as NumericArray, order] as const),
    ] as const) {
      for (let block = 0; block < blocks.count; block++) yield blockOf(own, values, by, blocks, block);
      yield padding(count * rowBytes(own));
    }
    yield encodeEnd({ description, blocks }, end);
  })();
}

function checked(column: Column, count: number): Column {
  const { info, values } = column;
  const { name, dtype, channels } = info;
  if (!ArrayBuffer.isView(values) || !["int", "uint", "float"].includes(dtype.kind) || info.categories !== undefined)
    throw new InvalidInput(`the attribute ${name} should be numbers, found ${dtype.kind}`);
  if ((values as NumericArray).length !== count * channels)
    throw new InvalidInput(
      `the attribute ${name} should have ${count * channels} values, found ${(values as NumericArray).length}`,
    );
  return column;
}

/** The values of a block, in the order of the tree, with their checksum. */
function blockOf(
  column: FileColumn,
  values: NumericArray,
  by: Uint32Array | undefined,
  { starts }: Blocks,
  block: number,
): Uint8Array {
  const [start, stop, size] = [starts[block]!, starts[block + 1]!, rowBytes(column)];
  const stored = bytesOf(values);
  const out = new Uint8Array((stop - start) * size + SUM_BYTES);
  if (by === undefined) out.set(stored.subarray(start * size, stop * size));
  else
    for (let i = start; i < stop; i++) {
      const from = by[i]! * size;
      out.set(stored.subarray(from, from + size), (i - start) * size);
    }
  U64.set(out, out.length - SUM_BYTES, xxh3(out.subarray(0, out.length - SUM_BYTES)));
  return out;
}

/** The largest nodes of at most so many particles, and leaves that have more. */
function blocksOf({ tree, bounds, count }: Particles): Blocks {
  const { rows } = tree.nodes;
  const most = Math.max(BLOCK_PARTICLES, Math.ceil(count / MOST_BLOCKS));
  const boxes: number[] = [];
  const starts: number[] = [0];
  for (let row = 0; row < rows.length && count > 0; ) {
    const [start, stop] = [rows[row + START]!, rows[row + STOP]!];
    if (stop - start > most && !isLeaf(rows[row + META]!)) {
      row += ROW;
      continue;
    }
    for (let k = 0; k < 6; k++) boxes.push(bounds[(6 * row) / ROW + k]!);
    starts.push(stop);
    row = ROW * rows[row + NEXT]!;
  }
  return { count: starts.length - 1, boxes: Float64Array.from(boxes), starts: Uint32Array.from(starts) };
}
