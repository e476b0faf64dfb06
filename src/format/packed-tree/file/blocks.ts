/**
 * Blocks: particles that follow each other in the file, with a box around them. Their table is cut into pages of 512 blocks, of which
 * those are read that a question meets; what is known of each page is in the head of the file.
 *
 * | bytes             | of a page, for each block                                                          |
 * |-------------------|------------------------------------------------------------------------------------|
 * | 24 or 48          | the lower and the upper corner around its particles, in the type that positions have |
 * | 4                 | u32 how many particles                                                             |
 *
 * | bytes             | of the head, for each page                                                         |
 * |-------------------|------------------------------------------------------------------------------------|
 * | 28 or 52          | the same of all blocks of the page                                                 |
 * | 8                 | u64 XXH3 of the page                                                               |
 */
import { xxh3 } from "../../../bytes/hash/xxh3.js";
import { Reader } from "../../../bytes/reader.js";
import { Writer } from "../../../bytes/writer.js";
import { Corrupt } from "../../../errors.js";

export const PAGE = 512;
/** Behind the values of each block is their checksum. */
export const SUM_BYTES = 8;

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

export const blockBytes = (size: 4 | 8): number => 6 * size + 4;
export const pageEntryBytes = (size: 4 | 8): number => blockBytes(size) + SUM_BYTES;

/** The pages of a table of so many blocks and particles, from the head of a file. */
export function parsePages(reader: Reader, size: 4 | 8, blocks: number, particles: number, where: string): Pages {
  const count = Math.ceil(blocks / PAGE);
  const out = roomFor(reader.count(count, pageEntryBytes(size)));
  const sums = new BigUint64Array(count);
  let start = 0;
  for (let page = 0; page < count; page++) {
    start = parseEntry(reader, size, out, page, start, `page ${page} of ${where}`, where);
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
  size: 4 | 8,
  where: string,
): Blocks {
  const counts = wanted.map((page) => blocksIn(pages, page));
  const out = { ...roomFor(counts.reduce((sum, count) => sum + count, 0)), numbers: new Uint32Array() };
  const numbers = new Uint32Array(out.count);
  let at = 0;
  for (const [i, page] of wanted.entries()) {
    if (xxh3(bytes[i]!) !== pages.sums[page])
      throw new Corrupt(`page ${page} of ${where} has another checksum than the head of the file says`, { where });
    const reader = new Reader(bytes[i]!, `page ${page} of ${where}`);
    let start = pages.starts[page]!;
    for (let block = 0; block < counts[i]!; block++) {
      numbers[at] = page * PAGE + block;
      start = parseEntry(reader, size, out, at, start, `block ${numbers[at]} of ${where}`, where);
      for (let axis = 0; axis < 3; axis++)
        if (
          out.boxes[6 * at + axis]! < pages.boxes[6 * page + axis]! ||
          out.boxes[6 * at + axis + 3]! > pages.boxes[6 * page + axis + 3]!
        )
          throw new Corrupt(`block ${numbers[at]} of ${where} should lie in its page, found one beyond`, { where });
      at++;
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

/** One row of a table; the first particle behind. */
function parseEntry(
  reader: Reader,
  size: 4 | 8,
  { boxes, starts, sizes }: Boxes,
  at: number,
  start: number,
  what: string,
  where: string,
): number {
  for (let k = 6 * at; k < 6 * at + 6; k++) boxes[k] = size === 4 ? reader.f32() : reader.f64();
  starts[at] = start;
  sizes[at] = reader.u32();
  let sound = sizes[at]! > 0 && start + sizes[at]! <= 0xffffffff;
  for (let k = 6 * at; k < 6 * at + 3; k++)
    sound &&= Number.isFinite(boxes[k]! - boxes[k + 3]!) && boxes[k]! <= boxes[k + 3]!;
  if (!sound) throw new Corrupt(`${what} should have particles, and a box around them`, { where });
  return start + sizes[at]!;
}

/** The table of some blocks: the bytes of each page, and what the head says of it. */
export function encodePages(
  { count, boxes, sizes }: Pick<Boxes, "count" | "boxes" | "sizes">,
  size: 4 | 8,
): { readonly pages: readonly Uint8Array[]; readonly head: Uint8Array } {
  const pages: Uint8Array[] = [];
  const head = new Writer("little", Math.ceil(count / PAGE) * pageEntryBytes(size));
  const put = (writer: Writer, box: ArrayLike<number>, at: number, particles: number): void => {
    for (let k = at; k < at + 6; k++) size === 4 ? writer.f32(box[k]!) : writer.f64(box[k]!);
    writer.u32(particles);
  };
  for (let from = 0; from < count; from += PAGE) {
    const to = Math.min(count, from + PAGE);
    const page = new Writer("little", (to - from) * blockBytes(size));
    const around = emptyBox();
    let particles = 0;
    for (let block = from; block < to; block++) {
      put(page, boxes, 6 * block, sizes[block]!);
      widenBox(around, 0, boxes, 6 * block);
      particles += sizes[block]!;
    }
    const bytes = page.finish();
    pages.push(bytes);
    put(head, around, 0, particles);
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
