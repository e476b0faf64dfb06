/**
 * Which rows of a chunk belong to which fragment (`vertex_fragments`, `link_fragments`).
 *
 * | bytes         | meaning                                                                             |
 * |---------------|-------------------------------------------------------------------------------------|
 * | u32           | magic 0x5A564647                                                                    |
 * | u16, u16      | version 1, flags 0                                                                  |
 * | u32, u32      | F fragments, R of them ranges; with F = 0 nothing follows                           |
 * | bitmap        | bit f & 7 of byte f >> 3: fragment f is a range; zeros up to a multiple of 8 bytes  |
 * | R × i64, i64  | start, count of each range                                                          |
 * | u32[F − R + 1]| where the list of each other fragment starts among the rows; the last is their number |
 * | i64[]         | those rows                                                                          |
 *
 * In memory all fragments are lists of *entries*, one after another; links number the entries of a chunk, not its rows. In nearly
 * every store the fragments are ranges that follow each other from row 0, so that entry e is row e: then there is no list of rows.
 */
import { Corrupt, InvalidInput, LimitExceeded } from "../../../errors.js";
import { decodedCap, type Limits } from "../../../limits.js";
import { Int64, outside, ROWS_END, words } from "./int64.js";

export interface FragmentIndex {
  readonly count: number;
  /** Fragment f is the entries offsets[f] up to offsets[f + 1]. */
  readonly offsets: Uint32Array;
  /** Entry e is row rows[e]; undefined: row e. */
  readonly rows: Uint32Array | undefined;
  /** How it is written: where range f starts, or LIST. Undefined: all are ranges, each from where the one before it ended. */
  readonly starts: Uint32Array | undefined;
}

/** In `starts`: not a range. No range can start there. */
export const LIST = ROWS_END - 1;

/** A run of rows, or any rows. */
export type Fragment = { readonly start: number; readonly count: number } | ArrayLike<number>;

const MAGIC = 0x5a564647;

