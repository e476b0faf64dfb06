/** How validation goes on, ends, and what is no damage. */
import { expect, test } from "vitest";
import { tinyGraph } from "../../../../test/zarr-vectors-tiny.js";
import { Unsupported } from "../../../errors.js";
import type { Finding, ValidateOptions } from "../../../model/format.js";
import { Key, Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { validateZarrVectors } from "./validate.js";

async function findings(store: Store, options: ValidateOptions = {}): Promise<Finding[]> {
  const out: Finding[] = [];
  for await (const found of validateZarrVectors(store, Prefix.root, options)) out.push(found);
  return out;
}

test("a store that does not answer is no damage", async () => {
  const store = await tinyGraph().store();
  const failing: Store = {
    ...store,
    async get(key, options) {
      if (key === Key.of("0/vertices/c/1/0")) throw new Unsupported("the store forbids it", { reason: "forbidden" });
      return store.get(key, options);
    },
  };
  const errors = (await findings(failing)).filter(({ severity }) => severity === "error");
  expect(errors.map(({ rule, unchecked }) => [rule, unchecked])).toEqual([["zarr-vectors/unavailable", true]]);
});

test("one bad cell does not hide another", async () => {
  const files = tinyGraph();
  files.cell("0/vertices", "0.0", new Uint8Array(3));
  files.set("0/vertices/c/1/0", Uint8Array.of(1));
  const found = await findings(await files.store());
  expect(found.filter(({ severity }) => severity === "error").map(({ rule, where }) => [rule, where])).toEqual(
    [
      ["zarr-vectors/cell-decodes", "0/vertices of chunk 1.0"],
      ["zarr-vectors/vertices-decode", "0/vertices of chunk 0.0"],
    ].reverse(),
  );
});

test("what a reader should know is a note", async () => {
  const files = tinyGraph();
  files.level(1, (own) => (own.level = 3));
  expect((await findings(await files.store())).map(({ rule }) => rule)).toContain("zarr-vectors/note");
});

test("a caller can end it", async () => {
  const store = await tinyGraph().store();
  await expect(findings(store, { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
});
