/** Reads a `.ptree` file: what it is from its end, then blocks of columns, several of them with each request, each by its checksum. */
import { xxh3 } from "../../../bytes/hash/xxh3.js";
import { U64 } from "../../../bytes/u64.js";
import { numericView } from "../../../codec/numeric.js";
import { Corrupt, NotFound } from "../../../errors.js";
import { particleRoom } from "../../../kernel/tree.js";
import { type Limits, withLimits } from "../../../limits.js";
import { forEachConcurrent } from "../../../model/concurrent.js";
import type { FormatOptions } from "../../../model/format.js";
import type { Positions } from "../../../model/vectors.js";
import type { Key } from "../../../store/key.js";
import type { CallOptions, Store } from "../../../store/types.js";
import { parseTree } from "../parse.js";
import { joinParticles, type Particles } from "../particles.js";
import type { PackedTree } from "../types.js";
import { BLOCK_BYTES, type Blocks, blocksIn, PAGE, parseBlocks, SUM_BYTES } from "./blocks.js";
import { ALL, type FileColumn, ORDER_TYPE, type Part } from "./description.js";
import { type Head, parseHead, parseTrailer, TRAILER_BYTES } from "./layout.js";
import { joinSpans, type Span } from "./plan.js";

/** What is read of the end at first. */
const END_BYTES = 1 << 16;
/** Requests that pages of the table become at most. */
const PAGE_REQUESTS = 3;
/** What was read last is kept: questions are asked again, for how much it is and then for what it is. */
const KEPT_BYTES = 16 << 20;

/** How to read blocks. */
export interface BlockOptions extends CallOptions {
  /** At most so many requests, however much is read in vain between what is wanted. */
  readonly requests?: number | undefined;
}

/** An opened file. */
export interface ParticleFile extends Head {
  readonly where: string;
  /** The tree. */
  tree(options?: CallOptions): Promise<PackedTree>;
  /** The blocks in these pages of a part's table, or in all. */
  blocks(part: Part, pages?: readonly number[], options?: CallOptions): Promise<Blocks>;
  /** What reading these columns of some blocks costs. */
  plan(part: Part, columns: readonly FileColumn[], blocks: Blocks, which: readonly number[], requests?: number): Span[];
  /** These columns of some blocks: for each block the bytes of each column. */
  read(
    part: Part,
    columns: readonly FileColumn[],
    blocks: Blocks,
    which: readonly number[],
    options?: BlockOptions,
  ): Promise<Uint8Array[][]>;
  /** All particles, in memory. */
  particles(options?: CallOptions): Promise<Particles>;
}

/** Opens a `.ptree` file. */
export async function openParticleFile(store: Store, file: Key, options: FormatOptions = {}): Promise<ParticleFile> {
  const where = `${store.url}/${file}`;
  const { head, end } = await readEnd(store, file, withLimits(options.limits), where, options);
  const { description, pages } = head;
  const fetched = async ({ offset, length }: Span, signal: AbortSignal | undefined): Promise<Uint8Array> => {
    const inEnd = offset - (head.size - end.length);
    if (inEnd >= 0) return end.subarray(inEnd, inEnd + length);
    const bytes = await store.get(file, { signal, range: { offset, length } });
    if (bytes === undefined) throw new NotFound(`${where} is not there any more`, { where });
    return bytes;
  };
  const get = keeping(fetched, KEPT_BYTES);
  /** The bytes of these pieces, by as many requests as `spans` has. */
  const pieces = async (wanted: readonly Span[], spans: readonly Span[], signal: AbortSignal | undefined) => {
    const parts: Uint8Array[] = new Array(spans.length);
    await forEachConcurrent(spans.keys(), 8, async (i) => {
      parts[i] = await get(spans[i]!, signal);
    });
    return wanted.map(({ offset, length }) => {
      const i = lastFrom(spans, offset);
      const at = offset - spans[i]!.offset;
      return parts[i]!.subarray(at, at + length);
    });
  };
  const spansOf = (part: Part, columns: readonly FileColumn[], blocks: Blocks, which: readonly number[]): Span[] =>
    which.flatMap((block) => columns.map((column) => blockSpan(part, column, blocks, block)));
  const own: ParticleFile = {
    ...head,
    where,
    async tree({ signal } = {}) {
      const { offset, bytes, sum } = description.tree;
      const stored = await fetched({ offset, length: bytes }, signal);
      if (xxh3(stored) !== sum)
        throw new Corrupt(`the tree of ${where} has another checksum than its description says`, { where });
      return parseTree(stored, { where: `the tree of ${where}` });
    },
    async blocks(part, wanted = Array.from({ length: pages[part].count }, (_, page) => page), { signal } = {}) {
      const before = part === ALL ? 0 : description.blocks[ALL];
      const spans = wanted.map((page) => ({
        offset: description.pages.offset + (before + page * PAGE) * BLOCK_BYTES,
        length: blocksIn(pages[part], page) * BLOCK_BYTES,
      }));
      const bytes = await pieces(spans, joinSpans(spans, PAGE_REQUESTS), signal);
      return parseBlocks(pages[part], wanted, bytes, where);
    },
    plan: (part, columns, blocks, which, requests) => joinSpans(spansOf(part, columns, blocks, which), requests),
    async read(part, columns, blocks, which, { signal, requests } = {}) {
      const wanted = spansOf(part, columns, blocks, which);
      const bytes = await pieces(wanted, joinSpans(wanted, requests), signal);
      return which.map((block, i) =>
        columns.map((column, k) => verified(bytes[i * columns.length + k]!, column, blocks.numbers[block]!, where)),
      );
    },
    async particles(options = {}) {
      const { particles, count } = description;
      const found = (await store.stat(file, options))?.size; // before memory is taken for what the file says it has
      if (found !== head.size) throw new Corrupt(`${where} should have ${head.size} bytes, found ${found}`, { where });
      const room = await particleRoom(count, particles.dtype.size === 4 ? 4 : 8);
      for (let page = 0; page < pages[ALL].count; page++) {
        const blocks = await own.blocks(ALL, [page], options);
        const all = Array.from({ length: blocks.count }, (_, block) => block);
        for (const [block, [bytes]] of (await own.read(ALL, [particles], blocks, all, options)).entries()) {
          const [xyz, order] = splitParticles(bytes!, blocks.sizes[block]!, particles);
          room.positions.set(xyz, 3 * blocks.starts[block]!);
          room.order.set(order, blocks.starts[block]!);
        }
      }
      return joinParticles({ tree: await own.tree(options), positions: room.positions, order: room.order });
    },
  };
  return own;
}

