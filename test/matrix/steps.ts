/** One step of the matrix: what it loses according to the table, whether its report says that and nothing else, and what came out. */
import type { ConvertReport } from "../../src/convert/arrays.js";
import { diffDatasets } from "../../src/diff/datasets.js";
import type { Column } from "../../src/model/attributes.js";
import type { Geometry, VectorDataset } from "../../src/model/vectors.js";
import { open } from "../../src/node.js";
import type { Row } from "./formats.js";
import { type Scene, stored } from "./scenes.js";

const PATHS: readonly Geometry[] = ["lines", "polylines", "streamlines"]; // which are the same to diff
const DOMAINS = ["vertex", "object", "link", "group"] as const;

/** What a step loses. */
export interface Lost {
  /** Attributes that are not there, or have other values. */
  readonly names: readonly string[];
  /** The same values in another type: may be told, need not. */
  readonly retyped: readonly string[];
  /** What else a report has to speak of. */
  readonly words: readonly RegExp[];
}

export function lostBetween(before: Scene, after: Scene): Lost {
  const [names, retyped]: [string[], string[]] = [[], []];
  for (const domain of DOMAINS)
    for (const column of domain === "group" && after.members.length === 0 ? [] : before[domain]) {
      const now = after[domain].find(({ info }) => info.name === column.info.name);
      if (now === undefined || !alike(column, now)) names.push(column.info.name);
      else if (JSON.stringify(now.info.dtype) !== JSON.stringify(column.info.dtype)) retyped.push(column.info.name);
    }
  const words = [
    ...(before.ids === undefined || `${before.ids}` === `${after.ids}` ? [] : [/\bids?\b|object/]),
    ...(before.members.length === after.members.length ? [] : [/group/]),
    ...(before.geometry === after.geometry || PATHS.includes(after.geometry)
      ? []
      : [new RegExp(`${before.geometry}|${after.geometry}`)]),
  ];
  return { names, retyped, words };
}

const alike = ({ values: a }: Column, { values: b }: Column): boolean =>
  a.length === b.length && Array.from(a as ArrayLike<unknown>).every((value, i) => `${value}` === `${b[i]}`);

const speaksOf = (sentence: string, name: string): boolean =>
  new RegExp(`(^|[^A-Za-z_])${name}([^A-Za-z_]|$)`).test(sentence);

/** What a report says, of what is lost and of what is otherwise. */
export const sayings = ({ losses, notes = [] }: ConvertReport, { says }: Row): string[] =>
  [...losses, ...notes].filter((sentence) => says?.test(sentence) !== true).map(plain);

/** Without the address, which has names in it. */
const plain = (sentence: string): string => sentence.replace(/^memory:\S*: /, "");

/** What is lost, and no sentence says so. */
export const untold = (told: readonly string[], { names, words }: Lost): string[] => [
  ...names.filter((name) => !told.some((sentence) => speaksOf(sentence, name))),
  ...words.filter((word) => !told.some((sentence) => word.test(sentence))).map(String),
];

/** Sentences about nothing that is lost, or about what is not. */
export function unfounded(told: readonly string[], { names, retyped, words }: Lost, before: Scene): string[] {
  const may = [...names, ...retyped];
  const kept = DOMAINS.flatMap((domain) => before[domain].map(({ info }) => info.name)).filter(
    (name) => !may.includes(name),
  );
  return told
    .map(plain)
    .filter(
      (sentence) =>
        kept.some((name) => speaksOf(sentence, name)) ||
        !(may.some((name) => speaksOf(sentence, name)) || words.some((word) => word.test(sentence))),
    );
}

/** Where the dataset at an address is another than the scene in units of the first format, but for what formats on the way add. */
export async function differences(scene: Scene, url: string, way: readonly Row[]): Promise<string[]> {
  const dataset = (await open(url)) as VectorDataset;
  const options = { places: 100, ignore: ["levels"], tolerance: tolerance(scene, way) } as const;
  const report = await diffDatasets(await stored(scene, way[0]?.unit), dataset, options);
  return report.differences
    .filter(({ kind, message }) => {
      const added = kind === "attributes" && /^only the second has the \w+ attribute (.*)$/.exec(message)?.[1];
      return !(added && way.some(({ adds }) => adds?.test(added)));
    })
    .map(({ kind, where, message }) => `${kind}: ${where}: ${message}`);
}

/** 0 where every format on the way has the coordinates as they are. */
function tolerance({ positions }: Scene, way: readonly Row[]): number {
  const units = new Set(way.flatMap(({ unit }) => unit ?? []));
  const largest = Math.max(...positions.map(Math.abs));
  return Math.max(0, ...way.map(({ precision = 0 }) => precision), units.size > 1 ? largest * 2 ** -22 : 0);
}
