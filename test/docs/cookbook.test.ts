/** The tasks of docs/cookbook.md, done one after another in a folder with small files of the kinds that they begin with. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createArray, writeRegion } from "../../src/format/zarr/index.js";
import { createZarrVectors } from "../../src/format/zarr-vectors/index.js";
import { ndarray } from "../../src/model/elements.js";
import type { Geometry } from "../../src/model/vectors.js";
import { convert } from "../../src/node.js";
import { Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import { build } from "../cli/run.js";
import { checkCommands } from "./commands.js";

const page = readFileSync(join(import.meta.dirname, "../../docs/cookbook.md"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "octavo-cookbook-"));
const at = (name: string): string => join(folder, name);
const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const fixed = (value: number): string => value.toFixed(3);

/** Paths, or points where each has one vertex. */
async function stored(geometry: Geometry, paths: readonly (readonly number[])[]) {
  const isCloud = geometry === "points";
  const writer = await createZarrVectors(memoryStore(), Prefix.root, {
    geometry,
    dims: 3,
    chunkShape: 25,
    objects: !isCloud,
  });
  const positions = Float32Array.from(paths.flat());
  const parts = [0];
  for (const path of paths) parts.push(parts.at(-1)! + path.length / 3);
  const ids = BigInt64Array.from(paths, (_, i) => BigInt(i));
  const objects = Int32Array.from(paths.keys());
  await writer.add(isCloud ? { positions } : { positions, parts: Uint32Array.from(parts), objects, ids });
  return writer.commit();
}

beforeAll(async () => {
  build();
  const bend = (i: number, step: number): number[] => [2.5 * step, 50 + 2 * i * Math.sin(step / 9), 50 + i];
  await convert(
    await stored(
      "streamlines",
      numbers(40).map((i) => numbers(38).flatMap((step) => bend(i % 23, step))),
    ),
    at("tracts.trk"),
  );
  await convert(
    await stored(
      "points",
      numbers(3000).map((i) => [(i * 37) % 100, (i * 61) % 97, (i % 89) / 10]),
    ),
    at("scan.las"),
  );
  for (const type of ["pyramidal", "basket"]) mkdirSync(at(`cells/${type}`), { recursive: true });
  for (const i of numbers(6)) {
    const nodes = numbers(30).map(
      (n) =>
        `${n + 1} ${n === 0 ? 1 : 3} ${fixed(9 * i + Math.sin(n))} ${fixed(n)} ${fixed((n % 5) * i)} 0.500 ${n === 0 ? -1 : n % 10 === 9 ? n - 5 : n}`,
    );
    writeFileSync(at(`cells/${i < 4 ? "pyramidal" : "basket"}/n${i}.swc`), `# cell ${i}\n${nodes.join("\n")}\n`);
  }
  const rows = numbers(50).map(
    (i) =>
      `${i + 1},${4 * i},${i * 40},${1000 - i},${4 * i + 8},${i * 40},${1010 - i},${864691135000000000n + BigInt(i % 7)},${864691135000000100n + BigInt(i % 5)},${i % 100}`,
  );
  const columns = "id,pre_x,pre_y,pre_z,post_x,post_y,post_z,pre_root_id,post_root_id,size";
  writeFileSync(at("synapses.csv"), `${[columns, ...rows].join("\n")}\n`);
  const side = 21;
  const vertices = numbers(side * side).map((i) => {
    const [turn, tilt] = [(2 * Math.PI * (i % side)) / side, (Math.PI * (Math.floor(i / side) + 0.5)) / side];
    return `v ${fixed(30 * Math.sin(tilt) * Math.cos(turn))} ${fixed(25 * Math.sin(tilt) * Math.sin(turn))} ${fixed(20 * Math.cos(tilt))}`;
  });
  const faces = numbers(side * (side - 1)).flatMap((i) => {
    const right = i - (i % side) + ((i + 1) % side);
    return [`f ${i + 1} ${right + 1} ${i + side + 1}`, `f ${right + 1} ${right + side + 1} ${i + side + 1}`];
  });
  writeFileSync(at("brain.obj"), `o brain\n${[...vertices, ...faces].join("\n")}\n`);
  const stars = numbers(2000).map(
    (i) => `${fixed(((i * 73) % 1000) / 10)},${fixed(((i * 191) % 1000) / 10)},${fixed(i / 20)},${i % 9}`,
  );
  writeFileSync(at("stars.csv"), `x,y,z,mass\n${stars.join("\n")}\n`);
  const labels = await createArray(memoryStore(), Prefix.root, {
    shape: [32, 32, 32],
    chunkShape: [32, 32, 32],
    dtype: "uint64",
    attributes: { resolution: [8, 8, 8] },
  });
  await writeRegion(
    labels,
    [],
    ndarray(
      [32, 32, 32],
      BigUint64Array.from({ length: 32 ** 3 }, (_, i) => BigInt(i % 7)),
    ),
  );
  await convert(labels, at("seg"), { to: "precomputed", resolution: [8, 8, 8] });
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("every command prints what the page says", { timeout: 180_000 }, async () => {
  expect(page.match(/^## /gm)!.length).toBeGreaterThanOrEqual(10);
  await checkCommands(page, folder);
});
