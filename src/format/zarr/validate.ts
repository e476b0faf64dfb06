/**
 * Everything that can be wrong with a Zarr array or a tree of them, found in one pass, a few chunks in memory at a time.
 *
 * | level | rule                      | severity | says                                                              |
 * |-------|---------------------------|----------|-------------------------------------------------------------------|
 * | 1     | zarr/metadata             | error    | a document is missing, damaged or not understood                  |
 * | 1     | zarr/note                 | info     | what a reader should know, such as a fill value that does not fit |
 * | 2     | zarr/codec                | error    | the chain of codecs cannot be built                               |
 * | 2     | zarr/consolidated-differs | warning  | consolidated metadata and the nodes' own do not agree             |
 * | any   | zarr/unavailable          | error    | the store did not give it: nothing is known about it (`unchecked`) |
 * | 3     | zarr/chunk-missing        | info     | how many chunks are absent and read as fill                       |
 * | 3     | zarr/chunk-stale          | warning  | a chunk outside the grid; readers ignore it                       |
 * | 3     | zarr/leftover-partial     | warning  | a write that never ended                                          |
 * | 3     | zarr/unknown-key          | info     | a key that belongs to nothing                                     |
 * | 3     | zarr/chunk-unreadable     | error    | a chunk that cannot be had: a link out of the root, a damaged zip  |
 * | 4     | zarr/chunk-decodes        | error    | a chunk that cannot be decoded to its size                        |
 * | 4     | zarr/shard-index          | error    | a shard whose index cannot be read, or points outside it          |
 * | 5     | zarr/trailing-bytes       | warning  | bytes behind the end that a blosc chunk itself states             |
 */
