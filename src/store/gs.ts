/**
 * Google Cloud Storage, for reading, over its JSON API, which answers pages from any origin.
 *
 * | call           | request                                                                     |
 * |----------------|-----------------------------------------------------------------------------|
 * | get            | GET /storage/v1/b/BUCKET/o/NAME?alt=media, Range                             |
 * | stat           | GET /storage/v1/b/BUCKET/o/NAME?fields=size,generation,contentEncoding       |
 * | list, children | GET /storage/v1/b/BUCKET/o?prefix=&delimiter=/&pageToken=                    |
 *
 * An object stored with Content-Encoding gzip is unpacked on the way, so that its ranges and its size mean nothing: it can
 * be read whole, and the rest is refused. To the unsigned, 401 is what 403 is to others: not allowed, or not there and not
 * allowed to know.
 */
import { isJsonObject, type Json, type JsonObject, parseJson } from "../bytes/json.js";
import { Corrupt, InvalidInput, NotFound, Unsupported } from "../errors.js";
import { defaultLimits } from "../limits.js";
import { Key, Prefix } from "./key.js";
import { PAGE_BYTES, turnPages } from "./pages.js";
import { versionPins } from "./pins.js";
import { checkRange } from "./range.js";
import { isEmptyRange, rangeFromSize, rangeHeader, readBody, refusal } from "./response.js";
import { readText, sender, type WebOptions } from "./send.js";
import type { ByteRange, CallOptions, Stat, Store } from "./types.js";
import { withoutWriting } from "./wrap.js";

/** A bucket of Google Cloud Storage, and how to reach it. */
export interface GsOptions extends WebOptions {
  readonly bucket: string;
  readonly prefix?: string | undefined;
  /** Another server; the default is STORAGE_EMULATOR_HOST or Google's. */
  readonly endpoint?: string | undefined;
  /** An OAuth token; the default is GOOGLE_OAUTH_ACCESS_TOKEN, and no signature where there is none. */
  readonly token?: string | undefined;
  readonly forbiddenIsMissing?: boolean | undefined;
}

/** A bucket of Google Cloud Storage as a store. */
export interface GsStore extends Store {
  /** How many keys were taken for absent because the store forbids them. */
  readonly forbidden: number;
}

