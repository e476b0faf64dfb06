/**
 * The links of a batch. Stored links name their ends by chunk and vertex. A link is an object's when the object has all of its
 * ends; of a fragment that several objects share each has its own. Parts without an object have the links between them
 * together, unless they are taken apart. All other links lead from object to object: between.ts looks after those.
 *
 * Skeletons join each vertex to the one before it in its fragment, unless a stored link (child, parent) says otherwise of it.
 */
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource, LinkSet } from "../model/source.js";
import type { Columns, Links } from "../model/vectors.js";
import { linkWidthOf } from "./assemble.js";
import { ColumnsBuilder, pickRows } from "./columns.js";
import type { Layout } from "./layout.js";
import { grown } from "./samples.js";

export { runOf } from "./layout.js";

/** Links from object to object that were met: those of a set, by number. */
export interface LooseLinks {
  readonly set: LinkSet;
  readonly rows: Uint32Array;
}

/** The links of one object each, in a list that others may be added to. */
export async function ownLinks(
  source: LevelSource,
  layout: Layout,
  columns: readonly string[],
  apart: boolean,
  options: ReadOptions,
): Promise<LinkList> {
  const list = new LinkList(linkWidthOf(source), layout, source.sequential, apart);
  if (source.linkWidth > 0 && layout.chunks.length > 0) {
    // What a stored link says of a child is also said by one that is stored with its parent.
    const filter = { chunks: layout.chunks, incoming: source.sequential };
    for await (const set of source.links(filter, columns, options)) {
      options.signal?.throwIfAborted();
      list.take(set);
    }
  }
  return list;
}

/** Links of a layout, in the order in which they are met. */
export class LinkList {
  loose = false;
  readonly between: LooseLinks[] = [];
  readonly #width: number;
  readonly #layout: Layout;
  readonly #find: Finder;
  readonly #hasParent: Uint8Array | undefined;
  readonly #apart: boolean;
  /** The columns of links up to `end`, from the end of the one before. */
  readonly #pieces: { readonly columns: Columns; readonly end: number }[] = [];
  #count = 0;
  #ends = new Uint32Array(64);
  /** The row of each link in the columns of its set. */
  #rows = new Uint32Array(64);

  /** `apart`: each part without an object is like an object of its own. */
  constructor(width: number, layout: Layout, sequential: boolean, apart: boolean) {
    this.#width = width;
    this.#layout = layout;
    this.#find = new Finder(layout);
    this.#apart = apart;
    this.#hasParent = sequential ? new Uint8Array(layout.fragments[layout.count]!) : undefined;
  }

