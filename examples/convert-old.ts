/**
 * An array from the first months of Zarr, which current software no longer opens, becomes Zarr v3. Its chunks are copied
 * as they lie: not one is decompressed.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convert, fileStore, ndarray, open, Prefix } from "octavo/node";
import { createArray, writeRegion } from "octavo/zarr";

const folder = mkdtempSync(join(tmpdir(), "octavo-old-"));
const [old, fresh] = [join(folder, "old"), join(folder, "fresh.zarr")];

// Octavo can still write the original format; yours will have been there for years.
const array = await createArray(fileStore(old), Prefix.root, {
  version: 0,
  shape: [300, 400],
  chunkShape: [100, 100],
  dtype: "int32",
  attributes: { subject: "M12", baseline: Number.NaN },
});
await writeRegion(
  array,
  undefined,
  ndarray(
    [300, 400],
    Int32Array.from({ length: 120_000 }, (_, i) => i),
  ),
);

const report = await convert(old, fresh, {
  onProgress: ({ done, total, unit }) => {
    if (done === total) console.log(`${done} of ${total} ${unit}`);
  },
});
console.log(`copied ${report.chunksCopied}, encoded anew ${report.chunksRecoded}`);
for (const loss of report.losses) console.log(loss.replace(/^file:\S+ /, "")); // each begins with where

const [before, after] = [await open(old), await open(fresh)];
if (before.kind !== "array" || after.kind !== "array") throw new Error("expected two arrays");
console.log(`v${before.version} → v${after.version}`);
const same = Buffer.compare((await before.read()).data as Uint8Array, (await after.read()).data as Uint8Array) === 0;
console.log(same ? "every element is the same" : "the elements differ");
rmSync(folder, { recursive: true });
