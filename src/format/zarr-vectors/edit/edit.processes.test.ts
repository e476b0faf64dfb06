/** Several processes that edit one store: what they append is not lost, and what kills them tears nothing. */
import { expect, it } from "vitest";
import { appendAtOnce, killEdits } from "../../../../test/proof/vector-edits.js";

it("processes that append at once lose nothing, and no id is given twice", { timeout: 120_000 }, async () => {
  expect(await appendAtOnce(2, 10)).toEqual([]);
});

it("kill -9 leaves the store before or after, and the next writer finishes it", { timeout: 120_000 }, async () => {
  expect(await killEdits(10)).toEqual([]);
});
