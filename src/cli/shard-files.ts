/** `octavo shard pack` and `unpack`: shards out of a folder of files that are named by their ids, and the way back. */
import { Conflict, InvalidInput } from "../errors.js";
import {
  chooseSharding,
  createValues,
  formatSharding,
  openValues,
  type ValueReader,
} from "../format/precomputed/index.js";
import { writeInfo } from "../format/precomputed/info.js";
import { openLocation } from "../node.js";
import { Key } from "../store/key.js";
import { bytesText, counted } from "./output.js";
import type { ShardOptions } from "./shard.js";
import { shardingOf } from "./shard-place.js";
import type { ExitCode, Session } from "./verb.js";

const BATCH = 1024;

export async function pack(from: string, to: string, options: ShardOptions, session: Session): Promise<ExitCode> {
  const { output, signal, report } = session;
  const source = await openLocation(from, { signal });
  const files = await openValues(source.store, source.at, null, { signal });
  const ids = await everyId(files, signal);
  if (ids.length === 0) throw new InvalidInput(`${from} has no files that are named by ids, such as 42`);
  const { sharding, why } = options.sharding
    ? { sharding: shardingOf(options.sharding), why: [] }
    : chooseSharding({ count: ids.length, bytes: await sizeOf(source, ids, signal) });
  const own = options.encoding === undefined ? sharding : { ...sharding, dataEncoding: options.encoding };
  for (const sentence of why) output.remark(`note: ${sentence}`);
  const { store, at } = await openLocation(to, { signal });
  if (!options.overwrite && (await store.stat(Key.join(at, "info"), { signal })) !== undefined)
    throw new Conflict(`${to} already has an info`, { where: to, hint: "Add --overwrite to replace it." });
  const writer = await createValues(store, at, own, { overwrite: options.overwrite, signal });
  try {
    for (let start = 0; start < ids.length; start += BATCH) {
      const some = ids.slice(start, start + BATCH);
      for await (const { rows, values } of files.getMany(some, { signal }))
        for (let i = 0; i < rows.length; i++) await writer.put(some[rows[i]!]!, values[i]!);
      report.update({ done: start + some.length, total: ids.length, unit: "files" });
    }
    const written = await writer.commit();
    await writeInfo(store, at, { sharding: { ...formatSharding(own) } }, signal);
    report.end();
    if (output.json) output.document({ from, to, sharding: formatSharding(own), why, ...written });
    else
      output.line(
        `${counted(written.values, "value")} in ${counted(written.files, "shard")}, ${bytesText(written.bytes)}`,
      );
    return 0;
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

export async function unpack(
  values: ValueReader,
  from: string,
  to: string,
  options: ShardOptions,
  { output, signal }: Session,
): Promise<ExitCode> {
  const { store, at } = await openLocation(to, { signal });
  const writer = await createValues(store, at, null, { overwrite: options.overwrite, signal });
  try {
    for await (const { ids, values: own } of values.entries({ range: options.range, signal }))
      for (let i = 0; i < ids.length; i++) await writer.put(ids[i]!, own[i]!);
    const written = await writer.commit();
    if (output.json) output.document({ from, to, ...written });
    else output.line(`${counted(written.values, "value")}, ${bytesText(written.bytes)}`);
    return 0;
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

async function everyId(files: ValueReader, signal: AbortSignal): Promise<BigUint64Array> {
  for await (const ids of files.ids({ signal })) return ids;
  return new BigUint64Array();
}

/** Of some, and from these of all: sizes need only be about right. */
async function sizeOf(
  { store, at }: Awaited<ReturnType<typeof openLocation>>,
  ids: BigUint64Array,
  signal: AbortSignal,
): Promise<number> {
  const step = Math.ceil(ids.length / 1000);
  let [bytes, count] = [0, 0];
  for (let i = 0; i < ids.length; i += step, count++)
    bytes += (await store.stat(Key.join(at, `${ids[i]}`), { signal }))?.size ?? 0;
  return (bytes / count) * ids.length;
}
