import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { faultyStore, fill, recordingStore } from "../testing/index.js";
import { cacheStore } from "./cache.js";
import { Key } from "./key.js";
import { memoryStore } from "./memory.js";

const k = Key.of;
const hundred = Uint8Array.from({ length: 100 }, (_, i) => i);

async function cached(options = {}) {
  const below = recordingStore(await fill(memoryStore(), { v: hundred, w: hundred }));
  return { below, store: cacheStore(below, options) };
}

describe("cache", () => {
  it("asks once, also for everybody who asks at the same time", async () => {
    const { below, store } = await cached();
    await Promise.all([store.get(k("v")), store.get(k("v")), store.get(k("v"))]);
    await store.get(k("v"));
    expect(below.log.length).toBe(1);
  });
  it("answers a range out of a whole value, and a range again out of itself", async () => {
    const { below, store } = await cached();
    const range = { offset: 10, length: 5 };
    expect(await store.get(k("v"), { range })).toEqual(hundred.slice(10, 15));
    expect(await store.get(k("v"), { range })).toEqual(hundred.slice(10, 15));
    await store.get(k("v"));
    expect(await store.get(k("v"), { range: { suffix: 3 } })).toEqual(hundred.slice(97));
    expect(below.log.length).toBe(2);
  });
  it("lets the longest unused go first", async () => {
    const { below, store } = await cached({ bytes: 2 * 310 });
    const part = (offset: number) => store.get(k("v"), { range: { offset, length: 100 - offset } });
    await part(0);
    await part(1);
    await part(0);
    await part(2); // takes the place of 1
    await part(0);
    expect(below.log.length).toBe(3);
    await part(1);
    expect(below.log.length).toBe(4);
  });
  it("does not keep what is larger than itself", async () => {
    const { below, store } = await cached({ bytes: 250 });
    await store.get(k("v"));
    await store.get(k("v"));
    expect(below.log.length).toBe(2);
  });
  it("remembers absence only where told to", async () => {
    for (const absent of [false, true]) {
      const { below, store } = await cached({ absent });
      await store.get(k("x"));
      await store.get(k("x"));
      expect(below.log.length).toBe(absent ? 1 : 2);
    }
  });
  it("does not remember failures", async () => {
    let broken = true;
    const below = faultyStore(await fill(memoryStore(), { v: hundred }), () => {
      if (broken) throw new Error("down");
    });
    const store = cacheStore(below);
    await expect(store.get(k("v"))).rejects.toThrow("down");
    broken = false;
    expect(await store.get(k("v"))).toEqual(hundred);
  });
  it("does not keep a value that was on its way while it was overwritten", async () => {
    const waits: (() => void)[] = [];
    const memory = await fill(memoryStore(), { v: hundred });
    const slow = {
      ...memory,
      get: async (...args: Parameters<typeof memory.get>) => {
        const value = await memory.get(...args);
        await new Promise<void>((done) => waits.push(done));
        return value;
      },
    };
    const store = cacheStore(slow);
    const before = store.get(k("v"));
    await new Promise((done) => setTimeout(done));
    await store.set(k("v"), Uint8Array.of(1));
    const after = store.get(k("v"));
    await new Promise((done) => setTimeout(done));
    for (const done of waits) done();
    expect(await before).toEqual(hundred);
    expect(await after).toEqual(Uint8Array.of(1));
  });
  it("one who aborts leaves, the others stay; when all have left the request ends", async () => {
    let ended = 0;
    const memory = memoryStore();
    const below = {
      ...memory,
      get: (_: Key, call?: { signal?: AbortSignal | undefined }) =>
        new Promise<Uint8Array>((done, fail) => {
          const timer = setTimeout(() => done(hundred), 30);
          call?.signal?.addEventListener("abort", () => {
            clearTimeout(timer);
            ended++;
            fail(call.signal?.reason);
          });
        }),
    };
    const store = cacheStore(below);
    const [a, b] = [new AbortController(), new AbortController()];
    const first = store.get(k("v"), { signal: a.signal });
    const second = store.get(k("v"), { signal: b.signal });
    setTimeout(() => a.abort("a"));
    await expect(first).rejects.toBe("a");
    expect(await second).toEqual(hundred);
    expect(ended).toBe(0);
    const third = store.get(k("w"), { signal: b.signal });
    setTimeout(() => b.abort("b"));
    await expect(third).rejects.toBe("b");
    expect(await store.get(k("w"))).toEqual(hundred);
    expect(ended).toBe(1);
  });
  it("never gives anything but what the store has, whatever is read and written in turn", async () => {
    const step = fc.record({ key: fc.constantFrom("a", "b"), set: fc.boolean(), n: fc.nat(40), from: fc.nat(10) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const plain = memoryStore();
        const store = cacheStore(plain, { bytes: 900, absent: true });
        for (const { key, set, n, from } of steps) {
          if (set) await store.set(k(key), hundred.slice(from, from + n));
          const range = n % 2 === 0 ? undefined : { suffix: n };
          expect(await store.get(k(key), { range })).toEqual(await plain.get(k(key), { range }));
        }
      }),
    );
  });
});
