/**
 * Streamlines and other paths as skeletons: one for each group, or where there are none, for each of some random subsets. A skeleton
 * for each streamline would be a request for each, of which a browser does a few hundred in a second.
 *
 * A skeleton is read whole before it is drawn, so that it holds some ten thousand vertices at most: of a larger group a random
 * subset, as its label says.
 */
import type { Publication } from "../../convert/precomputed/publication.js";
import type { SegmentProperties } from "../../format/precomputed/properties/properties.js";
import type { Computation } from "./computed.js";
import { drawn } from "./objects.js";
import { type SkeletonSets, skeletonsFor } from "./skeletons.js";

/** Vertices of a skeleton, about: 1 MB. */
const VERTICES = 50_000;
/** Skeletons that a first picture shows. */
const SHOWN = 16;
const SUBSETS_SHOWN = 4;

/** One skeleton for each group, or each subset. */
export async function bundleView(publication: Publication): Promise<Computation> {
  const { source, level, reading } = publication;
  const own = await level.objects!.ids(undefined, reading);
  const vertices = source.levels[0]?.vertices ?? VERTICES;
  const most = Math.max(1, Math.floor(VERTICES / Math.max(1, vertices / Math.max(1, own.length))));
  const groups = await source.groups(0, reading);
  const sets = groups.length > 0 ? await bySize(publication, groups, most) : bySubset(own, most);
  return skeletonsFor(publication, sets);
}

const label = (ids: BigUint64Array, values: readonly string[]): SegmentProperties => ({
  ids,
  properties: [{ id: "label", type: "label", values }],
});

function bySubset(own: BigInt64Array | BigUint64Array, most: number): SkeletonSets {
  const count = Math.max(1, Math.ceil(own.length / most));
  const ids = BigUint64Array.from({ length: count }, (_, i) => BigInt(i + 1));
  const size = Math.ceil(own.length / count);
  return {
    ids,
    shown: Array.from(ids.subarray(0, SUBSETS_SHOWN)),
    together: true,
    table: label(
      ids,
      Array.from(ids, (id) => `subset ${id} of ${count}, about ${size} of ${own.length}`),
    ),
    async membersOf(id) {
      if (id < 1n || id > BigInt(count)) return undefined;
      const set = Number(id) - 1;
      return (own as BigInt64Array).filter((_, row) => drawn(row) % count === set);
    },
  };
}

async function bySize(
  { source, reading }: Publication,
  groups: readonly { readonly group: number; readonly size: number }[],
  most: number,
): Promise<SkeletonSets> {
  const ids = BigUint64Array.from(groups, ({ group }) => BigInt(group + 1)); // a client hides the id 0
  const columns = await source.groupColumns(0, reading);
  const named = [...columns].find(([name]) => /^(name|label)$/i.test(name))?.[1].values;
  const names = groups.map(({ group, size }, i) => {
    const name = Array.isArray(named) && named[i] !== "" ? String(named[i]) : `group ${group}`;
    return size > most ? `${name} (${most} of ${size})` : name;
  });
  return {
    ids,
    shown: Array.from(ids.subarray(0, SHOWN)),
    together: true,
    table: label(ids, names),
    async membersOf(id, { signal }) {
      const place = ids.indexOf(id);
      if (place < 0) return undefined;
      const members = await source.groupMembers(groups[place]!.group, 0, { ...reading, signal });
      if (members.length <= most) return members;
      const order = Array.from(members as BigInt64Array, (member, i) => [drawn(i), member] as const);
      order.sort(([a], [b]) => a - b);
      return order.slice(0, most).map(([, member]) => member);
    },
  };
}
