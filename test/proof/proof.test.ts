/** The promises, tried on every push with small numbers; `npm run proof` takes the large ones. */
import { describe, expect, it } from "vitest";
import { rows } from "./rows.js";

describe("what is promised", () => {
  it.each(rows.map((row) => [row.id, row.promise, row] as const))(
    "%s %s",
    { timeout: 120_000 },
    async (_id, _promise, row) => {
      const { broken } = await row.run("push");
      expect(broken).toEqual([]);
    },
  );
});
