/** Bounded memory with Zarr Vectors: streamlines of 20 times the cap are converted into other chunks, or come from a TRK. */
import { statSync } from "node:fs";
import { writeTrk } from "../../bench/convert/trk.js";
import { createZarrVectors } from "../../src/format/zarr-vectors/index.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import type { Store } from "../../src/store/types.js";
import { random } from "../fuzz/mutate.js";
import { inFolder, start } from "./processes.js";

const MB = 1e6;

/** What was converted, and the peak of memory over the start, both in bytes. */
export function convertStreamlines(cap: number): Promise<{ readonly bytes: number; readonly peak: number }> {
  return inFolder(async (folder) => {
    const bytes = await writeStreamlines(fileStore(`${folder}/in`, { durability: "none" }), 20 * cap);
    const child = await start("convert-vectors", `${folder}/in`, `${folder}/out`, String(cap));
    return { bytes, peak: Number(await child.done) };
  });
}

/** The bytes of a TRK that became a store, and the peak of the whole process. */
export function convertTrk(cap: number): Promise<{ readonly bytes: number; readonly peak: number }> {
  return inFolder(async (folder) => {
    const path = `${folder}/in.trk`;
    writeTrk(path, 20 * cap);
    const child = await start("convert-trk", path, `${folder}/out`, String(cap));
    return { bytes: statSync(path).size, peak: Number(await child.done) };
  });
}

/** At least so many bytes of paths that wander through many chunks of about a megabyte. */
export async function writeStreamlines(store: Store, bytes: number): Promise<number> {
  const description = { geometry: "streamlines", dims: 3, dtype: "float32", chunkShape: 250 } as const;
  const writer = await createZarrVectors(store, Prefix.root, description, { maxMemory: 64 * MB });
  const [paths, length] = [400, 500];
  const extent = Math.ceil(250 * Math.cbrt(bytes / MB));
  let written = 0;
  for (let seed = 1; written < bytes; seed++) {
    const dice = random(seed);
    const positions = new Float32Array(paths * length * 3);
    for (let i = 0; i < positions.length; i++)
      positions[i] = i % (3 * length) < 3 ? dice.below(extent) : positions[i - 3]! + dice.below(9) - 4;
    await writer.add({ positions, parts: Uint32Array.from({ length: paths + 1 }, (_, p) => p * length) });
    written += positions.byteLength;
  }
  await writer.commit();
  return written;
}