/** Positions and numbers of a block. */
export function splitParticles(bytes: Uint8Array, count: number, { dtype }: FileColumn): [Positions, Uint32Array] {
  const middle = 3 * dtype.size * count;
  const order = numericView(ORDER_TYPE, bytes.subarray(middle));
  return [numericView(dtype, bytes.subarray(0, middle)) as Positions, order as Uint32Array];
}

/** Where a block of a column lies, its checksum included. */
function blockSpan(
  part: Part,
  { offsets, bytes }: FileColumn,
  { numbers, starts, sizes }: Blocks,
  block: number,
): Span {
  return {
    offset: offsets[part] + starts[block]! * bytes + numbers[block]! * SUM_BYTES,
    length: sizes[block]! * bytes + SUM_BYTES,
  };
}

async function readEnd(
  store: Store,
  file: Key,
  limits: Limits,
  where: string,
  { signal }: FormatOptions,
): Promise<{ readonly head: Head; readonly end: Uint8Array }> {
  const end = await store.get(file, { signal, range: { suffix: END_BYTES } });
  if (end === undefined) throw new NotFound(`${where} is not there`, { where });
  const trailer = parseTrailer(end, limits, where);
  const from = end.length - TRAILER_BYTES - trailer.bytes;
  const bytes =
    from >= 0
      ? end.subarray(from, from + trailer.bytes)
      : await store.get(file, { signal, range: { offset: trailer.offset, length: trailer.bytes } });
  if (bytes === undefined) throw new NotFound(`${where} is not there any more`, { where });
  return { head: parseHead(bytes, trailer, limits, where), end };
}

/** Remembers what was got last, up to so many bytes. */
function keeping(get: (span: Span, signal: AbortSignal | undefined) => Promise<Uint8Array>, most: number): typeof get {
  const kept = new Map<string, Uint8Array>();
  let held = 0;
  return async (span, signal) => {
    const name = `${span.offset}+${span.length}`;
    const bytes = kept.get(name) ?? (await get(span, signal));
    if (kept.delete(name)) held -= bytes.length;
    kept.set(name, bytes); // the last one again
    held += bytes.length;
    for (const [old, { length }] of kept) {
      if (held <= most) break;
      kept.delete(old);
      held -= length;
    }
    return bytes;
  };
}

/** The last of some spans that begins at an offset or before. */
function lastFrom(spans: readonly Span[], offset: number): number {
  let [low, high] = [0, spans.length];
  while (low + 1 < high) {
    const middle = (low + high) >>> 1;
    if (spans[middle]!.offset <= offset) low = middle;
    else high = middle;
  }
  return low;
}

function verified(bytes: Uint8Array, column: FileColumn, block: number, where: string): Uint8Array {
  const values = bytes.subarray(0, bytes.length - SUM_BYTES);
  if (bytes.length < SUM_BYTES || xxh3(values) !== U64.get(bytes, bytes.length - SUM_BYTES))
    throw new Corrupt(`block ${block} of ${column.name} of ${where} has another checksum than it says`, { where });
  return values;
}
