/** Files of streamlines, and the images and values that go with them: opened, indexed, read whole and asked; also with damage left out. */
import { concat } from "../../src/bytes/concat.js";
import { fileDataset } from "../../src/format/interchange/dataset.js";
import { openFile } from "../../src/format/interchange/file.js";
import { readMask } from "../../src/format/interchange/nifti.js";
import { file as tck } from "../../src/format/interchange/tck.js";
import { file as trk } from "../../src/format/interchange/trk.js";
import { encodeTrkHeader } from "../../src/format/interchange/trk-header.js";
import { file as trx } from "../../src/format/interchange/trx.js";
import type { FileFormat } from "../../src/format/interchange/types.js";
import { readValues } from "../../src/format/interchange/values-file.js";
import { defaultLimits } from "../../src/limits.js";
import { Key } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import { paths, written } from "../interchange.js";
import type { Target } from "./driver.js";

const cap = 1 << 24;
const limits = { ...defaultLimits, metadataBytes: cap, chunkBytes: cap, resultBytes: cap };

async function input(name: string, bytes: Uint8Array) {
  const store = memoryStore();
  await store.set(Key.of(name), bytes);
  return openFile(store, Key.of(name), { limits });
}

/** Everything of a file, twice: as it is, and without what is damaged. */
const reading = (file: FileFormat, name: string) => async (bytes: Uint8Array) => {
  const from = await input(name, bytes);
  const lenient = await file.open(from, { limits, onBad: () => {} });
  await fileDataset("file", from.where, lenient, { limits, onBad: () => {} })
    .select({ sphere: [1, 1, 1, 5] })
    .read({ limits });
  await fileDataset("file", from.where, await file.open(from, { limits }), { limits })
    .select()
    .read({ limits });
};

const info = { name: "w", dtype: { kind: "float", size: 4, endian: "little" }, channels: 1 } as const;
const some = (headers = {}) =>
  paths([[1, 2, 3, 4, 5, 6], [], [7, 8, 9]], {
    headers,
    vertex: [{ info, values: Float32Array.of(1, 2, 3) }],
    object: [{ info, values: Float32Array.of(1, 2, 3) }],
    groups: [BigInt64Array.of(0n, 2n)],
  });
const made = async (file: FileFormat, ...headers: object[]): Promise<Uint8Array[]> =>
  Promise.all([{}, ...headers].map(async (own) => (await written(file, some(own))).bytes));

const target = (
  name: string,
  seeds: () => Promise<Uint8Array[]>,
  run: (bytes: Uint8Array) => Promise<void>,
): Target => ({
  name,
  cap,
  load: async () => ({ seeds: await seeds(), run }),
});

/** A mask of 2 × 2 × 2 voxels. */
function image(): Uint8Array {
  const bytes = new Uint8Array(360);
  const view = new DataView(bytes.buffer);
  view.setInt32(0, 348, true);
  for (const [i, size] of [3, 2, 2, 2].entries()) view.setInt16(40 + 2 * i, size, true);
  view.setInt16(70, 2, true);
  for (let i = 0; i < 4; i++) view.setFloat32(76 + 4 * i, 1, true);
  view.setFloat32(108, 352, true);
  view.setInt16(254, 1, true);
  for (let i = 0; i < 3; i++) view.setFloat32(280 + 20 * i, 1, true);
  bytes.set([0x6e, 0x2b, 0x31], 344);
  bytes[355] = 1;
  return bytes;
}

const scalars = (): Uint8Array =>
  concat([
    new TextEncoder().encode("mrtrix track scalars\ndatatype: Float32LE\nfile: . 56\nEND\n".padEnd(56, "\0")),
    new Uint8Array(Float32Array.of(1, 2, Number.NaN, 3, Number.NaN, Number.POSITIVE_INFINITY).buffer),
  ]);

export const streamlineTargets: readonly Target[] = [
  target("tck", () => made(tck, { tck: { lines: ["datatype: Float64BE"] } }), reading(tck, "a.tck")),
  target("trk", () => made(trk, { trk: { endianness: "big", voxel_order: "LPS" } }), reading(trk, "a.trk")),
  target(
    "trk-streamlines", // behind a header that is right
    async () => (await made(trk)).map((bytes) => bytes.slice(1000)),
    (bytes) =>
      reading(
        trk,
        "a.trk",
      )(
        concat([
          encodeTrkHeader({ version: 2, voxel_size: [1, 1, 1], n_scalars: 1, n_properties: 1 }, "little"),
          bytes,
        ]),
      ),
  ),
  target(
    "trx",
    () => made(trx, { trx: { positions_dtype: "float16", offsets_dtype: "uint32" } }),
    reading(trx, "a.trx"),
  ),
  target(
    "nifti-mask",
    async () => [image()],
    async (bytes) => void (await readMask(await input("a.nii", bytes), { limits })),
  ),
  target(
    "tsf",
    async () => [scalars()],
    async (bytes) => void (await readValues(await input("a.tsf", bytes), "w", { limits })),
  ),
];
