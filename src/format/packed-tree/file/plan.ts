/** From pieces of a file that are wanted to requests: neighbours go together, as do those with little between them. */

/** A range of bytes of a file. */
export interface Span {
  readonly offset: number;
  readonly length: number;
}

/** What is between two pieces costs less than another request: stores over a network take it for the same. */
const GAP = 1 << 16;
/** What some pieces become at most, as long as no more is read in vain than is asked for. */
const REQUESTS = 35;

/**
 * Requests that have all of these pieces, by ascending offset: at most `most` of them where that is given, however much lies between;
 * else few, of which at least half is asked for.
 */
export function joinSpans(spans: readonly Span[], most?: number): Span[] {
  const near = joinedWithin(
    [...spans].sort((a, b) => a.offset - b.offset),
    GAP,
  );
  const gaps = near.slice(1).map(({ offset }, i) => offset - endOf(near[i]!));
  const smallest = gaps.toSorted((a, b) => a - b);
  let room = most === undefined ? near.reduce((sum, { length }) => sum + length, 0) : Infinity;
  let closed = 0;
  while (near.length - closed > Math.max(1, most ?? REQUESTS) && smallest[closed]! <= room) room -= smallest[closed++]!;
  return closed === 0 ? near : joinedWithin(near, smallest[closed - 1]!);
}

function joinedWithin(sorted: readonly Span[], gap: number): Span[] {
  const out: Span[] = [];
  for (const { offset, length } of sorted) {
    const last = out.at(-1);
    if (last !== undefined && offset - endOf(last) <= gap)
      out[out.length - 1] = { offset: last.offset, length: Math.max(last.length, offset + length - last.offset) };
    else out.push({ offset, length });
  }
  return out;
}

const endOf = ({ offset, length }: Span): number => offset + length;
