/** Storage that fails: whichever operation it is, what is there afterwards opens and is valid, and the next try succeeds. */
import { expect, it } from "vitest";
import { LimitExceeded, NotFound } from "../../errors.js";
import { ndarray, typed } from "../../model/elements.js";
import { Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import type { Store } from "../../store/types.js";
import { failNth, faultyStore } from "../../testing/observe.js";
import { type ArrayDescription, createArray, createGroup } from "./create.js";
import { append, consolidate, resize, setAttributes } from "./edit.js";
import type { ZarrArray } from "./node.js";
import { openZarr } from "./open.js";
import { validateZarr } from "./validate.js";
import { writeRegion } from "./write.js";

async function work(store: Store, description: Partial<ArrayDescription>): Promise<void> {
  const version = description.version === 2 ? 2 : 3;
  const group = await createGroup(store, Prefix.root, { version }, { overwrite: true });
  let array = await createArray(store, Prefix.of("a"), { shape: [6], chunkShape: [2], dtype: "int32", ...description });
  await writeRegion(array, [], ndarray([6], Int32Array.of(1, 2, 3, 4, 5, 6)));
  await writeRegion(array, [{ start: 1, stop: 4 }], ndarray([], Int32Array.of(9)));
  array = await append(array, ndarray([3], Int32Array.of(7, 8, 9)));
  array = await resize(array, [5]);
  await setAttributes(array, { done: true });
  await consolidate(group);
}

it.each([
  ["v3", {}],
  ["v3 shards", { shardShape: [4] }],
  ["v2", { version: 2 }],
] as [string, Partial<ArrayDescription>][])("the n-th operation fails, for every n: %s", async (_, description) => {
  let n = 1;
  for (; ; n++) {
    const memory = memoryStore();
    const outcome = await work(faultyStore(memory, failNth(n)), description).catch((error: unknown) => error);
    if (outcome === undefined) break;
    expect(outcome).toBeInstanceOf(LimitExceeded); // the very error of the store, nothing made of it
    const state = await openZarr(memory).catch((error: unknown) => error);
    if (!(state instanceof NotFound)) {
      for await (const { severity, message } of validateZarr(memory, Prefix.root))
        expect(severity, message).not.toBe("error");
    }
    await work(memory, description);
    const array = (await openZarr(memory, Prefix.of("a"))) as ZarrArray;
    expect([...(typed(await array.read()) as Int32Array), array.attributes]).toEqual([1, 9, 9, 9, 5, { done: true }]);
  }
  expect(n).toBeGreaterThan(30);
});
