import { expect, it } from "vitest";
import { random } from "../../test/fuzz/mutate.js";
import { memoryStore } from "./memory.js";
import { scratchIn } from "./scratch.js";
import { scratchRows } from "./scratch-rows.js";

const at = (row: number, k: number): number => (row * 7 + k * 13 + (row >> 8)) & 255;

it.each([
  [12, 0],
  [8, 300_000],
  [5, 1 << 30],
])("rows of %i bytes come back in any order, with %i bytes of memory", async (width, memory) => {
  const scratch = scratchIn({ store: memoryStore() }, memory);
  const rows = scratchRows(scratch, width);
  const dice = random(width);
  const count = 50_000;
  for (let from = 0; from < count; ) {
    const some = Math.min(count - from, dice.below(3000));
    await rows.add(Uint8Array.from({ length: some * width }, (_, i) => at(from + Math.floor(i / width), i % width)));
    from += some;
  }
  const { held } = scratch;
  await rows.end();
  expect(scratch.held).toBeLessThanOrEqual(held);
  expect(scratch.held).toBeLessThanOrEqual(memory / 2 + 4096);
  expect(rows.count).toBe(count);
  expect(scratch.full).toBe(memory < 1 << 30);
  for (const wanted of [
    Uint32Array.from({ length: 4000 }, () => dice.below(count)),
    Uint32Array.from({ length: count }, (_, i) => i),
    new Uint32Array(),
  ]) {
    const found = await rows.pick(wanted);
    expect(found.length).toBe(wanted.length * width);
    expect(found.every((byte, i) => byte === at(wanted[Math.floor(i / width)]!, i % width))).toBe(true);
  }
  const same = await rows.pick(Uint32Array.of(count - 1, 3, count - 1));
  expect(same.subarray(0, width)).toEqual(same.subarray(2 * width));
});
