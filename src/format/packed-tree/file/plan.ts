/** From pieces of a file that are wanted to requests: neighbours go together, as do those with little between them. */

/** Behind the values of each block is their checksum. */
export const SUM_BYTES = 8;

/** The blocks of a file, each a range of particles. */
export interface Blocks {
  readonly count: number;
  /** The lower and the upper corner around the particles of each. */
  readonly boxes: Float64Array;
  /** Block b has the particles starts[b] up to starts[b + 1]. */
  readonly starts: Uint32Array;
}

/** A range of bytes of a file. */
export interface Span {
  readonly offset: number;
  readonly length: number;
}

/** What is between two pieces costs less than another request. */
const GAP = 1 << 13;

/** Requests that have all of these pieces, at most `most` of them, by ascending offset. */
export function joinSpans(spans: readonly Span[], most: number): Span[] {
  const sorted = [...spans].sort((a, b) => a.offset - b.offset);
  let requests = joinedWithin(sorted, GAP);
  if (requests.length > most) {
    // The widest gaps stay.
    const gaps = requests.slice(1).map(({ offset }, i) => offset - (requests[i]!.offset + requests[i]!.length));
    const widest = gaps.sort((a, b) => b - a)[most - 1]!;
    requests = joinedWithin(sorted, widest);
  }
  return requests;
}

function joinedWithin(sorted: readonly Span[], gap: number): Span[] {
  const out: Span[] = [];
  for (const { offset, length } of sorted) {
    const last = out.at(-1);
    if (last !== undefined && offset - (last.offset + last.length) <= gap)
      out[out.length - 1] = { offset: last.offset, length: Math.max(last.length, offset + length - last.offset) };
    else out.push({ offset, length });
  }
  return out;
}
