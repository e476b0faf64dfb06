/**
 * Streamlines from places all over a TRK, which says nowhere where its streamlines begin: at each place a block is read, and the
 * first number in it is looked for that can be the count of a streamline.
 *
 * A run begins there only if every streamline from it to the end of the block has a count, ends where the next one begins, and
 * holds no number that could be a count itself: as a float such a number is below 1e-39, which no coordinate is. A streamline that is not
 * one can therefore only lie within a single one that is, and end where that ends; so the first of a run is left out. Files that are
 * made to deceive can still do so: this is for a first look, and whoever goes through the file (trk.ts) finds out.
 */
import { swapBytes } from "../../bytes/swap.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { InputFile } from "./file.js";
import { TRK_BYTES, type TrkHeader } from "./trk-header.js";
import type { SampleSize } from "./types.js";

/** Streamlines one after the other, as the file has them, in the byte order of this machine. */
export interface Run {
  readonly words: Uint8Array;
  readonly vertices: number;
  readonly objects: number;
}

const BLOCK = 1 << 17; // bytes that are read at a place
const MOST = 1 << 19; // what a count is below; as a float it is below 1e-39
const TRIED = 64; // numbers that could be counts, before a place is given up: files may be made to take long
const LEAST = 3; // streamlines that a run must have before it is believed

export async function* runsOf(
  input: InputFile,
  header: TrkHeader,
  { places, vertices: most }: SampleSize,
  options: ReadOptions,
): AsyncGenerator<Run> {
  const words = Math.floor((input.size! - TRK_BYTES) / 4);
  for (let place = 0; place < places; place++) {
    options.signal?.throwIfAborted();
    const first = Math.floor((place * words) / places);
    const until = Math.floor(((place + 1) * words) / places) - first; // what begins behind it is of the next place
    const raw = await input.read(TRK_BYTES + 4 * first, BLOCK, options);
    const bytes = header.endian === "big" ? swapBytes(raw, 4) : new Uint8Array(raw);
    const block = new Int32Array(bytes.buffer, 0, bytes.length >> 2);
    const starts = startsIn(block, header, first === 0, first + block.length >= words);
    let [objects, vertices] = [0, 0];
    for (; objects + 1 < starts.length && vertices < most && starts[objects]! < until; objects++)
      vertices += block[starts[objects]!]!;
    if (objects > 0) yield { words: bytes.subarray(4 * starts[0]!, 4 * starts[objects]!), vertices, objects };
  }
}

/** Where the streamlines of a block begin, and where the last whole one ends. */
function startsIn(block: Int32Array, header: TrkHeader, isFirst: boolean, isLast: boolean): number[] {
  if (isFirst) return chainAt(block, 0, header) ?? [];
  for (let at = 0, tried = 0; at < block.length && tried < TRIED; at++) {
    if (block[at]! < 2 || block[at]! >= MOST) continue;
    tried++;
    const starts = chainAt(block, at, header);
    if (starts === undefined) continue;
    const ends = isLast && starts.at(-1) === block.length;
    if (starts.length - 1 >= LEAST || (ends && starts.length > 1)) return starts.slice(1);
  }
  return [];
}

/** From streamline to streamline to the end of the block; undefined where one of them is none. */
function chainAt(block: Int32Array, from: number, { perVertex, perObject }: TrkHeader): number[] | undefined {
  const starts = [from];
  for (let at = from; at < block.length; ) {
    const count = block[at]!;
    if (count < 0 || count >= MOST) return undefined;
    const next = at + 1 + count * (3 + perVertex) + perObject;
    for (let i = at + 1; i < Math.min(next, block.length); i++) if (block[i]! > 0 && block[i]! < MOST) return undefined;
    if (next > block.length) break;
    starts.push(next);
    at = next;
  }
  return starts;
}
