/**
 * `npm run bench compressed-segmentation`: labels to compressed_segmentation and back, one core, beside the package that
 * cloud-volume uses, on the same chunks of 64³ voxels: cells of a Voronoi diagram about 20 voxels wide, as neurons are cut. Both
 * give the same bytes. CPU time, the best of several rounds.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { concat } from "../src/bytes/concat.js";
import { decodeSegmentation, encodeSegmentation } from "../src/codec/compressed-segmentation.js";
import type { ChunkSpec } from "../src/codec/types.js";
import { type Block, loadLabelKernel } from "../src/kernel/labels.js";
import { pythonOf } from "../test/interop/peers.js";

const ROUNDS = 15;
const SIDE = 64;
const CHUNKS = 8;
const BLOCK: Block = [8, 8, 8];
const cache = join(import.meta.dirname, "../.cache/bench/labels");
mkdirSync(cache, { recursive: true });

/** The labels of the nearest of some seeds, chunk by chunk: 2 × 2 × 2 of them side by side. */
function voronoi(size: 4 | 8): Uint8Array[] {
  let state = 12345;
  const next = (): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return state / 2 ** 32;
  };
  const seeds = Array.from({ length: 200 }, () => [next() * 128, next() * 128, next() * 128, next() * 2 ** 32]);
  return Array.from({ length: CHUNKS }, (_, chunk) => {
    const words = new Uint32Array((SIDE ** 3 * size) / 4);
    let at = 0;
    for (let z = 0; z < SIDE; z++)
      for (let y = 0; y < SIDE; y++)
        for (let x = 0; x < SIDE; x++) {
          const [px, py, pz] = [x + (chunk & 1) * SIDE, y + ((chunk >> 1) & 1) * SIDE, z + (chunk >> 2) * SIDE];
          let [best, label] = [Number.POSITIVE_INFINITY, 0];
          for (const [sx, sy, sz, id] of seeds) {
            const distance = (px - sx!) ** 2 + (py - sy!) ** 2 + (pz - sz!) ** 2;
            if (distance < best) [best, label] = [distance, id!];
          }
          words[at++] = label;
          if (size === 8) words[at++] = label % 251;
        }
    return new Uint8Array(words.buffer);
  });
}

function best(work: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < ROUNDS; i++) {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    least = Math.min(least, (user + system) / 1e6);
  }
  return least;
}

const kernel = await loadLabelKernel();
const rate = (seconds: number): string => `${Math.round((CHUNKS * SIDE ** 3) / seconds / 1e6)}`.padStart(8);
console.log("million voxels per CPU second   Octavo  cloud-volume  times");
for (const size of [8, 4] as const) {
  const chunks = voronoi(size);
  const spec: ChunkSpec = {
    shape: [1, SIDE, SIDE, SIDE],
    dtype: { kind: "uint", size, endian: "little" },
    fill: new Uint8Array(size),
  };
  const encoded = chunks.map((chunk) => encodeSegmentation(chunk, spec, BLOCK, kernel));
  const ours = {
    encode: best(() => chunks.forEach((chunk) => void encodeSegmentation(chunk, spec, BLOCK, kernel))),
    decode: best(() => encoded.forEach((bytes) => void decodeSegmentation(bytes, spec, BLOCK, kernel, "lend"))),
    fresh: best(() => encoded.forEach((bytes) => void decodeSegmentation(bytes, spec, BLOCK, kernel))),
  };
  const path = join(cache, `labels-${size}.raw`);
  writeFileSync(path, concat(chunks));
  const script = join(import.meta.dirname, "precomputed/labels.py");
  const { status, stdout, stderr } = spawnSync(pythonOf("precomputed"), [script, path, `${size}`, `${ROUNDS}`], {
    encoding: "utf8",
  });
  if (status !== 0) console.error(`no cloud-volume: ${stderr.slice(-300)}`);
  const theirs = status === 0 ? (JSON.parse(stdout) as { encode: number; decode: number }) : undefined;
  if (theirs !== undefined && Buffer.compare(concat(encoded), readFileSync(`${path}.encoded`)) !== 0)
    throw new Error("the bytes differ");
  // cloud-volume's package gives a new array each time; a region of a volume is read through memory that is used again.
  for (const what of ["encode", "decode", "fresh"] as const) {
    const other = theirs?.[what === "fresh" ? "decode" : what];
    const times = other === undefined ? "" : (other / ours[what]).toFixed(1);
    console.log(
      `${what === "fresh" ? "decode to new memory" : what} uint${8 * size}`.padEnd(30) + rate(ours[what]),
      other === undefined ? "" : `${rate(other)}      ${times}`,
    );
  }
}
