/** After every edit a store holds what one would that was written anew: every kind, sharded or not, whatever was done before. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import "../../../test/properties.js";
import {
  anyThing,
  at,
  batchOf,
  DIMS,
  findings,
  listBatch,
  listStore,
  listThings,
  PATHS,
  storeOf,
  type Things,
} from "../../../test/zarr-vectors-edits.js";
import type { Geometry } from "../../model/vectors.js";
import { memoryStore } from "../../store/memory.js";
import type { Store } from "../../store/types.js";
import type { VectorDescription } from "./description.js";
import { editZarrVectors } from "./edit.js";
import { openZarrVectors } from "./index.js";

const KINDS: readonly Geometry[] = ["points", "lines", "polylines", "streamlines", "graph", "skeletons", "mesh"];
const LAYOUTS: readonly Partial<VectorDescription>[] = [
  {},
  { sharding: 2 },
  { ids: "preserve" },
  { links: { directed: true } },
  { links: { store: "duplicate" } },
  { codecs: "none" },
];

/** Numbers below n, one after the other, from a seed. */
function diceOf(seed: number): (n: number) => number {
  let state = seed >>> 0;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

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
          const edit = await editZarrVectors(store, at);
          for (let step = 0; step <= dice(2); step++) {
            const ids = [...things.keys()];
            const any = ids[dice(ids.length)];
            switch (dice(4)) {
              case 0: {
                if (any === undefined) break;
                edit.delete([any]);
                things.delete(any);
                break;
              }
              case 1: {
                if (any === undefined) break;
                const { weight } = things.get(any)!;
                const next = { ...thing(), weight };
                const { ids: _, objects: __, objectColumns: ___, ...batch } = batchOf(geometry, [[any, next]]);
                edit.replace(any, batch);
                things.set(any, next);
                break;
              }
              default: {
                const more = Array.from({ length: 1 + dice(3) }, (): [bigint, ReturnType<typeof thing>] => [
                  ++largest,
                  thing(),
                ]);
                edit.append(batchOf(geometry, more));
                for (const [id, one] of more) things.set(id, one);
              }
            }
          }
          await edit.commit();
          expect(await listStore(store)).toEqual(listThings(geometry, things));
          expect(await findings(store)).toEqual([]);
        }
        await sameBoxes(store, geometry, things, dice);
      }),
      { numRuns: 4 },
    );
  });
});