export const FragmentIndex = {
  /** `rows` is the number of rows in the chunk, where it is known. */
  parse(bytes: Uint8Array, rows: number | undefined, limits: Limits, where: string): FragmentIndex {
    const corrupt = (problem: string) => new Corrupt(`the fragment index ${where} ${problem}`, { where });
    const from = words(bytes);
    if (bytes.length < 16) throw corrupt(`should have 16 bytes or more, found ${bytes.length}`);
    if (from[0] !== MAGIC) throw corrupt(`should begin with "GFVZ", found 0x${from[0]!.toString(16)}`);
    if (from[1] !== 1)
      throw corrupt(`should be of version 1 with flags 0, found ${from[1]! & 0xffff} with ${from[1]! >>> 16}`);
    const count = from[2]!;
    const ranges = from[3]!;
    // From here on places are counted in words of 4 bytes.
    const rangesAt = 4 + 2 * Math.ceil(count / 64);
    const listsAt = rangesAt + 4 * ranges;
    const rowsAt = count === 0 ? 4 : listsAt + count - ranges + 1;
    if (ranges > count || 4 * rowsAt > bytes.length)
      throw corrupt(`claims ${count} fragments, ${ranges} of them ranges, in ${bytes.length} bytes`);
    if (count > 0 && from[listsAt] !== 0)
      throw corrupt(`should have its first list at 0, found ${from[listsAt]} at byte ${4 * listsAt}`);
    const listed = count === 0 ? 0 : from[rowsAt - 1]!;
    if (4 * rowsAt + 8 * listed !== bytes.length)
      throw corrupt(`should have ${4 * rowsAt + 8 * listed} bytes for ${listed} listed rows, found ${bytes.length}`);
    if (bitsIn(from.subarray(4, rangesAt), count) !== ranges)
      throw corrupt(`should have ${ranges} ranges in its bitmap of ${count} and nothing after, found others`);

    const end = Math.min(rows ?? LIST, LIST);
    const offsets = new Uint32Array(count + 1);
    const starts = new Uint32Array(count);
    let [range, list, total] = [rangesAt, listsAt, 0];
    let inPlace = true; // every range is where the one before it ended
    let tiled = listed === 0;
    for (let f = 0; f < count; f++) {
      let size: number;
      if (((from[4 + (f >>> 5)]! >>> (f & 31)) & 1) === 1) {
        const start = from[range]!;
        size = from[range + 2]!;
        if (from[range + 1] !== 0 || from[range + 3] !== 0 || start + size > end)
          throw corrupt(`has a range at byte ${4 * range} that does not end within ${end} rows`);
        starts[f] = start;
        if (start !== total) {
          inPlace = false;
          if (size > 0) tiled = false;
        }
        range += 4;
      } else {
        size = from[list + 1]! - from[list]!;
        if (size < 0) throw corrupt(`has list offsets that do not ascend, at byte ${4 * list}`);
        starts[f] = LIST;
        inPlace = false;
        list++;
      }
      total += size;
      if (total >= ROWS_END) throw corrupt(`has more than 2^32 entries in its first ${f + 1} fragments`);
      offsets[f + 1] = total;
    }
    // Ranges may overlap, so a small index can name the rows of a chunk many times over.
    const most = Math.max(decodedCap(bytes.length, limits), Math.min(limits.chunkBytes, 64 * (rows ?? 0)));
    if (!tiled && 4 * total > most)
      throw new LimitExceeded(`the fragment index ${where} names ${total} rows, at most ${most / 4} are allowed`, {
        where,
        reason: "chunk-bytes",
        hint: "Raise limits.chunkBytes and limits.ratio.",
      });
    const list0 = from.subarray(rowsAt);
    for (let i = 0; i < listed; i++) {
      if (list0[2 * i + 1] !== 0) throw outside(list0, i, `the rows of the fragment index ${where}`);
      if (list0[2 * i]! >= end) throw corrupt(`names row ${list0[2 * i]}, but there are ${end}`);
    }
    return {
      count,
      offsets,
      rows: tiled ? undefined : expand(offsets, starts, list0),
      starts: inPlace ? undefined : starts,
    };
  },

  /**
   * From fragments as they are thought of. A list that is a run, and not empty, becomes a range as the reference has it, unless
   * `forceExplicit`: then it stays a list.
   */
  of(fragments: readonly Fragment[], { forceExplicit = false } = {}): FragmentIndex {
    const count = fragments.length;
    const offsets = new Uint32Array(count + 1);
    const starts = new Uint32Array(count);
    let inPlace = true;
    let tiled = true;
    for (let f = 0; f < count; f++) {
      const fragment = fragments[f]!;
      const range = runOf(fragment, forceExplicit);
      const at = offsets[f]!;
      const size = range?.count ?? (fragment as ArrayLike<number>).length;
      starts[f] = range?.start ?? LIST;
      offsets[f + 1] = at + size;
      if (starts[f] !== at) {
        inPlace = false;
        if (size > 0) tiled = false;
      }
    }
    const rows = tiled ? undefined : new Uint32Array(offsets[count]!);
    for (let f = 0; rows !== undefined && f < count; f++) {
      const fragment = fragments[f]!;
      if (!("start" in fragment)) rows.set(fragment, offsets[f]);
      else for (let i = 0; i < fragment.count; i++) rows[offsets[f]! + i] = fragment.start + i;
    }
    return { count, offsets, rows, starts: inPlace ? undefined : starts };
  },

  /** Ranges of these sizes, one after another from row 0. */
  ofRanges(counts: ArrayLike<number>): FragmentIndex {
    const offsets = new Uint32Array(counts.length + 1);
    for (let f = 0; f < counts.length; f++) offsets[f + 1] = offsets[f]! + counts[f]!;
    return { count: counts.length, offsets, rows: undefined, starts: undefined };
  },

  /** Entries of all fragments together: the vertices of the chunk as links and objects count them. */
  total: ({ count, offsets }: FragmentIndex): number => offsets[count]!,

  encode({ count, offsets, rows, starts }: FragmentIndex): Uint8Array<ArrayBuffer> {
    let ranges = count;
    let listed = 0;
    for (let f = 0; starts !== undefined && f < count; f++) {
      if (starts[f] !== LIST) continue;
      ranges--;
      listed += offsets[f + 1]! - offsets[f]!;
    }
    const rangesAt = 4 + 2 * Math.ceil(count / 64);
    const listsAt = rangesAt + 4 * ranges;
    const rowsAt = count === 0 ? 4 : listsAt + count - ranges + 1;
    const out = new Int32Array(rowsAt + 2 * listed);
    out.set([MAGIC, 1, count, ranges]);
    let [range, list, row] = [rangesAt, listsAt, rowsAt];
    for (let f = 0; f < count; f++) {
      const from = offsets[f]!;
      const end = offsets[f + 1]!;
      const start = starts === undefined ? from : starts[f]!;
      if (start === LIST) {
        for (let e = from; e < end; e++, row += 2) out[row] = rows![e]!;
        out[++list] = (row - rowsAt) / 2;
      } else {
        out[4 + (f >>> 5)]! |= 1 << (f & 31);
        out[range] = start;
        out[range + 2] = end - from;
        range += 4;
      }
    }
    return new Uint8Array(out.buffer);
  },

  /**
   * Up to 0.5, `vertex_group_offsets`: int64 (K) byte offsets of the groups in the chunk's vertices, or (K, 2) with those of
   * their links beside them, −1 where a group has none. A group ends where the next one starts.
   */
  fromGroupOffsets(
    bytes: Uint8Array,
    form: "paired" | "single",
    rowBytes: number,
    blobBytes: number,
    where: string,
  ): { readonly index: FragmentIndex; readonly links: Float64Array | undefined } {
    const all = Int64.exact(bytes, where);
    if (form === "single") return { index: fromByteOffsets(all, rowBytes, blobBytes, where), links: undefined };
    if (all.length % 2 !== 0)
      throw new Corrupt(`${where} should be pairs of offsets, found ${all.length} values`, { where });
    const links = all.filter((_, i) => i % 2 === 1);
    const vertices = all.filter((_, i) => i % 2 === 0);
    return { index: fromByteOffsets(vertices, rowBytes, blobBytes, where), links };
  },

  /** The links of each group by the offsets that `fromGroupOffsets` gave: empty where there is −1. */
  fromLinkOffsets(links: Float64Array, rowBytes: number, blobBytes: number, where: string): FragmentIndex {
    const starts = new Float64Array(links.length);
    let next = blobBytes;
    for (let k = links.length - 1; k >= 0; k--) {
      if (links[k] !== -1) next = links[k]!;
      starts[k] = next;
    }
    return fromByteOffsets(starts, rowBytes, blobBytes, where);
  },
};

