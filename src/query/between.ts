/**
 * Links from object to object: those that no object has all ends of. Such a link joins the first objects (by row) that have its
 * ends, and is in the answer when all of its ends are. It says nothing about whether an object is in the answer, and is never
 * cut.
 *
 * In an answer of one piece they are rows like all others. Where there are several pieces, nobody knows before the last which
 * objects are in the answer: then they come in a batch of their own, with their ends once more.
 */
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource, LinkSet } from "../model/source.js";
import { type Assembled, assemble, type Linker, linkWidthOf } from "./assemble.js";
import { partSizes } from "./bound.js";
import type { Items } from "./layout.js";
import { LinkList, type LooseLinks, ownLinks, runOf } from "./links.js";
import type { Resolved } from "./resolve.js";
import { subset } from "./subset.js";

/** The links of a batch that is the whole answer, or one piece of it. */
export const linkerOf =
  (question: Resolved, only: boolean, options: ReadOptions): Linker =>
  async (layout) => {
    const { source, wanted } = question;
    const list = await ownLinks(source, layout, wanted.link, lieApart(question), options);
    if (only) {
      for (const loose of list.between) {
        const found = await joined(source, loose, options);
        list.addBetween(found.links, found.objects);
      }
    }
    return { ...list.done(), loose: list.loose && !only };
  };

/**
 * Whether parts without an object are each by itself: where nothing is asked of them that is known of all together. Then the links
 * between them come in one order, however many pieces there are.
 */
const lieApart = ({ region, where, nearest }: Resolved): boolean =>
  region === undefined && where === undefined && nearest === undefined;

interface Joined {
  /** Those that no object has, and of each end the row of its object (−1: none) and its part. */
  readonly links: LooseLinks;
  readonly objects: Int32Array;
  readonly parts: Uint32Array;
}

/** Which of some links lead from object to object, and between which. */
async function joined(source: LevelSource, { set, rows }: LooseLinks, options: ReadOptions): Promise<Joined> {
  const { width, chunks, vertices } = set;
  const size = rows.length * width;
  const [chunk, part] = [new Int32Array(size), new Uint32Array(size)];
  for (let i = 0; i < size; i++) chunk[i] = chunks[rows[Math.floor(i / width)]! * width + (i % width)]!;
  const sizes = await partSizes(source, chunk, options);
  for (let i = 0; i < size; i++)
    part[i] = runOf(sizes.get(chunk[i]!)!, vertices[rows[Math.floor(i / width)]! * width + (i % width)]!);
  const owners = await source.objects?.owners({ chunk, part }, options);
  const ownersOf = (end: number): Uint32Array =>
    owners === undefined ? NONE : owners.rows.subarray(owners.offsets[end]!, owners.offsets[end + 1]!);
  const kept = new Uint32Array(rows.length);
  const [objects, parts] = [new Int32Array(size), new Uint32Array(size)];
  let count = 0;
  for (let i = 0; i < rows.length; i++) {
    const first = ownersOf(i * width);
    const has = (row: number): boolean => {
      for (let k = 1; k < width; k++) if (!ownersOf(i * width + k).includes(row)) return false;
      return true;
    };
    if (first.some(has)) continue;
    for (let k = 0; k < width; k++) {
      const own = ownersOf(i * width + k);
      objects[count * width + k] = own.length === 0 ? -1 : own.reduce((a, b) => Math.min(a, b));
      parts[count * width + k] = part[i * width + k]!;
    }
    kept[count++] = rows[i]!;
  }
  return { links: { set, rows: kept.subarray(0, count) }, objects, parts };
}

const NONE = new Uint32Array();

/** What was in the pieces of an answer. */
export class Answered {
  /** Rows of objects. */
  readonly #rows = new Set<number>();
  /** For each part without an object the piece that it was in, or one of its own. */
  readonly #lone = new Map<number, Map<number, number>>();
  readonly #chunks = new Set<number>();
  readonly #apart: boolean;
  #pieces = 0;
  #loose = false;

  constructor(question: Resolved) {
    this.#apart = lieApart(question);
  }

