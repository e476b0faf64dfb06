/** The promises, tried on every push with small numbers; `npm run proof` takes the large ones. */
import { describe, expect, it } from "vitest";
import type { Row } from "./row.js";

export function promised(rows: readonly Row[]): void {
  describe("what is promised", () => {
    it.each(rows.map((row) => [row.id, row.promise, row] as const))(
      "%s %s",
      { timeout: 300_000 },
      async (_id, _promise, row) => {
        const { broken } = await row.run("push");
        expect(broken).toEqual([]);
      },
    );
  });
}
