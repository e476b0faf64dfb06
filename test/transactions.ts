/** A change of several keys that is easy to check, for everything that tries to tear it: tests, the proof, and its processes. */
import { Key, Prefix } from "../src/store/key.js";
import { overlay } from "../src/store/overlay.js";
import { type Committed, Transaction, type TransactionOptions } from "../src/store/transaction.js";
import type { Store } from "../src/store/types.js";

/** Where the data of these tests are. */
export const at = Prefix.of("data");
export const k = Key.of;
export const text = (value: string): Uint8Array => new TextEncoder().encode(value);

export async function read(store: Store, key: string): Promise<string | undefined> {
  const bytes = await store.get(k(key));
  return bytes && new TextDecoder().decode(bytes);
}

export type Contents = Record<string, string | undefined>;

/** Everything in a store. */
export async function all(store: Store): Promise<Contents> {
  const keys: Key[] = [];
  for await (const { key } of store.list(Prefix.root)) keys.push(key);
  const found: Contents = {};
  for (const key of keys.sort()) found[key] = await read(store, key);
  return found;
}

export const seenThrough = async (store: Store): Promise<Contents> => all((await overlay(store, at)).store);

/** Everything that is in its place, as software that knows of no log sees it. */
export const inPlace = async (store: Store): Promise<Contents> =>
  Object.fromEntries(Object.entries(await all(store)).filter(([key]) => !key.includes("/.octavo/")));

/** The names of what lies in the log. */
export const logs = async (store: Store): Promise<string[]> =>
  (await store.children(Prefix.of("data/.octavo"))).keys.map((key) => key.slice("data/.octavo/".length));

/** The n-th step: two keys that are equal, one of many bytes, and one that is there after every other step. */
export function state(n: number): Contents {
  if (n === 0) return {};
  const many = `${n},`.repeat(500);
  return {
    "data/deep/many": many,
    "data/deep/y": `${n}`,
    ...(n % 2 === 1 && { "data/odd/z": `${n}` }),
    "data/x": `${n}`,
  };
}

export const reached = (found: Contents): number => Number(found["data/x"] ?? 0);

/** Makes the next step out of what is there. */
export function step(store: Store, options: TransactionOptions = {}): Promise<Committed & { result: number }> {
  const work = async (view: Store): Promise<number> => {
    const n = Number((await read(view, "data/x")) ?? 0) + 1;
    const { "data/deep/many": many, ...rest } = state(n);
    const sink = await view.write(k("data/deep/many"));
    await sink.write(text(many!.slice(0, 700)));
    await sink.write(text(many!.slice(700)));
    await sink.commit();
    for (const [key, value] of Object.entries(rest)) await view.set(k(key), text(value!));
    if (n % 2 === 0) await view.delete(k("data/odd/z"));
    return n;
  };
  return Transaction.run(store, at, work, options);
}
