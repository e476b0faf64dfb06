/** What happens to transactions when storage fails, and when others die or sleep. */
import { describe, expect, it, vi } from "vitest";
import { at, inPlace, k, logs, reached, read, seenThrough, state, step, text } from "../../test/transactions.js";
import { Conflict, LimitExceeded, OctavoError } from "../errors.js";
import { failNth, faultyStore, type Hook } from "../testing/index.js";
import { memoryStore } from "./memory.js";
import { Transaction } from "./transaction.js";
import { alive, headKey, Id } from "./transaction-log.js";
import type { Store } from "./types.js";
import { wrap } from "./wrap.js";

const before = { "data/a": "1", "data/b/c": "2", other: "3" };
async function withData(): Promise<Store> {
  const store = memoryStore();
  for (const [key, value] of Object.entries(before)) await store.set(k(key), text(value));
  return store;
}

/** Stops a commit after its commit point: every later write outside of the log fails. */
const stuck: Hook = ({ kind, at }) => {
  if ((kind === "set" || kind === "delete") && !at.includes(".octavo/")) throw new LimitExceeded("stuck");
};

/** The n-th operation fails after it was carried out, as when its answer is lost. */
function losing(store: Store, n: number, fired: () => void): Store {
  let count = 0;
  const late = async <T>(work: () => Promise<T>): Promise<T> => {
    const mine = ++count;
    const result = await work();
    if (mine !== n) return result;
    fired();
    throw new LimitExceeded("no answer", { reason: "timeout" });
  };
  return wrap(store, {
    get: (key, call) => late(() => store.get(key, call)),
    stat: (key, call) => late(() => store.stat(key, call)),
    children: (prefix, call) => late(() => store.children(prefix, call)),
    set: (key, value, call) => late(() => store.set(key, value, call)),
    delete: (key, call) => late(() => store.delete(key, call)),
  });
}

describe("failing storage", () => {
  const refused = (fired: () => void) => () => {
    fired();
    return new LimitExceeded("no", { reason: "unreachable" });
  };
  const ways: Record<string, (store: Store, n: number, fired: () => void) => Store> = {
    "the n-th operation fails": (store, n, fired) => faultyStore(store, failNth(n, refused(fired))),
    "the n-th operation fails after it was carried out": losing,
    "all operations from the n-th on fail": (store, n, fired) => {
      let count = 0;
      return faultyStore(store, () => {
        if (++count >= n) throw refused(fired)();
      });
    },
  };

  it.each(Object.entries(ways))("%s: before or after, and the next writer goes on", async (way, fail) => {
    for (const memory of [undefined, 1]) {
      for (const steps of [0, 1]) {
        let [n, fired] = [0, true];
        while (fired) {
          fired = false;
          const store = memoryStore();
          for (let i = 0; i < steps; i++) await step(store);
          const failing = fail(store, ++n, () => {
            fired = true;
          });
          const outcome = await step(failing, { memory }).catch((error: unknown) => error);
          const found = await seenThrough(store);
          const states = [state(steps), state(steps + 1)];
          if (outcome instanceof Error) {
            expect(outcome).toBeInstanceOf(OctavoError);
            expect(way.startsWith("all") ? states : states.slice(0, 1)).toContainEqual(found);
          } else expect(found).toEqual(states[1]);

          await step(store);
          expect(await inPlace(store)).toEqual(state(reached(found) + 1));
          await Transaction.recover(store, at);
          expect((await logs(store)).filter((name) => !name.endsWith(".journal"))).toEqual(["head"]);
        }
        expect(n).toBeGreaterThan(20);
      }
    }
  });

  /** The answer to the first swap of the head is lost, and the look at it that follows fails. */
  function lossy(store: Store, swapped: (head: string) => void = () => {}): Store {
    let swaps = 0;
    const lost = () => new LimitExceeded("no answer", { reason: "timeout" });
    return wrap(store, {
      async set(key, value, call) {
        await store.set(key, value, call);
        if (key !== headKey(at)) return;
        swapped(new TextDecoder().decode(value));
        if (++swaps === 1) throw lost();
      },
      async get(key, call) {
        if (key === headKey(at) && swaps === 1 && ++swaps) throw lost();
        return store.get(key, call);
      },
    });
  }

  async function doubtful(store: Store, lease?: number): Promise<Transaction> {
    const transaction = await Transaction.begin(store, at, { lease });
    await transaction.store.set(k("data/a"), text("once"));
    await expect(transaction.commit()).rejects.toMatchObject({ reason: "timeout" });
    return transaction;
  }

  it("a commit whose answer was lost is a commit, and is not made twice", async () => {
    const store = memoryStore();
    const transaction = await doubtful(lossy(store));
    expect(await seenThrough(store)).toEqual({ "data/a": "once" });
    expect(await transaction.commit()).toEqual({ generation: 1 });
    expect(await inPlace(store)).toEqual({ "data/a": "once" });
  });

  it("a commit whose answer was lost is not planned again, though the data have changed", async () => {
    const store = memoryStore();
    await expect(step(lossy(store))).rejects.toMatchObject({ reason: "timeout" });
    expect(await seenThrough(store)).toEqual(state(1));
  });

  it("a commit whose answer was lost loses nothing when it is given up", async () => {
    const store = memoryStore();
    await (await doubtful(lossy(store))).abort();
    expect(await seenThrough(store)).toEqual({ "data/a": "once" });
    await Transaction.recover(store, at);
    expect(await inPlace(store)).toEqual({ "data/a": "once" });
  });

  it("who has slept since the commit says that he lives before he applies it", async () => {
    const heads: string[] = [];
    const transaction = await doubtful(
      lossy(memoryStore(), (head) => heads.push(head)),
      400,
    );
    await new Promise((done) => setTimeout(done, 110));
    await transaction.commit();
    expect(heads.map((head) => JSON.parse(head).pending?.beat)).toEqual([0, 1, undefined]);
  });

  it("a commit that cannot be applied is seen by readers, and applied by the next writer", async () => {
    const store = await withData();
    const transaction = await Transaction.begin(faultyStore(store, stuck), at);
    await transaction.store.set(k("data/a"), text("new"));
    await transaction.store.delete(k("data/b/c"));
    expect(await transaction.commit()).toMatchObject({ generation: 1, unapplied: { message: "stuck" } });
    expect(await read(store, "data/a")).toBe("1");
    expect(await seenThrough(store)).toEqual({ "data/a": "new", other: "3" });
    await Transaction.recover(store, at);
    expect(await inPlace(store)).toEqual({ "data/a": "new", other: "3" });
  });
});

