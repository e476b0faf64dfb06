import { describe, expect, it } from "vitest";
import { all, at, inPlace, k, logs, read, seenThrough, state, step, text } from "../../test/transactions.js";
import { Corrupt, LimitExceeded, Unsupported } from "../errors.js";
import { faultyStore, fill, recordingStore, runStoreSuite } from "../testing/index.js";
import { Prefix } from "./key.js";
import { memoryStore } from "./memory.js";
import { overlay } from "./overlay.js";
import { Transaction } from "./transaction.js";
import { headKey, Journal, journalKey } from "./transaction-log.js";
import type { Store } from "./types.js";
import { wrap } from "./wrap.js";

/** A commit that stays in the log, because nothing can be written outside of it. */
async function committedOnly(store: Store, at: Prefix, work: (view: Store) => Promise<unknown>): Promise<void> {
  const stuck = faultyStore(store, ({ kind, at }) => {
    if (["set", "delete", "write"].includes(kind) && !at.includes(".octavo/")) throw new LimitExceeded("stuck");
  });
  expect(await Transaction.run(stuck, at, work, { memory: 50 })).toMatchObject({ unapplied: { message: "stuck" } });
}

// A commit that is still in the log shows like any store: half of the values are in place, half in the log, and some are gone.
runStoreSuite({ describe, it }, "overlay", { list: true, write: false, conditional: false }, async (values) => {
  const half = (which: number) => Object.fromEntries(Object.entries(values).filter((_, i) => i % 2 === which));
  const store = await fill(memoryStore(), { "gone/1": text("1"), gone: text("2"), ...half(0) });
  await committedOnly(store, Prefix.root, async (view) => {
    await view.delete(k("gone/1"));
    await view.delete(k("gone"));
    await fill(view, half(1));
  });
  return (await overlay(store, Prefix.root)).store;
});

describe("an overlay", () => {
  it("costs one request where nothing was ever committed, and none besides the reads", async () => {
    const store = recordingStore(await fill(memoryStore(), { "data/a": text("1") }));
    const { store: view, generation, changed } = await overlay(store, at);
    expect(await read(view, "data/a")).toBe("1");
    expect(generation).toBe(0);
    expect(store.log).toEqual([
      { kind: "get", at: "data/.octavo/head" },
      { kind: "get", at: "data/a" },
    ]);
    expect(await changed()).toBe(false);
    expect(store.log).toHaveLength(3);
  });

  it("costs one request after commits that have been applied, and two for one that has not", async () => {
    const store = recordingStore(memoryStore());
    await step(store);
    store.log.length = 0;
    expect((await overlay(store, at)).generation).toBe(1);
    expect(store.log).toHaveLength(1);
    await committedOnly(store, at, (view) => view.set(k("data/x"), text("2")));
    store.log.length = 0;
    expect((await overlay(store, at)).generation).toBe(2);
    expect(store.log).toHaveLength(2);
  });

  it("never shows the log", async () => {
    const store = memoryStore();
    await step(store);
    const { store: view } = await overlay(store, at);
    expect(await all(view)).toEqual(state(1));
    expect(await view.children(at)).toEqual({ keys: ["data/x"], prefixes: ["data/deep/", "data/odd/"] });
  });

  it("is only read: changes are made by transactions", async () => {
    const { store } = await overlay(memoryStore(), at);
    await expect(store.set(k("data/a"), text("x"))).rejects.toMatchObject({ kind: "unsupported", reason: "write" });
  });

  it("stays the same while its commit is applied and the log goes away", async () => {
    const store = memoryStore();
    await step(store);
    await committedOnly(store, at, async (view) => {
      await view.set(k("data/x"), text("new"));
      await view.set(k("data/deep/y"), new Uint8Array(100).fill(65));
      await view.delete(k("data/odd/z"));
    });
    const { store: view, changed } = await overlay(store, at);
    const before = await all(view);
    expect(before["data/x"]).toBe("new");
    await Transaction.recover(store, at);
    expect((await logs(store)).filter((name) => !name.endsWith("journal"))).toEqual(["head"]);
    expect(await all(view)).toEqual(before);
    expect(await inPlace(store)).toEqual(before);
    expect(await changed()).toBe(false);
    await step(store).catch(() => {}); // "new" is no number, but the commit after it is a commit
    expect(await changed()).toBe(true);
  });

  it("notices a commit before the first of its changes is in its place", async () => {
    const store = memoryStore();
    await step(store);
    const { changed } = await overlay(store, at);
    const seen: boolean[] = [];
    const watched = faultyStore(store, async ({ kind, at }) => {
      if (kind === "set" && !at.includes(".octavo/")) seen.push(await changed());
    });
    await step(watched);
    expect(seen).toEqual([true, true, true]);
  });

  it("takes a forbidden head for none, as where listing is forbidden; not on a disk", async () => {
    const store = await fill(memoryStore(), { "data/a": text("1") });
    const forbidden = (url: string) =>
      wrap(store, {
        url,
        async get(key, call) {
          if (key === headKey(at)) throw new Unsupported("not for you", { reason: "forbidden" });
          return store.get(key, call);
        },
      });
    expect((await overlay(forbidden("s3://bucket"), at)).generation).toBe(0);
    await expect(overlay(forbidden("file:///tmp"), at)).rejects.toMatchObject({ reason: "forbidden" });
  });

  it("lets workers read files themselves, except what is in the log", async () => {
    const store = Object.assign(await fill(memoryStore(), { "data/a": text("1") }), {
      pathOf: (key: string) => `/${key}`,
    });
    await committedOnly(store, at, (view) => view.set(k("data/x"), text("2")));
    const view = (await overlay(store, at)).store as typeof store;
    expect([view.pathOf("data/a"), view.pathOf("data/x")]).toEqual(["/data/a", undefined]);
    expect("pathOf" in (await overlay(memoryStore(), at)).store).toBe(false);
  });
});

