/** Links in the order of the objects that they are of, put aside on the way: a store has them object by object, files need not. */
import { bytesOf, numericView } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import type { Scratch } from "../../store/scratch.js";
import { words } from "../zarr-vectors/payload/int64.js";
import { type Spool, spool } from "../zarr-vectors/write/spill.js";
import type { SurfaceBlock } from "./surface-passing.js";

type Links = Pick<SurfaceBlock, "links" | "linkColumns">;

const TOGETHER = 1 << 14; // links that are read back at once

export class LinksByPart {
  readonly #width: number;
  readonly #scratch: Scratch;
  #spool: Spool | undefined;
  /** The columns of the first links. */
  #columns: SurfaceBlock["linkColumns"] = new Map();
  /** The buckets of each object, and how many links the last of them has. */
  readonly #buckets = new Map<number, { readonly all: number[]; last: number }>();
  #count = 0;

  constructor(width: number, scratch: Scratch) {
    this.#width = width;
    this.#scratch = scratch;
  }

  /** `parts`: the object of each. */
  async add({ links, linkColumns }: Links, parts: Uint32Array): Promise<void> {
    if (parts.length === 0) return;
    if (this.#spool === undefined) {
      this.#columns = linkColumns;
      const widths = [...linkColumns.values()].map(({ values, info }) => info.channels * bytesPer(values));
      this.#spool = spool([4 * this.#width, ...widths], this.#scratch);
    }
    const rows = parts.length;
    const buckets = parts.map((part) => this.#bucketOf(part));
    const columns = [links, ...[...linkColumns.values()].map(({ values }) => values as NumericArray)];
    await this.#spool.add(columns.map(bytesOf), { count: rows, rows, buckets, starts: undefined });
  }

  #bucketOf(part: number): number {
    let own = this.#buckets.get(part);
    if (own === undefined) {
      own = { all: [], last: TOGETHER };
      this.#buckets.set(part, own);
    }
    if (own.last === TOGETHER) {
      own.all.push(this.#count++);
      own.last = 0;
    }
    own.last++;
    return own.all.at(-1)!;
  }

  /** The links of an object, in the order in which they came. */
  async *of(part: number): AsyncGenerator<Links> {
    for (const bucket of this.#buckets.get(part)?.all ?? []) {
      const [found] = await this.#spool!.read([bucket]);
      const [links, ...values] = found!.columns;
      const linkColumns = [...this.#columns.values()].map(({ info }, i) => ({
        info,
        values: numericView(info.dtype as Parameters<typeof numericView>[0], values[i]!.slice()),
      }));
      yield { links: words(links!).slice(), linkColumns: new Map(linkColumns.map((own) => [own.info.name, own])) };
    }
  }
}

const bytesPer = (values: unknown): number => (values as NumericArray).BYTES_PER_ELEMENT;
