/**
 * One shard out of its sections. The layout is tensorstore's, byte for byte: minishard after minishard, in each the values by
 * ascending id, then the index of the minishard; empty minishards are (0, 0). Since sizes are known beforehand, the shard is
 * written from front to back, in pieces, however large it is.
 */
import { InvalidInput, LimitExceeded } from "../../../errors.js";
import type { Key } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { ahead } from "./ahead.js";
import type { Coder } from "./coder.js";
import { type Merged, merge, offsetsOf, type Section } from "./section.js";
import { ENTRY, Minishard } from "./shard-index.js";
import type { Sharding } from "./types.js";

/** Bytes of values that are in memory at a time, for each shard that is being written, twice. */
const WINDOW = 1 << 20;
/** The largest shard index that is made: of 2^24 minishards. */
const MOST_BITS = 24;

/** What is at the end of a minishard. */
interface Closing {
  /** The row after its last. */
  readonly end: number;
  readonly index: Uint8Array;
}

export interface Built {
  readonly values: number;
  readonly bytes: number;
  pieces(): AsyncIterable<Uint8Array>;
}

/** Undefined where nothing is left; then there is no shard. */
export function buildShard(
  sections: readonly Section[],
  sharding: Sharding,
  coder: Coder,
  repeats: "once" | "last",
  what: string,
): Built | undefined {
  if (sharding.minishardBits > MOST_BITS)
    throw new LimitExceeded(
      `a shard of 2^${sharding.minishardBits} minishards is not written, at most 2^${MOST_BITS} are`,
    );
  const merged = merge(sections, repeats);
  if ("twice" in merged) throw new InvalidInput(`the id ${merged.twice} came twice for ${what}`);
  if (merged.row.length === 0) return undefined;
  const { shardIndex, closings, length } = layOut(merged, sharding, coder);
  return {
    values: merged.row.length,
    bytes: shardIndex.length + length,
    async *pieces() {
      yield shardIndex;
      const offsets = sections.map(offsetsOf);
      yield* ahead(windows(merged, offsets, closings), 2, (window) => read(window, merged, offsets));
    },
  };
}

/** Writes a shard whole or not at all. */
export async function writeShard(store: Store, key: Key, built: Built, signal: AbortSignal | undefined): Promise<void> {
  const sink = await store.write(key, { signal });
  try {
    for await (const piece of built.pieces()) await sink.write(piece);
    await sink.commit();
  } catch (error) {
    await sink.abort();
    throw error;
  }
}

function layOut({ sections, owner, row }: Merged, { minishardBits }: Sharding, coder: Coder) {
  const shardIndex = new Uint8Array(ENTRY * 2 ** minishardBits);
  const view = new DataView(shardIndex.buffer);
  const closings: Closing[] = [];
  const numberOf = (i: number): number => sections[owner[i]!]!.minishard[row[i]!]!;
  let position = 0;
  for (let from = 0, to = 0; from < row.length; from = to) {
    const number = numberOf(from);
    while (to < row.length && numberOf(to) === number) to++;
    const ids = new BigUint64Array(to - from);
    const words = new Uint32Array(ids.buffer);
    const gaps = new Float64Array(to - from);
    const sizes = new Float64Array(to - from);
    const start = position;
    for (let i = from; i < to; i++) {
      const section = sections[owner[i]!]!;
      const at = row[i]!;
      words[2 * (i - from)] = section.idLow[at]!;
      words[2 * (i - from) + 1] = section.idHigh[at]!;
      gaps[i - from] = section.befores[at]!;
      sizes[i - from] = section.sizes[at]!;
      position += section.befores[at]! + section.sizes[at]!;
    }
    gaps[0]! += start;
    const index = coder.encodeIndex(Minishard.encode(ids, gaps, sizes));
    closings.push({ end: to, index });
    view.setBigUint64(ENTRY * number, BigInt(position), true);
    position += index.length;
    view.setBigUint64(ENTRY * number + 8, BigInt(position), true);
  }
  return { shardIndex, closings, length: position };
}

/** Rows from `from` up to `to`, with the ends of minishards among them. */
interface Window {
  readonly from: number;
  readonly to: number;
  readonly closings: readonly Closing[];
  readonly bytes: number;
}

function* windows(
  { owner, row }: Merged,
  offsets: readonly Float64Array[],
  closings: readonly Closing[],
): Generator<Window> {
  let next = 0;
  for (let from = 0, to = 0; from < row.length; from = to) {
    const first = next;
    let bytes = 0;
    while (to < row.length && (to === from || bytes < WINDOW)) {
      const own = offsets[owner[to]!]!;
      bytes += own[row[to]! + 1]! - own[row[to]!]!;
      to++;
      if (closings[next]!.end === to) bytes += closings[next++]!.index.length;
    }
    yield { from, to, closings: closings.slice(first, next), bytes };
  }
}

/** What a window holds, of each section read in one go: in a section the rows lie in the same order. */
async function read(
  { from, to, closings, bytes }: Window,
  { sections, owner, row }: Merged,
  offsets: readonly Float64Array[],
): Promise<Uint8Array> {
  const firsts = new Int32Array(sections.length).fill(-1);
  const lasts = new Int32Array(sections.length);
  for (let i = from; i < to; i++) {
    const s = owner[i]!;
    if (firsts[s]! < 0) firsts[s] = row[i]!;
    lasts[s] = row[i]!;
  }
  const parts = await Promise.all(
    sections.map((section, s) => (firsts[s]! < 0 ? undefined : section.read(firsts[s]!, lasts[s]! + 1))),
  );
  const out = new Uint8Array(bytes);
  let at = 0;
  for (let i = from, closing = 0; i < to; ) {
    const s = owner[i]!;
    const own = offsets[s]!;
    const start = row[i]!;
    const until = closings[closing]?.end ?? to;
    let end = start;
    // Rows that follow each other there as well are copied together.
    do end++;
    while (++i < until && owner[i] === s && row[i] === end);
    const before = own[firsts[s]!]!;
    out.set(parts[s]!.subarray(own[start]! - before, own[end]! - before), at);
    at += own[end]! - own[start]!;
    if (i === closings[closing]?.end) {
      out.set(closings[closing]!.index, at);
      at += closings[closing++]!.index.length;
    }
  }
  return out;
}