  add({ rows, objects, parts, fragments, loose }: Assembled): void {
    this.#pieces++;
    this.#loose ||= loose;
    for (const row of rows) this.#rows.add(row);
    for (const chunk of fragments.chunk) this.#chunks.add(chunk);
    for (let f = 0, part = 0; f < fragments.chunk.length; f++) {
      if (fragments.offsets[f] === fragments.offsets[f + 1]) continue;
      while (fragments.offsets[f]! >= parts[part + 1]!) part++;
      if (objects[part]! >= 0) continue;
      if (this.#apart) this.#pieces++;
      const ofChunk = this.#lone.get(fragments.chunk[f]!) ?? new Map<number, number>();
      this.#lone.set(fragments.chunk[f]!, ofChunk.set(fragments.part[f]!, this.#pieces));
    }
  }

  /** Whether links may lead from piece to piece. */
  get open(): boolean {
    return this.#loose;
  }

  get chunks(): number[] {
    return [...this.#chunks].sort((a, b) => a - b);
  }

  /** Of the ends of a link: whether all are in the answer, and the link was in none of the pieces. */
  misses(link: number, { links: { set, rows }, objects, parts }: Joined): boolean {
    const { width } = set;
    const pieces = new Set<number>();
    for (let k = 0; k < width; k++) {
      const [row, chunk] = [objects[link * width + k]!, set.chunks[rows[link]! * width + k]!];
      if (row >= 0 && !this.#rows.has(row)) return false;
      if (!this.#chunks.has(chunk)) return false; // that part of the object was cut off
      const piece = row >= 0 ? -1 : this.#lone.get(chunk)?.get(parts[link * width + k]!);
      if (piece === undefined) return false;
      pieces.add(piece);
    }
    return pieces.size > 1 || pieces.has(-1);
  }
}

/** The links from piece to piece of an answer, with their ends. */
export async function* linksBetween(
  question: Resolved,
  answered: Answered,
  cut: (batch: Assembled) => Assembled,
  options: ReadOptions,
): AsyncGenerator<Assembled> {
  const { source, wanted } = question;
  for await (const set of source.links({ chunks: answered.chunks }, wanted.link, options)) {
    options.signal?.throwIfAborted();
    const all = await joined(source, { set, rows: Uint32Array.from({ length: set.count }, (_, l) => l) }, options);
    const found = missing(all, answered);
    if (found.links.rows.length === 0) continue;
    const linker: Linker = async (layout) => {
      const list = new LinkList(linkWidthOf(source), layout, false, false);
      list.addBetween(found.links, found.objects);
      return { ...list.done(), loose: false };
    };
    const batch = cut(await assemble(source, await endsOf(source, found, options), wanted, linker, options));
    const used = new Uint8Array(batch.positions.length / batch.dims);
    for (const end of batch.links!.ends) used[end] = 1;
    if (batch.links!.ends.length > 0) yield { ...subset(batch, used), repeats: true };
  }
}

function missing({ links, objects, parts }: Joined, answered: Answered): Joined {
  const { width } = links.set;
  const kept: number[] = [];
  for (let i = 0; i < links.rows.length; i++) if (answered.misses(i, { links, objects, parts })) kept.push(i);
  const at = kept.flatMap((i) => Array.from({ length: width }, (_, k) => i * width + k));
  return {
    links: { set: links.set, rows: Uint32Array.from(kept, (i) => links.rows[i]!) },
    objects: Int32Array.from(at, (end) => objects[end]!),
    parts: Uint32Array.from(at, (end) => parts[end]!),
  };
}

/** The parts that hold ends, each once for each object, as things to put together. */
async function endsOf(source: LevelSource, { links, objects, parts }: Joined, options: ReadOptions): Promise<Items> {
  const { width, chunks } = links.set as LinkSet;
  const ends = Array.from(objects, (row, i) => ({
    row,
    chunk: chunks[links.rows[Math.floor(i / width)]! * width + (i % width)]!,
    part: parts[i]!,
  }));
  const last = source.objects?.rows ?? 0; // parts without an object come last
  const order = (row: number): number => (row < 0 ? last : row);
  ends.sort((a, b) => order(a.row) - order(b.row) || a.chunk - b.chunk || a.part - b.part);
  const blocks = ends.filter(({ row, chunk, part }, i) => {
    const before = ends[i - 1];
    return before === undefined || before.row !== row || before.chunk !== chunk || before.part !== part;
  });
  const starts = blocks.flatMap(({ row }, i) => (i === 0 || row < 0 || blocks[i - 1]!.row !== row ? [i] : []));
  const place = {
    offsets: Uint32Array.from([...starts, blocks.length]),
    chunk: Int32Array.from(blocks, ({ chunk }) => chunk),
    first: Uint32Array.from(blocks, ({ part }) => part),
    count: new Uint32Array(blocks.length).fill(1),
  };
  return {
    rows: Int32Array.from(starts, (i) => blocks[i]!.row),
    place,
    sizes: await partSizes(source, place.chunk, options),
  };
}
