/**
 * R3: damage is noticed. Every bit of the metadata and of shard indexes, and many bits of chunk data, are flipped one at a time.
 * The array then reads the same, or reading or validating says that something is wrong; what is left is counted: none of it
 * may lie under a checksum.
 */
import { OctavoError } from "../../src/errors.js";
import {
  type ArrayDescription,
  createArray,
  openZarr,
  writeRegion,
  type ZarrArray,
  zarr,
} from "../../src/format/zarr/index.js";
import type { NdArray } from "../../src/model/array.js";
import { ndarray } from "../../src/model/elements.js";
import { Key, Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import { random } from "../fuzz/mutate.js";
import { same } from "./generate.js";
import { many, type Row } from "./row.js";

interface Subject {
  readonly name: string;
  readonly description: ArrayDescription;
  /** Chunk data, and the index inside it, lie under a checksum. */
  readonly isChecked: boolean;
}

const bytes = { name: "bytes", configuration: { endian: "little" } } as const;
const blosc = {
  name: "blosc",
  configuration: { cname: "lz4", clevel: 5, shuffle: "shuffle", typesize: 4, blocksize: 0 },
};
const zstd = { name: "zstd", configuration: { level: 3, checksum: true } };
const base = { shape: [40, 30], chunkShape: [20, 20], dtype: "int32" } as const;

const subjects: Subject[] = [
  { name: "v3, blosc, crc32c (the default)", description: base, isChecked: true },
  { name: "v3, zstd with checksum", description: { ...base, codecs: [bytes, zstd] }, isChecked: true },
  {
    name: "v3, shards",
    description: { ...base, chunkShape: [10, 10], shardShape: [20, 20], codecs: [bytes, zstd] },
    isChecked: true,
  },
  {
    name: "v3, gzip",
    description: { ...base, codecs: [bytes, { name: "gzip", configuration: { level: 5 } }] },
    isChecked: true,
  },
  { name: "v3, blosc alone", description: { ...base, codecs: [bytes, blosc] }, isChecked: false },
  { name: "v3, no codec", description: { ...base, codecs: [bytes] }, isChecked: false },
  { name: "v2, blosc", description: { ...base, version: 2 }, isChecked: false },
  { name: "v0", description: { ...base, version: 0 }, isChecked: false },
];

export const damage: Row = {
  id: "R3",
  promise: "damage is noticed",
  async run(scale) {
    const flips = scale === "proof" ? 10_000 : 300;
    const broken: string[] = [];
    const silent: string[] = [];
    let tried = 0;
    for (const subject of subjects) {
      const { store, values, keys } = await build(subject);
      const counts = { metadata: 0, data: 0 };
      const flip = async (key: string, bit: number, kind: "metadata" | "data"): Promise<void> => {
        tried++;
        const outcome = await outcomeOf(store, key, bit, values);
        if (outcome === "silent") counts[kind]++;
        else if (outcome !== "noticed") broken.push(`${subject.name}, ${key} bit ${bit}: ${outcome}`);
        if (outcome === "silent" && kind === "data" && subject.isChecked)
          broken.push(`${subject.name}, ${key} bit ${bit}: other values under a checksum`);
      };
      for (const key of keys.filter(isMetadata)) {
        const size = (await store.stat(Key.of(key)))!.size;
        for (let bit = 0; bit < size * 8; bit++) await flip(key, bit, "metadata");
      }
      const dice = random(7);
      const chunks = keys.filter((key) => !isMetadata(key));
      for (let i = 0; i < flips; i++) {
        const key = chunks[dice.below(chunks.length)]!;
        await flip(key, dice.below((await store.stat(Key.of(key)))!.size * 8), "data");
      }
      if (counts.metadata + counts.data > 0)
        silent.push(`${subject.name}: ${counts.metadata} in metadata, ${counts.data} of ${flips} in data`);
    }
    const note = `other values without a word, where the format has no checksum: ${silent.join("; ")}`;
    return { tried: `${many(tried)} flips`, broken, note };
  },
};

const isMetadata = (key: string): boolean => /zarr\.json$|\.zarray$|\.zattrs$|__z(meta|attr)__$/.test(key);

async function build({ description }: Subject) {
  const store = memoryStore();
  const array = await createArray(store, Prefix.root, { ...description, attributes: { unit: "nm" } });
  const values = ndarray(
    [40, 30],
    Int32Array.from({ length: 1200 }, (_, i) => 1000 + ((i * 7919) % 500)),
  );
  await writeRegion(array, undefined, values);
  const keys: string[] = [];
  for await (const { key } of store.list(Prefix.root)) keys.push(key);
  return { store, values, keys: keys.sort() };
}

async function outcomeOf(
  store: ReturnType<typeof memoryStore>,
  name: string,
  bit: number,
  values: NdArray,
): Promise<string> {
  const key = Key.of(name);
  const good = (await store.get(key))!;
  const bad = good.slice();
  bad[bit >> 3]! ^= 1 << (bit & 7);
  await store.set(key, bad);
  try {
    const array = (await openZarr(store)) as ZarrArray;
    if (same(await array.read(), values) && array.attributes.unit === "nm") return "noticed";
    for await (const finding of zarr.validate(store, Prefix.root)) if (finding.severity !== "info") return "noticed";
    return "silent";
  } catch (error) {
    return error instanceof OctavoError ? "noticed" : `not one of the six errors: ${(error as Error).stack}`;
  } finally {
    await store.set(key, good);
  }
}
