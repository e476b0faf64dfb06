/**
 * A recording that arrives frame by frame, written to a sharded Zarr v3 array that anybody's software reads.
 *
 *     node scripts/example.mjs write-sharded [FOLDER]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileStore, ndarray, Prefix } from "octavo/node";
import { append, createArray, createGroup, setAttributes } from "octavo/zarr";

const [given] = process.argv.slice(2);
const folder = given ?? mkdtempSync(join(tmpdir(), "octavo-recording-"));
const [height, width] = [96, 128];

// "file": a power cut leaves whole frames, perhaps not the last ones. The default, "full", waits for the disk each time.
const store = fileStore(folder, { durability: "file" });
await createGroup(store, Prefix.root, { attributes: { instrument: "two-photon", rate_hz: 30 } });

let movie = await createArray(store, Prefix.of("movie"), {
  shape: [0, height, width],
  chunkShape: [1, height, width], // what a viewer asks for: one frame
  shardShape: [16, height, width], // what the disk holds: sixteen of them in one file
  dtype: "uint16",
  dimensionNames: ["time", "y", "x"],
});

for (let time = 0; time < 40; time += 8) {
  const frames = Uint16Array.from(
    { length: 8 * height * width },
    (_, i) => 100 + time + Math.floor(i / (height * width)),
  );
  movie = await append(movie, ndarray([8, height, width], frames)); // the array that comes back has the new shape
}
movie = await setAttributes(movie, (now) => ({ ...now, done: true }));

const keys: string[] = [];
for await (const { key } of store.list(Prefix.root)) keys.push(key); // in no particular order
console.log(keys.sort().join("\n"));
const { data } = await movie.read([-1, 0, { stop: 4 }]);
console.log(
  `${movie.shape.join(" × ")}, last frame begins with ${new Uint16Array((data as Uint8Array).buffer).join(" ")}`,
);
if (given === undefined) rmSync(folder, { recursive: true });
