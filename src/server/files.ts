/**
 * A store, served: every key is a path, every prefix a listing.
 *
 * | asked for                          | served                                                                             |
 * |------------------------------------|------------------------------------------------------------------------------------|
 * | a key                              | its bytes, or the range of them                                                    |
 * | `k`, and only `k.gz` is there      | that, as `Content-Encoding: gzip`; unpacked for those who want a range, or take no gzip |
 * | `s.shard`, and only `s.index` and `s.data` are there | the one after the other: how shards were first stored                |
 * | a prefix                           | `{"keys": […], "prefixes": […]}`, the names right below it                         |
 *
 * Data have no types that a browser would run: a page of HTML in a folder of data is text. Pages are served by `pageRoute`.
 */
import { LISTS } from "../store/http.js";
import { isPrivate, Key, type Prefix } from "../store/key.js";
import type { Location } from "../store/open.js";
import { prefixStore } from "../store/prefix.js";
import type { Store } from "../store/types.js";
import { wanted } from "./conditions.js";
import { find } from "./find.js";
import { isHidden, refusal } from "./guard.js";
import { type Open, opener } from "./opened.js";
import type { Asked, Reply, Route } from "./types.js";

/** How a store is served. */
export interface StoreRouteOptions {
  /** Whether folders are listed; on where nothing is said, as far as the store can. */
  readonly list?: boolean | undefined;
}

const DATA_TYPES: Readonly<Record<string, string>> = {
  json: "application/json",
  txt: "text/plain; charset=utf-8",
  md: "text/plain; charset=utf-8",
  html: "text/plain; charset=utf-8",
  csv: "text/csv; charset=utf-8",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gz: "application/gzip",
  zip: "application/zip",
};

const PAGE_TYPES: Readonly<Record<string, string>> = {
  ...DATA_TYPES,
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  mjs: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  wasm: "application/wasm",
  ico: "image/x-icon",
  woff2: "font/woff2",
};

/** What a page of Octavo's may do: run its own scripts, fetch data from anywhere, and nothing else. */
export const PAGE_POLICY =
  "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; connect-src * blob: data:; img-src 'self' blob: data:; " +
  "style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Serves what lies in a store below a place. */
export function storeRoute(at: string, store: Store, options: StoreRouteOptions = {}): Route {
  const { open, close } = opener(store);
  const listed = (options.list ?? true) && store.can.list;
  const says: Readonly<Record<string, string>> = listed ? { [LISTS]: "1" } : {};
  return {
    at,
    answer(asked) {
      const { rest } = asked;
      if (rest === "" || rest.endsWith("/")) return listed ? listing(store, rest as Prefix, asked) : absent();
      return isPrivate(rest) ? absent() : file(open, Key.of(rest), asked, DATA_TYPES, says);
    },
    close,
  };
}

/** Serves what an address stands for: a folder or zip file below the place, or one file under its own name there. */
export function locationRoute(at: string, { store, at: prefix, file: only }: Location): Route {
  if (only === undefined) return storeRoute(at, prefixStore(store, prefix));
  const { answer, ...folder } = storeRoute("", store);
  const name = only.slice(only.lastIndexOf("/") + 1);
  return { ...folder, at: at + name, answer: (asked) => answer({ ...asked, rest: only }) };
}

/** Serves the files of a web page, whose `index.html` stands for its folder. */
export function pageRoute(at: string, store: Store, headers: Readonly<Record<string, string>> = {}): Route {
  const { open, close } = opener(store);
  const policy = { "content-security-policy": PAGE_POLICY, "referrer-policy": "no-referrer", ...headers };
  return {
    at,
    answer: (asked) => {
      const { rest } = asked;
      return file(
        open,
        Key.of(rest === "" || rest.endsWith("/") ? `${rest}index.html` : rest),
        asked,
        PAGE_TYPES,
        policy,
      );
    },
    close,
  };
}

const absent = (): Reply => refusal(404, "there is nothing by this name");

function typeOf(key: string, types: Readonly<Record<string, string>>): string {
  const name = key.slice(key.lastIndexOf("/") + 1);
  if (name === "info" || /^\.z(array|attrs|group|metadata)$/.test(name)) return "application/json";
  const dot = name.lastIndexOf(".");
  const extension = dot < 0 ? "" : name.slice(dot + 1).toLowerCase();
  return Object.hasOwn(types, extension) ? types[extension]! : "application/octet-stream";
}

async function file(
  open: Open,
  key: Key,
  asked: Asked,
  types: Readonly<Record<string, string>>,
  extra: Readonly<Record<string, string>>,
): Promise<Reply> {
  const { request } = asked;
  const found = await find(open, key, request);
  if (found === undefined) return absent();
  const { value, etag, encoding } = found;
  const want = wanted(request, value.size, etag);
  const headers: Record<string, string> = {
    "content-type": typeOf(key, types),
    "accept-ranges": "bytes",
    "cache-control": "no-cache", // kept, but asked about each time: data are edited
    ...extra,
  };
  if (etag !== undefined) headers.etag = etag;
  if (encoding !== undefined) headers["content-encoding"] = encoding;
  if (!("length" in want)) {
    value.close();
    if (want.status === 304) return { status: 304, headers };
    if (want.status === 412) return refusal(412, "the value is not the one that the condition names");
    const refused = refusal(416, `the value has ${value.size} bytes, and one range of them can be asked for`);
    return { ...refused, headers: { ...refused.headers, "content-range": `bytes */${value.size}` } };
  }
  const { status, offset, length } = want;
  headers["content-length"] = String(length);
  if (status === 206) headers["content-range"] = `bytes ${offset}-${offset + length - 1}/${value.size}`;
  return { status, headers, body: { value, offset, length } };
}

const MOST_LISTED = 100_000;

async function listing(store: Store, prefix: Prefix, { request: { signal, method } }: Asked): Promise<Reply> {
  const { keys, prefixes } = await store.children(prefix, { signal, bare: true });
  if (keys.length + prefixes.length === 0 && prefix !== "") return absent();
  const names = (of: readonly string[]): string[] =>
    of.filter((name) => !isHidden(name) && !isPrivate(name)).map((name) => name.slice(prefix.length));
  const all = { keys: names(keys), prefixes: names(prefixes) };
  const cut = { keys: all.keys.slice(0, MOST_LISTED), prefixes: all.prefixes.slice(0, MOST_LISTED) };
  const more = cut.keys.length < all.keys.length || cut.prefixes.length < all.prefixes.length;
  const body = new TextEncoder().encode(`${JSON.stringify({ ...cut, ...(more && { more }) })}\n`);
  const headers = {
    "content-type": "application/json",
    "content-length": String(body.length),
    "cache-control": "no-cache",
  };
  return method === "HEAD" ? { status: 200, headers } : { status: 200, headers, body };
}
