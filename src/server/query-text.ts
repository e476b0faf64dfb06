/**
 * What may follow "/query?": the fields of a Query by the names that the options of `octavo get` have, and what is wanted of the answer.
 *
 *     level max-vertices resolution geometry object group box sphere nearest where clip limit attributes · format count
 */
import { InvalidInput } from "../errors.js";
import type { Geometry, Query } from "../model/vectors.js";
import { parseGroups } from "../query/group-names.js";

/** A query, and what its answer is to be. */
export interface QueryText {
  readonly query: Query;
  readonly attributes: readonly string[] | undefined;
  /** As Accept says where this does not. */
  readonly format: (typeof FORMATS)[number] | undefined;
  /** How much it is, and nothing else. */
  readonly count: boolean;
}

/** What an answer can be. */
export const FORMATS = ["json", "ndjson", "arrow"] as const;
const GEOMETRIES = [
  "points",
  "lines",
  "polylines",
  "streamlines",
  "graph",
  "skeletons",
  "mesh",
] as const satisfies readonly Geometry[];
const MOST_IDS = 10_000;

type Parse<T> = (text: string, name: string) => T;

const number: Parse<number> = (text, name) => {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isFinite(value)) return value;
  throw new InvalidInput(`${name} should be a number, found ${JSON.stringify(text)}`);
};
const whole: Parse<number> = (text, name) => {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidInput(`${name} should be 0, 1, 2 …, found ${JSON.stringify(text)}`);
};
const id: Parse<bigint> = (text, name) => {
  if (/^-?\d{1,20}$/.test(text)) return BigInt(text);
  throw new InvalidInput(`${name} should be ids such as 42, found ${JSON.stringify(text)}`);
};
const list =
  <T>(item: Parse<T>): Parse<readonly T[]> =>
  (text, name) => {
    const items = text === "" ? [] : text.split(",");
    return few(items, name).map((own) => item(own.trim(), name));
  };
function few<T>(items: readonly T[], name: string): readonly T[] {
  if (items.length <= MOST_IDS) return items;
  throw new InvalidInput(`${name} has ${items.length} items, at most ${MOST_IDS} are taken`);
}
const word =
  <const T extends string>(words: readonly T[]): Parse<T> =>
  (text, name) => {
    const found = words.find((known) => known === text);
    if (found !== undefined) return found;
    throw new InvalidInput(`${name} should be ${words.join(", ")}, found ${JSON.stringify(text)}`);
  };
const text: Parse<string> = (given) => given;

const FIELDS = {
  level: whole,
  "max-vertices": whole,
  resolution: number,
  geometry: word(GEOMETRIES),
  object: list(id),
  group: (given: string, name: string) => few(parseGroups(given), name),
  box: list(number),
  sphere: list(number),
  nearest: list(number),
  where: text,
  clip: (given: string, name: string) => given === "" || given === "true" || word(["vertices"])(given, name),
  limit: whole,
  attributes: list(text),
  format: word(FORMATS),
  count: (given: string, name: string) => given === "" || word(["true"])(given, name) === "true",
};

type Given = { readonly [K in keyof typeof FIELDS]?: ReturnType<(typeof FIELDS)[K]> };

/** InvalidInput where something is not understood: nothing is left out in silence. */
export function parseQuery(params: URLSearchParams): QueryText {
  const given: Record<string, unknown> = {};
  for (const [name, value] of params) {
    if (!Object.hasOwn(FIELDS, name))
      throw new InvalidInput(`there is no ${JSON.stringify(name)}; there are: ${Object.keys(FIELDS).join(", ")}`);
    if (Object.hasOwn(given, name)) throw new InvalidInput(`${name} is there twice`);
    given[name] = FIELDS[name as keyof typeof FIELDS](value, name);
  }
  const { "max-vertices": maxVertices, attributes, format, count = false, ...query } = given as Given;
  return { query: { ...query, maxVertices }, attributes, format, count };
}
