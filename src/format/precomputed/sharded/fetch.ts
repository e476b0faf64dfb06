/** The last step of every read: values whose places are known, those near each other in one piece. */
import { LimitExceeded } from "../../../errors.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { limitsFor } from "./coder.js";
import type { ShardFiles, ShardPieces } from "./open-shard.js";
import { about, endOf, type Found, present, type ShardedPlace } from "./read-index.js";
import { Minishard, type Stretch } from "./shard-index.js";

/** A value on its way: which of the ids that were asked for, and where it is. */
export interface Wanted extends Stretch {
  readonly row: number;
}

/** A row of a minishard, as the answer to row `row` of what was asked for. */
export function wantedOf(
  { store, limits }: ShardedPlace,
  { files, number, minishard }: Pick<Found, "files" | "number" | "minishard">,
  at: number,
  row: number,
): Wanted {
  const [offset, length] = [minishard.starts[at]!, minishard.sizes[at]!];
  // Sentences are made only where there is something to say: there may be millions of values.
  if (!Number.isSafeInteger(offset + length))
    Minishard.stretch(minishard, at, `the index of minishard ${number} of ${store.url}/${files.data}`);
  if (length > limits.chunkBytes) {
    const where = `${store.url}/${files.data}`;
    throw new LimitExceeded(
      `the value of ${minishard.ids[at]} in ${where} has ${length} bytes, at most ${limits.chunkBytes} are allowed`,
      { where },
    );
  }
  return { row, offset, length };
}

/** Values of a shard in runs that are each read in one piece; those that are not encoded share the memory of what was read. */
export async function fetchRuns(
  { store, coder, limits }: ShardedPlace,
  { data }: ShardFiles,
  pieces: ShardPieces,
  runs: readonly (readonly Wanted[])[],
  ids: BigUint64Array,
  call: ReadOptions = {},
): Promise<{ readonly rows: Uint32Array; readonly values: Uint8Array[] }> {
  const where = `${store.url}/${data}`;
  const spans = runs.map((run) => ({ offset: run[0]!.offset, length: endOf(run) - run[0]!.offset }));
  const bytes = present(await pieces.read(data, spans, call.signal), where);
  const own = call.limits === undefined ? limits : limitsFor(call.limits);
  const count = runs.reduce((sum, run) => sum + run.length, 0);
  const rows = new Uint32Array(count);
  const values: Uint8Array[] = new Array(count);
  let i = 0;
  for (const [r, run] of runs.entries()) {
    const { offset, length } = spans[r]!;
    const sparse = 2 * run.reduce((sum, one) => sum + one.length, 0) < length; // a few values must not hold all of it
    for (const one of run) {
      const stored = bytes[r]!.subarray(one.offset - offset, one.offset - offset + one.length);
      rows[i] = one.row;
      try {
        const value = coder.decodeValue(stored, own);
        values[i++] = sparse && value === stored ? value.slice() : value;
      } catch (error) {
        throw about(`the value of ${ids[one.row]} in ${where}`, where, error);
      }
    }
  }
  return { rows, values };
}
