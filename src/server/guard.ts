/**
 * Who may ask, and for what. Nothing of a request is believed before it has passed here.
 *
 * | asked                          | answer                                                                                  |
 * |--------------------------------|-----------------------------------------------------------------------------------------|
 * | a Host that is not on the list | 421: a page of a stranger whose name was made to point here (DNS rebinding) gets nothing   |
 * | an Origin that is not on it    | 403: no page but those that were named reads data, whatever its browser thinks of CORS     |
 * | another method                 | 405                                                                                     |
 * | a path that is no key          | 400: decoded once, each segment against the grammar of keys; no "..", "\", NUL, "%2f", "//"  |
 * | a name that starts with "."    | 404, but for Zarr's (.zarray …): keys of people and programs lie in such files              |
 *
 * Where the name leads on the disk is the store's to check (store/file-path.ts): the real path of the file that was opened.
 */
import { LISTS } from "../store/http.js";
import { Key } from "../store/key.js";
import type { Reply, ServerRequest } from "./types.js";

/** Whom a server answers. */
export interface GuardOptions {
  /** The names it goes by, without a port: only requests to them are answered. This machine's alone where nothing is said; "*" is any. */
  readonly hosts?: readonly string[] | undefined;
  /** Pages that may read, such as "https://neuroglancer-demo.appspot.com"; its own may always. "*" is any. None where nothing is said. */
  readonly origins?: readonly string[] | undefined;
}

/** The names of this machine to itself. */
export const LOOPBACK: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

const METHODS = ["GET", "HEAD", "OPTIONS"];
const ALLOW = METHODS.join(", ");

/** What a request asks for, once it has passed. */
export interface Admitted {
  /** Decoded; ends in "/" or is "" for a folder. */
  readonly path: string;
  readonly search: string;
  /** What the browser must be told, so that the page may read the reply. */
  readonly cors: Readonly<Record<string, string>>;
}

/** The request as names to look up, or the refusal. */
export function guard(options: GuardOptions): (request: ServerRequest) => Admitted | Reply {
  const hosts = new Set((options.hosts ?? LOOPBACK).map((host) => host.toLowerCase()));
  const origins = new Set((options.origins ?? []).map((origin) => origin.toLowerCase().replace(/\/$/, "")));
  const own = corsHeaders(origins.has("*"));
  return (request) => {
    const { method, headers } = request;
    const host = single(headers.host)?.toLowerCase();
    const name = host === undefined ? undefined : /^(\[[\da-f:.]+\]|[^:[\]/@]+)(?::\d{1,5})?$/.exec(host)?.[1];
    if (name === undefined) return refusal(400, "the request says no Host, or not one");
    if (!hosts.has(name) && !hosts.has("*"))
      return refusal(421, `this server does not go by the name ${JSON.stringify(name)}`);
    const origin = single(headers.origin)?.toLowerCase();
    if (headers.origin !== undefined) {
      const isOwn = origin === `http://${host}` || origin === `https://${host}`;
      if (origin === undefined || !(isOwn || origins.has(origin) || origins.has("*")))
        return refusal(403, `pages of ${JSON.stringify(origin ?? "")} may not read here`);
    }
    const cors = origin === undefined ? own.plain : own.forOrigin(single(headers.origin)!);
    if (!METHODS.includes(method)) {
      const refused = refusal(405, `${ALLOW} are answered`);
      return { ...refused, headers: { ...refused.headers, allow: ALLOW } };
    }
    const [raw, search] = cut(request.path);
    const path = decode(raw);
    if (path === undefined) return refusal(400, "the path is not one that a name here can have");
    if (method === "OPTIONS") return { status: 204, headers: { allow: ALLOW, ...cors, ...preflight(request) } };
    if (isHidden(path)) return refusal(404, "there is nothing by this name");
    return { path, search, cors };
  };
}

/** A refusal, with its sentence. */
export function refusal(status: number, sentence: string): Reply {
  const body = new TextEncoder().encode(`${JSON.stringify({ error: sentence })}\n`);
  return { status, headers: { "content-type": "application/json", "content-length": String(body.length) }, body };
}

/** A header that came once. */
export const single = (header: string | readonly string[] | undefined): string | undefined =>
  typeof header === "string" ? header : undefined;

/** Whether a name is nobody's business: any segment starts with ".", but for the documents of Zarr. */
export const isHidden = (path: string): boolean => /(?:^|\/)\.(?!z(?:array|attrs|group|metadata)$)/.test(path);

function cut(path: string): [path: string, search: string] {
  const at = path.indexOf("?");
  return at < 0 ? [path, ""] : [path.slice(0, at), path.slice(at + 1)];
}

/** What needs no decoding, and is no folder. */
const PLAIN = /^\/[\w./-]*[\w.-]$/;

/** A path as a key, or the prefix of a folder; undefined where it is neither. Nothing is decoded twice. */
export function decode(raw: string): string | undefined {
  if (PLAIN.test(raw) && Key.is(raw.slice(1))) return raw.slice(1);
  if (!raw.startsWith("/") || raw.includes("#")) return undefined;
  const segments = raw.slice(1).split("/");
  try {
    if (raw.includes("%")) for (const [i, text] of segments.entries()) segments[i] = decodeURIComponent(text);
  } catch {
    return undefined;
  }
  if (segments.some((segment) => segment.includes("/"))) return undefined;
  const path = segments.join("/");
  return path === "" || Key.is(path.endsWith("/") ? folderName(path) : path) ? path : undefined;
}

/** What must be a key for the path of a folder to be a prefix; "//" at its end is none. */
const folderName = (path: string): string => path.slice(0, -1) || "/";

const EXPOSED = `accept-ranges, content-encoding, content-length, content-range, etag, ${LISTS}`;

function corsHeaders(any: boolean) {
  const plain = { vary: "Origin", ...(!any && { "cross-origin-resource-policy": "same-origin" }) };
  const forOrigin = (origin: string) => ({
    ...plain,
    "access-control-allow-origin": any ? "*" : origin,
    "access-control-expose-headers": EXPOSED,
  });
  return { plain, forOrigin };
}

/** The answer to "may this page ask that?"; a page of the web that asks this machine needs a word more (private network access). */
function preflight({ headers }: ServerRequest): Record<string, string> {
  if (headers["access-control-request-method"] === undefined) return {};
  return {
    "access-control-allow-methods": ALLOW,
    "access-control-allow-headers": "range, if-none-match, if-match, if-range, cache-control",
    "access-control-max-age": "600",
    ...(headers["access-control-request-private-network"] === "true" && {
      "access-control-allow-private-network": "true",
    }),
  };
}
