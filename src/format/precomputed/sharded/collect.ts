/**
 * Values in any order, in bounded memory. They are gathered in memory until there are enough for a run, which is sorted into
 * the order of shards and put aside; in the end the shards are taken one by one, each with its section of every run.
 *
 * | run, put aside    | bytes                                                                |
 * |-------------------|----------------------------------------------------------------------|
 * | for each shard    | ascending                                                            |
 * | … index           | n × u32 each: low words of ids, high words, minishards, sizes, bytes before |
 * | … values          | for each: what is before it, then the value, as they are stored       |
 *
 * What stays in memory are 24 bytes for each shard of each run; and the last run, which is not put aside.
 */
import { radixOrder } from "../../../bytes/radix.js";
import { LimitExceeded } from "../../../errors.js";
import type { Scratch } from "../../../store/scratch.js";
import { type Placed, placedRoom, placer, type Shard } from "./place.js";
import { GONE, offsetsOf, type Section } from "./section.js";
import type { Sharding } from "./types.js";

export interface Collector {
  /** Undefined for a value that is to be deleted. What is handed in may be used again once this returns, `before` when what it says is done. */
  add(
    low: number,
    high: number,
    bytes: Uint8Array | undefined,
    before: Uint8Array | undefined,
  ): Promise<void> | undefined;
  /** Every shard that something was added to, ascending, with how to get its sections, in the order of their coming. */
  shards(): Generator<{ readonly shard: Shard; sections(): Promise<Section[]> }>;
}

/** The shards of a run: shard i has the rows firsts[i] up to firsts[i + 1], and its section at offsets[i]. */
interface Run {
  readonly shardLow: Uint32Array;
  readonly shardHigh: Uint32Array;
  readonly firsts: Uint32Array;
  readonly offsets: Float64Array;
  /** What it is called where it was put aside. */
  readonly aside: number;
}

const COLUMNS = 5;
const ROW = 32; // bytes that a row takes in memory besides its value

export function collector(sharding: Sharding, scratch: Scratch): Collector {
  const place = placer(sharding);
  const most = Math.floor(scratch.memory / 2);
  const runs: Run[] = [];
  let held = room(1024, 1 << 16);
  let packed = new Uint8Array(0);
  let count = 0;
  let used = 0;

  async function putAside(): Promise<void> {
    const sorted = sort(held, count);
    const offsets = sectionsOf(held, sorted);
    const size = offsets.at(-1)!;
    if (packed.length < size) packed = new Uint8Array(size); // used again: what is freed is not at once free
    pack(held, sorted, offsets, packed);
    count = used = 0;
    const { shardLow, shardHigh, firsts } = sorted;
    runs.push({ shardLow, shardHigh, firsts, offsets, aside: await scratch.put(packed.subarray(0, size)) });
  }

  function add(low: number, high: number, bytes: Uint8Array | undefined, before: Uint8Array | undefined): void {
    const size = (bytes?.length ?? 0) + (before?.length ?? 0);
    if (used + size > held.bytes.length) held = { ...held, bytes: grown(held.bytes, used, used + size, most) };
    if (count === held.sizes.length) held = widened(held, count);
    place(low, high, held, count);
    held.offsets[count] = used;
    held.sizes[count] = bytes?.length ?? GONE;
    held.befores[count++] = before?.length ?? 0;
    if (before !== undefined) held.bytes.set(before, used);
    if (bytes !== undefined) held.bytes.set(bytes, used + (before?.length ?? 0));
    used += size;
  }

  return {
    add(low, high, bytes, before) {
      const size = (bytes?.length ?? 0) + (before?.length ?? 0);
      if (size >= GONE)
        throw new LimitExceeded(`a value has ${size} bytes, shards are written with less than 4 GiB each`);
      if (count === 0 || used + size + ROW * count <= most) return add(low, high, bytes, before) as undefined;
      const own = bytes?.slice();
      return putAside().then(() => add(low, high, own, before));
    },
    *shards() {
      packed = new Uint8Array(0); // nothing more is put aside
      const last = sort(held, count);
      const cursors = new Uint32Array(runs.length + 1);
      const all: readonly Pick<Run, "shardLow" | "shardHigh">[] = [...runs, last];
      for (const shard of shardsIn(all)) {
        const parts: (() => Section | Promise<Section>)[] = [];
        for (const [r, { shardLow, shardHigh }] of all.entries()) {
          const i = cursors[r]!;
          if (shardLow[i] !== shard.low || shardHigh[i] !== shard.high) continue;
          cursors[r]!++;
          parts.push(() => (r < runs.length ? sectionAside(runs[r]!, i, scratch) : sectionHere(held, last, i)));
        }
        yield { shard, sections: async () => Promise.all(parts.map((part) => part())) };
      }
    },
  };
}

/** What is gathered, row by row as it came. */
interface Held extends Placed {
  readonly offsets: Uint32Array;
  readonly sizes: Uint32Array;
  readonly befores: Uint32Array;
  readonly bytes: Uint8Array;
}

const room = (rows: number, bytes: number): Held => ({
  ...placedRoom(rows),
  offsets: new Uint32Array(rows),
  sizes: new Uint32Array(rows),
  befores: new Uint32Array(rows),
  bytes: new Uint8Array(bytes),
});

function widened(held: Held, count: number): Held {
  const wider = { ...room(2 * count, 0), bytes: held.bytes };
  for (const name of ["idLow", "idHigh", "minishard", "shardLow", "shardHigh", "offsets", "sizes", "befores"] as const)
    wider[name].set(held[name]);
  return wider;
}

