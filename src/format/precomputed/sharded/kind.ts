/** A bare map from ids to bytes, whose info has nothing but its sharding: verified and repaired, but no dataset. */
import { Unsupported } from "../../../errors.js";
import type { InfoAt } from "../info.js";
import type { Kind } from "../open.js";
import { parseSharding } from "./parse.js";
import { repairSharded } from "./repair.js";
import type { Sharding } from "./types.js";
import { verifySharded } from "./verify.js";

const shardingOf = ({ info, where }: InfoAt): Sharding => parseSharding(info.sharding, where);

export const shardedKind: Kind = {
  async open({ where }) {
    throw new Unsupported(`${where} is a map from ids to bytes, which are neither geometry nor an array`, {
      where,
      hint: "openValues of octavo/precomputed reads it, and so does octavo shard.",
    });
  },
  validate: (place, options) => verifySharded(place.store, place.at, shardingOf(place), options),
  repair: (place, options) => repairSharded(place.store, place.at, shardingOf(place), options),
};
