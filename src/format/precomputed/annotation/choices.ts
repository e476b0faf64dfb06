/** What a new collection becomes where its description leaves that open, and which descriptions are refused. */
import { InvalidInput } from "../../../errors.js";
import { chooseSharding } from "../sharded/choose.js";
import type { Sharding } from "../sharded/types.js";
import { type AnnotationProperty, ID } from "./info.js";
import { Layout } from "./layout.js";
import type { AnnotationDescription } from "./write.js";

/** What a person should know of it; InvalidInput where it cannot be. */
export function checkDescription(
  { dimensions, relationships = [] }: AnnotationDescription,
  properties: readonly AnnotationProperty[],
) {
  if (dimensions.length === 0) throw new InvalidInput("annotations need at least one dimension");
  for (const { id } of properties)
    if (!ID.test(id))
      throw new InvalidInput(
        `the id of a property begins with a small letter, then letters, digits and _; found ${JSON.stringify(id)}`,
      );
  for (const list of [properties.map(({ id }) => id), relationships, dimensions.map(({ name }) => name)])
    if (new Set(list).size < list.length)
      throw new InvalidInput(
        `properties, relationships and dimensions need names of their own, found ${list.join(", ")}`,
      );
  const { size } = Layout.of(properties);
  return [
    ...(properties.some(({ type }) => type === "bool")
      ? ["Properties of type bool are read by Neuroglancer from 2026 on, and by no other software."]
      : []),
    ...(size > 200
      ? [`Records have ${size} bytes of properties: Neuroglancer may look for some in other places beyond 252 bytes.`]
      : []),
  ];
}

/** A box around these corners, a little wider at the top since the upper bound is exclusive; whole numbers where there is room for them. */
export function around(min: readonly number[], max: readonly number[]) {
  const [lower, upper] = [[...min], [...max]];
  for (const axis of lower.keys()) {
    const [low, high] = lower[axis]! > upper[axis]! ? [0, 0] : [lower[axis]!, upper[axis]!];
    const whole = high - low >= 16 || high === low;
    lower[axis] = whole ? Math.floor(low) : low;
    upper[axis] = whole ? Math.floor(high) + 1 : high + (high - low) * 2 ** -20;
  }
  return { lower, upper };
}

export const codeBits = (gridShape: readonly number[]): number =>
  gridShape.reduce((sum, count) => sum + Math.ceil(Math.log2(count)), 0);

/**
 * Shards for so many cells, whose codes have so many bits. Cells are not hashed: the highest bits of the code choose the shard
 * and the minishard, so that both are boxes in space; there are about as many as hashed ids would get, however fine the grid.
 */
export function cellSharding(cells: number, bytes: number, bits: number): Sharding {
  const { sharding } = chooseSharding({ count: cells, bytes });
  const minishardBits = Math.min(bits, sharding.minishardBits);
  const shardBits = Math.min(bits - minishardBits, sharding.shardBits);
  return { ...sharding, hash: "identity", preshiftBits: bits - minishardBits - shardBits, minishardBits, shardBits };
}
