/** The engine against the brute force. */
import { describe, expect, it } from "vitest";
import { tryOne } from "./queries.js";

describe("queries mean what their words say", () => {
  it("on 200 generated datasets", { timeout: 120_000 }, async () => {
    for (let seed = 1; seed <= 200; seed++) expect(await tryOne(seed)).toBeUndefined();
  });
});
