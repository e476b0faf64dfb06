/**
 * A shard that is there, as a section of the one that will take its place: every value as it is stored, and with each the bytes
 * directly before it that no index names. Multi-resolution meshes keep their fragments there; tensorstore's rewrites lose them.
 *
 * What belongs to nobody, at the end of the file or before an index, is not taken along.
 */
import { radixOrder } from "../../../bytes/radix.js";
import { Corrupt, LimitExceeded } from "../../../errors.js";
import { runs } from "../../../store/coalesce.js";
import { placedRoom, placer, type Shard, wordsOf } from "./place.js";
import { endOf, type Found, GAP, type Indexes, LONGEST, type ShardedPlace, type ShardFiles } from "./read-index.js";
import { GONE, offsetsOf, type Section } from "./section.js";
import { Minishard, type Stretch } from "./shard-index.js";

export interface Existing extends Section {
  readonly files: ShardFiles;
}

/** Undefined where there is no such shard. Corrupt where ids are in the wrong place or come twice: that is for `repair`. */
export async function existingShard(
  place: ShardedPlace,
  indexes: Indexes,
  shard: Shard,
  options: { readonly unreferenced: "keep" | "drop"; readonly signal?: AbortSignal | undefined },
): Promise<Existing | undefined> {
  const found = await indexes.find(shard, undefined, options.signal);
  if (found === undefined) return undefined;
  const files = found[0]?.files;
  if (files === undefined) return undefined; // an index of nothing but empty minishards: as good as none
  const { placed, starts, sizes } = rowsOf(place, found);
  const where = `${place.store.url}/${files.data}`;
  const order = radixOrder([placed.idLow, placed.idHigh, placed.minishard], sizes.length);
  mustFit(placed, found, shard, order, where);
  const befores =
    options.unreferenced === "keep"
      ? ownedBefore(
          files,
          found.map((one) => one.place),
          starts,
          sizes,
        )
      : new Uint32Array(sizes.length);
  const gathered = (column: Uint32Array): Uint32Array => Uint32Array.from(order, (row) => column[row]!);
  const section = {
    files,
    idLow: gathered(placed.idLow),
    idHigh: gathered(placed.idHigh),
    minishard: gathered(placed.minishard),
    sizes: gathered(sizes),
    befores: gathered(befores),
  };
  return {
    ...section,
    read: reader(
      place,
      section,
      Float64Array.from(order, (row) => starts[row]!),
      options.signal,
    ),
  };
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

/** Every id once, and where it is looked for. */
function mustFit(
  { idLow, idHigh, minishard, shardLow, shardHigh }: ReturnType<typeof placedRoom>,
  found: readonly Found[],
  shard: Shard,
  order: Uint32Array,
  where: string,
): void {
  const idOf = (row: number): bigint => (BigInt(idHigh[row]!) << 32n) | BigInt(idLow[row]!);
  const refuse = (row: number, how: string): Corrupt =>
    new Corrupt(`${where} has the id ${idOf(row)} ${how}`, {
      where,
      hint: "Verify and repair it before it is changed.",
    });
  let row = 0;
  for (const { number, minishard: own } of found)
    for (let i = 0; i < own.count; i++, row++)
      if (minishard[row] !== number || shardLow[row] !== shard.low || shardHigh[row] !== shard.high)
        throw refuse(row, `in minishard ${number}, where nobody looks for it`);
  for (let i = 1; i < order.length; i++) {
    const [one, before] = [order[i]!, order[i - 1]!];
    if (idLow[one] === idLow[before] && idHigh[one] === idHigh[before]) throw refuse(one, "twice");
  }
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
