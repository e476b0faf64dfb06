/**
 * Rows of bytes by keys of 64 bits, brought together in bounded memory: those of one key in the order of their coming. It is the
 * way in which values find their shards (sharded/collect.ts), with parts of all keys for shards; a part is in memory at a time.
 */
import { radixOrder } from "../../../bytes/radix.js";
import type { Scratch } from "../../../store/scratch.js";
import { collector } from "../sharded/collect.js";
import { offsetsOf, type Section } from "../sharded/section.js";
import type { Sharding } from "../sharded/types.js";

/** A key by its words, how many rows it has, and their bytes together. */
export interface GroupSize {
  readonly low: number;
  readonly high: number;
  readonly rows: number;
  readonly bytes: number;
}

/** A key with its rows. */
export interface Group extends Pick<GroupSize, "low" | "high"> {
  readonly rows: readonly Uint8Array[];
}

export interface Grouped {
  /** What is handed in may be used again once this returns; wait where it says so. */
  add(low: number, high: number, row: Uint8Array): Promise<void> | undefined;
  /** Every key, without its rows. */
  sizes(): AsyncGenerator<GroupSize>;
  /** Every key with its rows, in the same order. */
  groups(): AsyncGenerator<Group>;
  /** Removes everything. */
  clear(): Promise<void>;
}

const PART_BITS = 8;
const whole = { minishardBits: 0, shardBits: PART_BITS, indexEncoding: "raw", dataEncoding: "raw" } as const;
const SPREADS: { readonly [spread: string]: Sharding } = {
  any: { ...whole, hash: "murmur3", preshiftBits: 0 },
  ascending: { ...whole, hash: "identity", preshiftBits: 64 - PART_BITS },
};

/** Keys in any order, or ascending; the latter should be spread evenly over all 64 bits. */
export function grouping(order: "any" | "ascending", scratch: Scratch): Grouped {
  let values = collector(SPREADS[order]!, scratch);
  return {
    add: (low, high, row) => values.add(low, high, row, undefined),
    async *sizes() {
      for (const { sections } of values.shards())
        for (const { rows, ...group } of groupsOf(mergedOf(await sections()))) yield { ...group, rows: rows.length };
    },
    async *groups() {
      for (const { sections } of values.shards()) {
        const merged = mergedOf(await sections());
        const bytes = await Promise.all(merged.sections.map((one) => one.read(0, one.sizes.length)));
        for (const { low, high, rows } of groupsOf(merged))
          yield { low, high, rows: Array.from(rows, (row) => merged.piece(bytes, row)) };
      }
    },
    async clear() {
      values = collector(SPREADS[order]!, scratch); // lets go of the memory
      await scratch.clear();
    },
  };
}

/** The rows of several sections as one list, by their keys; of one key in the order of their coming. */
function mergedOf(sections: readonly Section[]) {
  const total = sections.reduce((sum, { sizes }) => sum + sizes.length, 0);
  const columns = () => new Uint32Array(total);
  const [low, high, sizes, owner, row] = [columns(), columns(), columns(), columns(), columns()];
  let at = 0;
  for (const [s, section] of sections.entries()) {
    const count = section.sizes.length;
    low.set(section.idLow, at);
    high.set(section.idHigh, at);
    sizes.set(section.sizes, at);
    owner.fill(s, at, at + count);
    for (let i = 0; i < count; i++) row[at + i] = i;
    at += count;
  }
  const offsets = sections.map(offsetsOf);
  const piece = (bytes: readonly Uint8Array[], i: number): Uint8Array => {
    const own = offsets[owner[i]!]!;
    return bytes[owner[i]!]!.subarray(own[row[i]!]!, own[row[i]! + 1]!);
  };
  return { sections, low, high, sizes, order: radixOrder([low, high], total), piece };
}

function* groupsOf({ low, high, sizes, order }: ReturnType<typeof mergedOf>) {
  for (let from = 0, to = 0; from < order.length; from = to) {
    const first = order[from]!;
    let bytes = 0;
    for (; to < order.length && low[order[to]!] === low[first] && high[order[to]!] === high[first]; to++)
      bytes += sizes[order[to]!]!;
    yield { low: low[first]!, high: high[first]!, bytes, rows: order.subarray(from, to) };
  }
}
