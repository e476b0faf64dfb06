/**
 * What the web stores (http, s3, gs) share: how a range is asked for, and how a response is turned into exactly the bytes
 * that were asked for, or into an error. Lessons of the web that live here:
 *
 * | the answer                                   | what is done                                                          |
 * |----------------------------------------------|-----------------------------------------------------------------------|
 * | 206 with another Content-Range               | Corrupt; past the end is Corrupt too, never shortened                   |
 * | 206 without Content-Range (CORS may hide it) | the length of the body decides                                        |
 * | 200 to a range                               | a small value is cut here; of a large one nothing is read: Unsupported |
 * | 416                                          | Corrupt; for a suffix an empty value, if the server says it is empty   |
 * | a body shorter or longer than declared       | Corrupt, reason "cut"                                                 |
 * | Content-Encoding and a range                 | Unsupported: the range would count compressed bytes                   |
 */
import { concat } from "../bytes/concat.js";
import { Conflict, Corrupt, LimitExceeded, NotFound, type OctavoError, Unsupported } from "../errors.js";
import { defaultLimits } from "../limits.js";
import { pastTheEnd, spanOf, tooLarge } from "./range.js";
import { deepest, discard, pieces } from "./send.js";
import type { ByteRange } from "./types.js";

/** Up to this size a value that comes whole in answer to a range is taken and cut; beyond it ranges are the point. */
const WHOLE_INSTEAD_OF_RANGE = 8 << 20;

/** HTTP cannot ask for nothing: such a range is answered from the value's size. */
export const isEmptyRange = (range: ByteRange): boolean => ("suffix" in range ? range.suffix : range.length) === 0;

/** The answer to a range that asks for nothing, or that the server refuses with 416, of a value of that size. */
export function rangeFromSize(range: ByteRange, size: number, where: string): Uint8Array {
  if (spanOf(range, size, where).length === 0) return new Uint8Array(0);
  throw new Corrupt(`${where} has ${size} bytes, but its server refuses ${rangeHeader(range)}`, { where });
}

export const rangeHeader = (range: ByteRange): string =>
  "suffix" in range ? `bytes=-${range.suffix}` : `bytes=${range.offset}-${range.offset + range.length - 1}`;

/** The bytes of a 200, 206 or 416 answer to `range`, checked; a whole value has at most `cap` of them. */
export async function readBody(
  response: Response,
  range: ByteRange | undefined,
  where: string,
  cap: number = defaultLimits.chunkBytes,
): Promise<Uint8Array> {
  const encoded = isEncoded(response);
  const length = encoded ? undefined : contentLength(response);
  if (range === undefined) {
    if (response.status !== 200) throw await unexpected(response, "200", where);
    return collect(response, length, cap, where);
  }
  if (response.status === 416) {
    const size = /^bytes \*\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1];
    await discard(response);
    if ("suffix" in range && size === "0") return new Uint8Array(0);
    throw pastTheEnd(range, size === undefined ? undefined : Number(size), where);
  }
  if (encoded) {
    await discard(response);
    throw new Unsupported(
      `${where} comes with Content-Encoding ${response.headers.get("content-encoding")}, so a range of it has no meaning`,
      { where, hint: "let the server send the stored bytes as they are" },
    );
  }
  if (response.status === 200) return cutWhole(response, range, length, where);
  if (response.status !== 206) throw await unexpected(response, "206", where);

  const [want, exact] = "suffix" in range ? [range.suffix, false] : [range.length, true];
  const said = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(response.headers.get("content-range") ?? "");
  if (said !== null) {
    const [first, last] = [Number(said[1]), Number(said[2])];
    const size = said[3] === "*" ? undefined : Number(said[3]);
    const start = "suffix" in range ? (size === undefined ? first : Math.max(0, size - range.suffix)) : range.offset;
    const end = "suffix" in range ? (size ?? last + 1) : Math.min(start + want, size ?? start + want);
    if (first !== start || last !== end - 1) {
      await discard(response);
      throw new Corrupt(`${where} was asked for ${rangeHeader(range)} and answered ${said[0]}`, { where });
    }
    if (exact && end - start < want) {
      await discard(response);
      throw pastTheEnd(range, size, where);
    }
    return collect(response, end - start, want, where);
  }
  const bytes = await collect(response, length, want, where);
  if (exact && bytes.length < want) throw pastTheEnd(range, undefined, where);
  return bytes;
}

