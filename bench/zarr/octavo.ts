/** Octavo on the benchmark's array, as it is installed (dist): octavo.ts lz4|zstd write|read DATA OUT [workers]. One JSON line. */
import { readFileSync, rmSync } from "node:fs";
import type * as Zarr from "../../src/format/zarr/index.js";
import type * as Octavo from "../../src/node.js";
import { BYTES, CHUNK, SHAPE } from "./data.js";
import { best, peakMb, report, sameAsFile, storedBytes } from "./measure.js";

const dist = new URL("../../dist/", import.meta.url).href;
const { createPool, fileStore, ndarray, Prefix, typed } = (await import(`${dist}node.js`)) as typeof Octavo;
const { createArray, openZarr, writeRegion } = (await import(`${dist}format/zarr/index.js`)) as typeof Zarr;
const [codec, what, data, out, workers = "2", shared] = process.argv.slice(2) as [
  string,
  "write" | "read",
  string,
  string,
  string?,
  string?,
];
const pool = workers === "0" ? undefined : createPool({ size: Number(workers) });

const codecs = [
  { name: "bytes", configuration: { endian: "little" } },
  { name: "blosc", configuration: { cname: codec, clevel: 5, shuffle: "shuffle", typesize: 4, blocksize: 0 } },
];

if (what === "write") {
  const bytes = readFileSync(data);
  const values = ndarray([...SHAPE], new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4));
  const { wall, cpu } = await best(2, async () => {
    rmSync(out, { recursive: true, force: true });
    // The peers do not wait for the disk either.
    const store = fileStore(out, { durability: "none" });
    const array = await createArray(store, Prefix.root, { shape: SHAPE, chunkShape: CHUNK, dtype: "int32", codecs });
    await writeRegion(array, undefined, values, { pool });
  });
  report({ wall, cpu, stored: storedBytes(out) });
} else {
  const { wall, cpu, value } = await best(3, async () => {
    const array = (await openZarr(fileStore(out))) as Zarr.ZarrArray;
    const into = shared === undefined ? undefined : new Uint8Array(new SharedArrayBuffer(BYTES));
    return typed(await array.read(undefined, { pool, into })) as Int32Array;
  });
  report({ wall, cpu, peak: peakMb(), equal: sameAsFile(value, data) });
}
await pool?.close();
