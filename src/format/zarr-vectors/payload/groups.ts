/**
 * Groups of objects, by object id: int64, so 64 bits.
 *
 * | version     | where                                                                                                      |
 * |-------------|------------------------------------------------------------------------------------------------------------|
 * | 0.8.1 and on| a vlen array, an element for each group: i64[] ids. A group in `group_ranges` is empty there: start … stop − 1 |
 * | to 0.8.0    | `data`: i64[] ids; `offsets`: i64[G] the byte at which each group starts                                    |
 */
import { Corrupt, InvalidInput } from "../../../errors.js";
import { Blobs } from "./blobs.js";

export interface Groups {
  readonly count: number;
  /** Group g has the ids offsets[g] up to offsets[g + 1] … */
  readonly offsets: Uint32Array;
  readonly ids: BigInt64Array;
  /** … unless it is here: all ids from start up to, not with, stop. */
  readonly ranges: ReadonlyMap<number, IdRange>;
}

export interface IdRange {
  readonly start: bigint;
  readonly stop: bigint;
}

const noRanges: ReadonlyMap<number, IdRange> = new Map();

export const Groups = {
  parse(blobs: Blobs, ranges: ReadonlyMap<number, IdRange>, where: string): Groups {
    const { count, bytes, starts, ends } = blobs;
    const offsets = new Uint32Array(count + 1);
    for (let g = 0; g < count; g++) {
      const size = ends[g]! - starts[g]!;
      if (size % 8 !== 0)
        throw new Corrupt(`group ${g} of ${where} should be whole int64 ids, found ${size} bytes`, { where });
      offsets[g + 1] = offsets[g]! + size / 8;
    }
    for (const [g, { start, stop }] of ranges)
      if (!(Number.isInteger(g) && g >= 0 && g < count) || stop < start || offsets[g] !== offsets[g + 1])
        throw new Corrupt(
          `${where} has the range ${start} … ${stop} for group ${g} of ${count}, which should be empty, and the range should not end before it starts`,
          { where },
        );
    const ids = new BigInt64Array(offsets[count]!);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let g = 0, to = 0; g < count; g++)
      for (let at = starts[g]!; at < ends[g]!; at += 8) ids[to++] = view.getBigInt64(at, true);
    return { count, offsets, ids, ranges };
  },

  fromOffsets: (data: Uint8Array, offsets: Uint8Array, where: string): Groups =>
    Groups.parse(Blobs.fromOffsets(data, offsets, where), noRanges, where),

  /** From lists and ranges of ids. */
  of(groups: readonly (ArrayLike<bigint> | IdRange)[]): Groups {
    const offsets = new Uint32Array(groups.length + 1);
    const ranges = new Map<number, IdRange>();
    for (let g = 0; g < groups.length; g++) {
      const group = groups[g]!;
      if ("start" in group) {
        if (group.stop < group.start)
          throw new InvalidInput(`a range of ids ends at ${group.stop}, before ${group.start}`);
        ranges.set(g, group);
      }
      offsets[g + 1] = offsets[g]! + ("start" in group ? 0 : group.length);
    }
    const ids = new BigInt64Array(offsets[groups.length]!);
    for (let g = 0; g < groups.length; g++) {
      const group = groups[g]!;
      if (!("start" in group)) ids.set(group, offsets[g]);
    }
    return { count: groups.length, offsets, ids, ranges };
  },

  /** Whether an id belongs to a group. */
  has({ offsets, ids, ranges }: Groups, group: number, id: bigint): boolean {
    const range = ranges.get(group);
    if (range !== undefined) return id >= range.start && id < range.stop;
    return ids.subarray(offsets[group], offsets[group + 1]).includes(id);
  },

  /** An element for each group; ranges go into the array's document. */
  encode({ count, offsets, ids }: Groups): Blobs {
    const bytes = new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength);
    return {
      count,
      bytes,
      starts: offsets.slice(0, count).map((n) => 8 * n),
      ends: offsets.slice(1).map((n) => 8 * n),
    };
  },
};
