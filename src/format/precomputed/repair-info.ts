/** Repair of what is wrong in an `info` alone: a sharding that is null, which Neuroglancer does not open. */
import type { Finding, RepairOptions, RepairReport } from "../../model/format.js";
import { type InfoAt, withoutNullSharding, writeInfo } from "./info.js";
import type { Kind } from "./open.js";

export async function repairInfo(
  validate: Kind["validate"],
  place: InfoAt,
  { dryRun = false, ...options }: RepairOptions = {},
): Promise<RepairReport> {
  const [fixed, left]: [Finding[], Finding[]] = [[], []];
  for await (const found of validate(place, options)) {
    // What has a remedy in the shards is not the info's.
    const here = found.fix !== undefined && found.where === place.where;
    (here ? fixed : left).push(found);
  }
  if (!dryRun && fixed.length > 0)
    await writeInfo(place.store, place.at, withoutNullSharding(place.info), options.signal);
  return { fixed, left };
}
