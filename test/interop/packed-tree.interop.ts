/** Packed trees both ways: what Octavo builds, packingcubes loads and answers the same; what packingcubes builds is the same bytes. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
  buildTree,
  encodeTree,
  joinParticles,
  nearestParticles,
  parseTree,
  particlesIn,
  slicesIn,
} from "../../src/format/packed-tree/index.js";
import { alike, boxOf } from "../packed-tree.js";
import { missingPeer, runPeer } from "./peers.js";

const reason = missingPeer("packed-tree");
const folder = mkdtempSync(join(tmpdir(), "octavo-packed-tree-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Numbers from 0 to 1, the same in each run. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}
const draw = (count: number, seed: number): number[] => Array.from({ length: count }, () => source(seed).next().value);
const sources = new Map<number, Generator<number, never>>();
const source = (seed: number): Generator<number, never> => {
  if (!sources.has(seed)) sources.set(seed, numbers(seed));
  return sources.get(seed)!;
};

const unit = [0, 0, 0, 1, 1, 1];
const sets = [
  { name: "uniform", positions: draw(15_000, 1), box: null, threshold: 400 },
  { name: "uniform-deep", positions: draw(9_000, 2), box: unit, threshold: 3 },
  { name: "clustered", positions: draw(12_000, 3).map((v, i) => v ** (1 + (i % 7))), box: null, threshold: 20 },
  { name: "far-away", positions: draw(3_000, 4).map((v) => 1e6 + v / 16), box: null, threshold: 10 },
  {
    name: "odd-box",
    positions: draw(6_000, 5).map((v) => 0.1 + v * 0.7),
    box: [0.1, 0.1, 0.1, 0.7, 0.7, 0.7],
    threshold: 1,
  },
  {
    name: "pairs",
    positions: draw(600, 6).flatMap((v, i, all) =>
      i % 3 === 0 ? [v, all[i + 1]!, all[i + 2]!, v, all[i + 1]!, all[i + 2]!] : [],
    ),
    box: null,
    threshold: 1,
  },
  { name: "one", positions: [0.25, 0.5, 0.75], box: null, threshold: 400 },
];

describe.skipIf(reason !== undefined)(
  `packed trees and packingcubes${reason === undefined ? "" : `: ${reason}`}`,
  () => {
    it("build the same, load each other's and answer the same", async () => {
      const path = (name: string, what: string): string => join(folder, `${name}.${what}`);
      const made = [];
      for (const { name, positions, box, threshold } of sets) {
        const given = Float64Array.from(positions);
        const built = await buildTree(given, { threshold, ...(box !== null && { box: boxOf(box) }) });
        const particles = await joinParticles(built);
        writeFileSync(path(name, "positions"), given);
        writeFileSync(path(name, "tree"), encodeTree(built.tree));
        writeFileSync(path(name, "sorted"), built.positions);
        const [low, high] = [particles.bounds.subarray(0, 3), particles.bounds.subarray(3, 6)];
        const place = (shares: readonly number[]): number[] =>
          shares.map((v, axis) => low[axis]! + v * (high[axis]! - low[axis]!));
        const reach = Math.max(...high.map((v, axis) => v - low[axis]!), 1e-3);
        const places = Array.from({ length: 12 }, () => place(draw(3, 7)));
        const spheres = places.map((centre, i) => [...centre, (reach * (i + 1)) / 20]);
        const boxes = places.map((corner, i) => [...corner, ...[1, 2, 3].map((n) => (reach * n * (i + 1)) / 40)]);
        made.push({ name, built, particles, spheres, boxes, places, box, threshold });
      }
      const jobs = made.map(({ name, box, threshold, spheres, boxes, places, particles }) => ({
        ...Object.fromEntries(["positions", "write", "order", "sorted"].map((what) => [what, path(name, what)])),
        load: path(name, "tree"),
        ...{ box, threshold, spheres, boxes, places, k: Math.min(10, particles.count) },
      }));
      writeFileSync(join(folder, "jobs.json"), JSON.stringify(jobs));
      const answers = JSON.parse(runPeer("packed-tree", "pt_trees.py", join(folder, "jobs.json")));
      for (const [i, { name, built, particles, spheres, boxes, places }] of made.entries()) {
        const [theirs, ours] = [readFileSync(path(name, "write")), encodeTree(built.tree)];
        for (const bytes of [theirs, ours]) bytes.fill(0, 8, 16);
        expect(alike(theirs, ours), `${name}: the bytes of the tree`).toBe(true);
        expect(alike(readFileSync(path(name, "order")), built.order), `${name}: the order`).toBe(true);
        expect(parseTree(theirs).nodes).toEqual(built.tree.nodes);
        for (const [q, sphere] of spheres.entries()) {
          expect([...particlesIn(particles, { sphere })], `${name}: sphere ${q}`).toEqual(answers[i].spheres[q]);
          const slices = slicesIn(built.tree, { sphere }, { asReference: true });
          expect([...slices], `${name}: slices ${q}`).toEqual(answers[i].slices[q].flat());
        }
        for (const [q, [x, y, z, dx, dy, dz]] of boxes.entries() as IterableIterator<
          [number, [number, number, number, number, number, number]]
        >) {
          const found = particlesIn(particles, { box: [x, y, z, x + dx, y + dy, z + dz] });
          expect([...found], `${name}: box ${q}`).toEqual(answers[i].boxes[q]);
        }
        for (const [q, place] of places.entries()) {
          const { distances } = nearestParticles(particles, place, Math.min(10, particles.count));
          expect([...distances], `${name}: nearest of place ${q}`).toEqual(answers[i].distances[q]);
        }
      }
    });
  },
);
