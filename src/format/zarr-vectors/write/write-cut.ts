/**
 * Where each vertex belongs: chunk floor(position / chunk shape), and in it a fragment.
 *
 * | kind                      | a fragment is                                                                              |
 * |---------------------------|--------------------------------------------------------------------------------------------|
 * | points without objects    | a bin of the chunk; known from the positions when the chunk is written                     |
 * | lines, polylines, streamlines | a run of vertices of one path in one chunk, in the order in which they come             |
 * | everything else           | what an object has in a chunk, ordered by object id; of skeletons one for each root there  |
 *
 * Fragments are numbered as they come. What a link needs is then known at once: the fragment of each end and its place in
 * it, although the row in the chunk is not known before all fragments are. Of paths it is: their fragments lie in the chunk as they
 * come, so that nothing of those of earlier batches need be remembered.
 */
import { InvalidInput } from "../../../errors.js";
import type { VectorKernel } from "../../../kernel/vectors.js";
import type { Links } from "../../../model/vectors.js";
import type { Plan } from "./description.js";
import type { Segments } from "./spill.js";
import type { Rows } from "./write-batch.js";
import { locator } from "./write-locate.js";
import { Growing, type Numbering, numbering } from "./write-numbering.js";

/** All fragments since those before were forgotten, by number. */
export interface Fragments {
  readonly chunk: Growing;
  /** The number of its object + 1; 0: nobody's; AGAIN: no fragment, but one vertex that has come before. */
  readonly owner: Growing;
  readonly size: Growing;
  /** The fragment of a batch + 1 in which it lies, all batches together, or 0; only where those have attributes. */
  readonly given: Growing | undefined;
}

export const AGAIN = 2 ** 32 - 1;

/** A vertex that came again for the sake of a link: found by all that is stored of it, when its chunk is written. */
export interface Again {
  readonly fragment: number;
  /** As in `Fragments`. */
  readonly owner: number;
  readonly bytes: string;
}

/** For some vertices, or ends of links: the fragment of each and the place in it. */
export interface Places {
  readonly fragment: Uint32Array;
  readonly ordinal: Uint32Array;
}

/** Ends of links by chunk, and the row in what came to it. */
export interface Ends {
  readonly chunk: Uint32Array;
  readonly row: Uint32Array;
}

export interface Cut {
  readonly segments: Segments;
  /** Of each vertex; only where fragments are not runs. */
  readonly places: Places | undefined;
  /** Of paths: the two ends of every step from one chunk to another. */
  readonly bridges: Ends | undefined;
}

export interface Cutter {
  readonly chunks: Numbering;
  readonly fragments: Fragments;
  /** `owners` is the number of the object of each part, or −1. Points without objects are cut one by one, faster with a kernel. */
  cut(rows: Rows, owners: Int32Array, kernel?: VectorKernel): Cut;
  /** The same for vertices that have come before; `columns` is all that is stored of them. */
  again(rows: Rows, owners: Int32Array, columns: readonly Uint8Array[]): Places;
  /** Of paths: the fragments until now are known elsewhere, and those that come are numbered from 0. */
  forget(): void;
  /** Those vertices, by chunk. */
  readonly repeated: ReadonlyMap<number, Again[]>;
  /** Whether an object has vertices already. */
  has(object: number): boolean;
  /** Nothing comes any more: where paths end need not be known. */
  end(): void;
}

const MOST = 2 ** 31 - 1;

