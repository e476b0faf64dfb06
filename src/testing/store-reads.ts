/** Behaviours of `get` and `stat`. */
import { Key } from "../store/key.js";
import type { ByteRange, Store } from "../store/types.js";
import { check, rejects, rejectsWith, same } from "./assert.js";
import type { Behaviour } from "./store-suite.js";

export const k = Key.of;
export const bytes = (...values: number[]) => Uint8Array.from(values);
export const text = (value: string) => new TextEncoder().encode(value);

/** Bytes that differ from place to place, so that a shifted read does not go unnoticed. */
export function pattern(length: number, seed = 1): Uint8Array {
  const out = new Uint8Array(length);
  let state = seed >>> 0 || 1;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    out[i] = state >>> 24;
  }
  return out;
}

const five = bytes(10, 11, 12, 13, 14);

function ranged(name: string, value: Uint8Array, range: ByteRange, expected: Uint8Array | string): Behaviour {
  return {
    name,
    needs: {},
    async run(make) {
      const got = (await make({ v: value, w: five })).get(k("v"), { range });
      if (typeof expected === "string") await rejects(got, expected);
      else same(await got, expected);
    },
  };
}

function named(name: string, ...keys: string[]): Behaviour {
  return {
    name,
    needs: {},
    async run(make) {
      const values = Object.fromEntries(keys.map((key) => [key, text(`the value of ${key}`)]));
      const store = await make(values);
      for (const key of keys) {
        same(await store.get(k(key)), values[key], key);
        same((await store.stat(k(key)))?.size, values[key]!.length, `size of ${key}`);
      }
    },
  };
}

function reads(name: string, values: Record<string, Uint8Array>, run: (store: Store) => Promise<void>): Behaviour {
  return { name, needs: {}, run: async (make) => run(await make(values)) };
}

const odd = [
  "a b",
  "a%20b",
  "50%",
  "q?x=1",
  "h#1",
  "p+q",
  "a&b=c",
  "semi;colon",
  "co:lon",
  "at@",
  "quo'te",
  'quo"te',
  "~t",
  "(x)",
  "[y]",
  "{z}",
  "*",
  "<",
  "|",
  "^",
  "`",
  "$",
  "!",
  ",",
];

