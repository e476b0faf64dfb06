/** The part of the proof that runs with the tests: 5,000 inputs per target, fewer where each takes long. Several files call this, to run side by side. */
import { expect, test } from "vitest";
import type { Target } from "./driver.js";
import { watch } from "./runner.js";

const RUNS = 5000;
const SEED = 20160418; // any number; the proof takes another one

export function fuzzSuite(targets: readonly Target[], count = RUNS): void {
  for (const target of targets) {
    test(`${target.name}: ${count} damaged inputs give a value or one of Octavo's errors`, async () => {
      const { runs, finds } = await watch(target, count, SEED);
      expect(finds.map(({ run, problem, bytes }) => `run ${run}, ${bytes.length} bytes: ${problem}`)).toEqual([]);
      expect(runs).toBe(count);
    });
  }
}
