/**
 * The volumes of the precomputed set: DIR/precomputed/volumes/expected.json has the hash of each as the reference read it, x
 * fastest. Encodings that only cloud-volume has (compresso, crackle) pass when they are refused by name, and nothing is read.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Unsupported } from "../../src/errors.js";
import { precomputed } from "../../src/format/precomputed/index.js";
import type { VolumeArray } from "../../src/format/precomputed/volume/index.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { type Case, Failed } from "./case.js";

interface Expected {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly sha256_fortran_le: string;
  /** Of jpeg: what comes back is not what was put in. */
  readonly cloudvolume_lossy_sha256?: string;
}

const READ = ["raw", "compressed_segmentation", "png", "jpeg"];

export function volumeCases(folder: string): Case[] {
  const path = join(folder, "volumes/expected.json");
  const expected: { [name: string]: Expected } = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
  return Object.keys(expected)
    .filter((name) => existsSync(join(folder, "volumes", name)))
    .map((name) => ({
      name: `precomputed/volumes/${name}`,
      run: () => compare(join(folder, "volumes", name), expected[name]!),
    }));
}

async function compare(folder: string, expected: Expected): Promise<string> {
  const store = fileStore(folder);
  const volume = (await precomputed.open(store, Prefix.root)) as VolumeArray;
  const { encoding } = volume.attributes as { encoding: string };
  if (!READ.includes(encoding)) {
    const error = await volume.read().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof Unsupported) || !error.message.includes(encoding))
      throw new Failed(`${encoding} should be refused by name, found ${error}`);
    return `refused: ${encoding}`;
  }
  if (`${volume.shape}` !== `${expected.shape}`)
    throw new Failed(`the shape is [${volume.shape}], expected [${expected.shape}]`);
  const found = hashOf(volume.shape, volume.dtype.size, (await volume.read()).data as Uint8Array);
  const wanted = expected.cloudvolume_lossy_sha256 ?? expected.sha256_fortran_le;
  if (found !== wanted) throw new Failed(`the voxels have sha256 ${found}, expected ${wanted}`);
  for await (const { severity, message } of precomputed.validate(store, Prefix.root))
    if (severity === "error") throw new Failed(`validate: ${message}`);
  return `${volume.shape.join(" × ")} ${expected.dtype}, ${encoding}`;
}

function hashOf(shape: readonly number[], size: number, data: Uint8Array): string {
  const [nx, ny, nz, nc] = shape as [number, number, number, number];
  const out = new Uint8Array(data.length);
  let at = 0;
  for (let c = 0; c < nc; c++)
    for (let z = 0; z < nz; z++)
      for (let y = 0; y < ny; y++)
        for (let x = 0; x < nx; x++) {
          const from = (((x * ny + y) * nz + z) * nc + c) * size;
          for (let k = 0; k < size; k++) out[at++] = data[from + k]!;
        }
  return createHash("sha256").update(out).digest("hex");
}
