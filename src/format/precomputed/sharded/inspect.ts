/** The indexes of a shard, each looked at alone, so that one that is damaged does not hide the others. */
import { Corrupt } from "../../../errors.js";
import type { Finding } from "../../../model/format.js";
import type { ShardFiles } from "./open-shard.js";
import { type Placed, placeAll, type Shard, wordsOf } from "./place.js";
import type { Found, ShardedPlace } from "./read-index.js";
import { finding, type RuleId, sentenceOf } from "./rules.js";
import { ENTRY, Minishard, ShardIndex, type Stretch } from "./shard-index.js";

/** What there is of a shard. */
export interface Seen {
  readonly files: ShardFiles;
  /** Bytes of the file that offsets point into. */
  readonly size: number;
  readonly found: readonly Found[];
  /** Whether there is something that nobody can write again. */
  readonly lost: boolean;
}

const PAGE = 4096;

/** Undefined where there is no such shard. */
export async function* inspectShard(
  place: ShardedPlace,
  files: ShardFiles,
  shard: Shard,
  signal: AbortSignal | undefined,
): AsyncGenerator<Finding, Seen | undefined> {
  const { store, sharding } = place;
  const stat = await store.stat(files.index, { signal });
  if (stat === undefined) return undefined;
  const size = files.base === 0 ? ((await store.stat(files.data, { signal }))?.size ?? 0) : stat.size;
  const where = `${store.url}/${files.index}`;
  const needed = ENTRY * 2 ** sharding.minishardBits;
  const nothing: Seen = { files, size, found: [], lost: stat.size > 0 };
  if (stat.size === 0) {
    yield finding("sharded/no-bytes", files.index, `${where} has no bytes; a shard begins with an index of ${needed}`);
    return nothing;
  }
  if (stat.size < needed) {
    yield finding(
      "sharded/shard-index",
      files.index,
      `${where} should have a shard index of ${needed} bytes, found ${stat.size}`,
    );
    return nothing;
  }
  const found: Found[] = [];
  let lost = false;
  for (let first = 0; first * ENTRY < needed; first += PAGE) {
    const length = Math.min(PAGE * ENTRY, needed - first * ENTRY);
    const page = await store.get(files.index, { range: { offset: first * ENTRY, length }, signal });
    if (page === undefined) throw new Corrupt(`${where} went away while it was looked at`, { where });
    for (let i = 0; i * ENTRY < length; i++) {
      const one = await inspectMinishard(place, files, page, i, first + i, size, signal);
      if (one === undefined) continue;
      if ("rule" in one) {
        lost = true;
        yield one;
        continue;
      }
      found.push(one);
      if (one.minishard.count === 0)
        yield finding(
          "sharded/empty-index",
          files.index,
          `the index of minishard ${one.number} of ${where} is there, but lists nothing`,
        );
      yield* checkIds(place, shard, one);
    }
  }
  return { files, size, found, lost };
}

/** A minishard, undefined where it is empty, or what is wrong with it. */
async function inspectMinishard(
  { store, coder, limits }: ShardedPlace,
  files: ShardFiles,
  page: Uint8Array,
  entry: number,
  number: number,
  size: number,
  signal: AbortSignal | undefined,
): Promise<Found | Finding | undefined> {
  const what = `the index of minishard ${number} of ${store.url}/${files.data}`;
  const wrong = (rule: RuleId, message: string): Finding => finding(rule, `${files.data} minishard ${number}`, message);
  let place: Stretch | undefined;
  try {
    place = ShardIndex.entry(page, entry, files.base, `the place of ${what}`);
  } catch (error) {
    return wrong("sharded/minishard-range", sentenceOf(error));
  }
  if (place === undefined) return undefined;
  if (place.offset + place.length > size)
    return wrong(
      "sharded/minishard-range",
      `${what} should end within ${size} bytes, found ${place.offset} up to ${place.offset + place.length}`,
    );
  try {
    const bytes = await store.get(files.data, { range: place, signal });
    const decoded = await coder.decodeIndex(bytes!, limits, async () => size);
    return { files, number, place, minishard: Minishard.parse(decoded, files.base, what) };
  } catch (error) {
    const sentence = sentenceOf(error);
    return wrong(
      "sharded/minishard-index",
      sentence.startsWith(what) ? sentence : `${what} cannot be read: ${sentence}`,
    );
  }
}

/** Ids: in order, once, and where they are looked for. */
function* checkIds(
  { store, sharding }: ShardedPlace,
  shard: Shard,
  { files, number, minishard }: Found,
): Generator<Finding> {
  const { ids, count } = minishard;
  const what = `minishard ${number} of ${store.url}/${files.data}`;
  const places = placeAll(ids, sharding);
  const [away, down, again]: [number[], number[], number[]] = [[], [], []];
  const words = wordsOf(ids);
  const known = minishard.ascending ? undefined : new Set<bigint>();
  for (let i = 0; i < count; i++) {
    if (!isHere(places, i, shard, number)) away.push(i);
    const same = i > 0 && words[2 * i] === words[2 * i - 2] && words[2 * i + 1] === words[2 * i - 1];
    if (same || known?.has(ids[i]!)) again.push(i);
    else if (i > 0 && ids[i]! < ids[i - 1]!) down.push(i);
    known?.add(ids[i]!);
  }
  const say = function* (rule: RuleId, rows: number[], how: string): Generator<Finding> {
    if (rows.length === 0) return;
    const others = rows.length > 1 ? `, and so are ${rows.length - 1} others` : "";
    yield finding(rule, `${files.data} minishard ${number}`, `the id ${ids[rows[0]!]} in ${what} is ${how}${others}`);
  };
  yield* say("sharded/placement", away, "not where it is looked for");
  yield* say("sharded/duplicate", again, "there a second time");
  yield* say("sharded/order", down, "after a larger one");
}

export const isHere = (
  { minishard, shardLow, shardHigh }: Placed,
  row: number,
  shard: Shard,
  number: number,
): boolean => minishard[row] === number && shardLow[row] === shard.low && shardHigh[row] === shard.high;
