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

test("a radius is drawn in units of coordinates, whatever unit it has", async () => {
  for (const [unit, wide] of [
    [undefined, 2],
    ["um", 2000],
    ["nm", 2],
  ] as const) {
    const store = memoryStore();
    const writer = await createZarrVectors(store, Prefix.root, {
      geometry: "skeletons",
      axes: ["x", "y", "z"].map((name) => ({ name, type: "space", unit: "nm" })),
      chunkShape: 100,
    });
    const info = { name: "radius", dtype: { kind: "float", size: 4, endian: "little" }, channels: 1, unit } as const;
    await writer.add({
      positions: Float32Array.of(0, 0, 0, 15, 0, 0),
      ids: BigInt64Array.of(7n),
      links: { width: 2, ends: Uint32Array.of(0, 1), columns: new Map() },
      vertexColumns: new Map([["radius", { info, values: Float32Array.of(2, 2) }]]),
    });
    await writer.commit();
    const streamer = new LocalStreamer(await openZarrVectors(store, Prefix.root), {});
    const drawing = (await streamer.drawn(7n))!;
    expect([...drawing.columns.find(({ name }) => name === "lineRadius")!.values]).toEqual([wide, wide]);
    streamer.dispose();
  }
});
