/**
 * S3 and what speaks like it, over fetch, in Node and in browsers.
 *
 * | call            | request                                     | absent                | condition                      |
 * |-----------------|---------------------------------------------|-----------------------|--------------------------------|
 * | get             | GET, Range                                  | 404, except no bucket |                                |
 * | stat            | HEAD: Content-Length, ETag as the version   | 404                   |                                |
 * | list, children  | GET ?list-type=2, pages of 1000             |                       |                                |
 * | set             | PUT                                         |                       | If-None-Match: *, If-Match: etag |
 * | write           | multipart upload (s3-multipart.ts)          |                       | the same, on completion        |
 * | delete          | DELETE                                      | no error              |                                |
 *
 * 403 for a key is what S3 answers for absent keys to those who may not list: an error that says so, unless
 * `forbiddenIsMissing` makes it absence, which is then counted in `forbidden`.
 */
import { decodeUtf8 } from "../bytes/text.js";
import { Conflict, Corrupt, type OctavoError } from "../errors.js";
import { Key, Prefix } from "./key.js";
import { PAGE_BYTES, turnPages } from "./pages.js";
import { versionOf, versionPins } from "./pins.js";
import { checkRange } from "./range.js";
import { isEmptyRange, rangeFromSize, rangeHeader, readBody, sizeByFirstByte, sizeOf } from "./response.js";
import { pause } from "./retry.js";
import { surroundings } from "./s3-credentials.js";
import { Page } from "./s3-list.js";
import { multipartSink } from "./s3-multipart.js";
import { type Fault, type S3Request, s3Client } from "./s3-request.js";
import { readText, sender, type WebOptions } from "./send.js";
import type { Credentials, HeaderMap } from "./sigv4.js";
import type { ByteRange, CallOptions, Condition, SetOptions, Sink, Stat, Store } from "./types.js";

/** A bucket of S3 or of what speaks like it, and how to reach it. */
export interface S3Options extends WebOptions {
  readonly bucket: string;
  readonly prefix?: string | undefined;
  /** Another server than AWS, such as http://127.0.0.1:7070; the default is AWS_ENDPOINT_URL_S3 or AWS itself. */
  readonly endpoint?: string | undefined;
  /** The default is AWS_REGION, the profile's region or us-east-1; a bucket elsewhere is found at the first answer. */
  readonly region?: string | undefined;
  /** The default is what the environment and the AWS files say, and no signature where they say nothing. */
  readonly credentials?: Credentials | "anonymous" | undefined;
  /** A profile of the AWS files, instead of AWS_PROFILE. */
  readonly profile?: string | undefined;
  /** "virtual" puts the bucket into the host name: the default at AWS; "path" is the default elsewhere. */
  readonly addressing?: "path" | "virtual" | undefined;
  readonly forbiddenIsMissing?: boolean | undefined;
}

/** A bucket of S3 as a store. */
export interface S3Store extends Store {
  /** How many keys were taken for absent because the store forbids them. */
  readonly forbidden: number;
}

const MAX_PUT = 5 * 2 ** 30;
const RACE_TRIES = 5;

