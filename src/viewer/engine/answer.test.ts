/** Conditions on attributes that not every level has. */
import { expect, test } from "vitest";
import { createZarrVectors, openZarrVectors } from "../../format/zarr-vectors/index.js";
import { fitted } from "../../scene/camera.js";
import { Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { Engine } from "./engine.js";
import { LocalStreamer } from "./streamer.js";

const f4 = { kind: "float", size: 4, endian: "little" } as const;
const column = (name: string, values: Float32Array) =>
  [name, { info: { name, dtype: f4, channels: 1 }, values }] as const;

/** 1,000 points with `score` and `heat`; a level of 10 that has only `heat`. */
async function twoLevels() {
  const store = memoryStore();
  const writer = await createZarrVectors(store, Prefix.root, { geometry: "points", dims: 3, chunkShape: 50 });
  const positions = Float32Array.from({ length: 3000 }, (_, i) => ((i * 7919) % 1000) / 10);
  const numbers = Float32Array.from({ length: 1000 }, (_, i) => i);
  await writer.add({ positions, vertexColumns: new Map([column("score", numbers), column("heat", numbers)]) });
  const level = writer.level(1, { scale: 0.5, attributes: undefined });
  await level.add({
    positions: positions.slice(0, 30),
    vertexColumns: new Map([column("heat", numbers.slice(0, 10))]),
  });
  await writer.commit();
  return openZarrVectors(store, Prefix.root);
}

const view = {
  camera: fitted({ min: [0, 0, 0], max: [100, 100, 100] }, 0, 0, 1),
  width: 400,
  height: 400,
};

test("what only the finest level has is asked of it; what none has is refused", async () => {
  const dataset = await twoLevels();
  expect((await dataset.schema(1)).vertex.map(({ name }) => name)).toEqual(["heat"]);
  const errors: string[] = [];
  const engine = new Engine(dataset, {
    filter: { where: "score >= 990", clip: "vertices" },
    onError: ({ message }) => errors.push(message),
  });
  await engine.look(view);
  expect([errors, engine.status().level, engine.status().vertices]).toEqual([[], 0, 10]);
  engine.set({ filter: { where: "score >= 990 and nothing = 1" } });
  await engine.look(view);
  expect(errors).toEqual([expect.stringMatching(/no attribute nothing/)]);
});

test("a condition is checked against all levels", async () => {
  const streamer = new LocalStreamer(await twoLevels());
  await streamer.check("score > 3 and heat < 2");
  await expect(streamer.check("nothing > 3")).rejects.toThrow(/no attribute nothing.*score/);
  await expect(streamer.check("score >")).rejects.toThrow(/should have/);
});
