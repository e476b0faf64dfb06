/** What a conversion is of: its inputs as they are, and the options that shape its result. Only the same one may go on where another was. */
import { xxh3 } from "../bytes/hash/xxh3.js";
import { isJsonObject, type Json, type JsonObject, parseJson, stringifyJson } from "../bytes/json.js";
import { encodeUtf8 } from "../bytes/text.js";
import { OctavoError } from "../errors.js";
import { withLimits } from "../limits.js";
import type { Dataset } from "../model/dataset.js";
import { isPrivate, Key, Prefix } from "../store/key.js";
import type { Location, LocationOptions } from "../store/open.js";
import type { Store } from "../store/types.js";
import type { ManyOptions } from "./feed-many.js";
import type { Input } from "./inputs.js";
import { type ConvertToOptions, isMany } from "./options.js";

/** As a journal has it. */
export interface Job {
  /** By name, what tells it from another: copies are the same. */
  readonly inputs: JsonObject;
  /** What tells also whether they were touched. */
  readonly versions: string;
  readonly options: JsonObject;
  /** Into how many parts it was divided. */
  readonly parts?: number | undefined;
  /** Of one that is there, but for its coarser levels. */
  readonly report?: JsonObject | undefined;
}

const SHAPING = [
  ...(["as", "to", "formatVersion", "dtype", "ids", "codecs", "chunkShape", "shardShape", "separator"] as const),
  ...(["kind", "keepTypes", "encoding", "sharded", "scales", "resolution", "query", "attributes", "skipBad"] as const),
  ...([
    "reference",
    "invalid",
    "include",
    "exclude",
    "endsOnly",
    "attach",
    "pyramid",
    "table",
    "merge",
    "slice",
  ] as const),
];

type Options = ConvertToOptions & Pick<ManyOptions, "merge"> & { readonly table?: unknown };

/** What is converted here. */
export async function jobOf(
  openLocation: (url: string, options?: LocationOptions) => Promise<Location>,
  source: Dataset | readonly Input[],
  options: Options,
): Promise<Job> {
  const inputs: { [name: string]: Json } = {};
  const versions: string[] = [];
  const add = async (name: string, url: string, place?: Store): Promise<void> => {
    const known = await identityOf(openLocation, url, place, options);
    inputs[name] = known.told;
    versions.push(known.version);
  };
  if (isMany(source)) for (const { name, origin } of source) await add(name, origin.url, origin.store);
  else await add(source.url.replace(/[/]+$/, "").replace(/^.*[/]/, ""), source.url);
  const given = SHAPING.map((name): [string, Json | undefined] => [name, plain(options[name])]);
  const shaping = given.filter((entry): entry is [string, Json] => entry[1] !== undefined && entry[1] !== false);
  return { inputs, versions: digest(versions.join("\n")), options: Object.fromEntries(shaping) };
}

export const digest = (data: string | Uint8Array): string =>
  xxh3(typeof data === "string" ? encodeUtf8(data, "a text") : data).toString(16);

/** Options as JSON has them; functions, such as one that is told of progress, shape nothing. */
function plain(value: unknown): Json | undefined {
  if (value === undefined || typeof value === "function") return undefined;
  if (typeof value === "bigint") return `${value}`;
  if (typeof value !== "object" || value === null) return value as Json;
  if (Symbol.iterator in value) return [...(value as Iterable<unknown>)].map((entry) => plain(entry) ?? null);
  const entries = Object.entries(value).map(([name, entry]): [string, Json | undefined] => [name, plain(entry)]);
  return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

const SAMPLE = 1 << 16;

/** A file is its size with its beginning and end; a store its keys with their sizes. */
async function identityOf(
  openLocation: (url: string, options?: LocationOptions) => Promise<Location>,
  url: string,
  place: Store | undefined,
  options: Options,
): Promise<{ readonly told: string; readonly version: string }> {
  const { signal } = options;
  const unknown = { told: url, version: "" }; // nothing that has an address, such as what a program has made
  let location: Location;
  try {
    location = place === undefined ? await openLocation(url, options) : within(place, url);
  } catch (error) {
    if (error instanceof OctavoError) return unknown;
    throw error;
  }
  const { store, at, file } = location;
  const stat = file && (await store.stat(file, { signal }));
  if (file !== undefined && stat !== undefined) {
    const { size, version = "" } = stat;
    const length = Math.min(size, SAMPLE);
    const ends = [0, size - length].map((offset) => store.get(file, { signal, range: { offset, length } }));
    const read = size === 0 ? [] : await Promise.all(ends);
    return { told: `${size} bytes, ${read.map((bytes) => digest(bytes ?? new Uint8Array())).join(" ")}`, version };
  }
  if (!store.can.list) return unknown;
  const keys: string[] = [];
  for await (const { key, size } of store.list(file === undefined ? at : Prefix.of(file), { signal }))
    if (!isPrivate(key)) keys.push(`${key.slice(at.length)} ${size}`);
  return { told: `${keys.length} keys, ${digest(keys.sort().join("\n"))}`, version: "" };
}

const within = (store: Store, url: string): Location => {
  const path = url.slice(store.url.length + 1);
  return path === "" ? { store, at: Prefix.root } : { store, at: Prefix.root, file: Key.of(path) };
};

/** The end of a sentence that says how another conversion differs from this one; undefined where both are the same. */
export function difference(before: Job, now: Job): string | undefined {
  if (before.parts !== now.parts) return `it ${partsText(before.parts)}, and this one ${partsText(now.parts)}`;
  for (const name of new Set([...Object.keys(before.inputs), ...Object.keys(now.inputs)])) {
    if (!(name in now.inputs)) return `its input ${name} is none of this one's`;
    if (!(name in before.inputs)) return `${name} was not among its inputs`;
    if (before.inputs[name] !== now.inputs[name]) return `its input ${name} was another, or has changed`;
  }
  if (now.parts === undefined && before.versions !== now.versions) return "its input has been written to since";
  const shown = (options: JsonObject, name: string): string =>
    name in options ? stringifyJson(options[name]!) : "not given";
  for (const name of SHAPING) {
    const [was, is] = [shown(before.options, name), shown(now.options, name)];
    if (was !== is) return `its option ${name} was ${was}, and is ${is}`;
  }
  return undefined;
}

const partsText = (parts: number | undefined): string =>
  parts === undefined ? "is in one part" : `is in ${parts} parts`;

export const jobText = (job: Job): Uint8Array =>
  encodeUtf8(
    stringifyJson(Object.fromEntries(Object.entries(job).filter(([, value]) => value !== undefined)) as JsonObject),
    "a journal",
  );

/** Undefined where this is the journal of another program's work, or of an older version's. */
export function parseJob(bytes: Uint8Array, where: string): Job | undefined {
  if (bytes.length === 0) return undefined;
  const job = parseJson(bytes, withLimits(undefined), where);
  return isJsonObject(job) && isJsonObject(job.inputs) && isJsonObject(job.options)
    ? (job as unknown as Job)
    : undefined;
}
