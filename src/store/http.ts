/**
 * A web server as a store: GET with Range for values, HEAD for sizes. Browser-safe; nothing is written, and listed only where the
 * server says that it can (http-listing.ts).
 *
 * Lessons of the web that live here (how one response is read: response.ts):
 * - The key is escaped segment by segment and joined before the query, so that signed URLs keep their signature.
 * - A user name in the URL becomes a header; neither it nor the query is ever in `url`, which error messages show.
 * - Chrome lets requests for ranges of one URL wait for each other while its cache may be involved: hence "no-store".
 * - A range of an encoded body has no meaning. fetch asks for "identity" with a range by itself; HEAD is told to.
 * - Servers that refuse HEAD, or hide the length of what they compress, still tell the size with a range of one byte.
 * - When a value changes on the server, two ranges of it do not belong together (pins.ts).
 * - 403 is what S3 answers for absent keys to those who may not list: an error that says so, unless the caller knows
 *   better, and then it is counted.
 */
import { InvalidInput, Unsupported } from "../errors.js";
import { webAddress } from "./address.js";
import { isPrivate, type Key } from "./key.js";
import { versionOf, versionPins } from "./pins.js";
import { checkRange, spanOf } from "./range.js";
import { isEmptyRange, rangeHeader, readBody, refusal, sizeByFirstByte, sizeOf } from "./response.js";
import { discard, sender, type WebOptions } from "./send.js";
import type { CallOptions, Stat, Store } from "./types.js";
import { cannot, withoutWriting } from "./wrap.js";

/** The header with which a server says, in each answer, that it lists folders. */
export const LISTS = "x-octavo-lists";

/** How to ask a web server. */
export interface HttpOptions extends WebOptions {
  /** Sent with every request, such as Authorization; also where a redirect leads, except Authorization to another host. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Take 403 for absence. Off by default: it is as often a wrong permission, and absence would read as fill values. */
  readonly forbiddenIsMissing?: boolean | undefined;
}

/** A web server as a store. */
export interface HttpStore extends Store {
  /** How many answers were taken for absence because the server forbids them. */
  readonly forbidden: number;
}

/** What lies below an http or https address, as a store to read from. */
export function httpStore(address: string | URL, options: HttpOptions = {}): HttpStore {
  const { base, query, authorization } = parse(address);
  const send = sender(options);
  const pins = versionPins();
  const headers = { ...authorization, ...options.headers };
  /** Comes with the first listing: pages read what they know the names of. */
  const lists = async () => {
    if (!can.list) throw cannot(base, "list");
    return (await import("./http-listing.js")).listing(base, async (path, call) => {
      const response = await request(path, "GET", {}, call);
      return (await isAbsent(response, path)) ? undefined : readBody(response, undefined, `${base}/${path}`);
    });
  };
  const can = { list: false, write: false, conditional: false };
  let forbidden = 0;

  async function request(
    key: string,
    method: "GET" | "HEAD",
    extra: Record<string, string>,
    call: CallOptions | undefined,
  ) {
    const path = key.split("/").map(encodeURIComponent).join("/");
    const init: RequestInit = { method, headers: { ...headers, ...extra } };
    if ("range" in extra) init.cache = "no-store";
    else if (isPrivate(key)) init.cache = "no-cache"; // a log changes, and an old one says what is no longer true
    if (call?.signal) init.signal = call.signal;
    const response = await send(`${base}/${path}${query}`, init, `${base}/${key}`);
    if (response.headers.has(LISTS)) can.list = true;
    return response;
  }

  /** True where the answer means absence; any other refusal is thrown. */
  async function isAbsent(response: Response, key: string): Promise<boolean> {
    if (response.status < 400 || response.status === 416) return false;
    await discard(response);
    if (response.status === 404 || response.status === 410) return true;
    if (response.status !== 403 || options.forbiddenIsMissing !== true) throw refusal(response, `${base}/${key}`);
    forbidden++;
    return true;
  }

  async function stat(key: Key, call?: CallOptions): Promise<Stat | undefined> {
    pins.forget(key);
    const head = await request(key, "HEAD", { "accept-encoding": "identity" }, call);
    const size = head.ok ? sizeOf(head) : undefined;
    if (size !== undefined) return { size, version: versionOf(head) };
    if (head.status === 404 || head.status === 410) return undefined;
    const response = await request(key, "GET", { range: "bytes=0-0" }, call);
    if (await isAbsent(response, key)) return undefined;
    const found = await sizeByFirstByte(response);
    if (found !== undefined) return { size: found, version: versionOf(response) };
    throw new Unsupported(`the server does not tell the size of ${base}/${key}`, { where: `${base}/${key}` });
  }

  return {
    url: base,
    can,
    stat,
    async get(key, call) {
      const range = call?.range;
      const where = `${base}/${key}`;
      if (range === undefined) {
        const response = await request(key, "GET", {}, call);
        return (await isAbsent(response, key)) ? undefined : readBody(response, range, where, call?.most);
      }
      checkRange(range, where);
      if (isEmptyRange(range)) {
        const found = await stat(key, call);
        if (found === undefined) return undefined;
        spanOf(range, found.size, where);
        return new Uint8Array(0);
      }
      const check = pins.expect(key, where);
      const response = await request(key, "GET", { range: rangeHeader(range) }, call);
      if (await isAbsent(response, key)) return undefined;
      check(response);
      return readBody(response, range, where);
    },
    async *list(prefix, call) {
      yield* (await lists()).list(prefix, call);
    },
    children: async (prefix, call) => (await lists()).children(prefix, call),
    ...withoutWriting(base),
    get forbidden() {
      return forbidden;
    },
  };
}

function parse(address: string | URL) {
  const url = webAddress(address);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new InvalidInput(`${url.protocol}//${url.host} is not an address that starts with http: or https:`);
  const base = url.origin + url.pathname.replace(/\/+$/, "");
  const authorization = url.username || url.password ? { authorization: basic(url, base) } : {};
  return { base, query: url.search, authorization };
}

function basic({ username, password }: URL, where: string): string {
  try {
    const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(login)))}`;
  } catch {
    throw new InvalidInput(`the user or the password for ${where} has a "%" without two hexadecimal digits`, { where });
  }
}