function fromByteOffsets(starts: Float64Array, rowBytes: number, blobBytes: number, where: string): FragmentIndex {
  const corrupt = (problem: string) => new Corrupt(`${where} ${problem}`, { where });
  if (blobBytes % rowBytes !== 0 || blobBytes / rowBytes >= LIST)
    throw corrupt(`is about ${blobBytes} bytes, which are not whole rows of ${rowBytes}`);
  if ((starts[0] ?? blobBytes) !== 0 && blobBytes > 0)
    throw corrupt(`should begin with offset 0, found ${starts[0] ?? "none"} for ${blobBytes} bytes`);
  const counts = new Uint32Array(starts.length);
  for (let k = 0; k < starts.length; k++) {
    const end = starts[k + 1] ?? blobBytes;
    const size = end - starts[k]!;
    if (size < 0 || end > blobBytes || size % rowBytes !== 0)
      throw corrupt(`has group ${k} from byte ${starts[k]} to ${end} of ${blobBytes}, in rows of ${rowBytes}`);
    counts[k] = size / rowBytes;
  }
  return FragmentIndex.ofRanges(counts);
}

/** The rows of all entries: of ranges by counting, of lists from the list of all of them (int64 as pairs of words). */
function expand(offsets: Uint32Array, starts: Uint32Array, list: Uint32Array): Uint32Array {
  const rows = new Uint32Array(offsets[starts.length]!);
  let at = 0;
  for (let f = 0; f < starts.length; f++) {
    const end = offsets[f + 1]!;
    const start = starts[f]!;
    if (start === LIST) for (let e = offsets[f]!; e < end; e++, at += 2) rows[e] = list[at]!;
    else for (let e = offsets[f]!, row = start; e < end; e++, row++) rows[e] = row;
  }
  return rows;
}

/** How many of the first `count` bits are set; −1 where one after them is. */
function bitsIn(bitmap: Uint32Array, count: number): number {
  let bits = 0;
  for (let i = 0; i < bitmap.length; i++) {
    let word = bitmap[i]!;
    const own = count - 32 * i;
    if (own < 32 && word >>> Math.max(0, own) !== 0) return -1;
    for (; word !== 0; word &= word - 1) bits++;
  }
  return bits;
}

/** A fragment as the range that it is, or that it may become. */
export function runOf(fragment: Fragment, forceExplicit: boolean): { start: number; count: number } | undefined {
  if ("start" in fragment) {
    const { start, count } = fragment;
    if (!isRow(start) || !(Number.isInteger(count) && count >= 0 && start + count <= LIST))
      throw new InvalidInput(`a range of rows should be whole numbers below 2^32 − 1, found ${count} from ${start}`);
    return fragment;
  }
  let run = fragment.length > 0 && !forceExplicit;
  for (let i = 0; i < fragment.length; i++) {
    if (!isRow(fragment[i]!))
      throw new InvalidInput(`a row should be a whole number below 2^32 − 1, found ${fragment[i]}`);
    if (fragment[i] !== fragment[0]! + i) run = false;
  }
  return run ? { start: fragment[0]!, count: fragment.length } : undefined;
}

const isRow = (row: number): boolean => Number.isInteger(row) && row >= 0 && row < LIST;
