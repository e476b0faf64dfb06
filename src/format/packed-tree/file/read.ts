/** Reads a `.ptree` file: what it is from its end, then blocks of columns, several of them with each request, each by its checksum. */
import { xxh3 } from "../../../bytes/hash/xxh3.js";
import { U64 } from "../../../bytes/u64.js";
import { numericView } from "../../../codec/numeric.js";
import type { NumericArray } from "../../../codec/types.js";
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
import { blockSpan, type FileColumn } from "./description.js";
import { type Head, parseHead, parseTrailer, TRAILER_BYTES } from "./layout.js";
import { joinSpans, type Span, SUM_BYTES } from "./plan.js";

/** What is read of the end at first. */
const END_BYTES = 1 << 16;
/** Requests that a question for some blocks becomes at most. */
const MOST_REQUESTS = 18;

/** An opened file. */
export interface ParticleFile extends Head {
  readonly where: string;
  /** The tree. */
  tree(options?: CallOptions): Promise<PackedTree>;
  /** What reading these blocks of these columns costs. */
  plan(columns: readonly FileColumn[], blocks: readonly number[]): readonly Span[];
  /** These blocks of these columns: for each block the values of each column. */
  blocksOf(columns: readonly FileColumn[], blocks: readonly number[], options?: CallOptions): Promise<NumericArray[][]>;
  /** All particles, in memory. */
  particles(options?: CallOptions): Promise<Particles>;
}

/** Opens a `.ptree` file. */
export async function openParticleFile(store: Store, file: Key, options: FormatOptions = {}): Promise<ParticleFile> {
  const where = `${store.url}/${file}`;
  const head = await readHead(store, file, withLimits(options.limits), where, options);
  const get = async ({ offset, length }: Span, signal: AbortSignal | undefined): Promise<Uint8Array> => {
    const bytes = await store.get(file, { signal, range: { offset, length } });
    if (bytes === undefined) throw new NotFound(`${where} is not there any more`, { where });
    return bytes;
  };
  const plan = (columns: readonly FileColumn[], blocks: readonly number[]): readonly Span[] =>
    joinSpans(
      columns.flatMap((column) => blocks.map((block) => blockSpan(column, head.blocks, block))),
      MOST_REQUESTS,
    );
  const own: ParticleFile = {
    ...head,
    where,
    plan,
    async tree({ signal } = {}) {
      const { offset, bytes } = head.description.tree;
      return parseTree(await get({ offset, length: bytes }, signal), { where: `the tree of ${where}` });
    },
    async blocksOf(columns, blocks, { signal } = {}) {
      const spans = plan(columns, blocks);
      const parts: Uint8Array[] = new Array(spans.length);
      await forEachConcurrent(spans.keys(), 8, async (i) => {
        parts[i] = await get(spans[i]!, signal);
      });
      return blocks.map((block) =>
        columns.map((column) => {
          const span = blockSpan(column, head.blocks, block);
          const i = lastFrom(spans, span.offset);
          const at = span.offset - spans[i]!.offset;
          return verified(parts[i]!.subarray(at, at + span.length), column, block, where);
        }),
      );
    },
    async particles(options = {}) {
      const { positions, order, count } = head.description;
      const size = (await store.stat(file, options))?.size; // before memory is taken for what the file says it has
      if (size !== head.size) throw new Corrupt(`${where} should have ${head.size} bytes, found ${size}`, { where });
      const all = Array.from({ length: head.blocks.count }, (_, block) => block);
      const room = await particleRoom(count, positions.dtype.size === 4 ? 4 : 8);
      for (let from = 0; from < all.length; from += 256) {
        const some = all.slice(from, from + 256);
        for (const [i, [xyz, before]] of (await own.blocksOf([positions, order], some, options)).entries()) {
          room.positions.set(xyz as Positions, 3 * head.blocks.starts[some[i]!]!);
          room.order.set(before as Uint32Array, head.blocks.starts[some[i]!]!);
        }
      }
      return joinParticles({ tree: await own.tree(options), positions: room.positions, order: room.order });
    },
  };
  return own;
}

async function readHead(
  store: Store,
  file: Key,
  limits: Limits,
  where: string,
  { signal }: FormatOptions,
): Promise<Head> {
  const end = await store.get(file, { signal, range: { suffix: END_BYTES } });
  if (end === undefined) throw new NotFound(`${where} is not there`, { where });
  const trailer = parseTrailer(end, limits, where);
  const from = end.length - TRAILER_BYTES - trailer.bytes;
  const bytes =
    from >= 0
      ? end.subarray(from, from + trailer.bytes)
      : await store.get(file, { signal, range: { offset: trailer.offset, length: trailer.bytes } });
  if (bytes === undefined) throw new NotFound(`${where} is not there any more`, { where });
  return parseHead(bytes, trailer, limits, where);
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

function verified(bytes: Uint8Array, column: FileColumn, block: number, where: string): NumericArray {
  const values = bytes.subarray(0, bytes.length - SUM_BYTES);
  if (xxh3(values) !== U64.get(bytes, bytes.length - SUM_BYTES))
    throw new Corrupt(`block ${block} of ${column.name} of ${where} has another checksum than it says`, { where });
  return numericView(column.dtype, values);
}
