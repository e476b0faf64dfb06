import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { all, at, inPlace, k, logs, read, text } from "../../test/transactions.js";
import { Conflict } from "../errors.js";
import { faultyStore, recordingStore, runStoreSuite } from "../testing/index.js";
import { pattern } from "../testing/store-reads.js";
import { Prefix } from "./key.js";
import { memoryStore } from "./memory.js";
import { overlay } from "./overlay.js";
import { readonlyStore } from "./readonly.js";
import { Transaction } from "./transaction.js";
import type { Store } from "./types.js";
import { wrap } from "./wrap.js";

async function withData(
  values: Record<string, string> = { "data/a": "1", "data/b/c": "2", other: "3" },
): Promise<Store> {
  const store = memoryStore();
  for (const [key, value] of Object.entries(values)) await store.set(k(key), text(value));
  return store;
}

describe("a transaction", () => {
  it("sees its own changes, shows them to nobody, and makes them all at once", async () => {
    const store = await withData();
    const { store: view, ...transaction } = await Transaction.begin(store, at);
    await view.set(k("data/a"), text("new"));
    await view.set(k("data/d/e"), text("more"));
    await view.delete(k("data/b/c"));
    const after = { "data/a": "new", "data/d/e": "more", other: "3" };
    expect(await all(view)).toEqual(after);
    expect(await view.children(at)).toEqual({ keys: ["data/a"], prefixes: ["data/d/"] });
    expect(await all(store)).toEqual({ "data/a": "1", "data/b/c": "2", other: "3" });
    expect(await transaction.commit()).toEqual({ generation: 1 });
    expect(await all((await overlay(store, at)).store)).toEqual(after);
    const { head, ...rest } = Object.fromEntries((await logs(store)).map((name) => [name.split(".").at(-1)!, name]));
    expect([head, Object.keys(rest)]).toEqual(["head", ["journal"]]);
    await expect(transaction.commit()).rejects.toMatchObject({ name: "InvalidInput" });
    await expect(view.set(k("data/a"), text(""))).rejects.toMatchObject({ name: "InvalidInput" });
  });

  it("leaves nothing behind when it is aborted", async () => {
    const store = await withData();
    const transaction = await Transaction.begin(store, at, { memory: 3 });
    await transaction.store.set(k("data/a"), text("long enough for a part"));
    expect(await logs(store)).toHaveLength(1);
    await transaction.abort();
    await transaction.abort();
    expect(await all(store)).toEqual({ "data/a": "1", "data/b/c": "2", other: "3" });
  });

  it("that changes nothing writes nothing", async () => {
    const store = recordingStore(await withData());
    const transaction = await Transaction.begin(store, at);
    await read(transaction.store, "data/a");
    expect(await transaction.commit()).toEqual({ generation: 0 });
    expect(store.log.filter(({ kind }) => kind === "set")).toEqual([]);
  });

  it("is refused where the store cannot write on a condition", async () => {
    const store = await withData();
    const plain = wrap(store, { can: { ...store.can, conditional: false } });
    await expect(Transaction.begin(plain, at)).rejects.toMatchObject({ kind: "unsupported", reason: "conditional" });
    await expect(Transaction.begin(readonlyStore(store), at)).rejects.toMatchObject({ reason: "write" });
  });

  it("changes nothing outside of its data, nor its own log", async () => {
    const { store } = await Transaction.begin(await withData(), at);
    for (const key of ["other", "data/.octavo/head", "data/x/.octavo/1"]) {
      await expect(store.set(k(key), text("x"))).rejects.toMatchObject({ name: "InvalidInput" });
      await expect(store.delete(k(key))).rejects.toMatchObject({ name: "InvalidInput" });
      await expect(store.write(k(key))).rejects.toMatchObject({ name: "InvalidInput" });
    }
  });

  it("holds a bounded number of bytes in memory and packs small values together", async () => {
    const store = recordingStore(memoryStore());
    const { store: view, ...transaction } = await Transaction.begin(store, at, { memory: 100 });
    for (let i = 0; i < 50; i++) await view.set(k(`data/${i}`), new Uint8Array(30).fill(i));
    const sink = await view.write(k("data/large"));
    for (let i = 0; i < 20; i++) await sink.write(new Uint8Array(30).fill(i));
    await sink.commit();
    const parts = store.log.filter(({ kind }) => kind === "set" || kind === "write");
    expect(parts.length).toBe(13);
    expect(Math.max(...parts.map(({ bytes }) => bytes ?? 0))).toBe(120);
    for (const i of [0, 7, 49]) expect(await view.get(k(`data/${i}`))).toEqual(new Uint8Array(30).fill(i));
    expect(await view.get(k("data/large"), { range: { offset: 59, length: 2 } })).toEqual(Uint8Array.of(1, 2));
    await transaction.commit();
    for (const i of [0, 7, 49]) expect(await store.get(k(`data/${i}`))).toEqual(new Uint8Array(30).fill(i));
    expect((await store.stat(k("data/large")))?.size).toBe(600);
    expect(await logs(store)).toHaveLength(2);
  });

  it("copies a value of any size in pieces", async () => {
    const store = memoryStore();
    const large = pattern(9_000_000);
    await Transaction.run(store, at, (view) => view.set(k("data/large"), large), { memory: 1000 });
    expect(Buffer.compare((await store.get(k("data/large")))!, large)).toBe(0);
  });
});

const can = { list: true, write: true, conditional: true };
for (const memory of [undefined, 2]) {
  runStoreSuite({ describe, it }, `transaction, ${memory ?? "many"} bytes in memory`, can, async (values) => {
    const store = memoryStore();
    const [below, staged] = [Object.entries(values).slice(1), Object.entries(values).slice(0, 1)];
    for (const [key, value] of below) await store.set(k(key), value);
    const { store: view } = await Transaction.begin(store, Prefix.root, { memory });
    for (const [key, value] of staged) await view.set(k(key), value);
    return view;
  });
}

