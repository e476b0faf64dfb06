/** Streamlines in a cube of 100: each a few steps on, all over the place, always the same; as a published store with levels. */
import {
  type BatchParts,
  createZarrVectors,
  openZarrVectors,
  publishZarrVectors,
} from "../src/format/zarr-vectors/index.js";
import { buildPyramid } from "../src/pyramid/build.js";
import { Prefix } from "../src/store/key.js";
import { memoryStore } from "../src/store/memory.js";
import type { Store } from "../src/store/types.js";

export function streamlines(count: number, steps = 8): BatchParts {
  const positions = new Float32Array(3 * count * steps);
  const fa = new Float32Array(count * steps);
  let seed = 1;
  const random = (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
  for (let line = 0; line < count; line++) {
    const [x, y, z] = [0, 1, 2].map(() => 5 + 90 * random()) as [number, number, number];
    const turn = 6.28 * random();
    for (let step = 0; step < steps; step++) {
      const at = 3 * (line * steps + step);
      positions.set([x + 0.6 * step * Math.cos(turn), y + 0.6 * step * Math.sin(turn), z + 0.2 * Math.sin(step)], at);
      fa[at / 3] = z / 100;
    }
  }
  const info = { name: "fa", dtype: { kind: "float", size: 4, endian: "little" }, channels: 1 } as const;
  return {
    positions,
    parts: Uint32Array.from({ length: count + 1 }, (_, line) => line * steps),
    vertexColumns: new Map([["fa", { info, values: fa }]]),
  };
}

/** Published to a store, or to memory. */
export async function publishedStreamlines(count: number, to: Store = memoryStore()): Promise<Store> {
  const made = memoryStore();
  const writer = await createZarrVectors(made, Prefix.root, { geometry: "streamlines", dims: 3, chunkShape: 16.7 });
  await writer.add(streamlines(count));
  await writer.commit();
  await buildPyramid(made, Prefix.root, {});
  await publishZarrVectors(await openZarrVectors(made, Prefix.root), to, Prefix.root);
  return to;
}
