/** Volumes: the info, and what is opened, planned, read and validated by it where there is one chunk. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { precomputed } from "../../src/format/precomputed/index.js";
import type { VolumeArray } from "../../src/format/precomputed/volume/index.js";
import { formatVolume, parseVolume } from "../../src/format/precomputed/volume/info.js";
import { readDocument } from "../../src/format/zarr/document.js";
import { defaultLimits, type Limits } from "../../src/limits.js";
import { Key, Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import { fixtures } from "../fixtures.js";
import type { Target } from "./driver.js";
import { mutateJson } from "./mutate-json.js";

const cap = 1 << 20;
const limits: Limits = { ...defaultLimits, metadataBytes: cap, chunkBytes: cap, resultBytes: cap };

const infos = (): Uint8Array[] => {
  const folder = join(fixtures("precomputed"), "volumes");
  const names = readdirSync(folder).filter((name) => !name.includes("."));
  return names.map((name) => new Uint8Array(readFileSync(join(folder, name, "info"))));
};

/** The first voxels, wherever the damage has put them, and all findings up to the structure. */
async function visit(bytes: Uint8Array): Promise<void> {
  const store = memoryStore();
  await store.set(Key.of("info"), bytes);
  await store.set(Key.of("4_4_40/-5-27_0-32_3-12"), new Uint8Array(32 * 32 * 9 * 3));
  for await (const _ of precomputed.validate(store, Prefix.root, { level: 2, limits }));
  const volume = (await precomputed.open(store, Prefix.root, { limits })) as VolumeArray;
  if (volume.kind !== "array") return;
  const region = volume.shape.map(() => ({ stop: 2 }));
  await volume.plan(region);
  await volume.read(region, { limits });
}

export const precomputedVolumeTargets: readonly Target[] = [
  {
    name: "precomputed-volume-info",
    cap,
    load: async () => ({
      seeds: infos(),
      mutate: mutateJson,
      run: (bytes) => formatVolume(parseVolume({ info: readDocument(bytes, limits, "it"), where: "it" })),
    }),
  },
  {
    name: "precomputed-volume",
    cap,
    load: async () => ({
      seeds: infos().filter((bytes) => !new TextDecoder().decode(bytes).includes("crackle")), // which cannot be read
      mutate: mutateJson,
      run: visit,
    }),
  },
];
