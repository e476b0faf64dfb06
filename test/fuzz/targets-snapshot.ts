/**
 * Particles in HDF5: files of the golden set as trees of groups, datasets and attributes, and small snapshots and Cubes as they are
 * validated, which reads all of them. HDF5 has checksums for almost nothing in its older layout, so most damage reaches the library.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Corrupt, OctavoError } from "../../src/errors.js";
import { buildTree, encodeTree } from "../../src/format/packed-tree/index.js";
import { snapshot } from "../../src/format/snapshot/format.js";
import type { Hdf5File, Numeric } from "../../src/format/snapshot/hdf5-file.js";
import { loadHdf5 } from "../../src/format/snapshot/hdf5-library.js";
import { openHdf5 } from "../../src/format/snapshot/hdf5-source.js";
import { writeHdf5 } from "../../src/format/snapshot/hdf5-write.js";
import { defaultLimits } from "../../src/limits.js";
import type { Positions } from "../../src/model/vectors.js";
import { Key, Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import { fixtures } from "../fixtures.js";
import type { Target } from "./driver.js";

const cap = 1 << 24;
const limits = { ...defaultLimits, metadataBytes: cap, chunkBytes: cap, resultBytes: cap };
const file = Key.of("some.hdf5");
const golden = (name: string): Uint8Array => new Uint8Array(readFileSync(join(fixtures("hdf5"), name)));

async function stored(bytes: Uint8Array) {
  const store = memoryStore();
  await store.set(file, bytes);
  return store;
}

/** What can be said of every object, to a depth that the golden files do not have, and the first rows of every dataset. */
function walk(file: Hdf5File, path = "", depth = 0): void {
  for (const name of file.names(path || "/").slice(0, 50)) {
    const own = `${path}/${name}`;
    const kind = file.kindOf(own);
    if (kind === "link") continue;
    file.attributes(own);
    if (kind === "group" && depth < 4) walk(file, own, depth + 1);
    if (kind === "dataset") first(file, own);
  }
}

/** What cannot be read is not damaged for that. */
function first(file: Hdf5File, path: string): void {
  try {
    const dataset = file.dataset(path)!;
    file.rows(dataset, 0, Math.min(100, dataset.shape[0] ?? 0));
  } catch (error) {
    if (!(error instanceof OctavoError)) throw error;
  }
}

const F64: Numeric = { kind: "float", size: 8, endian: "little" };
const U32: Numeric = { kind: "uint", size: 4, endian: "little" };

/** Two cubes and their particles. */
async function cubes(): Promise<Uint8Array> {
  const places = [0, 10].map((x) => Float64Array.from({ length: 90 }, (_, i) => (i % 3 === 0 ? x : 0) + ((i * i) % 7)));
  const built = await Promise.all(places.map((own) => buildTree(own, { threshold: 5, created: 1 })));
  const trees = built.map(({ tree }) => new Uint32Array(encodeTree(tree).slice().buffer));
  return writeHdf5(await loadHdf5(), "it", (output) => {
    for (const group of ["/cubes", "/cubes/PartType0", "/PartType0"]) output.group(group);
    output.attribute("/cubes/PartType0", "Number_of_cubes", { shape: [], dtype: U32, values: Uint32Array.of(2) });
    output.attribute("/PartType0", "use_sorted", { shape: [], dtype: U32, values: Uint32Array.of(1) });
    output.dataset("/cubes/PartType0/indices", [2], U32, Uint32Array.of(0, 30));
    for (const [i, words] of trees.entries()) output.dataset(`/cubes/PartType0/tree_${i}`, [words.length], U32, words);
    output.dataset("/PartType0/Coordinates", [60, 3], F64, joined(built.map(({ positions }) => positions)));
  });
}
const joined = (parts: readonly Positions[]): Float64Array => Float64Array.from(parts.flatMap((own) => [...own]));

/** Opens what there is of every type, and reads all of it. */
async function check(bytes: Uint8Array): Promise<void> {
  let wrong: string | undefined;
  for await (const { severity, message } of snapshot.validate(await stored(bytes), Prefix.root, { file, limits }))
    if (severity === "error") wrong ??= message;
  if (wrong !== undefined) throw new Corrupt(wrong);
}

export const snapshotTargets: readonly Target[] = [
  {
    name: "hdf5",
    cap,
    load: async () => ({
      seeds: ["plain.hdf5", "nbit.hdf5", "bits.hdf5", "bits_latest.hdf5", "links.hdf5", "swift.hdf5"].map(golden),
      run: async (bytes) => (await openHdf5(await stored(bytes), file, { limits })).use((own) => walk(own)),
    }),
  },
  { name: "snapshot", cap, load: async () => ({ seeds: [golden("swift.hdf5"), await cubes()], run: check }) },
];
