import { expect, test } from "vitest";
import { fixtures } from "../fixtures.js";
import { runCase } from "./case.js";
import { precomputedCases } from "./precomputed.js";

test("the golden precomputed set passes", { timeout: 120_000 }, async () => {
  const cases = precomputedCases(fixtures("precomputed"));
  expect(cases.length).toBeGreaterThan(90);
  const failed: string[] = [];
  for (const one of cases) {
    const row = await runCase(one);
    if (!row.passed) failed.push(`${row.case}: ${row.detail}`);
  }
  expect(failed).toEqual([]);
});
