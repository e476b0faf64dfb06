/** Skeletons as one of the kinds of data of this format. */
import type { Finding } from "../../../model/format.js";
import { withoutNullSharding, writeInfo } from "../info.js";
import type { Kind } from "../open.js";
import { openSkeletonDataset } from "./dataset.js";
import { validateSkeletons } from "./validate.js";

export const skeletonKind: Kind = {
  open: openSkeletonDataset,
  validate: validateSkeletons,
  async repair(place, { dryRun = false, ...options } = {}) {
    const [fixed, left]: [Finding[], Finding[]] = [[], []];
    for await (const found of validateSkeletons(place, options)) (found.fix === undefined ? left : fixed).push(found);
    if (!dryRun && fixed.length > 0)
      await writeInfo(place.store, place.at, withoutNullSharding(place.info), options.signal);
    return { fixed, left };
  },
};
