import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { failNth, faultyStore, fill, recordingStore } from "../testing/index.js";
import { type CoalesceOptions, coalesceStore, runs } from "./coalesce.js";
import { Key } from "./key.js";
import { memoryStore } from "./memory.js";

const k = Key.of;
const value = Uint8Array.from({ length: 1000 }, (_, i) => i % 251);
const at = (offset: number, length: number) => ({ range: { offset, length } });

async function merging(options: CoalesceOptions) {
  const below = recordingStore(await fill(memoryStore(), { v: value, w: value }));
  return { below, store: coalesceStore(below, options) };
}

describe("coalesce", () => {
  it("makes one request of near ranges and leaves far ones apart", async () => {
    const { below, store } = await merging({ gap: 10 });
    const got = await Promise.all(
      [at(0, 10), at(20, 10), at(500, 5), at(15, 10), at(41, 1)].map((r) => store.get(k("v"), r)),
    );
    expect(below.log.length).toBe(3);
    expect(below.log.map(({ range }) => range)).toContainEqual(at(0, 30).range);
    expect(got).toEqual([
      value.slice(0, 10),
      value.slice(20, 30),
      value.slice(500, 505),
      value.slice(15, 25),
      value.slice(41, 42),
    ]);
  });
  it("closes further gaps where there would be too many requests, as long as that is not more than was asked for", async () => {
    const { below, store } = await merging({ gap: 10, requests: 2 });
    const asked = [at(0, 50), at(100, 50), at(400, 50), at(990, 10)];
    const got = await Promise.all(asked.map((r) => store.get(k("v"), r)));
    const ranges = below.log.map(({ range }) => range as { offset: number; length: number });
    expect(ranges.sort((a, b) => a.offset - b.offset)).toEqual(
      [at(0, 150), at(400, 50), at(990, 10)].map((r) => r.range),
    );
    expect(got[1]).toEqual(value.slice(100, 150));
  });
  it("also merges what is asked for a few promises later", async () => {
    const { below, store } = await merging({ gap: 10 });
    const later = async () => {
      await null;
      await null;
      return store.get(k("v"), at(10, 10));
    };
    await Promise.all([store.get(k("v"), at(0, 10)), later()]);
    expect(below.log.length).toBe(1);
  });
  it("does not make a request longer than told", async () => {
    const { below, store } = await merging({ gap: 10, longest: 25 });
    await Promise.all([0, 10, 20, 30].map((offset) => store.get(k("v"), at(offset, 10))));
    expect(below.log.length).toBe(2);
  });
  it("keeps keys apart and finds absence", async () => {
    const { below, store } = await merging({ gap: 10 });
    const got = await Promise.all([k("v"), k("w"), k("x"), k("x")].map((key, i) => store.get(key, at(i, 2))));
    expect(got).toEqual([value.slice(0, 2), value.slice(1, 3), undefined, undefined]);
    expect(below.log.length).toBe(3);
  });
  it("a range past the end fails alone", async () => {
    const { store } = await merging({ gap: 10 });
    const [good, bad] = await Promise.allSettled([store.get(k("v"), at(990, 5)), store.get(k("v"), at(996, 5))]);
    expect(good).toEqual({ status: "fulfilled", value: value.slice(990, 995) });
    expect(bad).toMatchObject({ status: "rejected", reason: { kind: "corrupt" } });
  });
  it("another failure is everybody's", async () => {
    const store = coalesceStore(faultyStore(await fill(memoryStore(), { v: value }), failNth(1)));
    const got = await Promise.allSettled([store.get(k("v"), at(0, 5)), store.get(k("v"), at(5, 5))]);
    expect(got.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await store.get(k("v"), at(0, 5))).toEqual(value.slice(0, 5));
  });
  it("one who aborts does not take the others along", async () => {
    const { store } = await merging({ gap: 10 });
    const controller = new AbortController();
    const left = store.get(k("v"), { ...at(0, 5), signal: controller.signal });
    const stays = store.get(k("v"), at(5, 5));
    controller.abort("enough");
    await expect(left).rejects.toBe("enough");
    expect(await stays).toEqual(value.slice(5, 10));
  });
  it("gives everybody exactly their bytes, whatever is merged", async () => {
    const span = fc.record({ offset: fc.nat(900), length: fc.nat(100) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(span, { maxLength: 20 }),
        fc.nat(50),
        fc.integer({ min: 1, max: 300 }),
        async (spans, gap, longest) => {
          const { below, store } = await merging({ gap, longest });
          const got = await Promise.all(spans.map((range) => store.get(k("v"), { range })));
          spans.forEach(({ offset, length }, i) => {
            expect(got[i]).toEqual(value.slice(offset, offset + length));
          });
          expect(below.log.length).toBeLessThanOrEqual(spans.length);
          for (const run of runs(spans, gap, longest)) expect(run.length).toBeGreaterThan(0);
        },
      ),
    );
  });
});
