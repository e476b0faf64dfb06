/** The engine against the brute force, and what it promises besides: signals, limits, and refusals that say why. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Query } from "../../src/model/vectors.js";
import { select } from "../../src/query/select.js";
import { Dice, plainDataset } from "./plain.js";
import { anyQuery, tryOne } from "./queries.js";
import { plainSource } from "./source.js";

describe("queries", () => {
  it("answer what their words mean, on 200 generated datasets", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        expect(await tryOne(seed)).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  });

  // Found by the proof: a link that was lost after several of shared fragments, and a chunk that was read although nothing of it is inside.
  it.each([459, 2908])("still answer what was once wrong: seed %i", async (seed) => {
    expect(await tryOne(seed)).toBeUndefined();
  });

  it("end when they are told to, whatever they are doing", { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const dataset = plainDataset(seed);
        const query = anyQuery(new Dice(seed), dataset);
        const calls = async (stopAt: number): Promise<number> => {
          const source = plainSource(dataset);
          const aborting = new AbortController();
          let after = 0;
          source.recorded.onCall = (call) => {
            if (aborting.signal.aborted) after++;
            if (call === stopAt) aborting.abort(new Error("enough"));
          };
          const reading = select(source, query).read({ signal: aborting.signal });
          if (stopAt > 0) await expect(reading).rejects.toThrow("enough");
          else await reading.catch(() => {});
          // Links and tiles that were already on their way may come once more.
          expect(after).toBeLessThan(4);
          return source.recorded.calls;
        };
        const total = await calls(0);
        for (let stop = 1; stop <= Math.min(total, 12); stop++) await calls(stop);
      }),
      { numRuns: 60 },
    );
  });

  it("are not asked where the signal has ended before", async () => {
    const source = plainSource(plainDataset(1));
    await expect(select(source).read({ signal: AbortSignal.abort(new Error("no")) })).rejects.toThrow("no");
    expect(source.recorded.calls).toBe(0);
  });

  it("keep to the bytes of one result", async () => {
    const source = plainSource(plainDataset(3));
    const { vertices } = await select(source).count({ exact: true });
    expect(vertices).toBeGreaterThan(0);
    await expect(select(source).read({ limits: { resultBytes: 4 } })).rejects.toThrow(
      "more than the 4 that are allowed",
    );
  });

  it.each<[string, Query, string]>([
    ["two levels", { level: 0, resolution: 1 }, "not several of them"],
    ["a level that is not there", { level: 9 }, "there is no level 9"],
    ["two regions", { box: [0, 0], sphere: [0, 1] }, "not both"],
    ["a short box", { box: [0] }, "both corners"],
    ["a short sphere", { sphere: [0] }, "its centre and radius"],
    ["nothing near", { nearest: [0, 0] }, "a place and how many"],
    ["a negative limit", { limit: -1 }, "a limit should be"],
    ["no resolution", { resolution: 0 }, "a number above 0"],
    ["no vertices", { maxVertices: 0 }, "a number from 1"],
    ["an attribute that is not there", { where: "nobody > 1" }, "there is no attribute nobody"],
  ])("refuse %s", async (_, query, message) => {
    const plain = plainDataset(1);
    const flat = {
      levels: [{ ...plain.levels[0]!, dims: 1, positions: new Float32Array(), fragments: [], objects: [], links: [] }],
    };
    await expect((async () => select(plainSource(flat), query).read())()).rejects.toThrow(message);
  });
});
