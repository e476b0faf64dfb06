/**
 * The joints of paths, from the manifests: the parts of an object follow each other, so the last vertex of one is joined to the
 * first of the next, in the same chunk or in another. Where the links are known to hold all of these steps, they tell it for the
 * chunks in question alone.
 */
import type { ReadOptions } from "../../../model/dataset.js";
import type { ChunkTable, Joints, LinkSet, Placement } from "../../../model/source.js";
import { hullTest, sidesOf } from "../../../query/hull.js";
import { distinctChunks, runOf } from "../../../query/layout.js";
import { grown } from "../../../query/samples.js";
import type { LinkSource } from "./link-source.js";
import type { ObjectPages } from "./object-pages.js";
import type { OwnerColumn } from "./owner-column.js";
import { IdList, type RowsOf } from "./owners.js";
import type { Tiles } from "./tiles.js";

/** How far back a path is followed over parts that may be empty, before it is looked up whether they are. */
const UNKNOWN = 16;

/**
 * Page by page. A part without vertices is no end of a joint: those before and after it are joined over it. Which parts are empty
 * their chunk's index says; it is read where a joint over one of its parts would matter. (Ends of joints may be empty
 * where they are, that is, next to each other.)
 */
export async function* jointsOf(
  pages: ObjectPages,
  table: ChunkTable,
  tiles: Tiles,
  dims: number,
  meets: (min: Float64Array, max: Float64Array) => boolean,
  options?: ReadOptions,
  skip: Uint8Array = new Uint8Array(pages.rows),
): AsyncGenerator<Joints> {
  const meet = hullTest(table, dims, meets);
  const sides = sidesOf(table, dims, meets);
  const sizes = new Array<Uint32Array | undefined>(table.count).fill(undefined);
  for (let i = 0; i * pages.pageRows < pages.rows; i++) {
    const page = await pages.page(i, options);
    const joints = new JointList();
    let objects = objectsMeeting(page, skip.subarray(i * pages.pageRows), sides, meet);
    while (objects.length > 0) {
      const { undecided, chunks } = addJoints(joints, page, i * pages.pageRows, objects, meet, sizes);
      for await (const { chunk, parts } of tiles.read([...chunks], ONLY_PARTS, options)) sizes[chunk] = parts;
      objects = undecided;
    }
    if (joints.count > 0) yield joints.done();
  }
}

const ONLY_PARTS = { positions: false, vertex: [], fragment: [] };

/**
 * The objects of a page of which some two parts would meet if they were joined: of nearly all, none do, because all of their chunks
 * lie on one side.
 */
function objectsMeeting(
  { offsets, chunk, count }: Placement,
  skip: Uint8Array,
  sides: Uint32Array,
  meet: (a: number, b: number) => boolean,
): number[] {
  const found: number[] = [];
  for (let o = 0; o + 1 < offsets.length; o++) {
    const from = offsets[o]!;
    const to = offsets[o + 1]!;
    if (skip[o] === 1 || (to - from === 1 && count[from]! < 2)) continue;
    let common = -1;
    for (let b = from; b < to; b++) if (chunk[b]! >= 0) common &= sides[chunk[b]!]!;
    if (common === 0 && anyMeet(chunk, count, from, to, meet)) found.push(o);
  }
  return found;
}

function anyMeet(
  chunk: Int32Array,
  count: Uint32Array,
  from: number,
  to: number,
  meet: (a: number, b: number) => boolean,
): boolean {
  if (to - from > UNKNOWN) return true;
  for (let b = from; b < to; b++) {
    const c = chunk[b]!;
    if (c < 0) continue;
    if (count[b]! > 1 && meet(c, c)) return true;
    for (let a = from; a < b; a++) if (chunk[a]! >= 0 && meet(chunk[a]!, c)) return true;
  }
  return false;
}

