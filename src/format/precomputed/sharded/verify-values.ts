/** Values that have a checksum, one by one. */
import type { Finding } from "../../../model/format.js";
import { runs } from "../../../store/coalesce.js";
import type { Seen } from "./inspect.js";
import { about, endOf, GAP, LONGEST, type ShardedPlace } from "./read-index.js";
import { finding, sentenceOf } from "./rules.js";

export async function* checkValues(
  { store, coder, limits }: ShardedPlace,
  { files, size, found }: Seen,
  signal: AbortSignal | undefined,
): AsyncGenerator<Finding> {
  const where = `${store.url}/${files.data}`;
  for (const { number, minishard } of found) {
    const { ids, starts, sizes } = minishard;
    const wanted = Array.from(ids, (id, i) => ({ id, offset: starts[i]!, length: sizes[i]! })).filter(
      ({ offset, length }) => offset + length <= size,
    );
    for (const run of runs(wanted, GAP, LONGEST)) {
      const offset = run[0]!.offset;
      const bytes = (await store.get(files.data, { range: { offset, length: endOf(run) - offset }, signal }))!;
      for (const { id, offset: own, length } of run) {
        try {
          coder.decodeValue(bytes.subarray(own - offset, own - offset + length), limits);
        } catch (error) {
          const message = sentenceOf(about(`the value of ${id} in ${where}`, where, error));
          yield finding("sharded/value", `${files.data} minishard ${number}`, message);
        }
      }
    }
  }
}
