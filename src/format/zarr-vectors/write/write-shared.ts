/** Fragments of a chunk that are equal to the bit, in positions and all attributes, stored once. */
import { concat } from "../../../bytes/concat.js";
import { murmur3 } from "../../../bytes/hash/murmur3.js";

export interface Shared {
  /** The fragments that stay, in their order. */
  readonly kept: Uint32Array;
  /** For every fragment the place of what is equal to it among them. */
  readonly place: Uint32Array;
  /** The first row of each that stays. */
  readonly first: Uint32Array;
  readonly columns: readonly Uint8Array[];
}

/** `columns` have as many rows as `counts` together. */
export function share(columns: readonly Uint8Array[], rows: number, counts: Uint32Array): Shared {
  const widths = columns.map((column) => column.length / Math.max(1, rows));
  const starts = new Uint32Array(counts.length);
  for (let f = 1; f < counts.length; f++) starts[f] = starts[f - 1]! + counts[f - 1]!;
  const bytesOf = (f: number): Uint8Array[] =>
    columns.map((column, c) => column.subarray(starts[f]! * widths[c]!, (starts[f]! + counts[f]!) * widths[c]!));
  const known = new Map<string, number[]>(); // places by a hash of the bytes
  const kept: number[] = [];
  const pieces: Uint8Array[][] = [];
  const place = new Uint32Array(counts.length);
  for (let f = 0; f < counts.length; f++) {
    const own = bytesOf(f);
    const hash = own.map((bytes) => murmur3(bytes).join()).join(" ");
    const candidates = known.get(hash) ?? [];
    known.set(hash, candidates);
    const equal = candidates.find((other) => own.every((bytes, c) => same(bytes, pieces[other]![c]!)));
    place[f] = equal ?? kept.length;
    if (equal !== undefined) continue;
    candidates.push(kept.length);
    kept.push(f);
    pieces.push(own);
  }
  const first = new Uint32Array(kept.length);
  for (let i = 1; i < kept.length; i++) first[i] = first[i - 1]! + counts[kept[i - 1]!]!;
  const stored =
    kept.length === counts.length ? columns : columns.map((_, c) => concat(pieces.map((piece) => piece[c]!)));
  return { kept: Uint32Array.from(kept), place, first, columns: stored };
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
