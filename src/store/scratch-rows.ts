/**
 * Rows of one size, by their number: put aside block by block where there is no room for them, and fetched again in any order. Who asks
 * for some gets them page by page, each page once, so that rows that lie together cost little, and rows in any order no more than
 * all pages.
 */
import type { Scratch } from "./scratch.js";

export interface ScratchRows {
  readonly count: number;
  /** Rows after those that are there; the bytes may be used again. */
  add(rows: Uint8Array): Promise<void>;
  /** These rows, in this order. */
  pick(rows: Uint32Array): Promise<Uint8Array>;
}

const BLOCK = 4 << 20; // bytes that are put aside together
const PAGE = 1 << 16; // bytes that are fetched together

interface Block {
  bytes: Uint8Array | undefined;
  /** Where nothing is held: the number under which it was put aside. */
  key: number;
}

export function scratchRows(scratch: Scratch, width: number): ScratchRows {
  const shift = Math.max(0, Math.floor(Math.log2(PAGE / width))); // a page has 2^shift rows
  const pageBytes = 2 ** shift * width;
  const blockPages = Math.max(1, Math.floor(Math.min(BLOCK, scratch.memory / 16) / pageBytes));
  const blockBytes = blockPages * pageBytes;
  const mostPages = Math.max(4, Math.floor(scratch.memory / 8 / pageBytes));
  const blocks: Block[] = [];
  const kept = new Map<number, Uint8Array>(); // pages, the one that was asked for last at the end
  let [count, filled] = [0, blockBytes];

  async function spill(): Promise<void> {
    const [last] = blocks.slice(-1);
    for (const block of blocks) {
      if (block.bytes === undefined || (block === last && filled < blockBytes)) continue;
      block.key = await scratch.put(block.bytes);
      scratch.held -= blockBytes;
      block.bytes = undefined;
    }
  }
  async function page(number: number): Promise<Uint8Array> {
    const block = blocks[Math.floor(number / blockPages)]!;
    const at = (number % blockPages) * pageBytes;
    if (block.bytes !== undefined) return block.bytes.subarray(at, at + pageBytes);
    const bytes = kept.get(number) ?? (await scratch.get(block.key, at, pageBytes));
    kept.delete(number);
    kept.set(number, bytes);
    for (const old of kept.keys()) {
      if (kept.size <= mostPages) break;
      kept.delete(old);
    }
    return bytes;
  }

  return {
    get count() {
      return count;
    },
    async add(rows) {
      for (let from = 0; from < rows.length; ) {
        if (filled === blockBytes) {
          scratch.full ||= scratch.held + blockBytes > scratch.memory / 2;
          if (scratch.full) await spill();
          blocks.push({ bytes: new Uint8Array(blockBytes), key: -1 });
          scratch.held += blockBytes;
          filled = 0;
        }
        const some = rows.subarray(from, from + blockBytes - filled);
        blocks.at(-1)!.bytes!.set(some, filled);
        filled += some.length;
        from += some.length;
      }
      count += rows.length / width;
    },
    async pick(rows) {
      if (scratch.full) await spill();
      const out = new Uint8Array(rows.length * width);
      const order = byPage(rows, shift, count);
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
