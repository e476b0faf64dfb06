/** The value that a name stands for: itself, its packed form (`.gz`), or the two files of an old shard as one. */
import { loadDeflate } from "../codec/deflate.js";
import { gzipWith } from "../codec/gzip.js";
import { LimitExceeded } from "../errors.js";
import { defaultLimits } from "../limits.js";
import { Key } from "../store/key.js";
import type { CallOptions, OpenValue } from "../store/types.js";
import { rangeOf } from "./conditions.js";
import { single } from "./guard.js";
import type { Open } from "./opened.js";
import { turns } from "./turns.js";
import type { ServerRequest } from "./types.js";

/** A value, and what is said about it. */
export interface Found {
  readonly value: OpenValue;
  readonly etag: string | undefined;
  readonly encoding?: "gzip";
}

const MOST_UNPACKED = 64 << 20; // a chunk of a volume has a few megabytes
const SMALL = 1 << 20;
/** Larger ones are in memory until they have been sent: so many at once, whoever reads slowly. */
const takeUnpacked = turns(8);

const tag = (version: string | undefined, suffix = ""): string | undefined =>
  version === undefined ? undefined : `"${/^[\w+-]+$/.test(version) ? version : encodeURIComponent(version)}${suffix}"`;

/** The value by this name; undefined where there is none. The caller closes it. */
export async function find(open: Open, key: Key, request: ServerRequest): Promise<Found | undefined> {
  const value = await open(key, request);
  if (value !== undefined) return { value, etag: tag(value.version) };
  if (key.endsWith(".shard")) {
    const base = key.slice(0, -".shard".length);
    const pair = await bothOf(open, Key.of(`${base}.index`), Key.of(`${base}.data`), request);
    if (pair !== undefined) return { value: pair, etag: tag(pair.version) };
  }
  if (key.length > 1000) return undefined;
  const packed = await open(Key.of(`${key}.gz`), request);
  if (packed === undefined) return undefined;
  const takesGzip = /(?:^|[\s,])(?:gzip|\*)(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(
    single(request.headers["accept-encoding"]) ?? "",
  );
  if (takesGzip && rangeOf(request) === undefined)
    return { value: packed, etag: tag(packed.version, "-gzip"), encoding: "gzip" };
  return { value: await unpacked(packed), etag: tag(packed.version) };
}

/** Two values as one. */
async function bothOf(open: Open, a: Key, b: Key, call: CallOptions): Promise<OpenValue | undefined> {
  const first = await open(a, call);
  if (first === undefined) return undefined;
  const second = await open(b, call);
  const close = (): void => {
    first.close();
    second?.close();
  };
  if (second === undefined) {
    close();
    return undefined;
  }
  const read: OpenValue["read"] = async (spans) => {
    const pieces: Uint8Array[] = [];
    for (const { offset, length } of spans) {
      const inFirst = Math.max(0, Math.min(length, first.size - offset));
      if (inFirst > 0) pieces.push(...(await first.read([{ offset, length: inFirst }])));
      const rest = { offset: Math.max(0, offset - first.size), length: length - inFirst };
      if (rest.length > 0) pieces.push(...(await second.read([rest])));
    }
    return pieces;
  };
  const version = first.version && second.version && `${first.version}+${second.version}`;
  return { size: first.size + second.size, version: version || undefined, read, close };
}

async function unpacked(packed: OpenValue): Promise<OpenValue> {
  const leave = await takeUnpacked();
  try {
    if (packed.size > MOST_UNPACKED)
      throw new LimitExceeded(`a packed value has ${packed.size} bytes, at most ${MOST_UNPACKED} are unpacked`);
    const [bytes] = await packed.read([{ offset: 0, length: packed.size }]);
    const limits = { ...defaultLimits, chunkBytes: MOST_UNPACKED };
    const content = gzipWith(await loadDeflate()).decompress(bytes!, undefined, limits);
    if (content.length <= SMALL) leave(); // nobody waits for those who read these slowly
    return {
      size: content.length,
      version: packed.version,
      read: async (spans) => spans.map(({ offset, length }) => content.subarray(offset, offset + length)),
      close: leave,
    };
  } catch (error) {
    leave();
    throw error;
  } finally {
    packed.close();
  }
}
