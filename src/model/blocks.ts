/** A large region cut into blocks that fit into memory. */
import type { AxisSelection, Region } from "./array.js";
import { type Axis, select } from "./region.js";

export interface Block {
  readonly region: Region;
  /** Elements in the block. */
  readonly count: number;
}

/**
 * The region in blocks of at most `limit` elements whose results, one after the other, are the result of the whole in
 * C order. A block ends at a chunk's edge where it can, so that few chunks are read twice.
 */
export function* blocks(
  region: Region,
  shape: readonly number[],
  chunkShape: readonly number[],
  limit: number,
): Generator<Block> {
  const { axes } = select(region, shape);
  if (axes.some(({ count }) => count === 0)) return;
  /** The first axis such that everything after it fits: that one is cut, those before it are walked one by one. */
  let cut = 0;
  let inner = axes.reduce((product, { count }) => product * count, 1);
  for (; cut < axes.length; cut++) {
    inner /= axes[cut]!.count;
    if (inner <= limit) break;
  }
  const walk = function* (axis: number, head: Region): Generator<Block> {
    const whole = axes[axis];
    if (whole === undefined) {
      yield { region: head, count: 1 };
      return;
    }
    const room = axis < cut ? 1 : Math.max(1, Math.floor(limit / inner));
    for (let from = 0; from < whole.count; ) {
      const count = runLength(whole, from, room, chunkShape[axis]!);
      const part = typeof region[axis] === "number" ? whole.start : partOf(whole, from, count);
      if (axis < cut) yield* walk(axis + 1, [...head, part]);
      else yield { region: [...head, part, ...region.slice(axis + 1)], count: count * inner };
      from += count;
    }
  };
  yield* walk(0, []);
}

/** How many indices from the `from`-th on to take: at most `room`, and up to the last chunk edge inside that. */
function runLength({ start, step, count }: Axis, from: number, room: number, chunkLength: number): number {
  if (from + room >= count) return count - from;
  if (step < 0) return room;
  const first = start + from * step;
  const edge = Math.floor((first + room * step) / chunkLength) * chunkLength;
  return edge > first ? Math.ceil((edge - first) / step) : room;
}

function partOf({ start, step }: Axis, from: number, count: number): AxisSelection {
  const first = start + from * step;
  const stop = first + count * step;
  return stop < 0 ? { start: first, step } : { start: first, stop, step };
}