import { withMissingCode } from "../../codec/on-demand.js";
import { OctavoError } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { Finding, Severity, ValidateOptions } from "../../model/format.js";
import { isNotGiven } from "../../store/failure.js";
import type { Key, Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { checkChunk } from "./check-chunk.js";
import { innermost } from "./coder.js";
import { checkConsolidated } from "./consolidated-check.js";
import { type ChunkCodec, chunkCodec } from "./decode.js";
import { parseChunkKey } from "./keys.js";
import { urlOf, type ZarrArray, type ZarrGroup } from "./node.js";
import { openZarr } from "./open.js";
import { parts } from "./plan.js";
import { concurrency, keyOf } from "./read.js";

const finding = (severity: Severity, rule: string, where: string, message: string): Finding => ({
  severity,
  rule: `zarr/${rule}`,
  where,
  message,
});

/** What went wrong as a finding; errors that are not Octavo's pass through. */
function failure(rule: string, where: string, error: unknown): Finding {
  if (!(error instanceof OctavoError)) throw error;
  if (isNotGiven(error))
    return { ...finding("error", "unavailable", error.where ?? where, error.message), unchecked: true };
  return finding("error", rule, error.where ?? where, error.message);
}

export async function* validateZarr(store: Store, at: Prefix, options: ValidateOptions = {}): AsyncGenerator<Finding> {
  options.signal?.throwIfAborted();
  let node: ZarrArray | ZarrGroup;
  try {
    node = await openZarr(store, at, options);
  } catch (error) {
    yield failure("metadata", urlOf(store, at), error);
    return;
  }
  for (const note of node.notes) yield finding("info", "note", node.url, note);
  if (node.kind === "array") return yield* validateArray(node, options);
  try {
    yield* validateGroup(node, options);
  } catch (error) {
    yield failure("metadata", node.url, error); // what is below could not be listed
  }
}

async function* validateGroup(group: ZarrGroup, options: ValidateOptions): AsyncGenerator<Finding> {
  const { store, at } = group;
  if ((options.level ?? 5) >= 2) {
    for await (const found of checkConsolidated(group, options)) {
      if (found instanceof OctavoError) yield failure("metadata", group.url, found);
      else yield finding("warning", "consolidated-differs", group.url, found);
    }
  }
  if ((options.level ?? 5) >= 3 && store.can.list) {
    const { keys } = await store.children(at, { signal: options.signal, partial: true });
    for (const key of keys) if (isPartial(key)) yield leftover(key);
  }
  const children = (await group.children(options)) ?? [];
  for (const { name } of children) yield* validateZarr(store, `${at}${name}/` as Prefix, options);
}

async function* validateArray(array: ZarrArray, options: ValidateOptions): AsyncGenerator<Finding> {
  const level = options.level ?? 5;
  if (level < 2) return;
  let codec: ChunkCodec;
  try {
    codec = await chunkCodec(array.meta, array.url, { decodeOnly: true });
  } catch (error) {
    yield failure("codec", array.url, error);
    return;
  }
  if (level < 3) return;
  const keys = array.store.can.list
    ? array.store.list(array.at, { signal: options.signal, partial: true })
    : gridKeys(array);
  const atOnce = concurrency(array, {});
  const total = gridOf(array).reduce((product, n) => product * n, 1);
  let present = 0;
  let done = 0;
  let batch: Promise<Finding[] | undefined>[] = [];
  const settle = async (): Promise<Finding[]> => {
    const results = await Promise.all(batch);
    batch = [];
    present += results.filter((found) => found !== undefined).length;
    done += results.length;
    options.onProgress?.({ done, total, unit: "chunks" });
    return results.flatMap((found) => found ?? []);
  };
  let cut: Finding | undefined;
  try {
    for await (const { key } of keys) {
      const seen = placeOf(array, key);
      if (seen === "chunk") batch.push(checkKey(array, codec, key, options));
      else if (seen !== undefined) yield seen;
      if (batch.length >= atOnce) yield* await settle();
    }
  } catch (error) {
    cut = failure("metadata", array.url, error);
  }
  yield* await settle();
  if (cut !== undefined) yield cut;
  else if (present < total) {
    const message = `${total - present} of ${total} chunks are absent and read as fill`;
    yield finding("info", "chunk-missing", array.url, message);
  }
}

/** What is wrong with a chunk; undefined where there is none. */
async function checkKey(
  array: ZarrArray,
  codec: ChunkCodec,
  key: Key,
  options: ValidateOptions,
): Promise<Finding[] | undefined> {
  const { store } = array;
  const { level = 5, signal } = options;
  if (level < 4 && store.can.list) return [];
  try {
    if (level < 4) return (await store.stat(key, { signal })) && [];
    const bytes = await store.get(key, { signal });
    if (bytes === undefined) return undefined;
    const isBlosc = innermost(array.meta.codecs).at(-1)?.name === "blosc";
    const found = await withMissingCode(() => checkChunk(codec, bytes, isBlosc, withLimits(options.limits)));
    return found
      .filter((each) => each.level <= level)
      .map(({ severity, rule, inside, message }) =>
        finding(severity, rule, inside === "" ? key : `${key} ${inside}`, message),
      );
  } catch (error) {
    return [failure("chunk-unreadable", key, error)]; // damage is already a finding: this is the store
  }
}

const gridOf = ({ meta }: ZarrArray): number[] =>
  meta.shape.map((length, axis) => Math.ceil(length / meta.chunkShape[axis]!));

const isPartial = (name: string): boolean => name.endsWith(".partial");
const leftover = (key: Key): Finding =>
  finding(
    "warning",
    "leftover-partial",
    key,
    "a write that has not ended, or never will, left this; readers ignore it",
  );

/** What a key below an array is: a chunk of it, something worth a finding, or something that belongs there. */
function placeOf(array: ZarrArray, key: Key): "chunk" | Finding | undefined {
  const { meta, at } = array;
  const name = key.slice(at.length);
  const place = parseChunkKey(meta.keys, meta.shape.length, name);
  if (place !== undefined) {
    const grid = gridOf(array);
    if (place.every((n, axis) => n < grid[axis]!)) return "chunk";
    return finding(
      "warning",
      "chunk-stale",
      key,
      `the chunk lies outside the grid of [${grid}] chunks; readers ignore it`,
    );
  }
  if (/^(zarr\.json|\.zarray|\.zattrs|\.zgroup|\.zmetadata|meta|attrs|__zmeta__|__zattr__)$/.test(name))
    return undefined;
  if (name.endsWith(".lock")) return undefined; // v0 leaves them behind on purpose
  if (isPartial(name)) {
    return leftover(key);
  }
  return finding("info", "unknown-key", key, "the key belongs to no chunk and no document of the array");
}

function* gridKeys(array: ZarrArray): Generator<{ key: Key }> {
  const whole = array.meta.shape.map((length) => ({ start: 0, step: 1, count: length }));
  for (const { chunk } of parts(whole, array.meta.chunkShape)) yield { key: keyOf(array, chunk) };
}
