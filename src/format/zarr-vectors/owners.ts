/**
 * Which objects own a part of a chunk. The manifests say it, read the other way round; `fragment_attributes/object_id` says it at
 * once, but other software's edits leave that column short or stale. So it is believed only as far as it can be shown: it has a
 * value for every fragment of the chunk, and the manifest of each object that it names names the fragment back. Otherwise all
 * manifests are read, once.
 */
import type { ReadOptions } from "../../model/dataset.js";
import type { Parts, Placement } from "../../model/source.js";
import type { ObjectPages } from "./object-pages.js";

export interface Owners {
  readonly offsets: Uint32Array;
  readonly rows: Uint32Array;
}

/** All blocks of a level, chunk by chunk. */
export interface Inverted {
  /** Chunk c has the entries offsets[c] up to offsets[c + 1], in the order of objects. */
  readonly offsets: Uint32Array;
  readonly row: Uint32Array;
  readonly first: Uint32Array;
  readonly count: Uint32Array;
}

/** Two passes over all pages: count, then fill. */
export async function invert(pages: ObjectPages, chunks: number, options?: ReadOptions): Promise<Inverted> {
  const offsets = new Uint32Array(chunks + 1);
  const total = Math.ceil(pages.rows / pages.pageRows);
  for (let i = 0; i < total; i++) {
    const { chunk } = await pages.page(i, options);
    for (let b = 0; b < chunk.length; b++) if (chunk[b]! >= 0) offsets[chunk[b]! + 1]!++;
  }
  for (let c = 0; c < chunks; c++) offsets[c + 1]! += offsets[c]!;
  const size = offsets[chunks]!;
  const [row, first, count] = [new Uint32Array(size), new Uint32Array(size), new Uint32Array(size)];
  const next = offsets.slice(0, chunks);
  for (let i = 0; i < total; i++) {
    const page = await pages.page(i, options);
    for (let o = 0; o + 1 < page.offsets.length; o++) {
      for (let b = page.offsets[o]!; b < page.offsets[o + 1]!; b++) {
        const c = page.chunk[b]!;
        if (c < 0) continue; // an object that is read says that its chunk is not there
        const at = next[c]!++;
        row[at] = i * pages.pageRows + o;
        first[at] = page.first[b]!;
        count[at] = page.count[b]!;
      }
    }
  }
  return { offsets, row, first, count };
}

/** The owners of some parts, from all manifests. */
export function ownersFrom({ offsets, row, first, count }: Inverted, { chunk, part }: Parts): Owners {
  const byChunk = new Map<number, number[]>();
  for (let i = 0; i < chunk.length; i++) {
    const list = byChunk.get(chunk[i]!);
    if (list === undefined) byChunk.set(chunk[i]!, [i]);
    else list.push(i);
  }
  const found: number[][] = Array.from({ length: chunk.length }, () => []);
  for (const [c, wanted] of byChunk) {
    const places = new Map<number, number>(wanted.map((i) => [part[i]!, i]));
    const few = places.size;
    for (let e = offsets[c]!; e < offsets[c + 1]!; e++) {
      const end = first[e]! + count[e]!;
      if (count[e]! <= few) {
        for (let p = first[e]!; p < end; p++) {
          const i = places.get(p);
          if (i !== undefined) found[i]!.push(row[e]!);
        }
      } else {
        for (const [p, i] of places) if (p >= first[e]! && p < end) found[i]!.push(row[e]!);
      }
    }
  }
  return flatten(found.map((rows) => [...new Set(rows)]));
}

/** Whether an object's manifest names a part. */
export function names({ offsets, chunk, first, count }: Placement, object: number, c: number, part: number): boolean {
  for (let b = offsets[object]!; b < offsets[object + 1]!; b++)
    if (chunk[b] === c && part >= first[b]! && part < first[b]! + count[b]!) return true;
  return false;
}

export function flatten(lists: readonly (readonly number[])[]): Owners {
  const offsets = new Uint32Array(lists.length + 1);
  for (const [i, list] of lists.entries()) offsets[i + 1] = offsets[i]! + list.length;
  const rows = new Uint32Array(offsets[lists.length]!);
  for (const [i, list] of lists.entries()) rows.set(list, offsets[i]!);
  return { offsets, rows };
}
