/**
 * A store for the web: published, then read as a page does that cannot list, with every request counted.
 *
 *     node scripts/example.mjs publish
 */
import { memoryStore, meterStore, Prefix } from "octavo/node";
import { createZarrVectors, openZarrVectors, publishZarrVectors } from "octavo/zarr-vectors";

/** A thousand spirals of fifty vertices. */
const count = 1000;
const vertices = Array.from({ length: 50 * count }, (_, i) => ({ line: Math.floor(i / 50), step: i % 50 }));
const lines = {
  positions: Float32Array.from(
    vertices.flatMap(({ line, step }) => [
      500 + (line / 2.5) * Math.cos(line + step / 30),
      500 + (line / 2.5) * Math.sin(line + step / 30),
      20 * step,
    ]),
  ),
  parts: Uint32Array.from({ length: count + 1 }, (_, i) => 50 * i),
  objects: Int32Array.from({ length: count }, (_, i) => i),
  ids: BigInt64Array.from({ length: count }, (_, i) => BigInt(i)),
};
const writer = await createZarrVectors(memoryStore(), Prefix.root, {
  geometry: "streamlines",
  dims: 3,
  chunkShape: 125,
});
await writer.add(lines);
const tracts = await writer.commit();

const disk = memoryStore();
const { keys } = await publishZarrVectors(tracts, disk);
console.log(`${keys < 60 ? "some dozens of" : keys} values`); // for hundreds of chunks

// As a web server has it: nothing is listed, and every request is counted.
const web = meterStore({ ...disk, can: { list: false, write: false, conditional: false } });
function counted(): number {
  const { requests } = web.counts();
  web.reset();
  return requests;
}

const page = await openZarrVectors(web);
console.log(`open: ${counted()}`);
const { positions } = await page.select({ object: [7] }).read();
console.log(`the first of ${positions.length / 3} vertices: ${counted() <= 6 ? "at most 6" : "too many"}`);
await page.select({ object: [900] }).read();
console.log(`the next: ${counted() <= 3 ? "at most 3" : "too many"}`);
const inside = await page.select({ box: [300, 300, 300, 516, 516, 516] }).read();
console.log(`${inside.ids.length > 100 ? "hundreds" : "few"} in a box: ${counted() <= 24 ? "at most 24" : "too many"}`);
