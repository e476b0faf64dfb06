/** Boxes are those of the chunks that are shown, and hold what is drawn of them. */
import { expect, test } from "vitest";
import { createZarrVectors, openZarrVectors } from "../../format/zarr-vectors/index.js";
import { fitted } from "../../scene/camera.js";
import { Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { Engine } from "./engine.js";

async function points(count: number): Promise<Engine> {
  const store = memoryStore();
  const writer = await createZarrVectors(store, Prefix.root, { geometry: "points", dims: 3, chunkShape: 10 });
  const positions = Float32Array.from({ length: 3 * count }, (_, i) => (i * 7.3) % 40);
  await writer.add({ positions, parts: Uint32Array.of(0, count) });
  await writer.commit();
  return new Engine(await openZarrVectors(store, Prefix.root));
}

test("every point that is shown lies in a box of ten", async () => {
  const engine = await points(200);
  expect(await engine.boxes()).toEqual(new Float64Array());
  await engine.look({ camera: fitted(engine.bounds, 30, 20, 1), width: 300, height: 300 });
  const boxes = await engine.boxes();
  const chunks = await (await engine.dataset.source(0)).chunks();
  expect(boxes.length).toBe(6 * chunks.count);
  for (const { positions, origin } of engine.pieces())
    for (let at = 0; at < positions.length; at += 3) {
      const inside = (box: number): boolean =>
        [0, 1, 2].every((k) => {
          const place = positions[at + k]! + origin[k]!;
          return place >= boxes[box + k]! - 1e-4 && place <= boxes[box + 3 + k]! + 1e-4;
        });
      expect(Array.from({ length: chunks.count }, (_, i) => inside(6 * i))).toContain(true);
    }
});
