/**
 * AWS Signature Version 4, in headers, on WebCrypto, so that it is the same in Node and in a browser.
 *
 *   canonical request = method \n path \n query \n name:value\n… \n signed names \n payload hash
 *   string to sign    = "AWS4-HMAC-SHA256" \n time \n scope \n sha256(canonical request)
 *   key               = hmac(hmac(hmac(hmac("AWS4" + secret, date), region), service), "aws4_request")
 *
 * The path is signed as it stands in the URL (S3 wants it encoded once), and every header given here is signed.
 */
import { InvalidInput, Unsupported } from "../errors.js";

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface Signer {
  readonly credentials: Credentials;
  readonly region: string;
  readonly service: string;
}

export type HeaderMap = { readonly [lowercaseName: string]: string };

const encoder = new TextEncoder();

function subtle(): SubtleCrypto {
  const found = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  if (found !== undefined) return found;
  throw new Unsupported("signed requests need WebCrypto, which browsers only give to pages from https or localhost");
}

const hex = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

// TypeScript tells shared buffers from others; a SharedArrayBuffer under a view is copied, as WebCrypto refuses it.
export const owned = (bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : Uint8Array.from(bytes);

export async function sha256(data: Uint8Array | string): Promise<string> {
  return hex(await subtle().digest("SHA-256", owned(typeof data === "string" ? encoder.encode(data) : data)));
}

async function hmac(key: Uint8Array | ArrayBuffer, text: string): Promise<ArrayBuffer> {
  const raw = key instanceof Uint8Array ? owned(key) : key;
  const imported = await subtle().importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return subtle().sign("HMAC", imported, encoder.encode(text));
}

/** Percent-encodes everything but A–Z a–z 0–9 - . _ ~, as AWS counts it. */
export function uriEncode(text: string): string {
  try {
    return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  } catch (cause) {
    throw new InvalidInput(`${JSON.stringify(text)} is not valid Unicode and cannot be part of a URL`, { cause });
  }
}

/** A query string in the order in which it is signed. */
export const canonicalQuery = (query: { readonly [name: string]: string }): string =>
  Object.entries(query)
    .map(([name, value]) => [uriEncode(name), uriEncode(value)] as const)
    .sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");

// The key lasts a day; four HMACs per request would be most of the work of signing.
const keys = new WeakMap<Credentials, { readonly scope: string; readonly key: Promise<ArrayBuffer> }>();

function signingKey({ credentials, region, service }: Signer, day: string): Promise<ArrayBuffer> {
  const scope = `${day}/${region}/${service}`;
  const known = keys.get(credentials);
  if (known?.scope === scope) return known.key;
  const key = [day, region, service, "aws4_request"].reduce(
    async (last: Promise<ArrayBuffer | Uint8Array>, text) => hmac(await last, text),
    Promise.resolve(encoder.encode(`AWS4${credentials.secretAccessKey}`)),
  ) as Promise<ArrayBuffer>;
  keys.set(credentials, { scope, key });
  return key;
}

/** The headers with which the request is sent: those given, the time, the session token and the signature. */
export async function sign(
  signer: Signer,
  request: { readonly method: string; readonly url: URL; readonly headers: HeaderMap; readonly payloadHash: string },
  now: Date,
): Promise<Record<string, string>> {
  const { method, url, payloadHash } = request;
  const { accessKeyId, sessionToken } = signer.credentials;
  const time = now.toISOString().replace(/[:-]|\.\d+/g, "");
  const day = time.slice(0, 8);
  const headers: Record<string, string> = { ...request.headers, "x-amz-date": time };
  if (sessionToken !== undefined) headers["x-amz-security-token"] = sessionToken;

  // fetch sets the host itself and does not let it be set in browsers; it is signed all the same.
  const signed: Record<string, string> = { ...headers, host: url.host };
  const names = Object.keys(signed).sort();
  const lines = names.map((name) => `${name}:${signed[name]!.trim().replace(/ +/g, " ")}\n`).join("");
  const signedNames = names.join(";");
  const canonical = [method, url.pathname, url.search.slice(1), lines, signedNames, payloadHash].join("\n");

  const scope = `${day}/${signer.region}/${signer.service}/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, scope, await sha256(canonical)].join("\n");
  const signature = hex(await hmac(await signingKey(signer, day), text));
  headers.authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signedNames}, Signature=${signature}`;
  return headers;
}
