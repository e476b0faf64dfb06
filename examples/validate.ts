/**
 * A store that was copied, and one chunk of the copy is damaged: find it, and fetch just that chunk again.
 *
 * A finding has a severity, a rule whose name does not change between releases, the place, and a sentence for people.
 */
import { Corrupt, Key, memoryStore, ndarray, Prefix } from "octavo/node";
import { createArray, openZarr, writeRegion, zarr } from "octavo/zarr";

const original = memoryStore("memory:original");
const copy = memoryStore("memory:copy");
const array = await createArray(original, Prefix.root, { shape: [200, 200], chunkShape: [100, 100], dtype: "uint16" });
await writeRegion(
  array,
  undefined,
  ndarray(
    [200, 200],
    Uint16Array.from({ length: 40_000 }, (_, i) => i),
  ),
);
for await (const { key } of original.list(Prefix.root)) await copy.set(key, (await original.get(key))!);

const damaged = (await copy.get(Key.of("c/1/0")))!;
damaged[50]! ^= 1; // one bit
await copy.set(Key.of("c/1/0"), damaged);

// Reading meets the damage as an error, never as a wrong number.
const node = await openZarr(copy);
if (node.kind !== "array") throw new Error("a group");
try {
  await node.read();
} catch (error) {
  if (!(error instanceof Corrupt)) throw error;
  console.log(`${error.name} at ${error.where}`);
}

// Validating looks at everything and goes on.
for await (const finding of zarr.validate(copy, Prefix.root)) {
  console.log(`${finding.severity} ${finding.rule} ${finding.where}`);
  if (finding.rule === "zarr/chunk-decodes") {
    const key = Key.of(finding.where);
    await copy.set(key, (await original.get(key))!);
    console.log(`fetched ${key} again`);
  }
}
let errors = 0;
for await (const { severity } of zarr.validate(copy, Prefix.root)) if (severity === "error") errors++;
console.log(errors === 0 ? "valid" : `${errors} errors`);
