import { expect, it } from "vitest";
import { forEachConcurrent } from "./concurrent.js";

const tick = () => new Promise<void>((resolve) => setTimeout(resolve, 1));

it("runs every item, never more than the limit at once", async () => {
  const done: number[] = [];
  let running = 0;
  let most = 0;
  await forEachConcurrent([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    most = Math.max(most, ++running);
    await tick();
    running--;
    done.push(item);
  });
  expect(done.sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(most).toBe(3);
});

it("stops at the first failure, after what was under way", async () => {
  let started = 0;
  let finished = 0;
  const all = forEachConcurrent([1, 2, 3, 4, 5, 6], 2, async (item) => {
    started++;
    await tick();
    if (item === 1) throw new Error("first");
    await tick();
    finished++;
  });
  await expect(all).rejects.toThrow("first");
  expect([started, finished]).toEqual([2, 1]);
});