export const readBehaviours: readonly Behaviour[] = [
  reads("get: an absent key is undefined", { v: five }, async (store) => same(await store.get(k("x")), undefined)),
  reads("get: a value whole", { v: five }, async (store) => same(await store.get(k("v")), five)),
  reads("get: an empty value is not absence", { v: bytes() }, async (store) => same(await store.get(k("v")), bytes())),
  reads("get: a range of an absent key is undefined", { v: five }, async (store) => {
    same(await store.get(k("x"), { range: { offset: 0, length: 1 } }), undefined);
    same(await store.get(k("x"), { range: { offset: 0, length: 0 } }), undefined);
    same(await store.get(k("x"), { range: { suffix: 1 } }), undefined);
  }),
  ranged("range: at the start", five, { offset: 0, length: 2 }, bytes(10, 11)),
  ranged("range: in the middle", five, { offset: 1, length: 3 }, bytes(11, 12, 13)),
  ranged("range: the last byte", five, { offset: 4, length: 1 }, bytes(14)),
  ranged("range: the whole value", five, { offset: 0, length: 5 }, five),
  ranged("range: no bytes in the middle", five, { offset: 2, length: 0 }, bytes()),
  ranged("range: no bytes at the end", five, { offset: 5, length: 0 }, bytes()),
  ranged("range: one byte past the end is Corrupt", five, { offset: 3, length: 3 }, "Corrupt"),
  ranged("range: one that starts at the end is Corrupt", five, { offset: 5, length: 1 }, "Corrupt"),
  ranged("range: far past the end is Corrupt", five, { offset: 2 ** 40, length: 8 }, "Corrupt"),
  ranged("range: no bytes past the end is Corrupt", five, { offset: 6, length: 0 }, "Corrupt"),
  ranged("range: a huge length is Corrupt, not an allocation", five, { offset: 0, length: 2 ** 52 }, "Corrupt"),
  ranged("range: any byte of an empty value is Corrupt", bytes(), { offset: 0, length: 1 }, "Corrupt"),
  ranged("range: no bytes of an empty value", bytes(), { offset: 0, length: 0 }, bytes()),
  ranged("suffix: the last bytes", five, { suffix: 2 }, bytes(13, 14)),
  ranged("suffix: as long as the value", five, { suffix: 5 }, five),
  ranged("suffix: longer than the value gives all of it", five, { suffix: 100 }, five),
  ranged("suffix: of no bytes", five, { suffix: 0 }, bytes()),
  ranged("suffix: of an empty value", bytes(), { suffix: 3 }, bytes()),
  ranged("range: a negative offset is InvalidInput", five, { offset: -1, length: 1 }, "InvalidInput"),
  ranged("range: a negative length is InvalidInput", five, { offset: 1, length: -1 }, "InvalidInput"),
  ranged("range: half a byte is InvalidInput", five, { offset: 0, length: 1.5 }, "InvalidInput"),
  ranged("range: NaN is InvalidInput", five, { offset: Number.NaN, length: 1 }, "InvalidInput"),
  ranged("range: 2^53 is InvalidInput", five, { offset: 2 ** 53, length: 1 }, "InvalidInput"),
  ranged("range: an end past 2^53 is InvalidInput", five, { offset: 2 ** 53 - 1, length: 1 }, "InvalidInput"),
  ranged("suffix: a negative one is InvalidInput", five, { suffix: -1 }, "InvalidInput"),
  reads("open, where there is one: pieces of a value, exactly or not at all", { v: five }, async (store) => {
    if (store.open === undefined) return;
    same(await store.open(k("x")), undefined);
    const opened = (await store.open(k("v")))!;
    const [first, second] = [
      { offset: 0, length: 2 },
      { offset: 3, length: 2 },
    ];
    same(opened.size, 5);
    same(await opened.read([second, first, { offset: 5, length: 0 }]), [bytes(13, 14), bytes(10, 11), bytes()]);
    await rejects(opened.read([first, { offset: 4, length: 2 }]), "Corrupt");
    await rejects(opened.read([{ offset: -1, length: 2 }]), "InvalidInput");
    opened.close();
    opened.close();
  }),
  reads("get: what is handed out belongs to the caller", { v: five }, async (store) => {
    const first = await store.get(k("v"));
    first!.fill(0);
    same(await store.get(k("v")), five);
    const part = await store.get(k("v"), { range: { offset: 1, length: 2 } });
    part!.fill(0);
    same(await store.get(k("v"), { range: { offset: 1, length: 2 } }), bytes(11, 12));
  }),
  reads("get: two calls at once give two buffers", { v: five }, async (store) => {
    const [a, b] = await Promise.all([store.get(k("v")), store.get(k("v"))]);
    a!.fill(0);
    same(b, five);
  }),
  reads("get: a value of 3 MiB", { v: pattern(3 << 20) }, async (store) =>
    same(await store.get(k("v")), pattern(3 << 20)),
  ),
  reads("get: more than the caller takes is LimitExceeded, a range is not", { v: five }, async (store) => {
    same(await store.get(k("v"), { most: 5 }), five);
    await rejects(store.get(k("v"), { most: 4 }), "LimitExceeded");
    same(await store.get(k("v"), { most: 1, range: { offset: 1, length: 2 } }), bytes(11, 12));
    same(await store.get(k("v")), five);
    await rejects(store.get(k("v"), { most: 4 }), "LimitExceeded");
    same(await store.get(k("x"), { most: 0 }), undefined);
  }),
  reads("range: many at once of a large value", { v: pattern(1 << 20) }, async (store) => {
    const whole = pattern(1 << 20);
    const spans = Array.from({ length: 40 }, (_, i) => ({
      offset: (i * 26_177) % (1 << 20),
      length: (i * i * 7) % 600,
    }));
    const got = await Promise.all(spans.map((range) => store.get(k("v"), { range })));
    spans.forEach(({ offset, length }, i) => {
      same(got[i], whole.slice(offset, offset + length), `range ${offset}+${length}`);
    });
  }),
  reads("range: overlapping ones and the whole at once", { v: pattern(1000) }, async (store) => {
    const [a, b, c, d] = await Promise.all([
      store.get(k("v"), { range: { offset: 100, length: 300 } }),
      store.get(k("v"), { range: { offset: 200, length: 300 } }),
      store.get(k("v")),
      store.get(k("v"), { range: { suffix: 10 } }),
    ]);
    same(a, pattern(1000).slice(100, 400));
    same(b, pattern(1000).slice(200, 500));
    same(c, pattern(1000));
    same(d, pattern(1000).slice(990));
  }),
  reads("range: one that fails leaves the others be", { v: five }, async (store) => {
    const bad = store.get(k("v"), { range: { offset: 4, length: 9 } });
    const good = store.get(k("v"), { range: { offset: 1, length: 2 } });
    await rejects(bad, "Corrupt");
    same(await good, bytes(11, 12));
  }),
  {
    name: "get: a hundred keys at once",
    needs: {},
    async run(make) {
      const values = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`c/${i}`, pattern(50 + i, i + 1)]));
      const store = await make(values);
      const got = await Promise.all(Object.keys(values).map((key) => store.get(k(key))));
      Object.values(values).forEach((value, i) => {
        same(got[i], value);
      });
    },
  },
  reads("get: an aborted call rejects with the signal's reason", { v: five }, async (store) => {
    const reason = new Error("enough");
    await rejectsWith(store.get(k("v"), { signal: AbortSignal.abort(reason) }), reason);
    await rejectsWith(
      store.get(k("v"), { signal: AbortSignal.abort(reason), range: { offset: 0, length: 1 } }),
      reason,
    );
  }),
  reads("stat: an absent key is undefined", { v: five }, async (store) => same(await store.stat(k("x")), undefined)),
  reads("stat: the size", { v: five }, async (store) => same((await store.stat(k("v")))?.size, 5)),
  reads("stat: the size of an empty value", { v: bytes() }, async (store) => same((await store.stat(k("v")))?.size, 0)),
  reads("stat: an aborted call rejects with the signal's reason", { v: five }, async (store) => {
    const reason = new Error("enough");
    await rejectsWith(store.stat(k("v"), { signal: AbortSignal.abort(reason) }), reason);
  }),
  named("keys: deep ones", "a/b/c/d/e/f/g/h/i/j/k/l/m"),
  named(
    "keys: characters that URLs and shells give a meaning to",
    ...odd,
    ...odd.map((name) => `below ${name}/${name}`),
  ),
  named("keys: that look like escapes stay apart", "%2e%2e/x", "%2E%2E/x", "a%2fb", "a%2Fb", "%00"),
  named("keys: beyond ASCII", "größe/µm", "層/点", "🧠/🧵"),
  named("keys: with dots that are no steps", ".zarray", "..a", "a..", "...", "a/..b/.c", "c/0.0.0"),
  named("keys: names as long as a disk takes", `${"n".repeat(200)}/${"m".repeat(200)}`),
  named("keys: that spell properties of objects", "__proto__", "constructor", "toString", "hasOwnProperty/x"),
  reads("keys: a part of a name is not the name", { abc: five, "d/efg": five }, async (store) => {
    for (const part of ["ab", "abcd", "d/ef", "d/efgh", "bc", "efg"]) same(await store.get(k(part)), undefined, part);
  }),
  reads("keys: a prefix is not a value", { "a/b/c": five }, async (store) => {
    for (const prefix of ["a", "a/b"]) {
      same(await store.get(k(prefix)), undefined, prefix);
      same(await store.stat(k(prefix)), undefined, prefix);
    }
  }),
  reads("keys: below a value nothing is there", { a: five }, async (store) => {
    same(await store.get(k("a/b")), undefined);
    same(await store.stat(k("a/b/c")), undefined);
  }),
  reads("url: names the store, without a slash at the end and without secrets", { v: five }, async (store) => {
    check(store.url.length > 0 && !store.url.endsWith("/"), `the url ${store.url} is empty or ends in "/"`);
    check(!/\/\/[^/]*@/.test(store.url), `the url ${store.url} holds a user name or a password`);
  }),
  reads("close: may be called twice", { v: five }, async (store) => {
    await store.close?.();
    await store.close?.();
  }),
];
