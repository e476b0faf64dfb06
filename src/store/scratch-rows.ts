/**
 * Rows of one size, by their number: put aside block by block where there is no room for them, and fetched again in any order. Who asks
 * for some gets them page by page, each page once, so that rows that lie together cost little, and rows in any order no more than
 * all pages.
 */
import type { Scratch } from "./scratch.js";

export interface ScratchRows {
  readonly count: number;
  /** Rows after those that are there, or parts of rows; the bytes may be used again. */
  add(rows: Uint8Array): Promise<void>;
  /** No more come: what is not filled is given back. */
  end(): Promise<void>;
  /** These rows, in this order. */
  pick(rows: Uint32Array): Promise<Uint8Array>;
}

const BLOCK = 4 << 20; // bytes that are put aside together
const PAGE = 1 << 16; // bytes that are fetched together
const SMALL = 1 << 12; // bytes that are not worth to be put aside

interface Block {
  bytes: Uint8Array | undefined;
  readonly size: number;
  /** Where nothing is held: the number under which it was put aside. */
  key: number;
}

/** Pages that were fetched, the one that was asked for last at the end; a block has at most 128. */
class Pages {
  readonly #most: number;
  readonly #kept = new Map<number, Uint8Array>();
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  async get(key: number, fetch: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const found = this.#kept.get(key);
    const bytes = found ?? (await fetch());
    this.#kept.delete(key);
    this.#kept.set(key, bytes);
    if (found === undefined) this.#size += bytes.length;
    for (const [old, { length }] of this.#kept) {
      if (this.#size <= this.#most || this.#kept.size <= 4) break;
      this.#kept.delete(old);
      this.#size -= length;
    }
    return bytes;
  }
}

/** Those of one place, whoever has rows there. */
const pagesOf = new WeakMap<Scratch, Pages>();

export function scratchRows(scratch: Scratch, width: number): ScratchRows {
  const shift = Math.max(0, Math.floor(Math.log2(PAGE / width))); // a page has 2^shift rows
  const pageBytes = 2 ** shift * width;
  const blockPages = Math.max(1, Math.floor(Math.min(BLOCK, scratch.memory / 16) / pageBytes));
  const blockBytes = blockPages * pageBytes;
  const pages = pagesOf.get(scratch) ?? new Pages(scratch.memory / 4);
  pagesOf.set(scratch, pages);
  const blocks: Block[] = [];
  let [size, filled] = [0, blockBytes];
  const rowCount = (): number => Math.floor(size / width);

  async function putAside(block: Block): Promise<void> {
    block.key = await scratch.put(block.bytes!);
    scratch.held -= block.size;
    block.bytes = undefined;
  }
  async function spill(): Promise<void> {
    const [last] = blocks.slice(-1);
    for (const block of blocks)
      if (block.bytes !== undefined && (block !== last || filled === blockBytes)) await putAside(block);
  }
  function page(number: number): Uint8Array | Promise<Uint8Array> {
    const { bytes, key, size: own } = blocks[Math.floor(number / blockPages)]!;
    const inBlock = number % blockPages;
    const at = inBlock * pageBytes;
    const length = Math.min(pageBytes, own - at);
    if (bytes !== undefined) return bytes.subarray(at, at + length);
    return pages.get(key * 256 + inBlock, () => scratch.get(key, at, length));
  }

  return {
    get count() {
      return rowCount();
    },
    async add(rows) {
      for (let from = 0; from < rows.length; ) {
        if (filled === blockBytes) {
          scratch.full ||= scratch.held + blockBytes > scratch.memory / 2;
          if (scratch.full) await spill();
          blocks.push({ bytes: new Uint8Array(blockBytes), size: blockBytes, key: -1 });
          scratch.held += blockBytes;
          filled = 0;
        }
        const some = rows.subarray(from, from + blockBytes - filled);
        blocks.at(-1)!.bytes!.set(some, filled);
        filled += some.length;
        from += some.length;
      }
      size += rows.length;
    },
    async end() {
      const last = blocks.pop();
      if (last === undefined) return;
      const rest = last.bytes === undefined ? last : { ...last, bytes: last.bytes.slice(0, filled), size: filled };
      scratch.held -= last.size - rest.size;
      blocks.push(rest);
      if (scratch.full && rest.bytes !== undefined && rest.size > SMALL) await putAside(rest);
    },
    async pick(rows) {
      if (scratch.full) await spill();
      const out = new Uint8Array(rows.length * width);
      const order = byPage(rows, shift, rowCount());
      for (let i = 0; i < rows.length; ) {
        const number = rows[order?.[i] ?? i]! >>> shift;
        const bytes = await page(number);
        for (; i < rows.length; i++) {
          const place = order?.[i] ?? i;
          const row = rows[place]!;
          if (row >>> shift !== number) break;
          const from = (row - number * 2 ** shift) * width;
          for (let k = 0, to = place * width; k < width; k++) out[to++] = bytes[from + k]!;
        }
      }
      return out;
    },
  };
}

/** The places of rows in ascending order of their pages; undefined where they are. */
function byPage(rows: Uint32Array, shift: number, count: number): Uint32Array | undefined {
  const starts = new Uint32Array((count >>> shift) + 2);
  let ascends = true;
  for (let i = 0; i < rows.length; i++) {
    starts[(rows[i]! >>> shift) + 1]!++;
    if (i > 0 && rows[i]! >>> shift < rows[i - 1]! >>> shift) ascends = false;
  }
  if (ascends) return undefined;
  for (let page = 1; page < starts.length; page++) starts[page]! += starts[page - 1]!;
  const order = new Uint32Array(rows.length);
  for (let i = 0; i < rows.length; i++) order[starts[rows[i]! >>> shift]!++] = i;
  return order;
}
