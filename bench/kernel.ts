/**
 * One chunk of 2.1 MB of int32, through blosc: this kernel, the plain loops and numcodecs.js, in one run on the same bytes.
 * `node scripts/ts.mjs bench/kernel.ts [folder]`: with a folder, chunks made by another blosc (chunk_<cname>_<shuffle>.blosc
 * and chunk.raw) are decoded too, and compared in size.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Blosc from "numcodecs/blosc";
import { type BloscName, type BloscTools, decodeBlosc, encodeBlosc } from "../src/codec/blosc.js";
import { loadZlib } from "../src/codec/zlib.js";
import { loadZstd } from "../src/codec/zstd.js";
import { loadKernel, plainKernel } from "../src/kernel/index.js";
import { defaultLimits } from "../src/limits.js";

const folder = process.argv[2];
const raw = folder === undefined ? wave() : new Uint8Array(readFileSync(join(folder, "chunk.raw")));
const inner = { zlib: await loadZlib(), zstd: await loadZstd() };
const tools: BloscTools = { kernel: await loadKernel(), ...inner };
const plain: BloscTools = { kernel: plainKernel, ...inner };

/** A wave with four bits of noise, as in the benchmark of whole arrays. */
function wave(): Uint8Array {
  const values = new Int32Array(256 * 256 * 8);
  let state = 1;
  for (let i = 0; i < values.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    const [x, y, k] = [(i >> 3) & 255, i >> 11, i & 7];
    values[i] = Math.trunc(2000 + 1000 * Math.sin(x / 90) * Math.cos(y / 130)) + k * 7 + (state >>> 28);
  }
  return new Uint8Array(values.buffer);
}

/** MB of decoded bytes per second, the best of several runs. */
async function speed(run: () => unknown): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  const until = performance.now() + 400;
  for (let i = 0; i < 5 || (performance.now() < until && i < 200); i++) {
    const start = performance.now();
    await run();
    best = Math.min(best, performance.now() - start);
  }
  return raw.length / 1e3 / best;
}

console.log(`${(raw.length / 1e6).toFixed(1)} MB of int32, clevel 5; MB/s; Node ${process.version}`);
console.table(
  await (async () => {
    const rows: Record<string, Record<string, string>> = {};
    for (const cname of ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"] as const satisfies readonly BloscName[]) {
      for (const [i, shuffle] of (["none", "byte", "bit"] as const).entries()) {
        const options = { cname, clevel: 5, shuffle, typesize: 4, blocksize: 0 };
        const peer = new Blosc(5, cname, i as 0 | 1 | 2);
        const encoded = encodeBlosc(raw, options, tools);
        const file = join(folder ?? "", `chunk_${cname}_${i}.blosc`);
        const foreign = folder !== undefined && existsSync(file) ? new Uint8Array(readFileSync(file)) : encoded;
        if (Buffer.compare(decodeBlosc(foreign, raw.length, defaultLimits, tools), raw) !== 0) throw new Error(file);
        const theirs = cname === "snappy" ? Number.NaN : (await peer.encode(raw)).length;
        const text = (x: number): string => x.toFixed(0);
        rows[`${cname} ${shuffle}`] = {
          decode: text(await speed(() => decodeBlosc(foreign, raw.length, defaultLimits, tools))),
          plain: text(await speed(() => decodeBlosc(foreign, raw.length, defaultLimits, plain))),
          "numcodecs.js": text(await speed(() => peer.decode(foreign))),
          encode: text(await speed(() => encodeBlosc(raw, options, tools))),
          "plain ": text(await speed(() => encodeBlosc(raw, options, plain))),
          "numcodecs.js ": cname === "snappy" ? "" : text(await speed(() => peer.encode(raw))),
          bytes: text(encoded.length),
          "of theirs": (encoded.length / (folder === undefined ? theirs : foreign.length)).toFixed(3),
        };
      }
    }
    return rows;
  })(),
);
