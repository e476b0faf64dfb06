/** Everything that can be said against skeletons. */
import type { Finding, ValidateOptions } from "../../../model/format.js";
import { checkValues } from "../check-values.js";
import { folderOf, type InfoAt } from "../info.js";
import { openSegmentProperties } from "../properties/read.js";
import { failure, finding } from "../rules.js";
import { verifyValues } from "../values.js";
import { SkeletonInfo } from "./info.js";
import { skeletonsAt } from "./read.js";
import { Skeleton } from "./skeleton.js";

export async function* validateSkeletons(place: InfoAt, options: ValidateOptions = {}): AsyncGenerator<Finding> {
  const { store, at, where } = place;
  const { level = 5 } = options;
  let info: SkeletonInfo;
  try {
    info = SkeletonInfo.parse(place.info, where);
  } catch (error) {
    yield failure("info", where, error);
    return;
  }
  if (level >= 2)
    for (const says of info.undrawn) {
      const fix = says.includes("sharding") ? "take it away" : undefined; // attributes cannot become others without loss
      yield finding("undrawn", where, says, fix);
    }
  if (level >= 3 && info.segmentProperties !== undefined) {
    try {
      await openSegmentProperties(store, folderOf(at, info.segmentProperties, where), options);
    } catch (error) {
      yield failure("segment-properties", where, error);
    }
  }
  if (level < 4) return;
  const { values, url } = await skeletonsAt(place, options);
  if (values.sharding !== null) yield* verifyValues(store, at, values.sharding, { ...options, level: 3 });
  yield* checkValues(values, url, options, function* (id, bytes) {
    const { vertices, unread } = Skeleton.parse(bytes, info.attributes, `${url}/${id}`);
    if (unread > 0)
      yield finding("value-rest", `${url}/${id}`, `${unread} bytes follow, which no attribute of the info names`);
    if (level >= 5 && !vertices.every(Number.isFinite))
      yield finding("vertex-finite", `${url}/${id}`, "the skeleton has coordinates that are NaN or infinite");
  });
}
