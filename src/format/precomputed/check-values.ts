/** Every value of a map is looked at, whatever is wrong with others: one that cannot be read is a finding. */

import { Corrupt } from "../../errors.js";
import type { Finding, ValidateOptions } from "../../model/format.js";
import { allIds } from "./ids.js";
import { failure, type RuleId } from "./rules.js";
import type { ValueReader } from "./values.js";

const GROUP = 256;

/** What `check` finds in each value; `where` names the map in sentences. */
export async function* checkValues(
  values: ValueReader,
  where: string,
  options: ValidateOptions,
  check: (id: bigint, bytes: Uint8Array) => Iterable<Finding> | AsyncIterable<Finding>,
  rule: RuleId = "value-decodes",
): AsyncGenerator<Finding> {
  const { signal, limits, onProgress } = options;
  let ids: BigUint64Array;
  try {
    ids = await allIds(values, { signal, limits });
  } catch (error) {
    yield failure("values-listed", where, error);
    return;
  }
  for (let from = 0; from < ids.length; from += GROUP) {
    const some = ids.subarray(from, from + GROUP);
    for (const [id, bytes] of await valuesOf(values, some, { signal, limits })) {
      const place = `${where}/${id}`;
      try {
        if (bytes instanceof Error) yield failure(rule, place, bytes);
        else yield* check(id, bytes);
      } catch (error) {
        yield failure(rule, place, error);
      }
    }
    onProgress?.({ done: Math.min(ids.length, from + GROUP), total: ids.length, unit: "objects" });
  }
}

/** Together where that works; else one by one, so that what can be read is. */
async function valuesOf(
  values: ValueReader,
  ids: BigUint64Array,
  options: Pick<ValidateOptions, "signal" | "limits">,
): Promise<[bigint, Uint8Array | Error][]> {
  const found: (Uint8Array | Error | undefined)[] = new Array(ids.length);
  try {
    for await (const { rows, values: some } of values.getMany(ids, options))
      for (let i = 0; i < rows.length; i++) found[rows[i]!] = some[i];
  } catch {
    options.signal?.throwIfAborted();
    for (let i = 0; i < ids.length; i++)
      found[i] ??= await values.get(ids[i]!, options).catch((error: unknown) => {
        if (error instanceof Error) return error;
        throw error;
      });
  }
  return Array.from(ids, (id, i) => [id, found[i] ?? new Corrupt(`${id} was listed, but is not there`)]);
}