async function cutWhole(
  response: Response,
  range: ByteRange,
  size: number | undefined,
  where: string,
): Promise<Uint8Array> {
  if (size !== undefined && "offset" in range && range.offset + range.length > size) {
    await discard(response);
    throw pastTheEnd(range, size, where);
  }
  const all = "suffix" in range ? range.suffix >= (size ?? Infinity) : range.length === size;
  if (size === undefined || (size > WHOLE_INSTEAD_OF_RANGE && !all)) {
    await discard(response);
    throw new Unsupported(
      `${where} was asked for ${rangeHeader(range)} and answered with the whole value${size === undefined ? "" : ` of ${size} bytes`}`,
      { where, reason: "no-ranges", hint: "use a server that answers Range requests, or copy the data first" },
    );
  }
  const whole = await collect(response, size, size, where);
  return "suffix" in range
    ? whole.slice(Math.max(0, size - range.suffix))
    : whole.slice(range.offset, range.offset + range.length);
}

/** The whole body: exactly `expected` bytes where that is known, at most `cap` in any case. */
async function collect(
  response: Response,
  expected: number | undefined,
  cap: number,
  where: string,
): Promise<Uint8Array> {
  if (expected !== undefined && expected > cap) {
    await discard(response);
    throw tooLarge(where, expected, cap);
  }
  const parts: Uint8Array[] = [];
  let length = 0;
  const broken = (cause: unknown) => cut(where, expected, `${length} and then: ${deepest(cause)}`, cause);
  for await (const piece of pieces(response, broken)) {
    parts.push(piece);
    length += piece.length;
    if (length > (expected ?? cap)) break;
  }
  if (expected === undefined && length > cap) throw tooLarge(where, length, cap);
  if (expected !== undefined && length !== expected)
    throw cut(where, expected, `${length > expected ? "at least " : ""}${length}`);
  if (parts.length === 1 && parts[0]!.length === parts[0]!.buffer.byteLength) return parts[0]!;
  return concat(parts);
}

const cut = (where: string, expected: number | undefined, found: string, cause?: unknown): Corrupt =>
  new Corrupt(`the body of ${where} should have ${expected ?? "more"} bytes, found ${found}`, {
    where,
    reason: "cut",
    cause,
  });

const isEncoded = (response: Response): boolean =>
  !["", "identity"].includes(response.headers.get("content-encoding") ?? "");

function contentLength(response: Response): number | undefined {
  const text = response.headers.get("content-length");
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** The size of the value that a HEAD answers for, where the server tells. */
export const sizeOf = (response: Response): number | undefined =>
  isEncoded(response) ? undefined : contentLength(response);

/** The size of a value, out of the answer to a request for its first byte, which is used up. */
export async function sizeByFirstByte(response: Response): Promise<number | undefined> {
  const total = /^bytes (?:\*|0-0)\/(\d{1,15})$/.exec(response.headers.get("content-range") ?? "")?.[1];
  await discard(response);
  return total !== undefined ? Number(total) : response.status === 200 ? sizeOf(response) : undefined;
}

async function unexpected(response: Response, expected: string, where: string): Promise<OctavoError> {
  await discard(response);
  if (response.status >= 400) return refusal(response, where);
  return new Corrupt(`${where} answered ${response.status} where ${expected} was expected`, { where });
}

/** Retry-After is a number of seconds, or a date. */
function retrySeconds(headers: Headers | undefined): number | undefined {
  const said = headers?.get("retry-after") ?? "";
  if (/^\d{1,9}$/.test(said)) return Number(said);
  const at = Date.parse(said);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000);
}

/** The error that a status of 400 and above stands for; `said` is what the server adds to it. */
export function refusal(response: Response, where: string, said?: string): OctavoError {
  const { status } = response;
  const tail = `${status}${said ? ` (${said})` : ""}`;
  const retryAfter = retrySeconds(response.headers);
  switch (status) {
    case 401:
      return new Unsupported(`${where} asks for credentials: ${tail}`, { where, reason: "unauthorized" });
    case 403:
      return new Unsupported(
        `${where} is forbidden: ${tail}, which some stores also answer for keys that are absent when listing is not allowed`,
        {
          where,
          reason: "forbidden",
          hint: "get permission to read and list, or say --forbidden-is-missing (forbiddenIsMissing) if the data are known to be complete",
        },
      );
    case 404:
    case 410:
      return new NotFound(`${where} is not there: ${tail}`, { where });
    case 412:
      return new Conflict(`${where} was changed by somebody else: ${tail}`, { where });
    case 416:
      return new Corrupt(`${where} does not have the range that was asked for: ${tail}`, { where });
    case 429:
      return new LimitExceeded(`${where} takes no more requests for now: ${tail}`, {
        where,
        reason: "slow-down",
        retryAfter,
      });
    case 408:
      return new LimitExceeded(`${where} waited too long for the request: ${tail}`, { where, reason: "timeout" });
    case 507:
      return new LimitExceeded(`the store has no room for ${where}: ${tail}`, { where, reason: "disk-full" });
    default:
      if (status < 500 || status === 501) return new Unsupported(`${where} answered ${tail}`, { where });
      return new LimitExceeded(`${where} answered ${tail}`, { where, reason: "unavailable", retryAfter });
  }
}
