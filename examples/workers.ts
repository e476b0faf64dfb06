/**
 * The same array written and read with workers and without: what comes out is the same.
 *
 * In Node the worker's program is found by itself; docs/guide.md says where bundlers put it.
 */
import { createPool, memoryStore, ndarray, Prefix } from "octavo/node";
import { createArray, writeRegion } from "octavo/zarr";

const shape = [64, 256, 256];
const volume = Uint16Array.from({ length: 64 * 256 * 256 }, (_, i) => (i >> 6) ^ (i >> 11));

const pool = createPool({ size: 2 });
try {
  const array = await createArray(memoryStore(), Prefix.root, { shape, chunkShape: [16, 128, 128], dtype: "uint16" });
  await writeRegion(array, undefined, ndarray(shape, volume), { pool }); // encoded by the workers

  const there = await array.read([], { pool }); // decoded by them
  const here = await array.read([]); // and by this thread

  const same = Buffer.compare(there.data as Uint8Array, here.data as Uint8Array) === 0;
  console.log(`${pool.size} workers, ${there.shape.join(" × ")}: ${same ? "the same bytes" : "other bytes"}`);
} finally {
  await pool.close();
}
