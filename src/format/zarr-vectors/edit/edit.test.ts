/** After every edit a store holds what one would that was written anew: every kind, sharded or not, whatever was done before. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import "../../../../test/properties.js";
import {
  anyThing,
  at,
  DIMS,
  diceOf,
  editAtRandom,
  findings,
  listBatch,
  listStore,
  listThings,
  PATHS,
  storeOf,
  type Things,
} from "../../../../test/zarr-vectors-edits.js";
import type { Geometry } from "../../../model/vectors.js";
import { memoryStore } from "../../../store/memory.js";
import type { Store } from "../../../store/types.js";
import { openZarrVectors } from "../index.js";
import type { VectorDescription } from "../write/description.js";

const KINDS: readonly Geometry[] = ["points", "lines", "polylines", "streamlines", "graph", "skeletons", "mesh"];
const LAYOUTS: readonly Partial<VectorDescription>[] = [
  {},
  { sharding: 2 },
  { ids: "preserve" },
  { links: { directed: true } },
  { links: { store: "duplicate" } },
  { codecs: "none" },
];

/** Boxes are answered as by a store that was written anew. */
async function sameBoxes(store: Store, geometry: Geometry, things: Things, dice: (n: number) => number): Promise<void> {
  const fresh = memoryStore();
  await storeOf(fresh, geometry, things);
  const [edited, anew] = await Promise.all([openZarrVectors(store, at), openZarrVectors(fresh, at)]);
  for (let i = 0; i < 3; i++) {
    const corner = Array.from({ length: DIMS }, () => dice(40));
    const box = [...corner, ...corner.map((from) => from + dice(15))];
    const [found, expected] = await Promise.all([edited.select({ box }).read(), anew.select({ box }).read()]);
    expect(listBatch(found)).toEqual(listBatch(expected));
  }
}

describe.each(KINDS)("edits of %s", (geometry) => {
  it("leave what a store written anew would hold", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(2 ** 31), fc.constantFrom(...LAYOUTS), async (seed, layout) => {
        if (layout.links !== undefined && (geometry === "points" || PATHS.includes(geometry))) return;
        const dice = diceOf(seed);
        let marks = 0;
        const thing = () => anyThing(geometry, dice, () => marks++);
        const things: Things = new Map(Array.from({ length: 1 + dice(6) }, (_, i) => [BigInt(i), thing()]));
        const store = memoryStore();
        await storeOf(store, geometry, things, layout);
        let largest = BigInt(things.size - 1);
        for (let round = 0; round < 3; round++) {
          await editAtRandom(store, geometry, things, dice, thing, () => ++largest);
          expect(await listStore(store)).toEqual(listThings(geometry, things));
          expect(await findings(store)).toEqual([]);
        }
        await sameBoxes(store, geometry, things, dice);
      }),
      { numRuns: 4 },
    );
  });
});