it("an application that fails leaves no write under way, which could come after a later commit", async () => {
  const ended: string[] = [];
  const uneven = faultyStore(memoryStore(), async ({ kind, at }) => {
    if (kind !== "set" || at.includes(".octavo/")) return;
    if (at === "data/1") throw new LimitExceeded("no");
    await new Promise((done) => setTimeout(done, 20));
    ended.push(at);
  });
  const { unapplied } = await Transaction.run(uneven, at, async (view) => {
    for (const n of [1, 2, 3]) await view.set(k(`data/${n}`), text(""));
  });
  expect(unapplied).toBeInstanceOf(LimitExceeded);
  expect(ended).toEqual(["data/2", "data/3"]);
});

/** Ids of writers that cannot be seen from here. */
const stranger = (begun = Date.now()) => `${begun.toString(36)}-ffffffff-1-1-0-${"ab".repeat(8)}`;

describe("dead or alive", () => {
  it("an applier elsewhere that keeps silent is replaced after a lease, not before", async () => {
    const store = await withData();
    const transaction = await Transaction.begin(faultyStore(store, stuck), at);
    await transaction.store.set(k("data/a"), text("new"));
    await transaction.commit();
    const head = await headOf(store);
    const elsewhere = (lease: number) =>
      text(JSON.stringify({ ...head, pending: { ...head.pending, applier: stranger(), lease } }));
    await store.set(headKey(at), elsewhere(60_000));
    const waits = Transaction.begin(store, at, { signal: AbortSignal.timeout(30) });
    await expect(waits).rejects.toMatchObject({ name: "TimeoutError" });
    expect(await read(store, "data/a")).toBe("1");
    await store.set(headKey(at), elsewhere(40));
    const started = Date.now();
    await Transaction.begin(store, at);
    expect(Date.now() - started).toBeGreaterThanOrEqual(40);
    expect(await read(store, "data/a")).toBe("new");
  });

  it("an applier elsewhere is not taken for silent because the clock is set", async () => {
    const store = await withData();
    const transaction = await Transaction.begin(faultyStore(store, stuck), at);
    await transaction.store.set(k("data/a"), text("new"));
    await transaction.commit();
    const head = await headOf(store);
    await store.set(headKey(at), text(JSON.stringify({ ...head, pending: { ...head.pending, applier: stranger() } })));
    const later = Date.now() + 3_600_000;
    const clock = vi.spyOn(Date, "now");
    const waits = Transaction.begin(store, at, { signal: AbortSignal.timeout(60) });
    setTimeout(() => clock.mockReturnValue(later), 20);
    await expect(waits).rejects.toMatchObject({ name: "TimeoutError" });
    clock.mockRestore();
    expect(await read(store, "data/a")).toBe("1");
  });

  it("an applier that is slow but lives says so, and is left alone", async () => {
    const store = memoryStore();
    const beats = new Set<number>();
    const slow = faultyStore(store, async ({ kind, at }) => {
      if (kind === "set" && !at.includes(".octavo/")) await new Promise((done) => setTimeout(done, 20));
    });
    const one = await Transaction.begin(slow, at, { lease: 120 });
    for (let i = 0; i < 80; i++) await one.store.set(k(`data/${i}`), text("one"));
    const done = one.commit();
    for (let i = 0; i < 20; i++) {
      beats.add((await headOf(store))?.pending?.beat ?? 0);
      await new Promise((next) => setTimeout(next, 10));
    }
    expect(await done).toEqual({ generation: 1 });
    expect(beats.size).toBeGreaterThan(1);
  });

  it("one that was replaced stops, and its commit stands", async () => {
    const store = await withData();
    let freeze: (() => void) | undefined;
    const frozen = faultyStore(store, ({ kind, at }) => {
      if (kind !== "set" || at.includes(".octavo/")) return;
      return new Promise<void>((go) => {
        freeze = go;
      });
    });
    const one = await Transaction.begin(frozen, at, { lease: 200 });
    await one.store.set(k("data/a"), text("one"));
    const done = one.commit();
    while (freeze === undefined) await new Promise((next) => setTimeout(next, 1));
    await Transaction.run(store, at, (view) => view.set(k("data/a"), text("two")));
    expect(await read(store, "data/a")).toBe("two");
    freeze();
    expect(await done).toMatchObject({ generation: 1 });
    expect(await read(store, "data/a")).toBe("two");
  });

  it("what the dead have staged is swept; what may be alive stays for a day", async () => {
    const store = await withData();
    const [dead, today, yesterday] = [Id.make(), stranger(), stranger(Date.now() - 90_000_000)];
    alive.add(dead);
    for (const id of [dead, today, yesterday]) await store.set(k(`data/.octavo/${id}.0`), text(id));
    await store.set(k("data/.octavo/not-ours.0"), text("?"));
    const left = async () => (await logs(store)).filter((name) => name.endsWith(".0")).sort();
    await Transaction.recover(store, at);
    expect(await left()).toEqual([`${dead}.0`, `${today}.0`, "not-ours.0"].sort());
    alive.delete(dead);
    await Transaction.recover(store, at);
    expect(await left()).toEqual([`${today}.0`, "not-ours.0"].sort());
  });

  it("a transaction that was swept while it lived gets Conflict, and never commits a part of itself", async () => {
    const store = await withData();
    const slept = await Transaction.begin(store, at, { memory: 1 });
    await slept.store.set(k("data/a"), text("slept"));
    alive.clear();
    await Transaction.recover(store, at);
    await expect(slept.store.get(k("data/a"))).rejects.toBeInstanceOf(Conflict);
    await slept.store.set(k("data/new"), text("slept"));
    await expect(slept.commit()).rejects.toBeInstanceOf(Conflict);
    expect(await inPlace(store)).toEqual(before);
    expect((await logs(store)).filter((name) => name.endsWith(".0"))).toEqual([]);
  });

  it("a sweeper that comes late leaves alone what was committed", async () => {
    const store = await withData();
    const slept = await Transaction.begin(store, at, { memory: 1 });
    await slept.store.set(k("data/a"), text("slept"));
    alive.clear();
    let woken: unknown;
    const late = faultyStore(store, async ({ kind, at }) => {
      if (kind === "set" && at.endsWith("journal") && woken === undefined) {
        woken = true;
        woken = await slept.commit();
      }
    });
    await Transaction.recover(late, at);
    expect(woken).toEqual({ generation: 1 });
    expect(await read(store, "data/a")).toBe("slept");
  });
});

async function headOf(store: Store): Promise<{ pending?: { beat: number; applier: string } }> {
  return JSON.parse((await read(store, "data/.octavo/head")) ?? "{}");
}
