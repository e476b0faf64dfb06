/**
 * docs/conformance.md is true as far as a program can tell: files and what is named in them exist, so do the tests by their names
 * and the golden stores; no number is missing, and every test with a number has its row.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fixtures } from "../fixtures.js";

const root = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const page = read("docs/conformance.md");

interface Row {
  readonly number: string;
  readonly implemented: string;
  readonly shown: string;
  readonly all: string;
}
const rows = [...page.matchAll(/^\| ([A-Z]\d+) \|(.*)\|$/gm)].map(([all, number = "", rest = ""]): Row => {
  const [, implemented = "", shown = ""] = rest.split(/(?<!\\)\|/);
  return { number, implemented, shown, all };
});
type Set = "zarr" | "zarr-vectors" | "precomputed" | "packed-tree";
const formats: { readonly [letter: string]: { readonly folder: string; readonly set: Set } } = {
  S: { folder: "src/format/zarr", set: "zarr" },
  M: { folder: "src/format/zarr-vectors", set: "zarr-vectors" },
  V: { folder: "src/format/zarr-vectors", set: "zarr-vectors" },
  U: { folder: "src/format/precomputed/sharded", set: "precomputed" },
  P: { folder: "src/format/packed-tree", set: "packed-tree" },
  C: { folder: "src/format/snapshot", set: "packed-tree" },
  N: { folder: "src/format/precomputed/mesh", set: "precomputed" },
  W: { folder: "src/format/precomputed/client", set: "precomputed" },
  L: { folder: "src", set: "precomputed" },
};
const formatOf = ({ number }: Row) => formats[number[0]!]!;
const pathOf = (row: Row, name: string): string =>
  /^(src|test)\//.test(name) ? name : `${formatOf(row).folder}/${name}`;

/** `file.ts "a test"; "another of the same file"` as [file, test] pairs, and [file, undefined] where none is named. */
function testsIn(row: Row): [file: string, test: string | undefined][] {
  const out: [string, string | undefined][] = [];
  let file: string | undefined;
  for (const part of row.shown.replaceAll("\\_", "_").split(/;|, (?=")/)) {
    const [, named, test] = /^\s*([\w./-]+\.test\.ts)?\s*(?:"([^"]*)")?/.exec(part)!;
    if (named !== undefined) file = pathOf(row, named);
    if (file !== undefined && (named !== undefined || test !== undefined)) out.push([file, test]);
  }
  return out;
}

it("names files that exist, with what they are said to have", () => {
  const wrong: string[] = [];
  for (const row of rows)
    for (const [, name = "", identifier] of row.implemented.matchAll(/([\w./-]+\.ts)(?: `(\w+)`)?/g)) {
      const path = pathOf(row, name);
      if (!existsSync(join(root, path))) wrong.push(`${row.number}: ${path} is not there`);
      else if (identifier !== undefined && !new RegExp(`\\b${identifier}\\b`).test(read(path)))
        wrong.push(`${row.number}: ${path} has no ${identifier}`);
    }
  expect(wrong).toEqual([]);
});

it("names tests that exist", () => {
  const wrong: string[] = [];
  let count = 0;
  for (const row of rows)
    for (const [file, test] of testsIn(row)) {
      count++;
      if (!existsSync(join(root, file))) wrong.push(`${row.number}: ${file} is not there`);
      else if (test !== undefined && !read(file).includes(`"${test}`))
        wrong.push(`${row.number}: ${file} has no "${test}"`);
    }
  expect(wrong).toEqual([]);
  expect(count).toBeGreaterThan(100);
});

it("names golden stores that exist", () => {
  const wrong: string[] = [];
  const names = {
    zarr: storesOf("zarr"),
    "zarr-vectors": storesOf("zarr-vectors"),
    precomputed: storesOf("precomputed"),
    "packed-tree": storesOf("packed-tree", true),
  };
  for (const row of rows)
    for (const [, name = ""] of row.shown.matchAll(/test\/conformance, ([\w./*\\-]+)/g)) {
      const pattern = name.replaceAll("\\", "").replaceAll(".", "\\.").replaceAll("*", ".*");
      const found = names[formatOf(row).set].some((path) => new RegExp(`^${pattern}(/|$)`).test(path));
      if (name !== "all" && !found) wrong.push(`${row.number}: there is no ${name}`);
    }
  expect(wrong).toEqual([]);
});

/** The folders of a golden set, down to three names; with `files`, those as well. */
function storesOf(set: Set, files = false): string[] {
  const below = (path: string, depth: number): string[] =>
    readdirSync(join(fixtures(set), path), { withFileTypes: true }).flatMap((entry) => {
      const name = path === "" ? entry.name : `${path}/${entry.name}`;
      if (!entry.isDirectory()) return files ? [name] : [];
      return [name, ...(depth > 1 ? below(name, depth - 1) : [])];
    });
  return below("", 3);
}

it("shows each loss of others by a test", () => {
  const own = rows.filter(({ number }) => number.startsWith("L"));
  expect(own.map(({ number }) => number)).toEqual(own.map((_, i) => `L${i + 1}`));
  expect(own.length).toBeGreaterThan(40);
  expect(own.filter((row) => testsIn(row).length === 0)).toEqual([]);
});

describe.each([
  ["M", "seed-manifest.test.ts"],
  ["V", "seed-structure.test.ts"],
] as const)("Zarr Vectors, %s", (letter, file) => {
  const own = rows.filter(({ number }) => number.startsWith(letter));
  const seed = read(`src/format/zarr-vectors/${file}`);
  const numbered = new Set(
    [...seed.matchAll(/"((?:[MV]\d+ )+)/g)].flatMap(([, numbers = ""]) => numbers.trim().split(" ")),
  );

  it("leaves out no number, and shows every statement by a test", () => {
    const numbers = own.map(({ number }) => number);
    const ascending = numbers.sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
    expect(ascending).toEqual(numbers.map((_, i) => `${letter}${i + 1}`));
    expect(own.filter(({ shown }) => shown.trim() === "")).toEqual([]);
  });

  it("has its own test for each row that says so, and no others", () => {
    const said = own.filter((row) =>
      testsIn(row).some(([named, test]) => named.endsWith(`/${file}`) && test === undefined),
    );
    expect(said.map(({ number }) => number)).toEqual(own.map(({ number }) => number).filter((n) => numbered.has(n)));
    for (const number of numbered) expect(rows.map((row) => row.number)).toContain(number);
  });
});