/** Adds the joints of some objects of a page. Not yet of those that are undecided as long as some chunks are not known. */
function addJoints(
  joints: JointList,
  { offsets, chunk, first, count }: Placement,
  row: number,
  objects: readonly number[],
  meet: (a: number, b: number) => boolean,
  sizes: readonly (Uint32Array | undefined)[],
): { readonly undecided: number[]; readonly chunks: ReadonlySet<number> } {
  const undecided: number[] = [];
  const wanted = new Set<number>();
  // The last part that has vertices, and those after it of which that is not known.
  const [chunks, parts] = [new Int32Array(UNKNOWN + 2), new Uint32Array(UNKNOWN + 2)];
  for (const o of objects) {
    const mark = joints.count;
    let [before, open] = [0, false];
    for (let b = offsets[o]!; b < offsets[o + 1]!; b++) {
      const c = chunk[b]!;
      if (c < 0) continue;
      const known = sizes[c];
      for (let p = first[b]!; p < first[b]! + count[b]!; p++) {
        const vertices = known === undefined ? -1 : known[p + 1]! - known[p]!;
        if (vertices === 0) continue;
        if (before > 0 && meet(chunks[before - 1]!, c))
          joints.add(row + o, chunks[before - 1]!, parts[before - 1]!, c, p);
        let a = 0;
        while (a + 1 < before && before <= UNKNOWN && !meet(chunks[a]!, c)) a++;
        if (a + 1 < before) {
          open = true;
          for (let k = a + 1; k < before; k++) wanted.add(chunks[k]!);
          before = 0;
        }
        if (vertices > 0) before = 0;
        chunks[before] = c;
        parts[before++] = p;
      }
    }
    if (!open) continue;
    joints.count = mark;
    undecided.push(o);
  }
  return { undecided, chunks: wanted };
}

class JointList {
  count = 0;
  #numbers = new Uint32Array(5 * 256);

  add(object: number, chunkA: number, partA: number, chunkB: number, partB: number): void {
    const at = 5 * this.count++;
    this.#numbers = grown(this.#numbers, at + 5);
    this.#numbers[at] = object;
    this.#numbers[at + 1] = chunkA;
    this.#numbers[at + 2] = partA;
    this.#numbers[at + 3] = chunkB;
    this.#numbers[at + 4] = partB;
  }

  done(): Joints {
    const { count } = this;
    const out = {
      count,
      object: new Int32Array(count),
      chunkA: new Int32Array(count),
      partA: new Uint32Array(count),
      chunkB: new Int32Array(count),
      partB: new Uint32Array(count),
    };
    for (let j = 0, at = 0; j < count; j++) {
      out.object[j] = this.#numbers[at++]!;
      out.chunkA[j] = this.#numbers[at++]!;
      out.partA[j] = this.#numbers[at++]!;
      out.chunkB[j] = this.#numbers[at++]!;
      out.partB[j] = this.#numbers[at++]!;
    }
    return out;
  }
}

/**
 * The joints that links say: of each the last vertex of a part and the first of the next, in different chunks. All at once: what
 * is asked for of their chunks is then asked for once, and not once for each array of links.
 */
export async function* linkedJoints(
  context: {
    readonly links: (options?: ReadOptions) => Promise<LinkSource | undefined>;
    readonly tiles: Tiles;
  },
  column: OwnerColumn,
  rowsOf: RowsOf,
  meets: (min: Float64Array, max: Float64Array) => boolean,
  options?: ReadOptions,
  skip?: Uint8Array,
): AsyncGenerator<Joints> {
  const links = await context.links(options);
  if (links?.width !== 2) return;
  const sets: LinkSet[] = [];
  for await (const set of links.read({ meets }, [], options)) sets.push(set);
  const used = [...new Set(sets.flatMap(({ chunks }) => distinctChunks(chunks)))];
  const parts = new Map<number, Uint32Array>();
  for await (const tile of context.tiles.read(used, ONLY_PARTS, options)) parts.set(tile.chunk, tile.parts);
  const owners = await column.ids(used, options);
  const ids = new IdList(sets.reduce((sum, { count }) => sum + count, 0));
  const firsts = sets.map((set) => partsOfEnds(set, 0, parts));
  for (const [s, { chunks }] of sets.entries())
    for (let l = 0; l < firsts[s]!.length; l++) ids.add(owners.get(chunks[2 * l]!)!, firsts[s]![l]!);
  const rows = await rowsOf(ids.ids);
  const joints = new JointList();
  let joint = 0;
  for (const [s, set] of sets.entries()) {
    const seconds = partsOfEnds(set, 1, parts);
    for (let l = 0; l < set.count; l++) {
      const row = rows[joint++]!;
      if (row < 0 || skip?.[row] === 1) continue;
      joints.add(row, set.chunks[2 * l]!, firsts[s]![l]!, set.chunks[2 * l + 1]!, seconds[l]!);
    }
  }
  if (joints.count > 0) yield joints.done();
}

/** The part of an end of each link. */
function partsOfEnds(
  { count, chunks, vertices }: LinkSet,
  end: number,
  parts: ReadonlyMap<number, Uint32Array>,
): Uint32Array {
  const out = new Uint32Array(count);
  let [last, offsets] = [-1, NONE];
  for (let l = 0; l < count; l++) {
    const at = 2 * l + end;
    if (chunks[at] !== last) {
      last = chunks[at]!;
      offsets = parts.get(last)!;
    }
    out[l] = runOf(offsets, vertices[at]!);
  }
  return out;
}

const NONE: Uint32Array = new Uint32Array();