  /** Takes those of a set that are of one object. */
  take(set: LinkSet): void {
    const width = this.#width;
    const between: number[] = [];
    for (let l = 0; l < set.count; ) {
      const to = this.#count; // links of shared fragments before have come several times
      this.#ends = grown(this.#ends, (to + set.count - l) * width);
      this.#rows = grown(this.#rows, to + set.count - l);
      const from = l;
      l = takeSimple(set, from, width, this.#find, this.#ends.subarray(to * width), this.#hasParent);
      countUp(this.#rows, to, from, l);
      this.#count += l - from;
      if (l < set.count && !this.#takeOther(set, l)) between.push(l);
      l++;
    }
    this.#pieces.push({ columns: set.columns, end: this.#count });
    if (between.length === 0) return;
    this.loose = true;
    this.between.push({ set, rows: Uint32Array.from(between) });
  }

  /** A link with ends elsewhere, in several places or in several objects; false: it leads from object to object. */
  #takeOther({ chunks, vertices }: LinkSet, link: number): boolean {
    const width = this.#width;
    const at = Int32Array.from({ length: width }, (_, k) =>
      this.#find.at(chunks[link * width + k]!, vertices[link * width + k]!),
    );
    const here = at.filter((place) => place !== -1).length;
    if (here === 0) return true;
    if (this.#hasParent !== undefined) for (const child of this.#find.copies(at[0]!)) this.#hasParent[child] = 1;
    if (here < width) {
      this.loose = true;
      return true;
    }
    if (at.every((place) => place >= 0)) {
      if (!this.#isOne(at)) return false;
      this.#add(at, link);
      return true;
    }
    return this.#addShared(at, link);
  }

  #add(at: ArrayLike<number>, row: number): void {
    const width = this.#width;
    this.#ends = grown(this.#ends, (this.#count + 1) * width);
    this.#rows = grown(this.#rows, this.#count + 1);
    for (let k = 0; k < width; k++) this.#ends[this.#count * width + k] = at[k]!;
    this.#rows[this.#count++] = row;
  }

  /** Whether all of these vertices are of one object, or of none. */
  #isOne(at: Int32Array): boolean {
    const { rows } = this.#layout;
    const first = this.#find.itemOf(at[0]!);
    for (let k = 1; k < at.length; k++) {
      const item = this.#find.itemOf(at[k]!);
      if (item !== first && (this.#apart || rows[item]! >= 0 || rows[first]! >= 0)) return false;
    }
    return true;
  }

  /** Shared fragments: one link for each object that has all of its ends, at the first place where it has each. */
  #addShared(at: Int32Array, row: number): boolean {
    const before = this.#count;
    const lists = Array.from(at, (place) => this.#find.copies(place));
    for (const item of new Set(lists[0]!.map((vertex) => this.#find.itemOf(vertex)))) {
      const mates = lists.map((list) => list.find((vertex) => this.#find.itemOf(vertex) === item));
      if (!mates.includes(undefined)) this.#add(mates as number[], row);
    }
    return this.#count > before;
  }

  /** Adds links of a set of which the object of each end is known: its row, or −1. */
  addBetween({ set, rows: links }: LooseLinks, objects: Int32Array): void {
    const width = this.#width;
    const ends = new Uint32Array(width);
    for (let i = 0; i < links.length; i++) {
      let all = true;
      for (let k = 0; all && k < width; k++) {
        const at = links[i]! * width + k;
        const copies = this.#find.copies(this.#find.at(set.chunks[at]!, set.vertices[at]!));
        const place = copies.find((vertex) => this.#layout.rows[this.#find.itemOf(vertex)] === objects[i * width + k]);
        all = place !== undefined;
        ends[k] = place ?? 0;
      }
      if (all) this.#add(ends, links[i]!);
    }
    this.#pieces.push({ columns: set.columns, end: this.#count });
  }

  /** Adds (vertex, the one before it) for the vertices of which no link is stored. */
  #imply(hasParent: Uint8Array): void {
    const { count, fragments } = this.#layout;
    for (let f = 0; f < count; f++)
      for (let v = fragments[f]! + 1; v < fragments[f + 1]!; v++) if (hasParent[v] === 0) this.#add([v, v - 1], 0);
  }

  /** All of them, the implied ones last. */
  done(): { readonly links: Links; readonly storedLinks: number } {
    const storedLinks = this.#count;
    const builder = new ColumnsBuilder(storedLinks);
    let from = 0;
    for (const { columns, end } of this.#pieces) {
      if (columns.size > 0 && end > from)
        builder.put(pickRows(columns, this.#rows.subarray(from, end)), 0, end - from, from);
      from = end;
    }
    if (this.#hasParent !== undefined) this.#imply(this.#hasParent);
    const ends = this.#ends.slice(0, this.#count * this.#width);
    return { links: { width: this.#width, ends, columns: builder.done() }, storedLinks };
  }
}

/** Takes links from `from` on as long as each has all of its ends in one object, each in one place; gives the first that has not. */
function takeSimple(
  { count, chunks, vertices }: LinkSet,
  from: number,
  width: number,
  find: Finder,
  out: Uint32Array,
  hasParent: Uint8Array | undefined,
): number {
  const { items } = find;
  let table: Int32Array = NOWHERE;
  let [last, to] = [-1, 0];
  for (let l = from; l < count; l++) {
    let item = -1;
    for (let k = 0, end = l * width; k < width; k++, end++) {
      if (chunks[end] !== last) {
        last = chunks[end]!;
        table = find.table(last) ?? NOWHERE;
      }
      const at = vertices[end]! < table.length ? table[vertices[end]!]! : -1;
      if (at < 0 || (k > 0 && items[at] !== item)) return l;
      item = items[at]!;
      out[to++] = at;
    }
    if (hasParent !== undefined) hasParent[out[to - width]!] = 1;
  }
  return count;
}

const NOWHERE = new Int32Array();

/** from, from + 1 … up to `end`, at `to`. */
function countUp(rows: Uint32Array, to: number, from: number, end: number): void {
  for (let row = from, at = to; row < end; row++, at++) rows[at] = row;
}

/** From a vertex of a chunk to those of the batch. */
class Finder {
  readonly #layout: Layout;
  /** For each chunk, when it is first asked for: the vertex of the batch, −1 for none, −2 − i for the i-th of `several`. */
  readonly #tables: (Int32Array | undefined)[];
  readonly #several: number[][] = [];
  /** The item of each vertex of the batch. */
  readonly items: Uint32Array;

  constructor(layout: Layout) {
    this.#layout = layout;
    this.#tables = new Array(layout.chunks.length);
    const { count, fragments, item } = layout;
    this.items = new Uint32Array(fragments[count]!);
    for (let f = 0; f < count; f++) this.items.fill(item[f]!, fragments[f]!, fragments[f + 1]!);
  }

  itemOf(vertex: number): number {
    return this.items[vertex]!;
  }

  /** −1: not here; below: `copies` has them. */
  at(chunk: number, vertex: number): number {
    return this.table(chunk)?.[vertex] ?? -1;
  }

  /** `at` for the vertices of a chunk; undefined: nothing of it is here. */
  table(chunk: number): Int32Array | undefined {
    const place = this.#layout.places[chunk] ?? -1;
    return place < 0 ? undefined : (this.#tables[place] ?? this.#fill(place));
  }

  copies(at: number): readonly number[] {
    return at >= 0 ? [at] : at === -1 ? [] : this.#several[-2 - at]!;
  }

  #fill(place: number): Int32Array {
    const { starts, order, fragments, from, tileSizes } = this.#layout;
    const table = new Int32Array(tileSizes[place]!).fill(-1);
    for (let i = starts[place]!; i < starts[place + 1]!; i++) {
      const f = order[i]!;
      for (let v = fragments[f]!, to = from[f]!; v < fragments[f + 1]!; v++, to++) {
        const before = table[to]!;
        if (before === -1) table[to] = v;
        else if (before < -1) this.#several[-2 - before]!.push(v);
        else {
          table[to] = -2 - this.#several.length;
          this.#several.push([before, v]);
        }
      }
    }
    this.#tables[place] = table;
    return table;
  }
}
