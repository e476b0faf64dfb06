/** An object by itself: all of it, in one colour, whatever is shown; and streamers that leave nothing behind. */
import { getEventListeners } from "node:events";
import { beforeAll, expect, test } from "vitest";
import { createZarrVectors, openZarrVectors } from "../../format/zarr-vectors/index.js";
import type { VectorDataset } from "../../model/vectors.js";
import { PICKED } from "../../scene/palette.js";
import { Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { drawnPlace } from "./highlight.js";
import { LocalStreamer } from "./streamer.js";

let dataset: VectorDataset;
beforeAll(async () => {
  const store = memoryStore();
  const writer = await createZarrVectors(store, Prefix.root, { geometry: "streamlines", dims: 3, chunkShape: 10 });
  await writer.add({
    positions: Float32Array.of(0, 0, 0, 15, 0, 0, 30, 0, 0, 0, 5, 0, 0, 9, 0),
    parts: Uint32Array.of(0, 3, 5),
    objects: Int32Array.of(0, 1),
    ids: BigInt64Array.of(7n, 8n),
  });
  await writer.commit();
  dataset = await openZarrVectors(store, Prefix.root);
});

test("an object is whole, over all of its chunks, also where a filter leaves it out", async () => {
  const streamer = new LocalStreamer(dataset, { filter: { object: [8n] } });
  const drawing = (await streamer.drawn(7n))!;
  const values = (name: string): number[] => [...drawing.columns.find((own) => own.name === name)!.values];
  const [from, to] = [values("from"), values("to")];
  const ends = [0, 1].map((line) => [from[3 * line]! + drawing.origin[0], to[3 * line]! + drawing.origin[0]]);
  expect(ends.sort((a, b) => a[0]! - b[0]!)).toEqual([
    [0, 15],
    [15, 30],
  ]);
  expect(new Set(values("lineValue"))).toEqual(new Set([PICKED]));
  expect(drawing.direct).toBe(true);
  expect(await streamer.drawn(9n)).toBeUndefined();
  streamer.dispose();
});

test("a place is a point of its own", () => {
  const { form, origin, columns } = drawnPlace([1e9, 2, 3]);
  expect([form, origin, columns.map(({ name }) => name)]).toEqual([
    "points",
    [1e9, 2, 3],
    ["position", "value", "seed", "radius"],
  ]);
});

test("streamers that are disposed of do not listen any longer", () => {
  const { signal } = new AbortController();
  for (let i = 0; i < 20; i++) new LocalStreamer(dataset, { signal }).dispose();
  expect(getEventListeners(signal, "abort").length).toBeLessThan(2);
});
