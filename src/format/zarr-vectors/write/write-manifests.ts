/**
 * The manifests of objects on their way: a row for each fragment that somebody owns, put aside as chunks are written and read back
 * object by object. There may be many millions of them, so that none stays in memory.
 *
 * | u32   | what                                                                                      |
 * |-------|-------------------------------------------------------------------------------------------|
 * | row   | of the object in the index                                                                |
 * | order | among the fragments of the object: as they came along a path, else the rank of the chunk  |
 * | chunk | by number                                                                                 |
 * | index | in its chunk                                                                              |
 */
import { bytesOf } from "../../../codec/numeric.js";
import type { Scratch } from "../../../store/scratch.js";
import { words } from "../payload/int64.js";
import { Manifests } from "../payload/manifest.js";
import type { Plan } from "./description.js";
import { spool } from "./spill.js";
import type { Grid } from "./write-arrays.js";
import type { Indexed } from "./write-index.js";
import { upTo } from "./write-layout.js";
import { Growing } from "./write-numbering.js";

const ROWS = 256; // objects of a bucket: no chunk of the index has fewer, and each has a multiple

/** The rows of some chunks; those of one chunk are in order. */
export class ManifestRows {
  readonly columns = [new Growing(), new Growing(), new Growing(), new Growing()] as const;

  add(row: number, order: number, chunk: number, index: number): void {
    const [rows, orders, chunks, indexes] = this.columns;
    rows.push(row);
    orders.push(order);
    chunks.push(chunk);
    indexes.push(index);
  }
}

export interface ManifestSpool {
  /** Whichever chunks come first: the order says what follows what. */
  add(rows: ManifestRows): Promise<void>;
  /** When all have come. */
  indexed(grid: Grid): Indexed;
}

export function manifestSpool(plan: Plan, objects: number, scratch: Scratch): ManifestSpool {
  const offsets = new Uint32Array(objects + 1);
  const rows = spool([4, 4, 4, 4], scratch, true);
  return {
    async add({ columns }) {
      const [own] = columns;
      const buckets = new Uint32Array(own.length);
      for (let i = 0; i < own.length; i++) {
        buckets[i] = Math.floor(own.values[i]! / ROWS);
        offsets[own.values[i]! + 1]!++;
      }
      const count = own.length;
      await rows.add(
        columns.map((column) => bytesOf(column.done())),
        { count, rows: count, buckets, starts: undefined },
      );
    },
    indexed({ dims, coords }) {
      for (let row = 0; row < objects; row++) offsets[row + 1]! += offsets[row]!;
      return {
        dims,
        offsets,
        async chunk(from, to, size) {
          const start = offsets[from]!;
          const count = offsets[to]! - start;
          const chunks = new Int32Array(count * dims);
          const first = new Uint32Array(count);
          let next = false; // whether an object has two fragments of a chunk one after the other
          let b = 0;
          const buckets = upTo(Math.ceil((to - from) / ROWS)).map((bucket) => from / ROWS + bucket);
          for (const bucket of await rows.read(buckets)) {
            const [row, order, chunk, index] = bucket.columns.map(words) as Uint32Array[];
            const sorted = upTo(bucket.rows).sort((i, j) => row![i]! - row![j]! || order![i]! - order![j]!);
            for (let i = 0; i < sorted.length; i++, b++) {
              const [here, before] = [sorted[i]!, sorted[i - 1]];
              first[b] = index![here]!;
              for (let axis = 0, at = chunk![here]! * dims; axis < dims; axis++)
                chunks[b * dims + axis] = coords[at + axis]!;
              if (before !== undefined && row![here] === row![before] && chunk![here] === chunk![before]) next = true;
            }
          }
          const all: Manifests = {
            rows: to - from,
            dims,
            offsets: offsets.subarray(from, to + 1).map((offset) => offset - start),
            chunks,
            first,
            count: new Uint32Array(count).fill(1),
            modes: undefined,
          };
          const packs = next || plan.manifests?.forceExplicit === true;
          return Manifests.encodeChunk(packs ? Manifests.promote(all, plan.manifests) : all, 0, to - from, size);
        },
      };
    },
  };
}
