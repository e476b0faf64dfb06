/**
 * The benchmark's inputs, the same to the bit in every language: a hash of (counter, stream), arithmetic in float64 with
 * + − × ÷ √ only, rounded once to the stored type.
 *
 *     points       1000·u per coordinate; attributes a0 = u, a1 = 100·u; a smaller set is the first rows
 *     streamlines  50 to 100 steps of length 2 whose direction turns a little, reflected at the walls; offsets (n + 1)
 *     mesh         a cube of n × n cells per side drawn onto a sphere of radius about 400 around (500, 500, 500)
 *
 * The inputs are .npy files in .cache/bench, made on first use; `node scripts/ts.mjs bench/zarr-vectors/inputs.ts` makes all
 * and compares them with the SHA-256 sums below.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeNpy } from "../../src/format/interchange/npy.js";
import { ndarray } from "../../src/model/elements.js";

type Values = Float32Array | Uint32Array;
interface Input {
  readonly sha256: string;
  make(): { readonly shape: readonly number[]; readonly data: Values };
}

/** Also the choice of objects in the cases. */
export function hash32(counter: number, stream: number): number {
  let x = (counter + Math.imul(stream, 0x9e3779b9)) >>> 0;
  x ^= x >>> 16;
  x = Math.imul(x, 0x85ebca6b);
  x ^= x >>> 13;
  x = Math.imul(x, 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** Uniform in [0, 1). */
const u = (counter: number, stream: number): number => hash32(counter, stream) / 2 ** 32;

const POINTS = 5_000_000;
const LINES = 100_000;

/** scale·u; positions keep off the far wall, which rounding to float32 could reach. */
function scaled(count: number, scale: number, stream: number): Float32Array {
  const out = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    out[i] = scale * u(i, stream);
    if (scale === 1000 && out[i] === 1000) out[i] = 999.99994;
  }
  return out;
}

function offsets(): Uint32Array {
  const out = new Uint32Array(LINES + 1);
  for (let j = 0; j < LINES; j++) out[j + 1] = out[j]! + 50 + (hash32(j, 10) % 51);
  return out;
}

function streamlines(): Float32Array {
  const ends = offsets();
  const out = new Float32Array(ends[LINES]! * 3);
  const at = new Float64Array(3);
  const heading = new Float64Array(3);
  const normalise = (): void => {
    const [x, y, z] = heading as unknown as [number, number, number];
    const length = Math.sqrt(x * x + y * y + z * z);
    for (let k = 0; k < 3; k++) heading[k]! /= length;
  };
  for (let j = 0; j < LINES; j++) {
    for (let k = 0; k < 3; k++) {
      at[k] = 50 + 900 * u(3 * j + k, 11);
      heading[k] = u(3 * j + k, 12) - 0.5;
    }
    normalise();
    out.set(at, ends[j]! * 3);
    const steps = ends[j + 1]! - ends[j]!;
    for (let t = 1; t < steps; t++) {
      for (let k = 0; k < 3; k++) heading[k]! += 0.6 * (u(t * LINES * 3 + 3 * j + k, 13) - 0.5);
      normalise();
      for (let k = 0; k < 3; k++) {
        at[k]! += 2 * heading[k]!;
        if (at[k]! >= 0.5 && at[k]! <= 999.5) continue;
        heading[k] = -heading[k]!;
        at[k]! += 4 * heading[k]!;
      }
      out.set(at, (ends[j]! + t) * 3);
    }
  }
  return out;
}

/** The rank of every lattice point of [0, n]³ that lies on the surface, in lexicographic order; −1 inside. */
function surface(n: number): { rank: Int32Array; count: number } {
  const side = n + 1;
  const rank = new Int32Array(side ** 3).fill(-1);
  const wall = (v: number): boolean => v === 0 || v === n;
  let count = 0;
  for (let i = 0; i < rank.length; i++) {
    const c = i % side;
    const b = Math.floor(i / side) % side;
    if (wall(c) || wall(b) || wall(Math.floor(i / side / side))) rank[i] = count++;
  }
  return { rank, count };
}

function meshVertices(n: number): Float32Array {
  const { rank, count } = surface(n);
  const side = n + 1;
  const out = new Float32Array(count * 3);
  for (let i = 0; i < rank.length; i++) {
    const index = rank[i]!;
    if (index < 0) continue;
    const x = 2 * Math.floor(i / side / side) - n;
    const y = 2 * (Math.floor(i / side) % side) - n;
    const z = 2 * (i % side) - n;
    const length = Math.sqrt(x * x + y * y + z * z);
    const radius = 400 + 4 * (u(index, 20) - 0.5);
    out[3 * index] = 500 + radius * (x / length);
    out[3 * index + 1] = 500 + radius * (y / length);
    out[3 * index + 2] = 500 + radius * (z / length);
  }
  return out;
}

/** Two triangles per cell of each of the six sides, turned so that all look outwards the same way. */
function meshFaces(n: number): Uint32Array {
  const { rank } = surface(n);
  const strides = [(n + 1) ** 2, n + 1, 1] as const;
  const out = new Uint32Array(6 * n * n * 2 * 3);
  let at = 0;
  for (let axis = 0; axis < 3; axis++) {
    const [rows, columns] = strides.filter((_, k) => k !== axis) as [number, number];
    for (const position of [0, n]) {
      for (let i = 0; i < n; i++) {
        for (let j = 0; j < n; j++) {
          const corner = (di: number, dj: number): number =>
            rank[position * strides[axis]! + (i + di) * rows + (j + dj) * columns]!;
          const [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
          out.set(position === 0 ? [a, c, b, a, d, c] : [a, b, c, a, c, d], at);
          at += 6;
        }
      }
    }
  }
  return out;
}

const rows = (data: Values, width = 1): { shape: number[]; data: Values } => ({
  shape: width === 1 ? [data.length] : [data.length / width, width],
  data,
});

export const inputs = {
  "points_5m.npy": {
    sha256: "204e5d0719c44880dd4ef4f28ebcddefe837d61f4b9c3b955087455e2f715b59",
    make: () => rows(scaled(POINTS * 3, 1000, 1), 3),
  },
  "points_5m_a0.npy": {
    sha256: "c81670d25216854bf650647e2bbaefb0e63093af45686339bd2417d22c1f653d",
    make: () => rows(scaled(POINTS, 1, 2)),
  },
  "points_5m_a1.npy": {
    sha256: "42924ed41e62dc47179f2fc0e945c7ccffe96adc8158d6cd946d6fe54dc75b5d",
    make: () => rows(scaled(POINTS, 100, 3)),
  },
  "streamlines_100k_offsets.npy": {
    sha256: "ad844c727505f04ceb6740d137bccb0456135351e08adc5cc315cf81632885c6",
    make: () => rows(offsets()),
  },
  "streamlines_100k_vertices.npy": {
    sha256: "6605733333a5735f8ee227c3640ee93a89944598a5ae1cfe2cab60ee73cb4f46",
    make: () => rows(streamlines(), 3),
  },
  "mesh_1m_vertices.npy": {
    sha256: "8385348c7dc0c67385d0b2dd9857d7c1411674f1371cd2d793ee76a053a3e387",
    make: () => rows(meshVertices(289), 3),
  },
  "mesh_1m_faces.npy": {
    sha256: "437d9c73dbd7f0ff1e4ede9d594754e87f3d629b2214bb11f1ffff7593528f9e",
    make: () => rows(meshFaces(289), 3),
  },
  "mesh_250k_vertices.npy": {
    sha256: "5c77b19b254adaac0ac42b1fbf45c3c45c0b776b0a149a737c3003627391353c",
    make: () => rows(meshVertices(144), 3),
  },
  "mesh_250k_faces.npy": {
    sha256: "acac80a1e9463338fc1b0a9d13518dd67edaf24c77e8258b329616f020834240",
    make: () => rows(meshFaces(144), 3),
  },
} as const satisfies Record<string, Input>;
export type InputName = keyof typeof inputs;

/** The path of one input, made on first use. */
export function inputFile(folder: string, name: InputName): string {
  const file = join(folder, name);
  if (existsSync(file)) return file;
  mkdirSync(folder, { recursive: true });
  const { shape, data } = inputs[name].make();
  writeFileSync(`${file}.partial`, writeNpy(ndarray(shape, data)));
  renameSync(`${file}.partial`, file);
  return file;
}

/** All inputs in a folder; the folder. */
export function inputFolder(folder: string): string {
  for (const name of Object.keys(inputs) as InputName[]) inputFile(folder, name);
  return folder;
}

if (process.argv[1] === import.meta.filename) {
  const folder = inputFolder(join(import.meta.dirname, "../../.cache/bench"));
  for (const [name, { sha256 }] of Object.entries(inputs)) {
    const found = createHash("sha256")
      .update(readFileSync(join(folder, name)))
      .digest("hex");
    console.log(`${name}: ${found === sha256 ? "as expected" : `${found}, expected ${sha256}`}`);
    if (found !== sha256) process.exitCode = 1;
  }
}