/** `keepsFragments`: those of batches have attributes. */
export function cutter(
  plan: Plan,
  chunkShape: readonly number[],
  withObjects: boolean,
  keepsFragments = false,
): Cutter {
  const { dims, kind, geometry } = plan;
  const chunks = numbering(dims);
  const fragments: Fragments = {
    chunk: new Growing(),
    owner: new Growing(),
    size: new Growing(),
    given: keepsFragments ? new Growing() : undefined,
  };
  let within = 0; // the fragment of a batch, as in `given`
  // Where a path may go on, by object: the chunk of its last vertex + 1, and the row there.
  let [lastChunk, lastRow] = [new Growing(), new Growing()];
  const lastBefore = (object: number): number =>
    object >= 0 && object < lastChunk.length ? lastChunk.values[object]! - 1 : -1;
  const filled = new Growing(); // of paths: the rows of each chunk
  const locate = locator(chunks, dims, chunkShape);

  const single = plan.sharedFragments === "vertices";

  const start = (chunk: number, object: number): number => {
    fragments.chunk.push(chunk);
    fragments.owner.push(object + 1);
    fragments.size.push(0);
    fragments.given?.push(within);
    return fragments.size.length - 1;
  };

  let before = 0; // fragments of earlier batches
  /** Follows the vertices of a batch through its fragments; where the one ends in which a vertex lies. */
  function follow({ fragments: own, count }: Rows): (vertex: number) => number {
    const first = before;
    let f = 0;
    within = 0;
    if (own === undefined) return () => count;
    const { offsets } = own;
    before += offsets.length - 1;
    return (vertex) => {
      while (offsets[f + 1]! <= vertex) f++;
      within = first + f + 1;
      return offsets[f + 1]!;
    };
  }

  function paths(rows: Rows, owners: Int32Array): Cut {
    const { positions, parts, count } = rows;
    const endOf = follow(rows);
    const [buckets, starts] = [new Growing(), new Growing()];
    const [bridgeChunks, bridgeRows] = [new Growing(), new Growing()];
    for (let p = 0; p < owners.length; p++) {
      const end = parts[p + 1]!;
      const object = owners[p]!;
      let last = lastBefore(object);
      let row = last < 0 ? 0 : lastRow.values[object]!;
      let chunk = -1;
      let fragment = -1;
      let given = 0; // the fragment of the batch in which that one lies
      for (let v = parts[p]!; v < end; ) {
        const next = locate(positions, v);
        const border = endOf(v);
        if (next !== chunk || single || given !== within) {
          chunk = next;
          given = within;
          fragment = start(chunk, object);
          buckets.push(chunk);
          starts.push(v);
          while (filled.length <= chunk) filled.push(0);
          if (last >= 0 && last !== chunk) {
            bridgeChunks.push(last);
            bridgeRows.push(row);
            bridgeChunks.push(chunk);
            bridgeRows.push(filled.values[chunk]!);
          }
        }
        const stop = single ? v + 1 : locate.leaves(positions, v + 1, Math.min(end, border));
        fragments.size.values[fragment]! += stop - v;
        filled.values[chunk]! += stop - v;
        last = chunk;
        row = filled.values[chunk]! - 1;
        v = stop;
      }
      if (fragment < 0 || object < 0) continue;
      while (lastChunk.length <= object) {
        lastChunk.push(0);
        lastRow.push(0);
      }
      lastChunk.values[object] = last + 1;
      lastRow.values[object] = row;
    }
    return {
      segments: { count: buckets.length, buckets: buckets.values, starts: starts.values, rows: count },
      places: undefined,
      bridges: { chunk: bridgeChunks.done(), row: bridgeRows.done() },
    };
  }

  const triples = numbering(3);
  const current = new Growing(); // the fragment to which object, chunk and fragment of a batch are adding

  function pieces(rows: Rows, owners: Int32Array): Cut {
    const { positions, parts, count, links } = rows;
    const roots = geometry === "skeletons" ? rootsOf(count, links) : undefined;
    const [buckets, starts] = [new Growing(), new Growing()];
    const places = { fragment: new Uint32Array(count), ordinal: new Uint32Array(count) };
    const endOf = follow(rows);
    const triple = new Int32Array(3);
    let last = -1;
    for (let p = 0; p < owners.length; p++) {
      const end = parts[p + 1]!;
      let chunk = -1;
      let place = -1;
      let border = 0;
      triple[0] = owners[p]!;
      for (let v = parts[p]!; v < end; v++) {
        const next = locate(positions, v);
        if (next !== chunk || v >= border) {
          border = endOf(v);
          chunk = next;
          triple[1] = chunk;
          triple[2] = within;
          place = triples.of(triple);
          if (place === current.length) current.push(start(chunk, triple[0]!));
        }
        let fragment = current.values[place]!;
        // In a skeleton the vertex before is the parent, so what has none must come first.
        if ((single || roots?.[v] === 1) && fragments.size.values[fragment]! > 0) {
          fragment = start(chunk, triple[0]!);
          current.values[place] = fragment;
        }
        places.fragment[v] = fragment;
        places.ordinal[v] = fragments.size.values[fragment]!++;
        if (chunk !== last) {
          last = chunk;
          buckets.push(chunk);
          starts.push(v);
        }
      }
    }
    const segments = { count: buckets.length, buckets: buckets.values, starts: starts.values, rows: count };
    return { segments, places, bridges: undefined };
  }

  function points({ positions, count }: Rows, _owners: Int32Array, kernel?: VectorKernel): Cut {
    const buckets = locate.all(positions, count, kernel);
    return { segments: { count, buckets, starts: undefined, rows: count }, places: undefined, bridges: undefined };
  }

  const repeated = new Map<number, Again[]>();
  function again({ positions, parts, count }: Rows, owners: Int32Array, columns: readonly Uint8Array[]): Places {
    const places = { fragment: new Uint32Array(count), ordinal: new Uint32Array(count) };
    for (let p = 0; p < owners.length; p++)
      for (let v = parts[p]!; v < parts[p + 1]!; v++) {
        const chunk = locate(positions, v);
        const fragment = start(chunk, AGAIN - 1);
        const own = repeated.get(chunk) ?? [];
        repeated.set(chunk, own);
        own.push({ fragment, owner: owners[p]! + 1, bytes: bytesAt(columns, count, v) });
        places.fragment[v] = fragment;
      }
    return places;
  }

  return {
    chunks,
    fragments,
    again,
    repeated,
    forget() {
      for (const column of [fragments.chunk, fragments.owner, fragments.size, fragments.given])
        if (column !== undefined) column.length = 0;
    },
    has: (object) => lastBefore(object) >= 0,
    end() {
      [lastChunk, lastRow] = [new Growing(), new Growing()];
    },
    cut: kind.path ? paths : withObjects ? pieces : points,
  };
}

/** The bytes of one row of all columns, as something to look up by. */
export function bytesAt(columns: readonly Uint8Array[], rows: number, row: number): string {
  let out = "";
  for (const column of columns) {
    const width = column.length / rows;
    for (let i = row * width; i < (row + 1) * width; i++) out += String.fromCharCode(column[i]!);
  }
  return out;
}

/** InvalidInput where the chunks of these bounds could not be counted. */
export function checkGrid(min: ArrayLike<number>, max: ArrayLike<number>, chunkShape: readonly number[]): void {
  for (const [axis, size] of chunkShape.entries())
    for (const value of [min[axis]!, max[axis]!])
      if (Number.isFinite(value) && Math.abs(Math.floor(value / size)) >= MOST)
        throw new InvalidInput(`chunks of ${size} cannot reach ${value}: there would be 2^31 of them along an axis`);
}

/** 1 for every vertex that is nobody's child. */
function rootsOf(count: number, links: Links | undefined): Uint8Array {
  const roots = new Uint8Array(count).fill(1);
  if (links !== undefined) for (let i = 0; i < links.ends.length; i += links.width) roots[links.ends[i]!] = 0;
  return roots;
}
