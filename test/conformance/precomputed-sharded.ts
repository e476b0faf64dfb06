/**
 * The sharded part of the precomputed set: DIR/precomputed/{kv,odd,corrupt}/expected.json say what was put into each store, or
 * what is wrong with it. A damaged store passes when verification reports an error or a read throws one of Octavo's.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { murmur3OfId } from "../../src/bytes/hash/murmur3.js";
import { OctavoError } from "../../src/errors.js";
import {
  openValues,
  parseSharding,
  type Sharding,
  type ValueReader,
  verifyValues,
} from "../../src/format/precomputed/index.js";
import { Morton } from "../../src/space/morton.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { type Case, Failed } from "./case.js";

// biome-ignore lint/suspicious/noExplicitAny: the shapes of these documents are the set's own, and checked by using them
type Document = any;

const documentAt = (path: string): Document => (existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {});

export function shardedCases(folder: string): Case[] {
  const [kv, odd, corrupt] = ["kv", "odd", "corrupt"].map((set) => documentAt(join(folder, set, "expected.json")));
  const at = (set: string, name: string): string => join(folder, set, name);
  const has =
    (set: string) =>
    (name: string): boolean =>
      existsSync(at(set, name));
  const cases = (set: string, names: string[], run: (name: string, path: string) => Promise<string>): Case[] =>
    names.map((name) => ({ name: `precomputed/${set}/${name}`, run: () => run(name, at(set, name)) }));
  return [
    ...cases("kv", Object.keys(kv.stores ?? {}).filter(has("kv")), (name, path) =>
      same(path, kv.stores[name].spec, kv.values_hex, kv.missing_ids),
    ),
    ...cases("odd", Object.keys(odd).filter(has("odd")), (name, path) =>
      same(path, odd[name].spec, odd[name].want, []),
    ),
    ...cases("corrupt", Object.keys(corrupt).filter(has("corrupt")), (name, path) =>
      name === "00_good" ? sound(path, corrupt[name]) : damaged(path, corrupt[name]),
    ),
    ...(odd.murmur_vectors_hex_of_low64 ? [{ name: "precomputed/odd/murmur_vectors", run: () => hashes(odd) }] : []),
    ...(odd.morton_vectors ? [{ name: "precomputed/odd/morton_vectors", run: () => mortons(odd) }] : []),
  ];
}

const readerAt = (path: string, sharding: Sharding): Promise<ValueReader> =>
  openValues(fileStore(path), Prefix.root, sharding);

const hex = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString("hex");

/** Each value, all of them, the list and the stream, and nothing against it. */
async function same(path: string, spec: Document, want: Record<string, string>, missing: string[]): Promise<string> {
  const sharding = parseSharding(spec, path);
  const reader = await readerAt(path, sharding);
  const ids = Object.keys(want);
  for (const id of [...ids, ...missing]) {
    const found = hex(await reader.get(BigInt(id)));
    if (found !== want[id]) throw new Failed(`the value of ${id} is ${found}, expected ${want[id]}`);
  }
  const asked = BigUint64Array.from([...ids, ...missing], BigInt);
  const together: (string | undefined)[] = new Array(asked.length);
  for await (const { rows, values } of reader.getMany(asked))
    for (let i = 0; i < rows.length; i++) together[rows[i]!] = hex(values[i]);
  const streamed: string[] = [];
  for await (const { ids, values } of reader.entries({ order: "id" }))
    for (let i = 0; i < ids.length; i++) streamed.push(`${ids[i]} ${hex(values[i])}`);
  const listed: bigint[] = [];
  for await (const ids of reader.ids({ order: "id" })) listed.push(...ids);
  const all = [...ids].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  if (together.join() !== [...asked].map((id) => want[`${id}`]).join())
    throw new Failed("values asked for together differ");
  if (streamed.join() !== all.map((id) => `${id} ${want[id]}`).join())
    throw new Failed("the stream of all values differs");
  if (listed.join() !== all.join()) throw new Failed(`the ids are ${listed}`);
  for await (const { severity, message } of verifyValues(fileStore(path), Prefix.root, sharding))
    if (severity === "error") throw new Failed(`verification says: ${message}`);
  return `${ids.length} values`;
}

async function sound(path: string, { spec, tensorstore }: Document): Promise<string> {
  const reader = await readerAt(path, parseSharding(spec, path));
  const listed: bigint[] = [];
  for await (const { ids } of reader.entries({ order: "id" })) listed.push(...ids);
  if (listed.join() !== [...tensorstore.list].sort((a, b) => Number(a) - Number(b)).join())
    throw new Failed(`the ids are ${listed}`);
  return `${listed.length} values`;
}

async function damaged(path: string, { spec, why }: Document): Promise<string> {
  const sharding = parseSharding(spec, path);
  const store = fileStore(path);
  for (const id of [0n, 1n, 3n, 4n, 5n, 7n, 9n]) await calm(async () => (await readerAt(path, sharding)).get(id));
  const read = await calm(async () => {
    for await (const _ of (await readerAt(path, sharding)).entries());
  });
  const found: string[] = [];
  const verified = await calm(async () => {
    for await (const { severity, rule } of verifyValues(store, Prefix.root, sharding))
      if (severity === "error") found.push(rule);
  });
  const said = [...found, read, verified].filter((one) => one !== undefined);
  if (said.length === 0) throw new Failed(`nothing was said about "${why}"`);
  return said.join("; ");
}

/** Octavo's errors are what may happen. */
async function calm(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof OctavoError) return error.message;
    throw error;
  }
}

async function hashes({ murmur_vectors_hex_of_low64: vectors }: Document): Promise<string> {
  for (const [id, want] of Object.entries(vectors)) {
    const found = murmur3OfId(BigInt(id)).toString(16).padStart(16, "0");
    if (found !== want) throw new Failed(`the hash of ${id} is ${found}, expected ${want}`);
  }
  return `${Object.keys(vectors).length} hashes`;
}

async function mortons({ morton_vectors: vectors }: Document): Promise<string> {
  for (const { cell, grid, code } of vectors) {
    const found = Morton.encode(cell, grid);
    if (`${found}` !== code) throw new Failed(`the code of ${cell} in ${grid} is ${found}, expected ${code}`);
  }
  return `${vectors.length} codes`;
}
