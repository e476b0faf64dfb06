/**
 * Listings of a web server that says that it has them, as `octavo serve` does: the answer to a folder is
 * `{"keys": ["c", …], "prefixes": ["a/", …]}`, names below the folder, and `"more": true` where it is too large to tell.
 */
import { isJsonObject, parseJson } from "../bytes/json.js";
import { Corrupt, LimitExceeded } from "../errors.js";
import { withLimits } from "../limits.js";
import { Key, Prefix } from "./key.js";
import type { Children, ListOptions, Store } from "./types.js";

type Fetch = (path: string, options: ListOptions | undefined) => Promise<Uint8Array | undefined>;

/** `list` and `children` of a store, given how to get the answer to a folder; undefined where there is none. */
export function listing(url: string, fetch: Fetch): Pick<Store, "list" | "children"> {
  async function children(prefix: Prefix, options?: ListOptions): Promise<Children> {
    const bytes = await fetch(prefix, options);
    if (bytes === undefined) return { keys: [], prefixes: [] };
    return parse(bytes, prefix, `${url}/${prefix}`);
  }
  return {
    children,
    async *list(prefix, options) {
      const waiting = [prefix];
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const { keys, prefixes } = await children(next, options);
        for (const key of keys) yield { key };
        waiting.push(...[...prefixes].reverse());
      }
    },
  };
}

function parse(bytes: Uint8Array, prefix: Prefix, where: string): Children {
  const document = parseJson(bytes, withLimits(undefined), where);
  const names = (of: unknown): string[] => {
    if (!Array.isArray(of) || !of.every((name) => typeof name === "string")) throw wrong(where);
    return of.map((name) => prefix + name);
  };
  if (!isJsonObject(document)) throw wrong(where);
  if (document.more === true) throw new LimitExceeded(`${where} has more in it than its server lists`, { where });
  const [keys, prefixes] = [names(document.keys), names(document.prefixes)];
  if (!keys.every(Key.is) || !prefixes.every((name) => name.endsWith("/") && Key.is(name.slice(0, -1))))
    throw wrong(where);
  return { keys: keys.map((key) => Key.of(key)), prefixes: prefixes.map((name) => Prefix.of(name.slice(0, -1))) };
}

const wrong = (where: string): Corrupt =>
  new Corrupt(`${where} should be answered with a list of names as "keys" and "prefixes", found something else`, {
    where,
  });