/** A bucket of Google Cloud Storage as a store to read from. */
export function gsStore(options: GsOptions): GsStore {
  const { bucket, forbiddenIsMissing } = options;
  if (!/^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/.test(bucket))
    throw new InvalidInput(`${JSON.stringify(bucket)} cannot be the name of a bucket`, { where: `gs://${bucket}` });
  const env = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {};
  const token = options.token ?? (env.GOOGLE_OAUTH_ACCESS_TOKEN || undefined);
  const objects = `${origin(options.endpoint ?? (env.STORAGE_EMULATOR_HOST || undefined))}/storage/v1/b/${bucket}/o`;
  const root = Prefix.of(options.prefix ?? "");
  const url = `gs://${bucket}${root === "" ? "" : `/${root.slice(0, -1)}`}`;
  const send = sender(options);
  const pins = versionPins();
  let forbidden = 0;

  async function ask(path: string, where: string, options: CallOptions | undefined, range?: string): Promise<Response> {
    // Browsers set this header themselves, and do so for ranges.
    const headers: Record<string, string> = range === undefined ? {} : { range, "accept-encoding": "identity" };
    if (token !== undefined) headers.authorization = `Bearer ${token}`;
    const init: RequestInit = { headers };
    if (range !== undefined) init.cache = "no-store"; // Chrome lets ranges of one URL wait otherwise
    if (options?.signal !== undefined) init.signal = options.signal;
    return send(objects + path, init, `${where} at ${new URL(objects).origin}`);
  }

  /** Absence where the answer means it; else its error. */
  async function absent(response: Response, where: string): Promise<undefined> {
    const said = sentence(await readText(response));
    if (response.status === 404 && !/bucket does not exist/i.test(said)) return undefined;
    if (response.status === 404) throw new NotFound(`the bucket ${bucket} does not exist`, { where });
    const anonymous = response.status === 401 && token === undefined;
    if (response.status === 403 || anonymous) {
      if (forbiddenIsMissing !== true) throw refusal(new Response(null, { status: 403 }), where, said);
      forbidden++;
      return undefined;
    }
    throw refusal(response, where, said);
  }

  async function document(response: Response, where: string): Promise<JsonObject> {
    const bytes = await readBody(response, undefined, where, PAGE_BYTES);
    const json = parseJson(bytes, defaultLimits, where);
    if (isJsonObject(json)) return json;
    throw new Corrupt(`${where} is not a JSON object`, { where });
  }

  async function stat(key: Key, options?: CallOptions): Promise<Stat | undefined> {
    const where = `${url}/${key}`;
    pins.forget(key);
    const response = await ask(`/${name(root + key)}?fields=size,generation,contentEncoding`, where, options);
    if (!response.ok) return absent(response, where);
    const { size, generation, contentEncoding } = await document(response, where);
    if (contentEncoding === "gzip")
      throw new Unsupported(
        `${where} is stored with Content-Encoding gzip, so that the size of its value is not known`,
        {
          where,
        },
      );
    const bytes = integer(size);
    if (bytes === undefined) throw new Corrupt(`${where} has the size ${JSON.stringify(String(size))}`, { where });
    return { size: bytes, version: typeof generation === "string" ? generation : undefined };
  }

  function pages(prefix: Prefix, delimiter: string, options: CallOptions | undefined) {
    const where = `the list of ${url}/${prefix}`;
    const query = `?fields=items(name,size),prefixes,nextPageToken&prefix=${name(root + prefix)}${delimiter}`;
    const turn = async (token: string | undefined) => {
      const response = await ask(token === undefined ? query : `${query}&pageToken=${name(token)}`, where, options);
      if (!response.ok) throw refusal(response, where, sentence(await readText(response)));
      const { items, prefixes, nextPageToken: next } = await document(response, where);
      return { items, prefixes, next: typeof next === "string" && next !== "" ? next : undefined };
    };
    return turnPages(turn, where, options);
  }

  const strings = (list: Json | undefined): string[] =>
    Array.isArray(list) ? list.filter((item) => typeof item === "string" && item.startsWith(root)) : [];
  const entries = (page: { readonly items: Json | undefined }): { key: Key; size: number | undefined }[] =>
    (Array.isArray(page.items) ? page.items : []).flatMap((item: Json) => {
      const [full] = isJsonObject(item) ? strings([item.name ?? null]) : [];
      const key = full?.slice(root.length) ?? "";
      return Key.is(key) ? [{ key, size: integer((item as JsonObject).size) }] : []; // "a/" is an object, but no key
    });

  return {
    url,
    can: { list: true, write: false, conditional: false },
    get forbidden() {
      return forbidden;
    },
    async get(key, options) {
      const [where, range] = [`${url}/${key}`, options?.range];
      if (range !== undefined) checkRange(range, where);
      const fromSize = async (range: ByteRange) => {
        const found = await stat(key, options);
        return found && rangeFromSize(range, found.size, where);
      };
      if (range !== undefined && isEmptyRange(range)) return fromSize(range);
      const header = range === undefined ? undefined : rangeHeader(range);
      const check = pins.expect(key, where);
      const response = await ask(`/${name(root + key)}?alt=media`, where, options, header);
      if (response.ok && range !== undefined) check(response);
      if (response.ok) return readBody(response, range, where, options?.most);
      return response.status === 416 && range !== undefined ? fromSize(range) : absent(response, where);
    },
    stat,
    async *list(prefix, options) {
      for await (const page of pages(prefix, "", options)) yield* entries(page);
    },
    async children(prefix, options) {
      const [keys, prefixes] = [new Set<Key>(), new Set<Prefix>()];
      for await (const page of pages(prefix, "&delimiter=%2F", options)) {
        for (const { key } of entries(page)) keys.add(key);
        for (const full of strings(page.prefixes)) {
          const below = full.slice(root.length, -1);
          if (full.endsWith("/") && Key.is(below)) prefixes.add(Prefix.of(below));
        }
      }
      return { keys: [...keys].sort(), prefixes: [...prefixes].sort() };
    },
    ...withoutWriting(url),
  };
}

/** gs://bucket/prefix?endpoint=… */
export function parseGsUrl(text: string): GsOptions {
  const found = /^gs:\/\/([^/?@]+)(?:\/([^?]*))?(?:\?(.*))?$/i.exec(text);
  if (found === null)
    throw new InvalidInput("an address in Google Cloud Storage is gs://bucket/prefix, without a password");
  const options = new URLSearchParams(found[3] ?? "");
  for (const option of options.keys())
    if (option !== "endpoint")
      throw new InvalidInput(`gs://${found[1]} has the option "${option}"; there is only endpoint`);
  const prefix = (found[2] ?? "").replace(/\/+$/, "");
  return { bucket: found[1]!, prefix, endpoint: options.get("endpoint") ?? undefined };
}

function origin(endpoint: string | undefined): string {
  if (endpoint === undefined) return "https://storage.googleapis.com";
  const text = /^https?:\/\//i.test(endpoint) ? endpoint : `http://${endpoint}`; // STORAGE_EMULATOR_HOST is a bare host
  if (URL.canParse(text) && new URL(text).username === "") return text.replace(/\/+$/, "");
  throw new InvalidInput("the endpoint of gs: must be an http or https URL without credentials");
}

const name = encodeURIComponent;

/** GCS writes 64-bit numbers as strings. */
const integer = (value: Json | undefined): number | undefined =>
  typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : undefined;

/** What the server says, out of its JSON or its plain text. */
function sentence(text: string): string {
  const message = /"message":\s*"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text;
  return message
    .trim()
    .replace(/[\s.]+$/, "")
    .slice(0, 300);
}
