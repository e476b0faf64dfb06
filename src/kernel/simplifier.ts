/**
 * meshoptimizer's simplifier (docs/decisions/meshoptimizer.md), loaded when a mesh first needs it. A mesh is one call, and an engine that first
 * compiles WebAssembly quickly and then well takes the better code from the next call on: a large mesh is preceded by a small one.
 */
import type { MeshoptSimplifier } from "meshoptimizer/simplifier";

const MANY = 100_000; // faces of a mesh that takes longer than both compilations
const SIDE = 24; // squares along a side of the small one, enough for the engine to notice
let warm = false;

/** The simplifier, for a mesh of so many faces. */
export async function loadSimplifier(faces: number): Promise<typeof MeshoptSimplifier> {
  const { MeshoptSimplifier: simplifier } = await import("meshoptimizer/simplifier");
  await simplifier.ready;
  if (faces >= MANY && !warm) {
    warm = true;
    const { indices, points } = hills();
    simplifier.simplify(indices, points, 3, indices.length >> 2, 1, ["ErrorAbsolute"]);
  }
  return simplifier;
}

function hills(): { readonly indices: Uint32Array; readonly points: Float32Array } {
  const points = new Float32Array(3 * (SIDE + 1) ** 2);
  const indices = new Uint32Array(6 * SIDE ** 2);
  for (let x = 0, at = 0; x <= SIDE; x++)
    for (let y = 0; y <= SIDE; y++, at += 3) points.set([x / SIDE, y / SIDE, ((x * x + 7 * y) % 13) / 200], at);
  for (let x = 0, at = 0; x < SIDE; x++)
    for (let y = 0; y < SIDE; y++, at += 6) {
      const a = x * (SIDE + 1) + y;
      const across = a + SIDE + 2;
      indices.set([a, a + 1, across, a, across, across - 1], at);
    }
  return { indices, points };
}
