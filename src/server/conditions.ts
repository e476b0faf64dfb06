/**
 * Ranges and conditions (RFC 9110): what of a value is wanted, if it is not known already.
 *
 * | header        | effect                                                                                     |
 * |---------------|--------------------------------------------------------------------------------------------|
 * | If-Match      | 412 unless one of the tags is the value's                                                  |
 * | If-None-Match | 304 where one of them is                                                                   |
 * | If-Range      | the range counts only while the tag is the value's; else all of it is sent                 |
 * | Range         | one range of bytes: 206; one that begins past the end, or several: 416; another unit, or HEAD: all |
 */
import { single } from "./guard.js";
import type { ServerRequest } from "./types.js";

/** Which bytes to send, or why none. */
export type Wanted =
  | { readonly status: 200 | 206; readonly offset: number; readonly length: number }
  | { readonly status: 304 | 412 | 416 };

/** The range that is asked for; it means something with GET alone. */
export const rangeOf = ({ method, headers }: ServerRequest): string | undefined =>
  method === "GET" ? single(headers.range) : undefined;

/** What a request wants of a value of `size` bytes and this tag. */
export function wanted(request: ServerRequest, size: number, etag: string | undefined): Wanted {
  const { headers } = request;
  const match = single(headers["if-match"]);
  if (match !== undefined && !names(match, etag, true)) return { status: 412 };
  const noneMatch = single(headers["if-none-match"]);
  if (noneMatch !== undefined && names(noneMatch, etag, false)) return { status: 304 };
  const whole = { status: 200, offset: 0, length: size } as const;
  const range = rangeOf(request);
  if (range === undefined || !/^bytes=/i.test(range)) return whole;
  const ifRange = headers["if-range"];
  if (ifRange !== undefined && (etag === undefined || ifRange !== etag)) return whole;
  if (range.includes(",")) return { status: 416 };
  const found = /^bytes=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(range);
  const [from, to] = [found?.[1] ?? "", found?.[2] ?? ""];
  if (from === "" && to === "") return whole; // not a range at all
  if (from === "") {
    const length = Math.min(Number(to), size);
    return length === 0 ? { status: 416 } : { status: 206, offset: size - length, length };
  }
  const [offset, last] = [Number(from), to === "" ? size - 1 : Number(to)];
  if (to !== "" && last < offset) return whole;
  if (offset >= size) return { status: 416 };
  return { status: 206, offset, length: Math.min(last, size - 1) - offset + 1 };
}

/** Whether a list of tags names this one; `strong` takes no weak ones. */
function names(list: string, etag: string | undefined, strong: boolean): boolean {
  if (list.trim() === "*") return true;
  if (etag === undefined) return false;
  return list.split(",").some((text) => {
    const tag = text.trim();
    return tag === etag || (!strong && tag === `W/${etag}`);
  });
}
