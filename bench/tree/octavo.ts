/**
 * Octavo's side of `npm run bench tree`: octavo.ts FOLDER WORKERS SET_COUNT [PROGRAM OF WORKERS]; prints one JSON object, of the form of peer.py's. With
 * workers only the build is measured, by the clock and by CPU.
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BuiltTree, buildTree } from "../../src/format/packed-tree/build.js";
import { encodeTree } from "../../src/format/packed-tree/encode.js";
import { nearestParticles } from "../../src/format/packed-tree/nearest.js";
import { joinParticles, type Particles } from "../../src/format/packed-tree/particles.js";
import { countIn, particlesIn } from "../../src/format/packed-tree/range.js";
import type { TreeRegion } from "../../src/format/packed-tree/region.js";
import { createPool } from "../../src/worker/pool.js";
import { floats } from "./inputs.js";

const [folder, workers, name, program] = process.argv.slice(2) as [string, string, string, string?];
const RADII = [0.01, 0.05, 0.1];
const K = 10;
const out: Record<string, number | string> = { name };

const usage = (): { cpu: number; wall: number } => {
  const { user, system } = process.cpuUsage();
  return { cpu: (user + system) / 1e6, wall: performance.now() / 1000 };
};
const status = (key: string): number =>
  1024 * Number(new RegExp(`${key}:\\s+(\\d+)`).exec(readFileSync("/proc/self/status", "utf8"))![1]);

/** Best of several, CPU and wall. */
function best<T>(key: string, rounds: number, work: () => T): T {
  let value: T;
  out[key] = Infinity;
  for (let i = 0; i < rounds; i++) {
    const before = usage().cpu;
    value = work();
    out[key] = Math.min(out[key] as number, usage().cpu - before);
  }
  return value!;
}

function digest(lists: Iterable<Uint32Array>): string {
  const sums = createHash("sha256");
  for (const list of lists) sums.update(new Uint8Array(list.buffer, list.byteOffset, list.byteLength));
  return sums.digest("hex");
}

async function build(positions: Float64Array): Promise<BuiltTree> {
  const pool = Number(workers) > 0 ? createPool({ size: Number(workers), workerUrl: program }) : undefined;
  out.build = out["build wall"] = out.memory = Infinity;
  let built: BuiltTree | undefined;
  const rounds = positions.length >= 3e7 ? 5 : 30;
  for (let i = 0; i < rounds; i++) {
    built = undefined;
    globalThis.gc?.();
    writeFileSync("/proc/self/clear_refs", "5");
    const base = status("VmRSS");
    const before = usage();
    built = await buildTree(positions, { pool });
    const after = usage();
    out.build = Math.min(out.build as number, after.cpu - before.cpu);
    out["build wall"] = Math.min(out["build wall"] as number, after.wall - before.wall);
    const { positions: sorted, order, tree } = built;
    const given = sorted.byteLength + order.byteLength + tree.nodes.rows.byteLength;
    out.memory = Math.min(out.memory as number, status("VmHWM") - base - given);
  }
  await pool?.close();
  const { tree, order } = built!;
  out.tree = createHash("sha256").update(encodeTree(tree).subarray(92)).digest("hex");
  out.order = digest([order]);
  out["bytes of positions"] = positions.byteLength;
  return built!;
}

function ask(particles: Particles, places: Float64Array): void {
  const rows = Array.from({ length: places.length / 3 }, (_, i) => [...places.subarray(3 * i, 3 * i + 3)]);
  const sorted = (regions: readonly TreeRegion[]): string =>
    digest(regions.map((region) => particlesIn(particles, region, { numbers: "original" }).sort()));
  for (const r of RADII) {
    const spheres = rows.map((place): TreeRegion => ({ sphere: [...place, r] }));
    const boxes = rows.map(
      (place): TreeRegion => ({ box: [...place.map((v) => v - r), ...place.map((v) => v - r + 2 * r)] }),
    );
    const each = (regions: readonly TreeRegion[]) => (): number => {
      let sum = 0;
      for (const region of regions) sum += particlesIn(particles, region).length;
      return sum;
    };
    best(`sphere ${r}`, 30, each(spheres));
    out[`sphere ${r} found`] = sorted(spheres);
    best(`box ${r}`, 30, each(boxes));
    out[`box ${r} found`] = sorted(boxes);
    best(`count ${r}`, 30, () => {
      let sum = 0;
      for (const region of spheres) sum += countIn(particles, region);
      return sum;
    });
  }
  const found = best("nearest", 60, () =>
    rows.map((place) => nearestParticles(particles, place, K, { numbers: "original" })),
  );
  out["nearest found"] = digest(found.map(({ numbers }) => numbers));
}

const positions = floats(join(folder, `${name}.f64`));
const built = await build(positions);
if (Number(workers) === 0) {
  const particles = await joinParticles(built);
  ask(particles, floats(join(folder, `singles_${name}.f64`)));
  const batch = floats(join(folder, `batch_${name}.f64`));
  const { numbers } = best("batch", 15, () => nearestParticles(particles, batch, K, { numbers: "original" }));
  out["batch found"] = digest([numbers]);
}
console.log(JSON.stringify(out));
