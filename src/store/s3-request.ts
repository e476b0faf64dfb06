/**
 * One request to S3: its address, its signature, the bucket's true region, and what a refusal means.
 *
 * A bucket lives in one region and says so when it is asked in another (301, or 400 with a body): the request is then
 * repeated once, there, and so are all later ones.
 */
import { InvalidInput, LimitExceeded, NotFound, type OctavoError, Unsupported } from "../errors.js";
import { withoutSecrets } from "./address.js";
import { refusal } from "./response.js";
import { Xml } from "./s3-xml.js";
import { readText, type Send } from "./send.js";
import { type Credentials, canonicalQuery, type HeaderMap, owned, sha256, sign, uriEncode } from "./sigv4.js";

export interface S3Place {
  readonly bucket: string;
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  readonly addressing: "path" | "virtual" | undefined;
  readonly credentials: Credentials | undefined;
  /** How requests are signed, in words. */
  readonly source: string;
  readonly send: Send;
}

export interface S3Request {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** The whole key, with the store's prefix; "" is the bucket. */
  readonly path: string;
  readonly query?: { readonly [name: string]: string };
  readonly headers?: HeaderMap;
  readonly body?: Uint8Array;
  /** How many bytes the server has to move before it answers, besides those of the body. */
  readonly moved?: number;
  readonly signal?: AbortSignal | undefined;
}

/** What S3 says when it does not do what it was asked to. */
export interface Fault {
  readonly status: number;
  /** S3's word for it, "" where there was no body (HEAD). */
  readonly code: string;
  readonly error: OctavoError;
}

export type Answer =
  | { readonly response: Response; readonly fault?: undefined }
  | { readonly response?: undefined; readonly fault: Fault };

export interface S3Client {
  call(request: S3Request): Promise<Answer>;
  /** What an answer with this text stands for when it is a refusal. */
  fault(response: Response, text: string, path: string): Fault;
}

const DEFAULT_REGION = "us-east-1";
const REGION = /^[a-z0-9-]{1,32}$/i; // it becomes a part of the host's name

export function s3Client(place: S3Place): S3Client {
  const { bucket, credentials } = place;
  if (!/^[a-z0-9][a-z0-9._-]{1,253}[a-z0-9]$/i.test(bucket) || bucket.includes(".."))
    throw new InvalidInput(`${JSON.stringify(bucket)} cannot be the name of a bucket`, { where: `s3://${bucket}` });
  let region = place.region ?? DEFAULT_REGION;
  if (!REGION.test(region)) throw new InvalidInput(`${JSON.stringify(region)} cannot be the name of a region`);
  bucketBase(place, region); // a wrong endpoint is said at once

  async function once(request: S3Request): Promise<Response> {
    const where = `s3://${bucket}/${request.path}`;
    const { method, path, query, body, signal } = request;
    const base = bucketBase(place, region);
    const search = query === undefined ? "" : `?${canonicalQuery(query)}`;
    const url = new URL(base + path.split("/").map(uriEncode).join("/") + search);
    const payloadHash = credentials === undefined ? "" : await sha256(body ?? "");
    const headers =
      credentials === undefined
        ? request.headers
        : await sign(
            { credentials, region, service: "s3" },
            { method, url, headers: { ...request.headers, "x-amz-content-sha256": payloadHash }, payloadHash },
            new Date(),
          );
    const init: RequestInit = { method, headers: { ...headers }, body: body === undefined ? null : owned(body) };
    if (request.headers?.range !== undefined) init.cache = "no-store"; // Chrome lets ranges of one URL wait otherwise
    if (signal !== undefined) init.signal = signal;
    // What is signed goes to nobody else: another host could not check the signature, but would learn the session token.
    if (credentials !== undefined) init.redirect = "manual";
    return place.send(url.href, init, `${where} at ${url.origin}`, (request.moved ?? 0) + (body?.length ?? 0));
  }

  return {
    async call(request) {
      let response = await once(request);
      if (response.ok) return { response };
      let text = await readText(response);
      const there = bucketRegion(response, text);
      if (there !== undefined && there !== region) {
        region = there;
        response = await once(request);
        if (response.ok) return { response };
        text = await readText(response);
      }
      return { fault: faultOf(response, text, request.path, place, region) };
    },
    fault: (response, text, path) => faultOf(response, text, path, place, region),
  };
}