/** A bucket of S3, or of a server that speaks like it, as a store. */
export function s3Store(options: S3Options): S3Store {
  const { bucket, forbiddenIsMissing } = options;
  const around = surroundings(options.profile);
  const client = s3Client({
    bucket,
    endpoint: options.endpoint ?? around.endpoint,
    region: options.region ?? around.region,
    addressing: options.addressing,
    ...(options.credentials === undefined
      ? around.identity()
      : options.credentials === "anonymous"
        ? { credentials: undefined, source: "unsigned" }
        : { credentials: options.credentials, source: "signed" }),
    send: sender(options),
  });
  const root = Prefix.of(options.prefix ?? "");
  const url = `s3://${bucket}${root === "" ? "" : `/${root.slice(0, -1)}`}`;
  const pins = versionPins();
  let forbidden = 0;

  const ask = async (request: S3Request, options: CallOptions | undefined) =>
    client.call({ ...request, signal: options?.signal });

  /** Absence where the fault of a reading request means it; else its error. */
  function absent({ status, code, error }: Fault): undefined {
    if (status === 404 && code !== "NoSuchBucket") return undefined;
    const denied = status === 403 && (code === "AccessDenied" || code === "");
    if (!denied || forbiddenIsMissing !== true) throw error;
    forbidden++;
    return undefined;
  }

  async function stat(key: Key, options?: CallOptions): Promise<Stat | undefined> {
    pins.forget(key);
    const { response, fault } = await ask({ method: "HEAD", path: root + key }, options);
    if (fault?.status === 403) {
      // HEAD has no body to tell "not for you" from a wrong signature; a byte of the value has, or is there after all.
      const first = await ask({ method: "GET", path: root + key, headers: { range: "bytes=0-0" } }, options);
      if (first.fault?.status === 416) return { size: 0 };
      if (first.fault !== undefined) return absent(first.fault);
      return sized(await sizeByFirstByte(first.response), first.response, key);
    }
    return fault === undefined ? sized(sizeOf(response), response, key) : absent(fault);
  }

  function sized(size: number | undefined, response: Response, key: Key): Stat {
    if (size !== undefined) return { size, version: versionOf(response) };
    throw new Corrupt(`${url}/${key} has no Content-Length`, { where: `${url}/${key}` });
  }

  /** What this store changes itself is read anew. */
  async function changing<T>(key: Key, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      pins.forget(key);
    }
  }

  async function put(key: Key, value: Uint8Array, options: SetOptions | undefined): Promise<void> {
    const headers = conditionHeaders(options?.if);
    for (let attempt = 1; ; attempt++) {
      const { response, fault } = await ask({ method: "PUT", path: root + key, body: value, headers }, options);
      if (fault === undefined) return void (await readText(response));
      if (fault.status !== 409 || attempt === RACE_TRIES) throw refused(fault, `${url}/${key}`, options?.if);
      await pause(20 * 2 ** attempt * Math.random(), options?.signal); // two writers at once: once more
    }
  }

  async function write(key: Key, options?: SetOptions): Promise<Sink> {
    options?.signal?.throwIfAborted();
    const where = `${url}/${key}`;
    const sink = multipartSink({
      client,
      where,
      path: root + key,
      signal: options?.signal,
      condition: conditionHeaders(options?.if),
      put: (value) => put(key, value, options),
      refused: (fault) => refused(fault, where, options?.if),
    });
    return { ...sink, commit: () => changing(key, sink.commit) };
  }

  function pages(prefix: Prefix, delimiter: string, options: CallOptions | undefined): AsyncGenerator<Page> {
    const where = `the list of ${url}/${prefix}`;
    const turn = async (token: string | undefined): Promise<Page> => {
      const query: Record<string, string> = { "list-type": "2", "encoding-type": "url", prefix: root + prefix };
      if (delimiter !== "") query.delimiter = delimiter;
      if (token !== undefined) query["continuation-token"] = token;
      const { response, fault } = await ask({ method: "GET", path: "", query }, options);
      if (fault !== undefined) throw fault.error;
      const bytes = await readBody(response, undefined, where, PAGE_BYTES);
      return Page.parse(decodeUtf8(bytes, where), root + prefix, where);
    };
    return turnPages(turn, where, options);
  }

  return {
    url,
    can: { list: true, write: true, conditional: true },
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
      const headers: HeaderMap = range === undefined ? {} : { range: rangeHeader(range) };
      const check = pins.expect(key, where);
      const { response, fault } = await ask({ method: "GET", path: root + key, headers }, options);
      if (fault === undefined) {
        if (range !== undefined) check(response);
        return readBody(response, range, where, options?.most);
      }
      return fault.status === 416 && range !== undefined ? fromSize(range) : absent(fault);
    },
    stat,
    async *list(prefix, options) {
      for await (const page of pages(prefix, "", options)) {
        for (const { name, size } of page.objects) {
          const key = name.slice(root.length);
          if (Key.is(key)) yield { key, size }; // "a/" and "a//b" are objects too, but no keys
        }
      }
    },
    async children(prefix, options) {
      const [keys, prefixes] = [new Set<Key>(), new Set<Prefix>()];
      for await (const page of pages(prefix, "/", options)) {
        for (const { name } of page.objects) {
          const key = name.slice(root.length);
          if (Key.is(key)) keys.add(key);
        }
        for (const name of page.prefixes) {
          const below = name.slice(root.length, -1);
          if (name.endsWith("/") && Key.is(below)) prefixes.add(Prefix.of(below));
        }
      }
      return { keys: [...keys].sort(), prefixes: [...prefixes].sort() };
    },
    async set(key, value, options) {
      if (value.length <= MAX_PUT) return changing(key, () => put(key, value, options));
      const sink = await write(key, options);
      await sink.write(value);
      await sink.commit();
    },
    write,
    async delete(key, options) {
      const { response, fault } = await changing(key, () => ask({ method: "DELETE", path: root + key }, options));
      if (fault === undefined) return void (await readText(response));
      if (fault.status !== 404 || fault.code === "NoSuchBucket") throw fault.error;
    },
  };
}

function conditionHeaders(condition: Condition | undefined): HeaderMap {
  if (condition === undefined) return {};
  return "absent" in condition ? { "if-none-match": "*" } : { "if-match": condition.version };
}

/** Conflict where the condition did not hold, or where others kept writing at the same time. */
function refused(fault: Fault, where: string, condition: Condition | undefined): OctavoError {
  const missing = fault.status === 404 && fault.code === "NoSuchKey" && condition !== undefined;
  if (fault.status !== 412 && fault.status !== 409 && !missing) return fault.error;
  const expected =
    condition === undefined
      ? "replaced"
      : "absent" in condition
        ? "made anew"
        : `replaced at version ${condition.version}`;
  const found = missing
    ? "it is no longer there"
    : fault.status === 409
      ? "others are writing it"
      : "absent" in (condition ?? {})
        ? "it is already there"
        : "it has another version now";
  return new Conflict(`${where} was to be ${expected}, but ${found}`, { where });
}
