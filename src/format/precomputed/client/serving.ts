/**
 * How data are served, asked as a browser asks: with an Origin, for ranges without compression, and beforehand with OPTIONS.
 *
 * Neuroglancer reads infos and small values whole, and shards by ranges: for those it needs 206, and pages need the headers of CORS
 * on every answer. What is not there may be 404 or 403; anything else is damage.
 */
import { OctavoError } from "../../../errors.js";
import type { Finding } from "../../../model/format.js";
import { type Fetch, sender } from "../../../store/send.js";
import { clientFinding as finding } from "./rules.js";

/** How to ask. */
export interface ServingOptions {
  readonly signal?: AbortSignal | undefined;
  readonly fetch?: Fetch | undefined;
  /** The origin of the page; that of Neuroglancer's demo unless told. */
  readonly origin?: string | undefined;
}

/** What is looked at: addresses below that of the data. */
export interface Served {
  /** The address of the data, without a slash at its end. */
  readonly base: string;
  /** A file that is read by ranges; undefined where none is known. */
  readonly ranged: string | undefined;
  /** Whether any file is read by ranges. */
  readonly needsRanges: boolean;
}

/** The public client. */
export const DEMO = "https://neuroglancer-demo.appspot.com";

const REDIRECTS = 5;

/** Asks a server for data as a page would, and says what would keep the page from reading them. */
export async function* checkServing(
  { base, ranged, needsRanges }: Served,
  { signal, fetch, origin = DEMO }: ServingOptions = {},
): AsyncGenerator<Finding> {
  const send = sender({ fetch, timeout: 20_000 });
  const ask = async (url: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> => {
    const init: RequestInit = {
      method,
      headers: { origin, ...headers },
      redirect: "manual",
      ...(signal && { signal }),
    };
    const response = await send(url, init, url);
    const { status } = response;
    const answer = { url, status, headers: response.headers };
    try {
      return { ...answer, body: new Uint8Array(await response.arrayBuffer()) };
    } catch (error) {
      if (signal?.aborted) throw error;
      return { ...answer, body: undefined }; // what it says it is, it is not
    }
  };
  try {
    yield* checkScheme(base, origin);
    const found = yield* followed(`${base}/info`, ask);
    if (found === undefined) return;
    yield* checkInfo(found, origin);
    if (!allows(found, origin)) return;
    yield* checkPreflight(await ask(found.url, PREFLIGHT, "OPTIONS"), origin);
    const file = ranged === undefined ? found.url : `${base}/${ranged}`;
    const moved = yield* followed(
      file,
      (url) => ask(url, { range: "bytes=0-31", "accept-encoding": "identity" }),
      true,
    );
    if (moved !== undefined) yield* checkRange(moved, ask, origin, needsRanges, ranged !== undefined);
    yield* checkMissing(await ask(`${base}/${ABSENT}`));
  } catch (error) {
    if (!(error instanceof OctavoError)) throw error;
    yield finding("reached", error.where ?? base, error.message);
  }
}

const PREFLIGHT = { "access-control-request-method": "GET", "access-control-request-headers": "range" };
const ABSENT = "octavo-looks-for-what-is-not-there";

interface Answer {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  /** undefined where it cannot be decoded. */
  readonly body: Uint8Array | undefined;
}

function* checkScheme(base: string, origin: string): Generator<Finding> {
  const { protocol, hostname } = new URL(base);
  const isOwn = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
  if (protocol === "http:" && !isOwn && origin.startsWith("https:"))
    yield finding("https", base, `a page of ${origin} may not read from http`, "serve the data with https");
}

/** The answer at the end of all redirects; undefined where there is none. */
async function* followed(
  url: string,
  ask: (url: string) => Promise<Answer>,
  known = false,
): AsyncGenerator<Finding, Answer | undefined> {
  let answer = await ask(url);
  for (let i = 0; answer.status >= 300 && answer.status < 400; i++) {
    const to = answer.headers.get("location");
    const region = answer.headers.get("x-amz-bucket-region");
    if (region !== null) {
      yield finding(
        "region",
        answer.url,
        `the bucket is in ${region}`,
        `name that region: https://BUCKET.s3.${region}.amazonaws.com/…, or s3://…?region=${region}`,
      );
      return undefined;
    }
    if (to === null || i === REDIRECTS) {
      yield finding(
        "reached",
        url,
        to === null ? `${answer.status} leads nowhere` : `more than ${REDIRECTS} redirects`,
      );
      return undefined;
    }
    const next = new URL(to, answer.url).href;
    if (i === 0 && !known)
      yield finding("redirect", url, `${answer.status}: it is at ${next}`, "publish the address that it leads to");
    answer = await ask(next);
  }
  return answer;
}

const allows = ({ headers }: Answer, origin: string): boolean =>
  ["*", origin].includes(headers.get("access-control-allow-origin") ?? "");

function* checkCors(answer: Answer, origin: string, what: string): Generator<Finding> {
  if (allows(answer, origin)) return;
  const said = answer.headers.get("access-control-allow-origin");
  yield finding(
    "cors",
    answer.url,
    `${what} ${said === null ? "has no Access-Control-Allow-Origin" : `lets only ${said} read`}, so that a page of ${origin} sees nothing of it`,
    'answer every GET with "Access-Control-Allow-Origin: *"',
  );
}

function* checkInfo(answer: Answer, origin: string): Generator<Finding> {
  const { status, url, headers } = answer;
  const region = headers.get("x-amz-bucket-region");
  if (status === 400 && region !== null)
    yield finding("region", url, `the bucket is in ${region}`, `name that region, as ?region=${region}`);
  else if (status !== 200) yield finding("reached", url, `${status} was answered for the info, which should be there`);
  else if (answer.body === undefined)
    yield finding("encoding", url, `it is not what its Content-Encoding says, ${headers.get("content-encoding")}`);
  yield* checkCors(answer, origin, "the answer");
}

function* checkPreflight(answer: Answer, origin: string): Generator<Finding> {
  const named = (answer.headers.get("access-control-allow-headers") ?? "").toLowerCase().split(/\s*,\s*/);
  const fine = answer.status >= 200 && answer.status < 300 && allows(answer, origin);
  if (fine && (named.includes("range") || named.includes("*"))) return;
  const what = fine
    ? `allows the headers [${named.join(", ")}], and Range is not among them`
    : `${answer.status} is no leave to ask`;
  yield finding(
    "preflight",
    answer.url,
    `OPTIONS: ${what}`,
    'answer OPTIONS with "Access-Control-Allow-Headers: range" and no error',
  );
}

async function* checkRange(
  first: Answer,
  ask: (url: string, headers?: Record<string, string>, method?: string) => Promise<Answer>,
  origin: string,
  needed: boolean,
  isData: boolean,
): AsyncGenerator<Finding> {
  const { url, status } = first;
  const weaker = (one: Finding): Finding => (needed ? one : { ...one, severity: "info" });
  if (status !== 206) {
    const what = status === 200 ? "the whole file was answered (200)" : `${status} was answered`;
    yield weaker(
      finding(
        "range",
        url,
        `${what} for bytes 0 to 31: nothing can be read from shards`,
        "use a server that answers Range with 206",
      ),
    );
    return;
  }
  yield* checkCors(first, origin, "the answer to a range");
  const coding = [first.headers.get("content-encoding") ?? "identity"];
  const second = await ask(url, { range: "bytes=8-23", "accept-encoding": "identity" });
  coding.push(second.headers.get("content-encoding") ?? "identity");
  const compressed = coding.find((name) => name !== "identity");
  if (compressed !== undefined)
    yield weaker(
      finding(
        "encoding",
        url,
        `a range is answered with Content-Encoding ${compressed}: a part of a compressed file cannot be read`,
        "serve shards as they are, without compression",
      ),
    );
  else if (!isRangeOf(first, 0, 32) || !isRangeOf(second, 8, 16) || !agree(first, second))
    yield weaker(
      finding(
        "range",
        url,
        "the bytes that were answered are not those that were asked for",
        "use a server that answers Range exactly",
      ),
    );
  const exposed = (first.headers.get("access-control-expose-headers") ?? "").toLowerCase().split(/\s*,\s*/);
  if (!exposed.includes("*") && !["content-range", "content-encoding"].every((name) => exposed.includes(name)))
    yield finding(
      "expose",
      url,
      `pages see [${exposed.filter(Boolean).join(", ")}] of its headers`,
      'answer with "Access-Control-Expose-Headers: content-range, content-encoding"',
    );
  if (!isData) return;
  const whole = (await ask(url, { "accept-encoding": "gzip" }, "HEAD")).headers.get("content-encoding");
  if (whole !== null && whole !== "identity" && compressed === undefined)
    yield {
      ...finding(
        "encoding",
        url,
        `asked for whole, it has Content-Encoding ${whole}, by which caches may answer ranges`,
        "serve shards as they are, without compression",
      ),
      severity: "warning",
    };
}

/** Fewer bytes are there only where the file ends. */
function isRangeOf({ body, headers }: Answer, from: number, length: number): boolean {
  if (body === undefined) return false;
  const [, start, end, size] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(headers.get("content-range") ?? "") ?? [];
  if (start === undefined) return body.length === length; // a header that a page may not see either
  const expected = size === "*" ? length : Math.min(length, Number(size) - from);
  return Number(start) === from && Number(end) === from + body.length - 1 && body.length === expected;
}

const agree = ({ body: a }: Answer, { body: b }: Answer): boolean =>
  b!.every((byte, i) => 8 + i >= a!.length || a![8 + i] === byte);

function* checkMissing({ url, status }: Answer): Generator<Finding> {
  if (status === 404 || status === 403 || (status >= 300 && status < 400)) return;
  const what = status < 300 ? "which would be taken for data" : "which is taken for a failure";
  yield finding("missing", url, `${status} was answered for a file that is not there, ${what}`, "answer 404");
}
