/**
 * Blocks: particles that follow each other in the file, with a box around them. Their table is cut into pages of 512 blocks, of which
 * those are read that a question meets; what is known of each page is in the head of the file. Boxes of blocks are as tight as 16 bits
 * between the corners of their page can say, and never too small.
 *
 * | bytes | of a page, for each block                                                                          |
 * |-------|----------------------------------------------------------------------------------------------------|
 * | 12    | 6 u16: the lower and the upper corner around its particles; 0 and 65535 are the corners of the page |
 * | 4     | u32 how many particles                                                                             |
 *
 * | bytes | of the head, for each page                                                                         |
 * |-------|----------------------------------------------------------------------------------------------------|
 * | 48    | 6 f64: the lower and the upper corner around all of its particles                                  |
 * | 4     | u32 how many particles                                                                             |
 * | 8     | u64 XXH3 of the page                                                                               |
 */
import { xxh3 } from "../../../bytes/hash/xxh3.js";
import { Reader } from "../../../bytes/reader.js";
import { Writer } from "../../../bytes/writer.js";
import { Corrupt } from "../../../errors.js";

export const PAGE = 512;
export const BLOCK_BYTES = 16;
const PAGE_ENTRY_BYTES = 60;
/** Behind the values of each block is their checksum. */
export const SUM_BYTES = 8;
/** Parts of a page along each axis. */
const STEPS = 65535;

/** Ranges of particles that follow each other, each in a box. */
export interface Boxes {
  readonly count: number;
  /** The lower and the upper corner around each. */
  readonly boxes: Float64Array;
  /** The first particle of each, and how many there are. */
  readonly starts: Uint32Array;
  readonly sizes: Uint32Array;
}

/** Some blocks. */
export interface Blocks extends Boxes {
  /** Which ones these are of all. */
  readonly numbers: Uint32Array;
}

/** All pages of a table. */
export interface Pages extends Boxes {
  readonly sums: BigUint64Array;
  /** Of all pages together. */
  readonly blocks: number;
}

/** The pages of a table of so many blocks and particles, from the head of a file. */
export function parsePages(reader: Reader, blocks: number, particles: number, where: string): Pages {
  const count = reader.count(Math.ceil(blocks / PAGE), PAGE_ENTRY_BYTES);
  const out = roomFor(count);
  const sums = new BigUint64Array(count);
  let start = 0;
  for (let page = 0; page < count; page++) {
    let sound = true;
    for (let k = 0; k < 6; k++) out.boxes[6 * page + k] = reader.f64();
    for (let k = 6 * page; k < 6 * page + 3; k++)
      sound &&= Number.isFinite(out.boxes[k + 3]! - out.boxes[k]!) && out.boxes[k]! <= out.boxes[k + 3]!;
    if (!sound) throw new Corrupt(`page ${page} of ${where} should have a box around its particles`, { where });
    start = counted(out, page, start, reader.u32(), `page ${page} of ${where}`, where);
    sums[page] = reader.u64();
  }
  if (start !== particles)
    throw new Corrupt(`the pages of ${where} should have ${particles} particles, found ${start}`, { where });
  return { ...out, sums, blocks };
}

/** The blocks of these pages. */
export function parseBlocks(
  pages: Pages,
  wanted: readonly number[],
  bytes: readonly Uint8Array[],
  where: string,
): Blocks {
  const counts = wanted.map((page) => blocksIn(pages, page));
  const out = roomFor(counts.reduce((sum, count) => sum + count, 0));
  const numbers = new Uint32Array(out.count);
  let at = 0;
  for (const [i, page] of wanted.entries()) {
    if (xxh3(bytes[i]!) !== pages.sums[page])
      throw new Corrupt(`page ${page} of ${where} has another checksum than the head of the file says`, { where });
    const reader = new Reader(bytes[i]!, `page ${page} of ${where}`);
    let start = pages.starts[page]!;
    for (let block = 0; block < counts[i]!; block++, at++) {
      numbers[at] = page * PAGE + block;
      for (let k = 0; k < 6; k++) out.boxes[6 * at + k] = corner(pages.boxes, 6 * page + (k % 3), reader.u16());
      start = counted(out, at, start, reader.u32(), `block ${numbers[at]} of ${where}`, where);
    }
    if (start !== pages.starts[page]! + pages.sizes[page]!)
      throw new Corrupt(`page ${page} of ${where} should have ${pages.sizes[page]} particles, found others`, { where });
  }
  return { ...out, numbers };
}

