import { expect, it } from "vitest";
import { loadSimplifier } from "./simplifier.js";

it("gives the same faces before and after the small mesh that precedes a large one", async () => {
  const points = Float32Array.from({ length: 300 }, (_, i) => [((i / 3) % 10) | 0, (i / 30) | 0, (i % 7) / 50][i % 3]!);
  const faces: number[] = [];
  for (let at = 0; at < 89; at++) if (at % 10 < 9) faces.push(at, at + 1, at + 11, at, at + 11, at + 10);
  const coarser = async (like: number): Promise<Uint32Array> => {
    const simplifier = await loadSimplifier(like);
    return simplifier.simplify(Uint32Array.from(faces), points, 3, 60, 1, ["ErrorAbsolute"])[0];
  };
  const first = await coarser(100);
  expect(first.length).toBeGreaterThan(0);
  expect(first.length).toBeLessThan(faces.length);
  expect(await coarser(1_000_000)).toEqual(first);
});
