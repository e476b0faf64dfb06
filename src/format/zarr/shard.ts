/**
 * Parts of a shard. The index comes first, one request of known size; then only the inner chunks that are wanted, near ones
 * together. When everything is wanted and the shard is small, one request brings all of it. Shards may hold shards.
 */
import type { Move } from "../../codec/strided.js";
import { Corrupt } from "../../errors.js";
import type { Limits } from "../../limits.js";
import { forEachConcurrent } from "../../model/concurrent.js";
import { elementCount, strides } from "../../space/shape.js";
import type { Key } from "../../store/key.js";
import type { ByteRange, Store } from "../../store/types.js";
import type { Coder } from "./coder.js";
import type { ChunkCodec } from "./decode.js";
import { countParts, type Part, parts } from "./plan.js";

/** Something that bytes can be had from: a value of a store, a stretch of one, or memory. */
export interface Source {
  read(range?: ByteRange): Promise<Uint8Array | undefined>;
}

export const storeSource = (store: Store, key: Key, signal: AbortSignal | undefined): Source => ({
  read: (range) => store.get(key, { range, signal }),
});

const memorySource = (bytes: Uint8Array): Source =>
  stretch({ read: async (range) => cut(bytes, range) }, 0, bytes.length);

function stretch(source: Source, offset: number, length: number): Source {
  return {
    async read(range = { offset: 0, length }) {
      const start = "suffix" in range ? length - range.suffix : range.offset;
      const size = "suffix" in range ? range.suffix : range.length;
      if (start < 0 || start + size > length) {
        throw new Corrupt(`the shard has ${length} bytes, but bytes ${start} to ${start + size} are needed`);
      }
      return source.read({ offset: offset + start, length: size });
    },
  };
}

const cut = (bytes: Uint8Array, range: ByteRange | undefined): Uint8Array =>
  range === undefined || "suffix" in range ? bytes : bytes.subarray(range.offset, range.offset + range.length);

/** Up to this size a shard of which every inner chunk is wanted comes in one request. */
const WHOLE = 64 << 20;
/** Inner chunks at most this far apart share a request… */
const GAP = 32 << 10;
/** …that does not grow beyond this. */
const RUN = 16 << 20;
const REQUESTS = 8;
/** Inner chunks of one request that are decoded at once, where there are workers for them. */
const DECODES = 4;

/** Where the parts of a read go. */
export interface Target {
  readonly coder: Coder;
  move(part: Part, chunkShape: readonly number[]): Move;
  fill(part: Part): void;
}

/** Reads the inner chunks that `part` touches, as parts of the same result. */
export async function readShard(
  codec: ChunkCodec,
  from: Source,
  part: Part,
  target: Target,
  limits: Limits,
): Promise<void> {
  const { inner, grid, index } = codec.shard!;
  const everything = countParts(part.source, inner.spec.shape) === elementCount(grid);
  let source = from;
  if (everything && codec.bytes <= WHOLE) {
    const bytes = await from.read();
    if (bytes === undefined) return target.fill(part);
    source = memorySource(bytes);
  }
  const table = await source.read(
    index.location === "end" ? { suffix: index.bytes } : { offset: 0, length: index.bytes },
  );
  if (table === undefined) return target.fill(part);
  const entries = index.parse(table, limits);

  const place = strides(grid);
  const wanted: Wanted[] = [];
  for (const piece of parts(part.source, inner.spec.shape)) {
    const own: Part = { ...piece, to: piece.to.map((at, axis) => at + part.to[axis]!) };
    const entry = entries.find(piece.chunk.reduce((sum, at, axis) => sum + at * place[axis]!, 0));
    if (entry === undefined) target.fill(own);
    else wanted.push({ ...entry, part: own });
  }
  if (inner.shard !== undefined) {
    return forEachConcurrent(wanted, REQUESTS, ({ offset, length, part }) =>
      readShard(inner, stretch(source, offset, length), part, target, limits),
    );
  }
  await forEachConcurrent(runs(wanted), REQUESTS, async (run) => {
    const bytes = await source.read({ offset: run.offset, length: run.length });
    if (bytes === undefined) throw new Corrupt("the shard went away while it was read");
    await forEachConcurrent(run.items, DECODES, async ({ offset, length, part }) => {
      const start = offset - run.offset;
      const own = bytes.subarray(start, start + length);
      await target.coder.decode(inner, own, target.move(part, inner.spec.shape));
    });
  });
}

interface Wanted {
  readonly offset: number;
  readonly length: number;
  readonly part: Part;
}

interface Run {
  readonly offset: number;
  length: number;
  readonly items: Wanted[];
}

function runs(wanted: Wanted[]): Run[] {
  const out: Run[] = [];
  for (const item of wanted.sort((a, b) => a.offset - b.offset)) {
    const last = out.at(-1);
    const end = item.offset + item.length;
    if (last !== undefined && item.offset - (last.offset + last.length) <= GAP && end - last.offset <= RUN) {
      last.length = Math.max(last.length, end - last.offset);
      last.items.push(item);
    } else {
      out.push({ offset: item.offset, length: item.length, items: [item] });
    }
  }
  return out;
}
