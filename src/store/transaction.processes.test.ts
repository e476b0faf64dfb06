/** Several processes on one directory: what they commit is not lost, and what kills them tears nothing. */
import { expect, it } from "vitest";
import { killTransactions, stepAtOnce } from "../../test/proof/transactions.js";

it("processes that commit at once lose nothing", { timeout: 60_000 }, async () => {
  expect(await stepAtOnce(2, 10)).toEqual([]);
});

it("kill -9 leaves the state before or after, and the next writer finishes it", { timeout: 60_000 }, async () => {
  expect(await killTransactions(10)).toEqual([]);
});
