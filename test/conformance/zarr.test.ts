import { describe, expect, it } from "vitest";
import { fixtures } from "../fixtures.js";
import { runCase } from "./case.js";
import { zarrCases } from "./zarr.js";

describe("the golden Zarr set", () => {
  const cases = zarrCases(fixtures("zarr"), { strict: true });
  it("is there", () => expect(cases.length).toBeGreaterThan(130));
  it.each(cases.map((one) => [one.name, one] as const))("%s", async (_, one) => {
    const { passed, detail } = await runCase(one);
    expect(passed, detail).toBe(true);
  });
});
