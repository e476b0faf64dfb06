/**
 * A shard that is there, as a section of the one that will take its place: every value as it is stored, and with each the bytes
 * directly before it that no index names. Multi-resolution meshes keep their fragments there; tensorstore's rewrites lose them.
 *
 * What belongs to nobody, at the end of the file or before an index, is not taken along.
 */
import { radixOrder } from "../../../bytes/radix.js";
import { Corrupt, LimitExceeded } from "../../../errors.js";
import { runs } from "../../../store/coalesce.js";
import type { ShardFiles } from "./open-shard.js";
import { type Placed, placedRoom, placer, type Shard, wordsOf } from "./place.js";
import { endOf, type Found, GAP, type Indexes, LONGEST, type ShardedPlace } from "./read-index.js";
import { GONE, offsetsOf, type Section } from "./section.js";
import { Minishard, type Stretch } from "./shard-index.js";

export interface Existing extends Section {
  readonly files: ShardFiles;
}

interface ExistingOptions {
  readonly unreferenced: "keep" | "drop";
  /**
   * What to do about ids where nobody looks for them, and such that come twice. Corrupt, unless told: then the former are handed
   * over, as they are stored, and of the latter the first stays, which is the one that readers find.
   */
  readonly misplaced?: (low: number, high: number, stored: Uint8Array, before: Uint8Array) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/** Undefined where there is no such shard. */
export async function existingShard(
  place: ShardedPlace,
  indexes: Indexes,
  shard: Shard,
  options: ExistingOptions,
): Promise<Existing | undefined> {
  const open = await indexes.open(shard, options.signal);
  const found = await open.find(undefined, options.signal).finally(() => open.close());
  if (found === undefined) return undefined;
  const files = found[0]?.files;
  if (files === undefined) return undefined; // an index of nothing but empty minishards: as good as none
  const { placed, starts, sizes } = rowsOf(place, found);
  const where = `${place.store.url}/${files.data}`;
  const sorted = radixOrder([placed.idLow, placed.idHigh, placed.minishard], sizes.length);
  const { good, away } = sift(placed, found, shard, sorted);
  if (options.misplaced === undefined) mustBeAll(placed, good, away, sorted, where);
  const befores =
    options.unreferenced === "keep"
      ? ownedBefore(
          files,
          found.map((one) => one.place),
          starts,
          sizes,
        )
      : new Uint32Array(sizes.length);
  const sectionOf = (order: Uint32Array): Existing => {
    const gathered = (column: Uint32Array): Uint32Array => Uint32Array.from(order, (row) => column[row]!);
    const section = {
      files,
      idLow: gathered(placed.idLow),
      idHigh: gathered(placed.idHigh),
      minishard: gathered(placed.minishard),
      sizes: gathered(sizes),
      befores: gathered(befores),
    };
    const own = Float64Array.from(order, (row) => starts[row]!);
    return { ...section, read: reader(place, section, own, options.signal) };
  };
  const strays = sectionOf(away);
  for (let i = 0; i < away.length; i++) {
    const bytes = await strays.read(i, i + 1);
    const before = strays.befores[i]!;
    await options.misplaced!(strays.idLow[i]!, strays.idHigh[i]!, bytes.subarray(before), bytes.subarray(0, before));
  }
  return sectionOf(good);
}

function rowsOf(place: ShardedPlace, found: readonly Found[]) {
  const count = found.reduce((sum, { minishard }) => sum + minishard.count, 0);
  const placed = placedRoom(count);
  const put = placer(place.sharding);
  const starts = new Float64Array(count);
  const sizes = new Uint32Array(count);
  let row = 0;
  for (const { files, number, minishard } of found) {
    const what = `the index of minishard ${number} of ${place.store.url}/${files.data}`;
    const words = wordsOf(minishard.ids);
    for (let i = 0; i < minishard.count; i++, row++) {
      const { offset, length } = Minishard.stretch(minishard, i, what);
      if (length >= GONE)
        throw new LimitExceeded(`${what} has a value of ${length} bytes, shards are written with less than 4 GiB each`);
      put(words[2 * i]!, words[2 * i + 1]!, placed, row);
      starts[row] = offset;
      sizes[row] = length;
    }
  }
  return { placed, starts, sizes };
}

/** Rows in order, those that are found by their ids apart from those in the wrong place. */
function sift(
  { idLow, idHigh, minishard, shardLow, shardHigh }: Placed,
  found: readonly Found[],
  shard: Shard,
  sorted: Uint32Array,
): { readonly good: Uint32Array; readonly away: Uint32Array } {
  const listedIn = new Uint32Array(sorted.length);
  let row = 0;
  for (const { number, minishard: own } of found) {
    listedIn.fill(number, row, row + own.count);
    row += own.count;
  }
  const isAway = (row: number): boolean =>
    minishard[row] !== listedIn[row] || shardLow[row] !== shard.low || shardHigh[row] !== shard.high;
  const good = sorted.filter((row) => !isAway(row));
  return {
    good: good.filter(
      (row, i) => i === 0 || idLow[row] !== idLow[good[i - 1]!] || idHigh[row] !== idHigh[good[i - 1]!],
    ),
    away: sorted.filter(isAway),
  };
}

function mustBeAll(
  { idLow, idHigh }: Placed,
  good: Uint32Array,
  away: Uint32Array,
  sorted: Uint32Array,
  where: string,
): void {
  if (good.length === sorted.length) return;
  const row =
    away[0] ?? sorted.find((row, i) => idLow[row] === idLow[sorted[i + 1]!] && idHigh[row] === idHigh[sorted[i + 1]!])!;
  const id = (BigInt(idHigh[row]!) << 32n) | BigInt(idLow[row]!);
  throw new Corrupt(`${where} has the id ${id} ${away.length > 0 ? "where nobody looks for it" : "twice"}`, {
    where,
    hint: "Verify and repair it before it is changed.",
  });
}

/** For each value the bytes between it and whatever ends last before it; none where something reaches into it. */
export function ownedBefore(
  { base }: ShardFiles,
  indexes: readonly Stretch[],
  starts: Float64Array,
  sizes: Uint32Array,
): Uint32Array {
  const befores = new Uint32Array(starts.length);
  const others = [...indexes].sort((a, b) => a.offset - b.offset);
  const order = Uint32Array.from(starts.keys()).sort((a, b) => starts[a]! - starts[b]! || sizes[a]! - sizes[b]!);
  let end = base;
  let next = 0;
  for (let i = 0; i < order.length; ) {
    const start = starts[order[i]!]!;
    for (; next < others.length && others[next]!.offset < start; next++)
      end = Math.max(end, others[next]!.offset + others[next]!.length);
    let reach = end;
    // Values that begin at the same byte share what is before them.
    for (; i < order.length && starts[order[i]!] === start; i++) {
      befores[order[i]!] = Math.min(GONE - 1, Math.max(0, start - end));
      reach = Math.max(reach, start + sizes[order[i]!]!);
    }
    end = reach;
  }
  return befores;
}

/** Rows as they lie in the file, what is near each other read together. */
function reader(
  { store }: ShardedPlace,
  section: Pick<Existing, "files" | "sizes" | "befores">,
  starts: Float64Array,
  signal: AbortSignal | undefined,
): Section["read"] {
  const { files, sizes, befores } = section;
  const places = offsetsOf(section);
  return async (from, to) => {
    const out = new Uint8Array(places[to]! - places[from]!);
    const wanted = Array.from({ length: to - from }, (_, i) => ({
      row: from + i,
      offset: starts[from + i]! - befores[from + i]!,
      length: befores[from + i]! + sizes[from + i]!,
    })).filter(({ length }) => length > 0);
    for (const run of runs(wanted, GAP, LONGEST)) {
      const offset = run[0]!.offset;
      const bytes = await store.get(files.data, { range: { offset, length: endOf(run) - offset }, signal });
      if (bytes === undefined) throw new Corrupt(`${store.url}/${files.data} is no longer there`);
      for (const { row, offset: own, length } of run)
        out.set(bytes.subarray(own - offset, own - offset + length), places[row]! - places[from]!);
    }
    return out;
  };
}
