/**
 * Which bytes of a shard are whose: values within the file, none in the middle of another, and what nobody names; the latter
 * only where every index could be read.
 */
import type { Finding } from "../../../model/format.js";
import type { Store } from "../../../store/types.js";
import type { Seen } from "./inspect.js";
import { finding, type RuleId } from "./rules.js";

interface Part {
  readonly start: number;
  readonly end: number;
  /** Of a value; undefined for indexes. */
  readonly id: bigint | undefined;
}

export function* checkRanges(store: Store, { files, size, found, lost }: Seen): Generator<Finding> {
  const where = `${store.url}/${files.data}`;
  const parts: Part[] = [{ start: 0, end: files.base, id: undefined }];
  const outside: bigint[] = [];
  for (const { place, minishard } of found) {
    parts.push({ start: place.offset, end: place.offset + place.length, id: undefined });
    const { ids, starts, sizes } = minishard;
    for (let i = 0; i < ids.length; i++) {
      const end = starts[i]! + sizes[i]!;
      if (!(end <= size)) outside.push(ids[i]!);
      else if (sizes[i]! > 0) parts.push({ start: starts[i]!, end, id: ids[i]! });
    }
  }
  const tally = tallies(files.data);
  for (const id of outside)
    tally.add(
      "sharded/value-range",
      0,
      () => `the value of ${id} should be within the ${size} bytes of ${where}, but is not`,
    );
  parts.sort((a, b) => a.start - b.start || a.end - b.end);
  let last = parts[0]!;
  for (const part of parts.slice(1)) {
    const gap = part.start - last.end;
    if (part.start === last.start && part.end === last.end && part.id !== undefined && last.id !== undefined)
      tally.add("sharded/shared", 0, () => `the values of ${last.id} and ${part.id} in ${where} are the same bytes`);
    else if (gap < 0)
      tally.add(
        "sharded/overlap",
        0,
        () => `${nameOf(part)} in ${where} begins at ${part.start}, within ${nameOf(last)}, which ends at ${last.end}`,
      );
    else if (gap > 0 && !lost && part.id !== undefined)
      tally.add(
        "sharded/unreferenced",
        gap,
        () =>
          `${gap} bytes before the value of ${part.id} in ${where} are named by no index; a mesh may have its fragments there`,
      );
    else if (gap > 0)
      tally.add("sharded/waste", gap, () => `${gap} bytes of ${where} at ${last.end} belong to nothing`);
    if (part.end > last.end || gap >= 0) last = part;
  }
  const rest = size - last.end;
  if (rest > 0 && !lost)
    tally.add("sharded/waste", rest, () => `${rest} bytes at the end of ${where} belong to nothing`);
  yield* tally.findings();
}

const nameOf = ({ id }: Part): string => (id === undefined ? "an index" : `the value of ${id}`);

/** The first case of each rule, how many there are, and the bytes of all. */
function tallies(where: string) {
  const seen = new Map<RuleId, { readonly message: string; count: number; bytes: number }>();
  return {
    add(rule: RuleId, bytes: number, message: () => string): void {
      const one = seen.get(rule) ?? { message: message(), count: 0, bytes: 0 };
      one.count++;
      one.bytes += bytes;
      seen.set(rule, one);
    },
    *findings(): Generator<Finding> {
      for (const [rule, { message, count, bytes }] of seen) {
        const sum = bytes > 0 ? `; ${bytes} bytes in ${count} places` : `; ${count} such cases`;
        yield finding(rule, where, message + (count > 1 ? sum : ""));
      }
    },
  };
}
