/**
 * Vectors for R3. Every bit of the documents and of the indexes (fragments, manifests, ids), and many bits of the rest, are flipped
 * one at a time. Then the store says the same, or reading or validating says that something is wrong; what is left is counted,
 * and none of it may lie under a checksum.
 */
import { isDeepStrictEqual } from "node:util";
import { OctavoError } from "../../src/errors.js";
import { createZarrVectors, openZarrVectors, zarrVectors } from "../../src/format/zarr-vectors/index.js";
import type { VectorDescription } from "../../src/format/zarr-vectors/write/description.js";
import { Key } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import type { Store } from "../../src/store/types.js";
import { random } from "../fuzz/mutate.js";
import { anyThing, at, batchOf, diceOf, type Things } from "../zarr-vectors-edits.js";
import { toldLevel, toldStore } from "../zarr-vectors-told.js";
import { many, type Outcome, type Scale } from "./row.js";

interface Subject {
  readonly name: string;
  readonly description: Partial<VectorDescription>;
  /** Cells and tables lie under a checksum. */
  readonly isChecked: boolean;
  /** Also every bit of its documents, which hardly differ from subject to subject. */
  readonly documents: boolean;
}

const subjects: readonly Subject[] = [
  { name: "zstd with checksum (the default)", description: {}, isChecked: true, documents: true },
  { name: "shards", description: { sharding: 2 }, isChecked: true, documents: false },
  { name: "no codec, crc32c", description: { codecs: "none" }, isChecked: true, documents: false },
  {
    name: "no codec, no checksum",
    description: { codecs: "none", checksums: false },
    isChecked: false,
    documents: false,
  },
  { name: "0.7.0, blosc, crc32c", description: { formatVersion: "0.7.0" }, isChecked: true, documents: false },
];

const isDocument = (key: string): boolean => key.endsWith("zarr.json");
const isIndex = (key: string): boolean => /\/(vertex_fragments|link_fragments|object_index)\/.*\bc\//.test(key);

export async function damageVectors(scale: Scale): Promise<Outcome> {
  const flips = scale === "proof" ? 10_000 : 60;
  const broken: string[] = [];
  const silent: string[] = [];
  let tried = 0;
  for (const { name, description, isChecked, documents } of subjects) {
    const store = await build(description);
    const expected = await told(store);
    const keys: string[] = [];
    for await (const { key } of store.list(at)) keys.push(key);
    keys.sort();
    const counts = { documents: 0, indexes: 0, data: 0 };
    const flip = async (key: string, bit: number, kind: keyof typeof counts): Promise<void> => {
      tried++;
      const outcome = await outcomeOf(store, Key.of(key), bit, expected);
      if (outcome === "silent") counts[kind]++;
      if (outcome !== "noticed" && (outcome !== "silent" || (isChecked && kind !== "documents")))
        broken.push(`${name}, ${key} bit ${bit}: ${outcome === "silent" ? "other values under a checksum" : outcome}`);
    };
    const bits = async (key: string): Promise<number> => 8 * (await store.stat(Key.of(key)))!.size;
    const step = scale === "proof" ? 1 : 997;
    if (documents)
      for (const key of keys.filter(isDocument))
        for (let bit = 0; bit < (await bits(key)); bit += step) await flip(key, bit, "documents");
    for (const key of keys.filter(isIndex))
      for (let bit = 0; bit < (await bits(key)); bit += step) await flip(key, bit, "indexes");
    const dice = random(7);
    const data = keys.filter((key) => !isDocument(key) && !isIndex(key));
    for (let i = 0; i < flips; i++) {
      const key = data[dice.below(data.length)]!;
      await flip(key, dice.below(await bits(key)), "data");
    }
    const said = `${documents ? `${counts.documents} in documents, ` : ""}${counts.indexes} in indexes, ${counts.data} of ${many(flips)} in data`;
    silent.push(`${name}: ${said}`);
  }
  const note = `other values without a word, where the format has no checksum: ${silent.join("; ")}`;
  return { tried: `${many(tried)} flips`, broken, note };
}

/** A small graph of four objects in several chunks, with attributes and groups. */
async function build(description: Partial<VectorDescription>): Promise<Store> {
  const store = memoryStore();
  let mark = 0;
  const dice = diceOf(11);
  const things: Things = new Map([0n, 1n, 2n].map((id) => [id, anyThing("graph", dice, () => mark++)]));
  const writer = await createZarrVectors(store, at, { geometry: "graph", dims: 3, chunkShape: 20, ...description });
  await writer.add(batchOf("graph", things));
  writer.groups([[0, 2], [1]]);
  await writer.commit();
  return store;
}

async function told(store: Store) {
  const dataset = await openZarrVectors(store, at);
  return { store: await toldStore(dataset), level: await toldLevel(dataset, 0, { fragments: false }) };
}

async function outcomeOf(store: Store, key: Key, bit: number, expected: unknown): Promise<string> {
  const good = (await store.get(key))!;
  const bad = good.slice();
  bad[bit >> 3]! ^= 1 << (bit & 7);
  await store.set(key, bad);
  try {
    if (isDeepStrictEqual(await told(store), expected)) return "noticed";
    for await (const { severity } of zarrVectors.validate(store, at)) if (severity !== "info") return "noticed";
    return "silent";
  } catch (error) {
    return error instanceof OctavoError ? "noticed" : `not one of the six errors: ${(error as Error).stack}`;
  } finally {
    await store.set(key, good);
  }
}
