/**
 * Skeletons and annotations of the precomputed set. Expected files say what was put in; a store passes when every value comes
 * out equal, by id and as a dataset, and nothing in it is damaged. What the Python writer has misplaced must be told, read
 * as it was meant, and be an error to `validate`.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AnnotationDataset } from "../../src/format/precomputed/annotation/dataset.js";
import { openAnnotations } from "../../src/format/precomputed/annotation/read.js";
import { precomputed } from "../../src/format/precomputed/index.js";
import type { SkeletonDataset } from "../../src/format/precomputed/skeleton/dataset.js";
import { openSkeletons } from "../../src/format/precomputed/skeleton/read.js";
import type { Finding } from "../../src/model/format.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { type Case, Failed } from "./case.js";

export function vectorCases(folder: string): Case[] {
  return [
    ...storesIn(folder, "skeletons").map((name) => ({
      name: `precomputed/skeletons/${name}`,
      run: () => skeletons(folder, name),
    })),
    ...storesIn(folder, "annotations").map((name) => ({
      name: `precomputed/annotations/${name}`,
      run: () => annotations(folder, `annotations/${name}`, name.replace(/(_portable)?_sharded$/, "_unsharded")),
    })),
    ...storesIn(folder, "annotations_bug").map((name) => ({
      name: `precomputed/annotations_bug/${name}`,
      run: () => misplaced(folder, `annotations_bug/${name}`),
    })),
  ];
}

const storesIn = (folder: string, kind: string): string[] =>
  existsSync(join(folder, kind))
    ? readdirSync(join(folder, kind), { withFileTypes: true }).flatMap((entry) =>
        entry.isDirectory() ? [entry.name] : [],
      )
    : [];
const json = (folder: string, path: string) => JSON.parse(readFileSync(join(folder, path, "expected.json"), "utf8"));

function same(what: string, found: unknown, expected: unknown): void {
  const text = (value: unknown): string =>
    JSON.stringify(value, (_, own) => (typeof own === "bigint" ? `${own}` : own)) ?? "nothing";
  if (text(found) !== text(expected))
    throw new Failed(`${what} should be ${text(expected).slice(0, 200)}, found ${text(found).slice(0, 200)}`);
}

async function damage(path: string): Promise<Finding[]> {
  const errors: Finding[] = [];
  for await (const found of precomputed.validate(fileStore(path), Prefix.root))
    if (found.severity === "error") errors.push(found);
  return errors;
}

async function skeletons(folder: string, name: string): Promise<string> {
  const path = join(folder, "skeletons", name, "skeletons");
  const expected = json(folder, "skeletons");
  const opened = await openSkeletons(fileStore(path));
  for (const [id, one] of Object.entries<Record<string, unknown>>(expected.skeletons)) {
    const read = await opened.get(BigInt(id));
    if (read === undefined) throw new Failed(`there is no skeleton ${id}`);
    same(`the vertices of ${id}`, [...read.vertices], [one.vertices].flat(2));
    same(`the edges of ${id}`, [...read.edges], [one.edges].flat(2));
    for (const { id: attribute } of expected.attributes)
      same(`${attribute} of ${id}`, [...read.attributes.get(attribute)!], [one[attribute]].flat(2));
  }
  const dataset = (await precomputed.open(fileStore(path), Prefix.root)) as SkeletonDataset;
  const all = await dataset.select().read();
  same("the ids of the dataset", [...all.ids].map(String).sort(), [...expected.ids].sort());
  same("what validate finds", await damage(path), []);
  return `${all.ids.length} skeletons, ${all.positions.length / 3} vertices`;
}

interface Told {
  readonly id: string;
  readonly geometry: readonly number[][];
  readonly props: { readonly [id: string]: number | number[] };
  readonly relationships: { readonly [id: string]: string[] };
}

async function annotations(folder: string, path: string, told: string): Promise<string> {
  const records: Told[] = json(folder, "annotations").stores[told].records;
  const store = fileStore(join(folder, path));
  const collection = await openAnnotations(store);
  for (const { id, geometry, props, relationships } of records) {
    const one = await collection.get(BigInt(id));
    if (one === undefined) throw new Failed(`there is no annotation ${id}`);
    same(`the geometry of ${id}`, [...one.points], geometry.flat());
    for (const [name, value] of Object.entries(props))
      same(`${name} of ${id}`, [...one.properties.get(name)!], [value].flat());
    for (const [name, ids] of Object.entries(relationships)) {
      same(`${name} of ${id}`, [...one.related!.get(name)!.ids].map(String), ids);
      for (const object of ids) {
        const list = await collection.related(name, BigInt(object));
        if (list === undefined || !list.ids.includes(BigInt(id))) throw new Failed(`${name} ${object} lacks ${id}`);
      }
    }
  }
  const dataset = (await precomputed.open(store, Prefix.root)) as AnnotationDataset;
  const all = await dataset.select().read();
  const ids = collection.info.type === "point" ? (all.vertexColumns.get("id")!.values as BigUint64Array) : all.ids;
  same("the ids of the dataset", [...ids].map(String).sort(), records.map(({ id }) => id).sort());
  if (!collection.flawed) same("what validate finds", await damage(join(folder, path)), []);
  return `${records.length} annotations`;
}

async function misplaced(folder: string, path: string): Promise<string> {
  const said = await annotations(folder, path, "point_unsharded");
  const rules = (await damage(join(folder, path))).map(({ rule }) => rule);
  same("what validate finds", rules, ["precomputed/alignment"]);
  return `${said}, read as they were meant`;
}
