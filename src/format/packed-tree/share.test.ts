import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixtures } from "../../../test/fixtures.js";
import { alike, goldenNames, goldenTree } from "../../../test/packed-tree.js";
import { workerUrl } from "../../../test/worker-url.js";
import { particleRoom } from "../../kernel/tree.js";
import type { Positions } from "../../model/vectors.js";
import { createPool, type Pool } from "../../worker/pool.js";
import { boundsOf } from "./bounds.js";
import { TreeBox } from "./box.js";
import { buildTree } from "./build.js";
import { encodeTree } from "./encode.js";
import { joinParticles } from "./particles.js";
import { divideTogether, WORTH_SHARING } from "./share.js";

const folder = fixtures("packed-tree");
let pool: Pool;
beforeAll(async () => {
  pool = createPool({ size: 2, workerUrl: await workerUrl() });
});
afterAll(() => pool.close());

/** The tree that threads make, as bytes, and the order; undefined where they cannot tell. */
async function together(positions: Positions, threshold: number, given?: TreeBox) {
  const count = positions.length / 3;
  const room = await particleRoom(count, 8, 3);
  room.positions.set(positions);
  room.order.forEach((_, i) => {
    room.order[i] = i;
  });
  const divided = await divideTogether(room, given ?? TreeBox.around(boundsOf(room, 0, count)), threshold, pool);
  if (divided === undefined) return undefined;
  const bytes = encodeTree({ version: [1, 0, 0], created: 0, threshold, count, ...divided });
  return { bytes, order: room.order };
}

describe("threads make the tree of one thread", () => {
  // Of one: its particles lie where rounding decides, and threads must say that they do not know.
  const names = goldenNames(folder).filter((name) => goldenTree(folder, name).positions.length > 0);
  it.each(names)("%s", async (name) => {
    const { positions, box, threshold, bytes, order } = goldenTree(folder, name);
    const made = await together(positions, threshold, box);
    if (name === "grid_drift_t1") expect(made).toBeUndefined();
    if (made === undefined) expect(name).toContain("drift");
    else {
      expect(alike(made.bytes, bytes)).toBe(true);
      expect(alike(made.order, order)).toBe(true);
    }
  });

  it("of any particles, or says that it cannot", async () => {
    const value = fc.oneof(fc.double({ noNaN: true, min: -1e3, max: 1e3 }), fc.constantFrom(0, 0.25, 0.5, 1, 1e6));
    const set = fc.array(fc.tuple(value, value, value), { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(set, fc.nat(9), async (list, threshold) => {
        const positions = Float64Array.from(list.flat());
        const made = await together(positions, threshold);
        if (made === undefined) return;
        const alone = await buildTree(positions, { threshold, created: 0 });
        expect(made.bytes).toEqual(encodeTree(alone.tree));
        expect([...made.order]).toEqual([...alone.order]);
      }),
      { numRuns: 40 },
    );
  });

  it("of many particles, in float32 and float64, in place too, also where rounding decides", async () => {
    const count = WORTH_SHARING + 3;
    const scattered = Float64Array.from(
      { length: 3 * count },
      (_, i) => (Math.imul(i + 1, 0x9e3779b1) >>> 0) / 2 ** 32,
    );
    const golden = goldenTree(folder, "grid_drift_t1");
    const decided = Float64Array.from({ length: 3 * count }, (_, i) => golden.positions[i % golden.positions.length]!);
    const threshold = 2 * Math.ceil((3 * count) / golden.positions.length); // all copies of one particle stay together
    for (const [positions, box] of [
      [scattered, undefined],
      [Float32Array.from(scattered), undefined],
      [decided, golden.box],
    ] as const) {
      const alone = await buildTree(positions, { box, threshold, created: 0 });
      const given = positions.slice();
      const shared = await buildTree(given, { box, threshold, created: 0, pool, inPlace: true });
      expect(alike(encodeTree(shared.tree), encodeTree(alone.tree))).toBe(true);
      expect(alike(shared.order, alone.order)).toBe(true);
      expect(alike(given, alone.positions)).toBe(true);
      expect((await joinParticles(shared)).count).toBe(count);
    }
  });
});
