/**
 * A codec's configuration, read strictly: what is there must be of the right kind, what is absent is the default, and a
 * default of undefined means that it must be there. Keys that a codec does not know are left alone, as numcodecs leaves them.
 */
import { type Json, showJson } from "../bytes/json.js";
import { InvalidInput } from "../errors.js";
import type { CodecSpec } from "./types.js";

type Configuration = CodecSpec["configuration"];

const refuse = (codec: string, key: string, wanted: string, found: Json | undefined): InvalidInput =>
  new InvalidInput(`the ${codec} codec's ${key} should be ${wanted}, found ${showJson(found)}`);

export function integerOption(
  configuration: Configuration,
  codec: string,
  key: string,
  [low, high]: readonly [number, number],
  absent?: number,
): number {
  const value = configuration[key] ?? absent;
  if (typeof value !== "number" || !Number.isInteger(value) || value < low || value > high)
    throw refuse(codec, key, `a whole number from ${low} to ${high}`, value);
  return value;
}

export function booleanOption(configuration: Configuration, codec: string, key: string, absent?: boolean): boolean {
  const value = configuration[key] ?? absent;
  if (typeof value !== "boolean") throw refuse(codec, key, "true or false", value);
  return value;
}

export function wordOption<Word extends string>(
  configuration: Configuration,
  codec: string,
  key: string,
  words: readonly Word[],
  absent?: Word,
): Word {
  const value = configuration[key] ?? absent;
  const word = words.find((candidate) => candidate === value);
  if (word === undefined) throw refuse(codec, key, words.map((one) => `"${one}"`).join(" or "), value);
  return word;
}

export function numberOption(configuration: Configuration, codec: string, key: string, absent?: number): number {
  const value = configuration[key] ?? absent;
  if (typeof value !== "number") throw refuse(codec, key, "a number", value);
  return value;
}

export function textOption(configuration: Configuration, codec: string, key: string, absent?: string): string {
  const value = configuration[key] ?? absent;
  if (typeof value !== "string") throw refuse(codec, key, "a text", value);
  return value;
}
