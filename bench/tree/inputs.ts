/**
 * The particles and the places of the benchmark of trees, the same to the bit in every language: a counter-based generator, two of
 * whose words make a double, and only + − × and floor on top of it. Files are made on first use, and have the SHA-256 sums below.
 *
 *     uniform    in the unit cube
 *     clustered  one in ten of them so, the others around one of 256 places, each with a width of its own
 *     singles    200 places; of clustered particles every other one is a particle
 *     batch      20,000 places, in the same way
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const SETS = ["uniform", "clustered"] as const;
export type SetName = (typeof SETS)[number];

const SHA256: Record<string, string> = {
  uniform_100000: "4b9d1405b0c118a250ecdd5e8efb5c1cb6a8ee3af397f5043bcce3c3fe7eff13",
  uniform_1000000: "b6abea2f4228cbb7c06b3e2afedfdfa9e7111b38c1f823b2399c27dc36e446df",
  uniform_10000000: "e73fc3f2712143646158c19ca6f60e5663ff6fa753cb7a75a2a789c28a56e084",
  clustered_100000: "3bda58da87afed30316b5d67cb6652abf67787dc6d6ad14c23eff02b7dc213c4",
  clustered_1000000: "26b35e3cdde3bb4a545ee819820022d5ad81b4a181e94c0938f0a6913e7ddec6",
  clustered_10000000: "de0e6befed022d9aac17bcf894d3d39bddffbb1b96062f61e2b5b66b50601310",
};

function word(seed: number, counter: number): number {
  const a = (seed + Math.imul((counter + 1) | 0, 0x6d2b79f5)) | 0;
  let t = Math.imul(a ^ (a >>> 15), a | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return (t ^ (t >>> 14)) >>> 0;
}

/** Draw n of a stream, in [0, 1). */
const draw = (seed: number, n: number): number =>
  ((word(seed, 2 * n) >>> 5) * 2 ** 26 + (word(seed, 2 * n + 1) >>> 6)) * 2 ** -53;

const draws = (seed: number, count: number): Float64Array => {
  const out = new Float64Array(count);
  for (let i = 0; i < count; i++) out[i] = draw(seed, i);
  return out;
};

const CLUSTERS = 256;
const SEED = 7;

function clustered(count: number): Float64Array {
  const places = draws((SEED ^ 0xc1057e12) >>> 0, 4 * CLUSTERS);
  const out = new Float64Array(3 * count);
  const d = new Float64Array(14);
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < 14; j++) d[j] = draw(SEED, 14 * i + j);
    const cluster = 4 * Math.floor(d[1]! * d[1]! * CLUSTERS);
    const u = places[cluster + 3]!;
    const width = u * u * u * 0.05 + 0.0005;
    for (let axis = 0; axis < 3; axis++) {
      const first = 2 + 4 * axis;
      const off = d[first]! + d[first + 1]! + d[first + 2]! + d[first + 3]! - 2;
      const at = places[cluster + axis]! + off * width;
      out[3 * i + axis] = d[0]! < 0.1 ? d[first]! : at - Math.floor(at);
    }
  }
  return out;
}

/** Where the particles of a set are, as float64; checked each time. */
export function particleFile(folder: string, set: SetName, count: number): string {
  const name = `${set}_${count}`;
  return kept(folder, name, () => (set === "uniform" ? draws(42, 3 * count) : clustered(count)), SHA256[name]);
}

/** Where places to ask about are. */
export function placeFile(folder: string, set: SetName, count: number, places: "singles" | "batch"): string {
  const [asked, seed] = places === "singles" ? [200, 99] : [20_000, 199];
  return kept(folder, `${places}_${set}_${count}`, () => {
    const out = draws(seed, 3 * asked);
    const particles = floats(particleFile(folder, set, count));
    for (let i = 0; i < asked && set === "clustered"; i += 2) {
      const at = 3 * Math.floor(draw(seed + 2, i) * count);
      out.set(particles.subarray(at, at + 3), 3 * i);
    }
    return out;
  });
}

/** The numbers in a file. */
export function floats(path: string): Float64Array {
  const bytes = readFileSync(path);
  return new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
}

function kept(folder: string, name: string, make: () => Float64Array, sha256?: string): string {
  const path = join(folder, `${name}.f64`);
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${path}.partial`, new Uint8Array(make().buffer));
    renameSync(`${path}.partial`, path);
  }
  const found = sha256 && createHash("sha256").update(readFileSync(path)).digest("hex");
  if (found !== sha256) throw new Error(`${path} has the SHA-256 sum ${found}, expected ${sha256}`);
  return path;
}
