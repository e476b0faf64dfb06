/**
 * Streamlines as a Zarr Vectors store: written, asked what lies in a box, edited in one transaction, checked.
 *
 *     node scripts/example.mjs streamlines
 */
import { memoryStore, Prefix } from "octavo/node";
import { createZarrVectors, editZarrVectors, openZarrVectors, zarrVectors } from "octavo/zarr-vectors";

const store = memoryStore();
const fa = { name: "fa", dtype: { kind: "float", size: 4, endian: "little" }, channels: 1 } as const;

/** Spirals of twenty vertices around the middle of the space, each a little wider than the one before. */
function spirals(first: number, count: number) {
  const turn = (i: number): number => (i % 20) / 4;
  const radius = (i: number): number => 8 + 4 * (first + Math.floor(i / 20));
  const vertices = Array.from({ length: 20 * count }, (_, i) => i);
  return {
    positions: Float32Array.from(
      vertices.flatMap((i) => [
        50 + radius(i) * Math.cos(turn(i)),
        50 + radius(i) * Math.sin(turn(i)),
        5 + 4.5 * (i % 20),
      ]),
    ),
    parts: Uint32Array.from({ length: count + 1 }, (_, p) => 20 * p),
    objects: Int32Array.from({ length: count }, (_, p) => p),
    ids: BigInt64Array.from({ length: count }, (_, p) => BigInt(first + p)),
    vertexColumns: new Map([["fa", { info: fa, values: Float32Array.from(vertices, (i) => 1 - (i % 20) / 25) }]]),
  };
}

const writer = await createZarrVectors(store, Prefix.root, {
  geometry: "streamlines",
  axes: ["x", "y", "z"].map((name) => ({ name, type: "space", unit: "millimeter" })),
  chunkShape: 25,
  bounds: { min: [0, 0, 0], max: [100, 100, 100] },
});
await writer.add(spirals(0, 5)); // batches of any size, in any order
await writer.add(spirals(5, 4));
const tracts = await writer.commit();
console.log(`${tracts.levels[0]!.vertices} vertices of ${(await tracts.objectIds()).length} streamlines`);

const box = [60, 40, 0, 80, 60, 40];
const touching = await tracts.select({ box }).read(); // whole
const cut = await tracts.select({ box, clip: true }).read(); // cut at the faces, fa interpolated there
console.log(`in the box: ${touching.ids.join(" ")}; of them ${cut.parts.length - 1} pieces lie inside`);

const edit = await editZarrVectors(store);
edit.delete([0, 1]);
edit.append(spirals(9, 1));
await edit.commit(); // both, or neither
console.log(`now: ${(await (await openZarrVectors(store)).objectIds()).join(" ")}`);

let errors = 0;
for await (const { severity } of zarrVectors.validate(store, Prefix.root)) if (severity === "error") errors++;
console.log(errors === 0 ? "valid" : `${errors} errors`);
