/**
 * What metadata documents of all versions have in common: they are JSON objects with shapes in them.
 *
 * Octavo counts with numbers, so an extent beyond 2^53 − 1 is refused rather than rounded; a chunk must fit the caller's
 * limits before anybody allocates one.
 */
import { type DataType, memorySize } from "../../bytes/dtype.js";
import { isJsonObject, type Json, type JsonObject, parseJson, showJson } from "../../bytes/json.js";
import { Corrupt, LimitExceeded } from "../../errors.js";
import type { Limits } from "../../limits.js";

const MAX_RANK = 64; // numpy's own

export function readDocument(bytes: Uint8Array, limits: Limits, where: string): JsonObject {
  // Python writes NaN and Infinity as bare words into attributes, also in v2 and v3.
  return asObject(parseJson(bytes, limits, where, { tokens: true }), "a JSON object", where);
}

/** The second document of an array or group before v3, which may be absent. */
export function readAttributes(bytes: Uint8Array | undefined, limits: Limits, where: string): JsonObject {
  return bytes === undefined ? {} : readDocument(bytes, limits, `the attributes beside ${where}`);
}

export function asObject(value: Json | undefined, what: string, where: string): JsonObject {
  if (!isJsonObject(value)) throw wrong(where, what, value);
  return value;
}

export function asString(value: Json | undefined, what: string, where: string): string {
  if (typeof value !== "string") throw wrong(where, what, value);
  return value;
}

/** An integer of a small range, such as a compression level. */
export function asInteger(value: Json | undefined, min: number, max: number, what: string, where: string): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max)
    throw wrong(where, `${what} from ${min} to ${max}`, value);
  return value;
}

export function asList(value: Json | undefined, what: string, where: string): readonly Json[] {
  if (!Array.isArray(value)) throw wrong(where, what, value);
  return value as readonly Json[];
}

/** `what` names the key: "shape", "chunks". */
export function asShape(value: Json | undefined, what: string, where: string): number[] {
  const list = asList(value, `a list of whole numbers as ${what}`, where);
  if (list.length > MAX_RANK)
    throw new LimitExceeded(`${where} has ${list.length} dimensions in ${what}, at most ${MAX_RANK} are allowed`, {
      where,
    });
  return list.map((entry) => {
    if (typeof entry === "bigint" && entry > 0n)
      throw new LimitExceeded(`${where} has ${entry} in ${what}, at most 2^53 − 1 can be counted exactly`, { where });
    if (typeof entry !== "number" || !Number.isSafeInteger(entry) || entry < 0)
      throw wrong(where, `whole numbers in ${what}`, entry);
    return entry;
  });
}

/** The chunk shape of a grid over `shape`. Writers of empty arrays leave 0 where the array is 0 long; that is 1. */
export function asChunkShape(value: Json | undefined, shape: readonly number[], what: string, where: string): number[] {
  const chunks = asShape(value, what, where);
  if (chunks.length !== shape.length)
    throw new Corrupt(`${where} has ${chunks.length} dimensions in ${what} but ${shape.length} in shape`, { where });
  return chunks.map((length, axis) => {
    if (length > 0) return length;
    if (shape[axis] === 0) return 1;
    throw wrong(where, `positive lengths in ${what}`, length);
  });
}

/** Refuses chunks that nobody could hold in memory, before anybody tries. */
export function checkChunkBytes(chunkShape: readonly number[], dtype: DataType, limits: Limits, where: string): void {
  const bytes = chunkShape.reduce((product, length) => product * length, memorySize(dtype));
  if (bytes > limits.chunkBytes)
    throw new LimitExceeded(
      `${where} has chunks of [${chunkShape}] elements, ${bytes} bytes each, at most ${limits.chunkBytes} are allowed`,
      { where, reason: "chunk-bytes" },
    );
}

/** "W should have X, found Y" */
export function wrong(where: string, expected: string, found: Json | undefined): Corrupt {
  return new Corrupt(`${where} should have ${expected}, found ${showJson(found)}`, { where });
}

/** For the right side of `??`. */
export function fail(error: () => Error): never {
  throw error();
}

/** A value in an error message. */
export { showJson as show } from "../../bytes/json.js";
