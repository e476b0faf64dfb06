import { expect, it } from "vitest";
import { Key } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import { buildTree } from "../build.js";
import { joinParticles } from "../particles.js";
import { countIn, particlesIn } from "../range.js";
import type { TreeRegion } from "../region.js";
import { countInFile, particlesInFile } from "./ask.js";
import { openParticleFile } from "./read.js";
import { writeParticles } from "./write.js";

const COUNT = 60_000;
let state = 7;
const positions = Float64Array.from({ length: 3 * COUNT }, () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
});

it("a file answers as its particles in memory do, and reads what it must", async () => {
  const store = memoryStore();
  const file = Key.of("some.ptree");
  const particles = await joinParticles(await buildTree(positions));
  await writeParticles(store, file, particles);
  let read = 0;
  const get: typeof store.get = async (...args) => {
    const bytes = await store.get(...args);
    read += bytes!.length;
    return bytes;
  };
  const size = (await store.stat(file))!.size;
  const regions: readonly TreeRegion[] = [
    { sphere: [0.5, 0.5, 0.5, 0.1] },
    { sphere: [0.01, 0.99, 0.5, 0.08] },
    { box: [0.2, 0.2, 0.2, 0.3, 0.9, 0.25] },
    { box: [2, 2, 2, 3, 3, 3] },
    { box: [-1, -1, -1, 2, 2, 2] },
  ];
  for (const region of regions)
    for (const periodic of [undefined, [1, 1, 1], [Infinity, 1, 1]] as const) {
      const opened = await openParticleFile({ ...store, get }, file);
      read = 0;
      const count = await countInFile(opened, region, { periodic });
      expect(count).toBe(countIn(particles, region, { periodic }));
      expect(read).toBeLessThan(size / 2);
      const found: { tree: number[]; original: number[] } = { tree: [], original: [] };
      for await (const { tree, original } of particlesInFile(opened, region, { periodic })) {
        found.tree.push(...tree);
        found.original.push(...original);
      }
      expect(found.tree).toEqual([...particlesIn(particles, region, { periodic })]);
      expect(found.original).toEqual([...particlesIn(particles, region, { periodic, numbers: "original" })]);
    }
});
