/** Behaviours of `list` and `children`. */
import { Prefix } from "../store/key.js";
import type { Store } from "../store/types.js";
import { check, rejects, rejectsWith, same } from "./assert.js";
import { bytes, k } from "./store-reads.js";
import type { Behaviour } from "./store-suite.js";

const tree = {
  "a/1": bytes(1),
  "a/2": bytes(1, 2),
  "a/b/3": bytes(1, 2, 3),
  "ab/4": bytes(4),
  "a.txt": bytes(),
  z: bytes(9, 9),
};

export async function listed(store: Store, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(Prefix.of(prefix))) keys.push(key);
  return keys.sort();
}

function lists(name: string, run: (store: Store) => Promise<void>): Behaviour {
  return { name, needs: { list: true }, run: async (make) => run(await make(tree)) };
}

export const listBehaviours: readonly Behaviour[] = [
  lists("list: every key", async (store) => same(await listed(store, ""), Object.keys(tree).sort())),
  lists("list: what is below a prefix", async (store) => same(await listed(store, "a"), ["a/1", "a/2", "a/b/3"])),
  lists("list: a deeper prefix", async (store) => same(await listed(store, "a/b"), ["a/b/3"])),
  lists("list: nothing below an absent prefix", async (store) => same(await listed(store, "nothing/here"), [])),
  lists("list: nothing below a value", async (store) => same(await listed(store, "z"), [])),
  lists("list: sizes, where they are given, are right", async (store) => {
    for await (const { key, size } of store.list(Prefix.root)) {
      if (size !== undefined) same(size, tree[key as keyof typeof tree as "z"].length, key);
    }
  }),
  lists("list: can be left early", async (store) => {
    for await (const { key } of store.list(Prefix.root)) {
      check(key in tree, key);
      break;
    }
    same(await store.get(k("z")), tree.z);
  }),
  lists("list: an aborted call rejects with the signal's reason", async (store) => {
    const reason = new Error("enough");
    const all = (async () => {
      for await (const _ of store.list(Prefix.root, { signal: AbortSignal.abort(reason) }));
    })();
    await rejectsWith(all, reason);
  }),
  lists("children: of the root, sorted", async (store) => {
    same(await store.children(Prefix.root), { keys: ["a.txt", "z"], prefixes: ["a/", "ab/"] });
  }),
  lists("children: whole keys, one level only", async (store) => {
    same(await store.children(Prefix.of("a")), { keys: ["a/1", "a/2"], prefixes: ["a/b/"] });
  }),
  lists("children: none below an absent prefix or a value", async (store) => {
    for (const prefix of ["nothing", "z"]) same(await store.children(Prefix.of(prefix)), { keys: [], prefixes: [] });
  }),
  lists("children: an aborted call rejects with the signal's reason", async (store) => {
    const reason = new Error("enough");
    await rejectsWith(store.children(Prefix.root, { signal: AbortSignal.abort(reason) }), reason);
  }),
  {
    name: "list: an empty store has no keys",
    needs: { list: true },
    async run(make) {
      const store = await make({});
      same(await listed(store, ""), []);
      same(await store.children(Prefix.root), { keys: [], prefixes: [] });
    },
  },
  {
    name: "list: more keys than one page of an object store",
    needs: { list: true },
    async run(make) {
      const keys = Array.from({ length: 1100 }, (_, i) => `c/${i % 10}/${i}`);
      const store = await make(Object.fromEntries(keys.map((key) => [key, bytes(1)])));
      same(await listed(store, "c"), [...keys].sort());
      same((await store.children(Prefix.of("c"))).prefixes.length, 10);
      same((await store.children(Prefix.of("c/7"))).keys.length, 110);
    },
  },
  {
    name: "list: keys come back as they went in, whatever their characters",
    needs: { list: true },
    async run(make) {
      const keys = ["a b/c%20d", "q?/h#", "größe/層", "x&y=z/+", "🧠", "<tag>/&amp;"];
      const store = await make(Object.fromEntries(keys.map((key) => [key, bytes(1)])));
      same(await listed(store, ""), [...keys].sort());
      same(await listed(store, "a b"), ["a b/c%20d"]);
      same(await store.children(Prefix.of("größe")), { keys: ["größe/層"], prefixes: [] });
    },
  },
  {
    name: "list: a store that cannot list says Unsupported",
    needs: { list: false },
    async run(make) {
      const store = await make({});
      await rejects(listed(store, ""), "Unsupported");
      await rejects(store.children(Prefix.root), "Unsupported");
    },
  },
];
