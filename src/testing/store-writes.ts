/** Behaviours of `set`, `write`, `delete` and of writes on a condition. */
import { Prefix } from "../store/key.js";
import type { Store } from "../store/types.js";
import { check, rejects, rejectsWith, same } from "./assert.js";
import { listed } from "./store-lists.js";
import { bytes, k, pattern, text } from "./store-reads.js";
import type { Behaviour } from "./store-suite.js";

const old = bytes(1, 2, 3);
const fresh = bytes(7, 8, 9, 10);

function writes(name: string, run: (store: Store) => Promise<void>, needs: Behaviour["needs"] = {}): Behaviour {
  return { name, needs: { write: true, ...needs }, run: async (make) => run(await make({ v: old, "d/w": old })) };
}

const conditional = { conditional: true };

async function version(store: Store, key: string): Promise<string> {
  const found = (await store.stat(k(key)))?.version;
  check(typeof found === "string", `stat of ${key} gave no version`);
  return found;
}

/** Adds one to the number in a value, as often as it takes. */
async function increment(store: Store, key: string): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    const before = await version(store, key);
    const number = Number(new TextDecoder().decode(await store.get(k(key))));
    try {
      return await store.set(k(key), text(String(number + 1)), { if: { version: before } });
    } catch (error) {
      if ((error as Error).name !== "Conflict") throw error;
    }
  }
  check(false, "a thousand conflicts in a row");
}

