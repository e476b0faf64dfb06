import { describe, expect, it } from "vitest";
import { fixtures } from "../fixtures.js";
import { runCase } from "./case.js";
import { zarrVectorsCases } from "./zarr-vectors.js";

describe("the golden Zarr Vectors set", () => {
  const cases = zarrVectorsCases(fixtures("zarr-vectors"));
  it("is there", () => expect(cases.length).toBeGreaterThan(185));
  it.each(cases.map((one) => [one.name, one] as const))("%s", async (_, one) => {
    const { passed, detail } = await runCase(one);
    expect(passed, detail).toBe(true);
  });
});
