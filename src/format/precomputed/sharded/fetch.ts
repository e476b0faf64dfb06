/** The last step of every read: values whose places are known, those near each other in one request. */
import { Corrupt, LimitExceeded } from "../../../errors.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { limitsFor } from "./coder.js";
import { about, endOf, type Found, type ShardedPlace, type ShardFiles } from "./read-index.js";
import { Minishard, type Stretch } from "./shard-index.js";

/** A value on its way: which of the ids that were asked for, and where it is. */
export interface Wanted extends Stretch {
  readonly row: number;
  readonly files: ShardFiles;
}

/** A row of a minishard, as the answer to row `row` of what was asked for. */
export function wantedOf(
  { store, limits }: ShardedPlace,
  { files, number, minishard }: Pick<Found, "files" | "number" | "minishard">,
  at: number,
  row: number,
): Wanted {
  const where = `${store.url}/${files.data}`;
  const { offset, length } = Minishard.stretch(minishard, at, `the index of minishard ${number} of ${where}`);
  if (length > limits.chunkBytes)
    throw new LimitExceeded(
      `the value of ${minishard.ids[at]} in ${where} has ${length} bytes, at most ${limits.chunkBytes} are allowed`,
      { where },
    );
  return { row, files, offset, length };
}

/** Values that lie near each other; those that are not encoded share the memory of what was read. */
export async function fetchRun(
  { store, coder, limits }: ShardedPlace,
  run: readonly Wanted[],
  ids: BigUint64Array,
  call: ReadOptions = {},
): Promise<{ readonly rows: Uint32Array; readonly values: Uint8Array[] }> {
  const { files, offset } = run[0]!;
  const where = `${store.url}/${files.data}`;
  const length = endOf(run) - offset;
  const bytes =
    length === 0 ? new Uint8Array() : await store.get(files.data, { range: { offset, length }, signal: call.signal });
  if (bytes === undefined) throw new Corrupt(`${where} is not there, but its index is`, { where });
  const sparse = 2 * run.reduce((sum, one) => sum + one.length, 0) < length; // a few values must not hold all of it
  const own = call.limits === undefined ? limits : limitsFor(call.limits);
  const rows = new Uint32Array(run.length);
  const values: Uint8Array[] = new Array(run.length);
  for (let i = 0; i < run.length; i++) {
    const one = run[i]!;
    const stored = bytes.subarray(one.offset - offset, one.offset - offset + one.length);
    rows[i] = one.row;
    try {
      const value = coder.decodeValue(stored, own);
      values[i] = sparse && value === stored ? value.slice() : value;
    } catch (error) {
      throw about(`the value of ${ids[one.row]} in ${where}`, where, error);
    }
  }
  return { rows, values };
}