describe("two transactions", () => {
  const both = async (store: Store) =>
    [await Transaction.begin(store, at), await Transaction.begin(store, at)] as const;

  it("both commit if they have nothing to do with each other", async () => {
    const store = await withData();
    const [one, two] = await both(store);
    await one.store.set(k("data/a"), text("one"));
    await read(two.store, "data/b/c");
    await two.store.set(k("data/b/c"), text("two"));
    expect(await one.commit()).toEqual({ generation: 1 });
    expect(await two.changed()).toBe(true);
    expect(await two.commit()).toEqual({ generation: 2 });
    expect(await all((await overlay(store, at)).store)).toEqual({ "data/a": "one", "data/b/c": "two", other: "3" });
  });

  const touches: Record<string, (store: Store) => Promise<unknown>> = {
    "wrote the same": (store) => store.set(k("data/a"), text("two")),
    "deleted it": (store) => store.delete(k("data/a")),
    "read it": (store) => store.get(k("data/a")),
    "looked at its size": (store) => store.stat(k("data/a")),
    "looked whether there is something new": (store) => store.get(k("data/new")),
    "listed it": (store) => store.children(at),
    "listed all": (store) => all(store),
  };
  it.each(Object.entries(touches))("the second gets Conflict if it %s, and leaves nothing", async (_, touch) => {
    const store = await withData();
    const [one, two] = await both(store);
    await one.store.set(k("data/a"), text("one"));
    await one.store.set(k("data/new"), text("one"));
    await touch(two.store);
    await two.store.set(k("data/z"), text("two"));
    await one.commit();
    await expect(two.commit()).rejects.toBeInstanceOf(Conflict);
    expect(await read(store, "data/a")).toBe("one");
    expect(await read(store, "data/z")).toBeUndefined();
    expect(await logs(store)).toHaveLength(2);
  });

  it("forget nothing of 100 commits that they slept through, or get Conflict", async () => {
    const store = await withData();
    const [one, two] = await both(store);
    for (const { store: view } of [one, two]) await view.set(k(view === one.store ? "data/one" : "data/two"), text(""));
    const other = (n: number) => Transaction.run(store, at, (view) => view.set(k(`data/n${n}`), text(`${n}`)));
    for (let n = 0; n < 30; n++) await other(n);
    expect(await one.commit()).toEqual({ generation: 31 });
    for (let n = 30; n < 100; n++) await other(n);
    await expect(two.commit()).rejects.toBeInstanceOf(Conflict);
    expect((await logs(store)).length).toBe(33);
  });

  it("get Conflict where it is not known what the other changed", async () => {
    const store = await withData();
    const [one, two] = await both(store);
    await one.store.set(k("data/a"), text("one"));
    await two.store.set(k("data/z"), text("two"));
    await one.commit();
    for (const name of await logs(store)) if (name.endsWith("journal")) await store.delete(k(`data/.octavo/${name}`));
    await expect(two.commit()).rejects.toBeInstanceOf(Conflict);
  });

  it("that add up at once lose nothing", async () => {
    const store = await withData({ "data/a": "0" });
    const add = () =>
      Transaction.run(store, at, async (view) => {
        const number = Number(await read(view, "data/a"));
        await view.set(k("data/a"), text(`${number + 1}`));
        await view.set(k(`data/n${number}`), text(""));
        return number;
      });
    const results = await Promise.all(Array.from({ length: 8 }, add));
    expect(results.map(({ result }) => result).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await read(store, "data/a")).toBe("8");
  });
});

describe("any order of the steps of two transactions", () => {
  const keys = ["data/a", "data/b", "data/c"];
  type Plan = readonly { readonly from: string; readonly to: string; readonly remove: boolean }[];
  const plan = fc.array(
    fc.record({ from: fc.constantFrom(...keys), to: fc.constantFrom(...keys), remove: fc.boolean() }),
    { minLength: 1, maxLength: 3 },
  );
  const perform = (mark: string, steps: Plan) => async (view: Store) => {
    for (const { from, to, remove } of steps) {
      const value = `${(await read(view, from)) ?? ""}${mark}`;
      if (remove && value.length > 1) await view.delete(k(to));
      else await view.set(k(to), text(value));
    }
  };

  it("equals one after the other, and a reader sees the state before, between or after", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), plan, plan, async (scheduler, one, two) => {
        const first = { "data/a": "1", "data/b": "2" };
        const serial = async (...plans: [string, Plan][]) => {
          const store = await withData(first);
          const states = [await all(store)];
          for (const [mark, steps] of plans) {
            await perform(mark, steps)(store);
            states.push(await all(store));
          }
          return states;
        };
        const orders = [await serial(["x", one], ["y", two]), await serial(["y", two], ["x", one])];

        const store = await withData(first);
        const stepped = () =>
          faultyStore(store, ({ kind, at }) => scheduler.schedule(Promise.resolve(), `${kind} ${at}`));
        const reading = async () => {
          for (;;) {
            const { store: view, changed } = await overlay(stepped(), at);
            const found = await all(view).catch((error) => error); // one that a change explains
            if (!(await changed())) return found;
          }
        };
        const work = Promise.all([
          Transaction.run(stepped(), at, perform("x", one)),
          Transaction.run(stepped(), at, perform("y", two)),
          reading(),
          reading(),
        ]);
        const [, , ...readers] = await scheduler.waitFor(work);
        expect(orders.map((states) => states.at(-1))).toContainEqual(await inPlace(store));
        for (const found of readers) expect(orders.flat()).toContainEqual(found);
      }),
      { numRuns: 100 },
    );
  });
});
