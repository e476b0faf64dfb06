import { describe, expect, it } from "vitest";
import { Conflict, Corrupt, LimitExceeded } from "../errors.js";
import { failEachOnce, faultyStore, fill } from "../testing/index.js";
import { Key, Prefix } from "./key.js";
import { memoryStore } from "./memory.js";
import { retryStore } from "./retry.js";

const k = Key.of;
const bytes = Uint8Array.of(1, 2, 3);
const quick = { base: 1 };

async function failing(error: () => Error, times = Infinity, options = quick) {
  let calls = 0;
  const below = faultyStore(await fill(memoryStore(), { v: bytes }), () => {
    if (++calls <= times) throw error();
  });
  return { store: retryStore(below, options), calls: () => calls };
}
const passing = (retryAfter?: number) => () => new LimitExceeded("busy", { reason: "slow-down", retryAfter });

describe("retry", () => {
  it("does everything that can be done twice, when each operation fails once", async () => {
    const store = retryStore(faultyStore(await fill(memoryStore(), { v: bytes }), failEachOnce()), quick);
    expect(await store.get(k("v"))).toEqual(bytes);
    expect((await store.stat(k("v")))?.size).toBe(3);
    await store.set(k("w"), bytes);
    await store.delete(k("v"));
    expect((await store.children(Prefix.root)).keys).toEqual(["w"]);
    const keys = [];
    for await (const { key } of store.list(Prefix.root)) keys.push(key);
    expect(keys).toEqual(["w"]);
  });
  it("gives up after so many tries, with the last error as the cause", async () => {
    const { store, calls } = await failing(passing(), Infinity, { base: 1, tries: 3 } as typeof quick);
    await expect(store.get(k("v"))).rejects.toMatchObject({ kind: "limit-exceeded", reason: "slow-down" });
    expect(calls()).toBe(3);
    await expect(store.get(k("v"))).rejects.toThrow("gave up after 3 tries: busy");
    await expect(store.list(Prefix.root)[Symbol.asyncIterator]().next()).rejects.toThrow("gave up after 3 tries: busy");
  });
  it("does not multiply: what was given up below is not tried again above", async () => {
    const { store, calls } = await failing(passing(), Infinity, { base: 1, tries: 3 } as typeof quick);
    await expect(retryStore(store, quick).get(k("v"))).rejects.toThrow("gave up after 3 tries: busy");
    expect(calls()).toBe(3);
  });
  it("leaves a body that is cut each time Corrupt", async () => {
    const { store } = await failing(() => new Corrupt("short", { reason: "cut" }));
    await expect(store.get(k("v"))).rejects.toMatchObject({ kind: "corrupt", reason: "cut" });
  });
  it("does not try again what will not get better", async () => {
    for (const error of [new Corrupt("bad crc"), new Conflict("changed"), new TypeError("a bug")]) {
      const { store, calls } = await failing(() => error);
      await expect(store.get(k("v"))).rejects.toBe(error);
      expect(calls()).toBe(1);
    }
  });
  it("does not try a write on a condition again", async () => {
    const { store, calls } = await failing(passing());
    await expect(store.set(k("n"), bytes, { if: { absent: true } })).rejects.toThrow("busy");
    expect(calls()).toBe(1);
  });
  it("waits as long as it is told to, and not for ever", async () => {
    const { store } = await failing(passing(0.05), 1);
    const start = performance.now();
    expect(await store.get(k("v"))).toEqual(bytes);
    expect(performance.now() - start).toBeGreaterThan(45);
    const other = await failing(passing(3600));
    await expect(other.store.get(k("v"))).rejects.toMatchObject({ retryAfter: 3600 });
    expect(other.calls()).toBe(1);
  });
  it("stops waiting when it is aborted", async () => {
    const { store } = await failing(passing(20));
    const controller = new AbortController();
    setTimeout(() => controller.abort("enough"), 10);
    await expect(store.get(k("v"), { signal: controller.signal })).rejects.toBe("enough");
  });
});