/** `https://host/` or `https://host/bucket/`, to which an encoded key is added. */
function bucketBase(place: S3Place, region: string): string {
  const { bucket } = place;
  const text = place.endpoint ?? `https://s3.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
  const endpoint = URL.canParse(text) ? new URL(text) : undefined;
  if (endpoint === undefined || !/^https?:$/.test(endpoint.protocol))
    throw new InvalidInput(
      `the S3 endpoint must be an http or https URL, found ${JSON.stringify(withoutSecrets(text))}`,
    );
  if (endpoint.username !== "" || endpoint.search !== "")
    throw new InvalidInput("the S3 endpoint must have neither credentials nor a query in its URL");
  // Certificates of AWS cover one label before the host, and other servers seldom have names for their buckets.
  const virtual = place.endpoint === undefined && !bucket.includes(".");
  if ((place.addressing ?? (virtual ? "virtual" : "path")) === "virtual")
    endpoint.hostname = `${bucket}.${endpoint.hostname}`;
  else endpoint.pathname = `${endpoint.pathname.replace(/\/$/, "")}/${bucket}`;
  return endpoint.href.replace(/\/?$/, "/");
}

function bucketRegion(response: Response, text: string): string | undefined {
  if (response.status !== 301 && response.status !== 307 && response.status !== 400) return undefined;
  const header = response.headers.get("x-amz-bucket-region"); // hidden from pages unless CORS exposes it
  const region = header ?? /<Region>([^<]*)<\/Region>/.exec(text)?.[1];
  return region !== undefined && REGION.test(region) ? region : undefined;
}

const BAD_CREDENTIALS = new Set([
  "InvalidAccessKeyId",
  "SignatureDoesNotMatch",
  "ExpiredToken",
  "InvalidToken",
  "TokenRefreshRequired",
  "InvalidSecurity",
]);

function faultOf(response: Response, text: string, path: string, place: S3Place, region: string): Fault {
  const where = `s3://${place.bucket}/${path}`;
  const { status } = response;
  const xml = readError(text);
  const code = (xml && Xml.text(xml, "Code")) ?? "";
  const message = (xml && Xml.text(xml, "Message")) ?? "";
  const said = code === "" ? "" : `${code}: ${message.slice(0, 300)}`.replace(/[\s.:]+$/, "");
  const fault = (error: OctavoError): Fault => ({ status, code, error });
  const unsupported = (sentence: string, reason: string, hint?: string): Fault =>
    fault(new Unsupported(sentence, hint === undefined ? { where, reason } : { where, reason, hint }));

  if (code === "NoSuchBucket")
    return fault(
      new NotFound(`the bucket ${place.bucket} does not exist at ${new URL(bucketBase(place, region)).origin}`, {
        where,
      }),
    );
  if (code === "RequestTimeTooSkewed") {
    const server = Xml.text(xml!, "ServerTime") ?? response.headers.get("date") ?? "another time";
    return unsupported(`the clock of this machine is wrong: S3 refuses ${where}, its time is ${server}`, "clock");
  }
  if (BAD_CREDENTIALS.has(code))
    return unsupported(`S3 does not accept the credentials for ${where} (${place.source}): ${said}`, "unauthorized");
  if (status === 301 || status === 307 || code === "AuthorizationHeaderMalformed" || code === "PermanentRedirect")
    return unsupported(
      `the bucket ${place.bucket} is not in the region ${region}, and ${bucketRegion(response, text) ?? "no other region"} was given in the answer to ${where}`,
      "region",
      "say the bucket's region with ?region= or AWS_REGION",
    );
  if (code === "RequestTimeout")
    return fault(new LimitExceeded(`S3 waited too long for the rest of ${where}`, { where, reason: "timeout" }));
  return fault(refusal(response, where, [said, status === 403 ? place.source : ""].filter((s) => s !== "").join("; ")));
}

/** An `<Error>` document; other bodies (a proxy's page) are no news. */
function readError(text: string): Xml | undefined {
  if (!text.includes("<Error")) return undefined;
  try {
    const xml = Xml.parse(text, "S3");
    return xml.name === "Error" ? xml : undefined;
  } catch {
    return undefined; // the status is news enough
  }
}