export const blocksIn = ({ blocks }: Pages, page: number): number => Math.min(PAGE, blocks - page * PAGE);

const roomFor = (count: number): Boxes => ({
  count,
  boxes: new Float64Array(6 * count),
  starts: new Uint32Array(count),
  sizes: new Uint32Array(count),
});

/** Notes the particles of a row of a table; the first particle behind. */
function counted(
  { starts, sizes }: Boxes,
  at: number,
  start: number,
  size: number,
  what: string,
  where: string,
): number {
  if (size === 0 || start + size > 0xffffffff)
    throw new Corrupt(`${what} should have particles, at most 2^32 − 1 with those before, found ${size}`, { where });
  [starts[at], sizes[at]] = [start, size];
  return start + size;
}

/** So many steps of the way from the lower corner of a page, whose place along an axis is given, to the upper one. */
function corner(boxes: Float64Array, at: number, steps: number): number {
  const [low, high] = [boxes[at]!, boxes[at + 3]!];
  return steps === STEPS ? high : Math.min(high, low + (high - low) * (steps / STEPS));
}

/** The most steps that do not lead beyond a value. */
function stepsBelow(boxes: Float64Array, at: number, value: number): number {
  const extent = boxes[at + 3]! - boxes[at]!;
  let steps = extent > 0 ? Math.min(STEPS, Math.floor(((value - boxes[at]!) / extent) * STEPS)) : 0;
  while (steps > 0 && corner(boxes, at, steps) > value) steps--;
  return steps;
}

/** The fewest steps that do not stay below a value. */
function stepsAbove(boxes: Float64Array, at: number, value: number): number {
  const extent = boxes[at + 3]! - boxes[at]!;
  let steps = extent > 0 ? Math.max(0, Math.ceil(((value - boxes[at]!) / extent) * STEPS)) : STEPS;
  while (steps < STEPS && corner(boxes, at, steps) < value) steps++;
  return Math.min(steps, STEPS);
}

/** The table of some blocks: the bytes of each page, and what the head says of it. */
export function encodePages({ count, boxes, sizes }: Pick<Boxes, "count" | "boxes" | "sizes">): {
  readonly pages: readonly Uint8Array[];
  readonly head: Uint8Array;
} {
  const pages: Uint8Array[] = [];
  const head = new Writer("little", Math.ceil(count / PAGE) * PAGE_ENTRY_BYTES);
  for (let from = 0; from < count; from += PAGE) {
    const to = Math.min(count, from + PAGE);
    const around = emptyBox();
    for (let block = from; block < to; block++) widenBox(around, 0, boxes, 6 * block);
    const page = new Writer("little", (to - from) * BLOCK_BYTES);
    let particles = 0;
    for (let block = from; block < to; block++) {
      for (let axis = 0; axis < 3; axis++) page.u16(stepsBelow(around, axis, boxes[6 * block + axis]!));
      for (let axis = 0; axis < 3; axis++) page.u16(stepsAbove(around, axis, boxes[6 * block + axis + 3]!));
      page.u32(sizes[block]!);
      particles += sizes[block]!;
    }
    const bytes = page.finish();
    pages.push(bytes);
    for (const value of around) head.f64(value);
    head.u32(particles);
    head.u64(xxh3(bytes));
  }
  return { pages, head: head.finish() };
}

export const emptyBox = (): Float64Array =>
  Float64Array.of(Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity);

/** Makes a box large enough for another one. */
export function widenBox(box: Float64Array, at: number, other: ArrayLike<number>, from: number): void {
  for (let axis = 0; axis < 3; axis++) {
    if (other[from + axis]! < box[at + axis]!) box[at + axis] = other[from + axis]!;
    if (other[from + axis + 3]! > box[at + axis + 3]!) box[at + axis + 3] = other[from + axis + 3]!;
  }
}
