import { describe, expect, it } from "vitest";
import { fixtures } from "../fixtures.js";
import { runCase } from "./case.js";
import { packedTreeCases } from "./packed-tree.js";

describe("the golden packed trees", () => {
  const cases = packedTreeCases(fixtures("packed-tree"));
  it("are there", () => expect(cases.length).toBeGreaterThan(40));
  it.each(cases.map((one) => [one.name, one] as const))("%s", async (_, one) => {
    const { passed, detail } = await runCase(one);
    expect(passed, detail).toBe(true);
  });
});