/** Twice as large, but beyond the memory that there is no larger than needed. */
function grown(bytes: Uint8Array, used: number, needed: number, most: number): Uint8Array {
  const larger = new Uint8Array(Math.max(needed, Math.min(2 * bytes.length, most)));
  larger.set(bytes.subarray(0, used));
  return larger;
}

interface Sorted extends Omit<Run, "offsets" | "aside"> {
  readonly order: Uint32Array;
}

function sort(held: Held, count: number): Sorted {
  const { shardLow, shardHigh } = held;
  const order = radixOrder([held.idLow, held.idHigh, held.minishard, shardLow, shardHigh], count);
  const firsts: number[] = [];
  for (let i = 0; i < count; i++) {
    const [one, before] = [order[i]!, order[i - 1]];
    if (before === undefined || shardLow[one] !== shardLow[before] || shardHigh[one] !== shardHigh[before])
      firsts.push(i);
  }
  return {
    order,
    shardLow: Uint32Array.from(firsts, (i) => shardLow[order[i]!]!),
    shardHigh: Uint32Array.from(firsts, (i) => shardHigh[order[i]!]!),
    firsts: Uint32Array.from([...firsts, count]),
  };
}

/** Where each shard of a run begins, and where the last one ends. */
function sectionsOf(held: Held, { order, firsts }: Sorted): Float64Array {
  const shards = firsts.length - 1;
  const offsets = new Float64Array(shards + 1);
  for (let shard = 0, total = 0; shard < shards; shard++) {
    for (let i = firsts[shard]!; i < firsts[shard + 1]!; i++) total += 4 * COLUMNS + lengthOf(held, order[i]!);
    total = Math.ceil(total / 4) * 4; // so that the next index can be looked at where it lies
    offsets[shard + 1] = total;
  }
  return offsets;
}

/** A run in one piece. */
function pack(held: Held, { order, firsts }: Sorted, offsets: Float64Array, bytes: Uint8Array): void {
  const shards = firsts.length - 1;
  for (let shard = 0; shard < shards; shard++) {
    const first = firsts[shard]!;
    const count = firsts[shard + 1]! - first;
    const columns = columnsIn(bytes, offsets[shard]!, count);
    const sources = [held.idLow, held.idHigh, held.minishard, held.sizes, held.befores];
    let at = offsets[shard]! + 4 * COLUMNS * count;
    for (let i = 0; i < count; i++) {
      const row = order[first + i]!;
      for (let c = 0; c < COLUMNS; c++) columns[c]![i] = sources[c]![row]!;
      const length = lengthOf(held, row);
      bytes.set(held.bytes.subarray(held.offsets[row]!, held.offsets[row]! + length), at);
      at += length;
    }
  }
}

const lengthOf = ({ sizes, befores }: Held, row: number): number =>
  befores[row]! + (sizes[row] === GONE ? 0 : sizes[row]!);

const columnsIn = (bytes: Uint8Array, at: number, count: number): Uint32Array[] =>
  Array.from(
    { length: COLUMNS },
    (_, c) => new Uint32Array(bytes.buffer, bytes.byteOffset + at + 4 * c * count, count),
  );

/** Shard i of a run that was put aside. */
async function sectionAside({ firsts, offsets, aside }: Run, i: number, scratch: Scratch): Promise<Section> {
  const count = firsts[i + 1]! - firsts[i]!;
  const index = await scratch.get(aside, offsets[i]!, 4 * COLUMNS * count);
  const [idLow, idHigh, minishard, sizes, befores] = columnsIn(aligned(index), 0, count) as Five;
  const places = offsetsOf({ sizes, befores });
  const start = offsets[i]! + index.length;
  return {
    ...{ idLow, idHigh, minishard, sizes, befores },
    read: (from, to) => scratch.get(aside, start + places[from]!, places[to]! - places[from]!),
  };
}

type Five = [Uint32Array, Uint32Array, Uint32Array, Uint32Array, Uint32Array];

const aligned = (bytes: Uint8Array): Uint8Array => (bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes));

/** Shard i of what is still in memory. */
function sectionHere(held: Held, { order, firsts }: Sorted, i: number): Section {
  const rows = order.subarray(firsts[i]!, firsts[i + 1]!);
  const gathered = (column: Uint32Array): Uint32Array => Uint32Array.from(rows, (row) => column[row]!);
  const [sizes, befores] = [gathered(held.sizes), gathered(held.befores)];
  const places = offsetsOf({ sizes, befores });
  return {
    ...{
      idLow: gathered(held.idLow),
      idHigh: gathered(held.idHigh),
      minishard: gathered(held.minishard),
      sizes,
      befores,
    },
    async read(from, to) {
      const out = new Uint8Array(places[to]! - places[from]!);
      for (let i = from; i < to; i++) {
        const at = held.offsets[rows[i]!]!;
        out.set(held.bytes.subarray(at, at + places[i + 1]! - places[i]!), places[i]! - places[from]!);
      }
      return out;
    },
  };
}

/** The shards of several ascending lists, each once, ascending. */
function* shardsIn(lists: readonly Pick<Run, "shardLow" | "shardHigh">[]): Generator<Shard> {
  const lows = Uint32Array.from(lists.flatMap(({ shardLow }) => [...shardLow]));
  const highs = Uint32Array.from(lists.flatMap(({ shardHigh }) => [...shardHigh]));
  let last: Shard | undefined;
  for (const i of radixOrder([lows, highs], lows.length)) {
    const shard = { low: lows[i]!, high: highs[i]! };
    if (shard.low !== last?.low || shard.high !== last.high) yield shard;
    last = shard;
  }
}