describe("a damaged log", () => {
  const id = "0-ffffffff-1-1-0-abababababababab";
  const pending = { id, applier: id, beat: 0, lease: 1 };
  const heads: Record<string, unknown> = {
    "no object": [],
    "no generation": { octavo: 1, recent: [] },
    "half a generation": { octavo: 1, generation: 0.5, recent: [] },
    "recent is no list": { octavo: 1, generation: 1, recent: 7 },
    "pending without an id": { octavo: 1, generation: 1, recent: [id], pending: {} },
    "pending without a lease": { octavo: 1, generation: 1, recent: [id], pending: { ...pending, lease: -1 } },
    "pending is not recent": { octavo: 1, generation: 1, recent: [], pending },
    "its journal is missing": { octavo: 1, generation: 1, recent: [id], pending },
  };
  it.each(Object.entries(heads))("%s", async (_, head) => {
    const store = await fill(memoryStore(), { [headKey(at)]: text(JSON.stringify(head)) });
    await expect(overlay(store, at)).rejects.toBeInstanceOf(Corrupt);
    await expect(Transaction.begin(store, at)).rejects.toBeInstanceOf(Corrupt);
  });

  it("is not understood if it is of a later version", async () => {
    const store = await fill(memoryStore(), { [headKey(at)]: text('{"octavo": 2}') });
    await expect(overlay(store, at)).rejects.toBeInstanceOf(Unsupported);
  });

  const journals: Record<string, unknown> = {
    "no values": { deletes: [] },
    "a value that is no list": { values: [7], deletes: [] },
    "an offset before the start": { values: [["a", 0, -1, 1]], deletes: [] },
    "a length beyond 2^53": { values: [["a", 0, 0, 2 ** 60]], deletes: [] },
    "a key that climbs": { values: [["../a", 0, 0, 1]], deletes: [] },
    "a delete that climbs": { values: [], deletes: ["a/../../b"] },
  };
  it.each(Object.entries(journals))("a journal: %s", (_, journal) => {
    const bytes = text(JSON.stringify({ octavo: 1, ...(journal as object) }));
    expect(() => Journal.parse(bytes, id, at, "the journal")).toThrow(Corrupt);
  });

  it("a part that is shorter than the journal says is Corrupt, and nothing is applied", async () => {
    const journal = { octavo: 1, values: [["a", 0, 0, 9]], deletes: [] };
    const head = { octavo: 1, generation: 1, recent: [id], pending };
    const store = await fill(memoryStore(), {
      [headKey(at)]: text(JSON.stringify(head)),
      [journalKey(at, id)]: text(JSON.stringify(journal)),
      [`data/.octavo/${id}.0`]: text("short"),
    });
    const { store: view } = await overlay(store, at);
    await expect(view.get(k("data/a"))).rejects.toBeInstanceOf(Corrupt);
    await expect(Transaction.begin(store, at)).rejects.toBeInstanceOf(Corrupt);
    expect(await inPlace(store)).toEqual({});
  });

  it("a journal reads back as it was written, below any prefix", () => {
    const staged = { version: `${id}.3.5`, part: 3, offset: 5, length: 2 ** 40 };
    const changes = new Map([
      [k("data/a b/ü"), staged],
      [k("data/__proto__"), undefined],
    ]);
    const bytes = Journal.encode(changes, at);
    expect(new TextDecoder().decode(bytes)).toBe(
      '{"octavo":1,"values":[["a b/ü",3,5,1099511627776]],"deletes":["__proto__"]}',
    );
    expect(Journal.parse(bytes, id, at, "")).toEqual(changes);
    expect([...Journal.parse(bytes, id, Prefix.of("moved/here"), "").keys()]).toContain("moved/here/__proto__");
  });
});

it("a state is before or after at every operation of a commit, seen from outside", async () => {
  const store = memoryStore();
  await step(store);
  const watched = faultyStore(store, async () => {
    const found = await seenThrough(store);
    expect([state(1), state(2)]).toContainEqual(found);
  });
  await step(watched);
  expect(await seenThrough(store)).toEqual(state(2));
});