export const writeBehaviours: readonly Behaviour[] = [
  writes("open, where there is one: what is open stays as it was; another value has another version", async (store) => {
    if (store.open === undefined) return;
    const whole = [{ offset: 0, length: old.length }];
    const opened = (await store.open(k("v")))!;
    await store.set(k("v"), bytes(9));
    same(await opened.read(whole), [old]);
    const next = (await store.open(k("v")))!;
    same(next.size, 1);
    check(
      opened.version === undefined || opened.version !== next.version,
      `the version was ${opened.version}, and still is`,
    );
    await store.delete(k("v"));
    same(await next.read([{ offset: 0, length: 1 }]), [bytes(9)]);
    for (const one of [opened, next]) one.close();
  }),
  writes("set: makes a value", async (store) => {
    await store.set(k("n"), fresh);
    same(await store.get(k("n")), fresh);
  }),
  writes("set: replaces a value", async (store) => {
    await store.set(k("v"), fresh);
    same(await store.get(k("v")), fresh);
    same((await store.stat(k("v")))?.size, 4);
  }),
  writes("set: a shorter value leaves no tail of the old", async (store) => {
    await store.set(k("v"), bytes(5));
    same(await store.get(k("v")), bytes(5));
  }),
  writes("set: an empty value", async (store) => {
    await store.set(k("v"), bytes());
    same(await store.get(k("v")), bytes());
  }),
  writes("set: of a view writes the view", async (store) => {
    await store.set(k("v"), pattern(100).subarray(10, 20));
    same(await store.get(k("v")), pattern(100).slice(10, 20));
  }),
  writes("set: the caller may reuse its bytes afterwards", async (store) => {
    for (const mine of [bytes(5, 6), typeof Buffer === "undefined" ? bytes(5, 6) : Buffer.from([5, 6])]) {
      await store.set(k("v"), mine);
      mine.fill(0);
      same(await store.get(k("v")), bytes(5, 6));
    }
  }),
  writes("set: below prefixes that were not there", async (store) => {
    await store.set(k("p/q/r/s"), fresh);
    same(await store.get(k("p/q/r/s")), fresh);
  }),
  writes("set: 3 MiB", async (store) => {
    await store.set(k("v"), pattern(3 << 20));
    same(await store.get(k("v")), pattern(3 << 20));
  }),
  writes("set: an aborted call changes nothing", async (store) => {
    const reason = new Error("enough");
    await rejectsWith(store.set(k("v"), fresh, { signal: AbortSignal.abort(reason) }), reason);
    same(await store.get(k("v")), old);
  }),
  writes("set: many keys at once", async (store) => {
    const keys = Array.from({ length: 40 }, (_, i) => k(`m/${i % 4}/${i}`));
    await Promise.all(keys.map((key, i) => store.set(key, pattern(100, i + 1))));
    const got = await Promise.all(keys.map((key) => store.get(key)));
    got.forEach((value, i) => {
      same(value, pattern(100, i + 1));
    });
  }),
  writes("set: one key many times at once leaves one value whole", async (store) => {
    await Promise.all(Array.from({ length: 10 }, (_, i) => store.set(k("v"), new Uint8Array(5000 + i).fill(i))));
    const found = (await store.get(k("v")))!;
    same(found, new Uint8Array(5000 + found[0]!).fill(found[0]!));
  }),
  writes("set: a reader sees the old value or the new one", async (store) => {
    await store.set(k("v"), new Uint8Array(20_000).fill(0));
    let writing = true;
    const reader = (async () => {
      while (writing) {
        const found = (await store.get(k("v")))!;
        same(found, new Uint8Array(20_000 + found[0]!).fill(found[0]!));
        await new Promise((done) => setTimeout(done));
      }
    })();
    for (let i = 1; i <= 15; i++) await store.set(k("v"), new Uint8Array(20_000 + i).fill(i));
    writing = false;
    await reader;
  }),
  writes("delete: takes a value away", async (store) => {
    await store.delete(k("v"));
    same(await store.get(k("v")), undefined);
    same(await store.stat(k("v")), undefined);
  }),
  writes("delete: of what is not there is no error", async (store) => {
    await store.delete(k("x"));
    await store.delete(k("x/y/z"));
    await store.delete(k("v/below"));
  }),
  writes("delete: a prefix is not a value", async (store) => {
    await store.delete(k("d"));
    same(await store.get(k("d/w")), old);
  }),
  writes("delete: leaves its neighbours", async (store) => {
    await store.set(k("d/w2"), fresh);
    await store.delete(k("d/w"));
    same(await store.get(k("d/w2")), fresh);
  }),
  writes("delete: an aborted call changes nothing", async (store) => {
    const reason = new Error("enough");
    await rejectsWith(store.delete(k("v"), { signal: AbortSignal.abort(reason) }), reason);
    same(await store.get(k("v")), old);
  }),
  writes("delete: then set makes it anew", async (store) => {
    await store.delete(k("d/w"));
    await store.set(k("d/w"), fresh);
    same(await store.get(k("d/w")), fresh);
  }),
  writes(
    "delete: what is gone is not listed, nor is an empty prefix",
    async (store) => {
      await store.delete(k("d/w"));
      same(await listed(store, ""), ["v"]);
      same(await store.children(Prefix.root), { keys: ["v"], prefixes: [] });
    },
    { list: true },
  ),
  writes("sink: pieces in their order", async (store) => {
    const sink = await store.write(k("s"));
    for (let i = 0; i < 5; i++) await sink.write(pattern(1000, i + 1));
    await sink.commit();
    const all = new Uint8Array(5000);
    for (let i = 0; i < 5; i++) all.set(pattern(1000, i + 1), i * 1000);
    same(await store.get(k("s")), all);
  }),
  writes("sink: nothing is visible before commit", async (store) => {
    const sink = await store.write(k("s"));
    await sink.write(fresh);
    same(await store.get(k("s")), undefined);
    same(await store.stat(k("s")), undefined);
    await sink.commit();
    same(await store.get(k("s")), fresh);
  }),
  writes("sink: the old value stays until commit", async (store) => {
    const sink = await store.write(k("v"));
    await sink.write(fresh);
    same(await store.get(k("v")), old);
    await sink.commit();
    same(await store.get(k("v")), fresh);
  }),
  writes("sink: abort leaves the old value, and may be called twice", async (store) => {
    const sink = await store.write(k("v"));
    await sink.write(fresh);
    await sink.abort();
    await sink.abort();
    same(await store.get(k("v")), old);
  }),
  writes("sink: abort after commit does nothing", async (store) => {
    const sink = await store.write(k("v"));
    await sink.write(fresh);
    await sink.commit();
    await sink.abort();
    same(await store.get(k("v")), fresh);
  }),
  writes("sink: commit of nothing is an empty value", async (store) => {
    await (await store.write(k("v"))).commit();
    same(await store.get(k("v")), bytes());
  }),
  writes("sink: using it after its end is InvalidInput", async (store) => {
    const sink = await store.write(k("v"));
    await sink.commit();
    await rejects(sink.write(fresh), "InvalidInput");
    await rejects(sink.commit(), "InvalidInput");
    const other = await store.write(k("v"));
    await other.abort();
    await rejects(other.write(fresh), "InvalidInput");
    await rejects(other.commit(), "InvalidInput");
  }),
  writes("sink: the caller may reuse its bytes after each piece", async (store) => {
    const sink = await store.write(k("v"));
    const mine = bytes(1, 1);
    await sink.write(mine);
    mine.fill(2);
    await sink.write(mine);
    mine.fill(3);
    await sink.commit();
    same(await store.get(k("v")), bytes(1, 1, 2, 2));
  }),
  writes("sink: pieces of a megabyte", async (store) => {
    const sink = await store.write(k("v"));
    for (let i = 0; i < 3; i++) await sink.write(pattern(1 << 20, i + 1));
    await sink.commit();
    same((await store.stat(k("v")))?.size, 3 << 20);
    same(await store.get(k("v"), { range: { offset: 1 << 20, length: 1 << 20 } }), pattern(1 << 20, 2));
  }),
  writes("sink: two at once on one key leave one value whole", async (store) => {
    const [a, b] = [await store.write(k("v")), await store.write(k("v"))];
    await Promise.all([a.write(bytes(1, 1)), b.write(bytes(2, 2, 2))]);
    await a.commit();
    same(await store.get(k("v")), bytes(1, 1));
    await b.commit();
    same(await store.get(k("v")), bytes(2, 2, 2));
  }),
  writes(
    "sink: what is not committed is not listed",
    async (store) => {
      const sink = await store.write(k("d/s"));
      await sink.write(fresh);
      same(await listed(store, ""), ["d/w", "v"]);
      await sink.abort();
      same(await listed(store, ""), ["d/w", "v"]);
    },
    { list: true },
  ),
  writes(
    "version: stays while the value stays",
    async (store) => same(await version(store, "v"), await version(store, "v")),
    conditional,
  ),
  writes(
    "version: changes with every value, also of one size in one moment",
    async (store) => {
      const seen = new Set([await version(store, "v")]);
      for (let i = 10; i < 20; i++) {
        await store.set(k("v"), bytes(i, i, i));
        seen.add(await version(store, "v"));
      }
      same(seen.size, 11);
    },
    conditional,
  ),
  writes(
    "if absent: writes what is not there",
    async (store) => {
      await store.set(k("n/o"), fresh, { if: { absent: true } });
      same(await store.get(k("n/o")), fresh);
    },
    conditional,
  ),
  writes(
    "if absent: Conflict where something is, which stays",
    async (store) => {
      await rejects(store.set(k("v"), fresh, { if: { absent: true } }), "Conflict");
      same(await store.get(k("v")), old);
    },
    conditional,
  ),
  writes(
    "if absent: of ten at once one wins",
    async (store) => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 10 }, (_, i) => store.set(k("n"), bytes(i), { if: { absent: true } })),
      );
      const won = outcomes.flatMap((outcome, i) => (outcome.status === "fulfilled" ? [i] : []));
      same(won.length, 1, "winners");
      same(await store.get(k("n")), bytes(won[0]!));
      for (const outcome of outcomes)
        check(outcome.status === "fulfilled" || outcome.reason.name === "Conflict", "not a Conflict");
    },
    conditional,
  ),
  writes(
    "if version: writes where it is still that one",
    async (store) => {
      await store.set(k("v"), fresh, { if: { version: await version(store, "v") } });
      same(await store.get(k("v")), fresh);
    },
    conditional,
  ),
  writes(
    "if version: Conflict where it has changed, and the value stays",
    async (store) => {
      const before = await version(store, "v");
      await store.set(k("v"), bytes(3, 2, 1));
      await rejects(store.set(k("v"), fresh, { if: { version: before } }), "Conflict");
      same(await store.get(k("v")), bytes(3, 2, 1));
    },
    conditional,
  ),
  writes(
    "if version: Conflict where nothing is left",
    async (store) => {
      const before = await version(store, "v");
      await store.delete(k("v"));
      await rejects(store.set(k("v"), fresh, { if: { version: before } }), "Conflict");
      same(await store.get(k("v")), undefined);
    },
    conditional,
  ),
  writes(
    "if version: eight who add one at once lose nothing",
    async (store) => {
      await store.set(k("count"), text("0"));
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          for (let i = 0; i < 4; i++) await increment(store, "count");
        }),
      );
      same(await store.get(k("count")), text("32"));
    },
    conditional,
  ),
  writes(
    "sink: conditions hold at commit",
    async (store) => {
      const anew = await store.write(k("v"), { if: { absent: true } });
      await anew.write(fresh);
      await rejects(anew.commit(), "Conflict");
      const before = await version(store, "v");
      const swap = await store.write(k("v"), { if: { version: before } });
      await swap.write(fresh);
      await swap.commit();
      same(await store.get(k("v")), fresh);
      const late = await store.write(k("v"), { if: { version: before } });
      await late.write(old);
      await rejects(late.commit(), "Conflict");
      same(await store.get(k("v")), fresh);
    },
    conditional,
  ),
  writes(
    "conditions: a store that has none says Unsupported and writes nothing",
    async (store) => {
      await rejects(store.set(k("n"), fresh, { if: { absent: true } }), "Unsupported");
      same(await store.get(k("n")), undefined);
    },
    { conditional: false },
  ),
  {
    name: "write: a store that cannot says Unsupported and changes nothing",
    needs: { write: false },
    async run(make) {
      const store = await make({ v: old });
      await rejects(store.set(k("v"), fresh), "Unsupported");
      await rejects(store.write(k("v")), "Unsupported");
      await rejects(store.delete(k("v")), "Unsupported");
      same(await store.get(k("v")), old);
    },
  },
];
