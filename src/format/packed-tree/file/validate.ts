/** Everything that can be said against a `.ptree` file: its description, its tree, each block, and whether they belong together. */
import { OctavoError } from "../../../errors.js";
import type { Finding, ValidateOptions } from "../../../model/format.js";
import type { Key } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import type { Particles } from "../particles.js";
import { failure, finding } from "../rules.js";
import { validateTree } from "../validate.js";
import type { Blocks } from "./blocks.js";
import { ALL, type Part, SAMPLE } from "./description.js";
import { openParticleFile, type ParticleFile, splitParticles } from "./read.js";
import { rowsInMemory } from "./rows.js";
import { levelByBirth, sampleOf } from "./sample.js";

export async function* validateParticleFile(store: Store, key: Key, options: ValidateOptions): AsyncGenerator<Finding> {
  const { level = 5, signal, onProgress } = options;
  const where = `${store.url}/${key}`;
  let file: ParticleFile;
  try {
    file = await openParticleFile(store, key, options);
  } catch (error) {
    yield failure("file", where, error);
    return;
  }
  if (level < 2) return;
  try {
    await file.tree({ signal });
  } catch (error) {
    yield failure("file-tree", where, error);
    const { offset, bytes } = file.description.tree;
    const stored = await store.get(key, { signal, range: { offset, length: bytes } });
    if (stored !== undefined) yield* validateTree(stored, { where: `the tree of ${where}` });
  }
  if (level < 3) return;
  let damaged = false;
  const total = file.pages[ALL].count + file.pages[SAMPLE].count;
  let done = 0;
  for (const part of [ALL, SAMPLE] as const)
    for (let page = 0; page < file.pages[part].count; page++) {
      for await (const found of pageFindings(file, part, page, level, options)) {
        damaged = true;
        yield found;
      }
      onProgress?.({ done: ++done, total, unit: "chunks" });
    }
  if (level < 5 || damaged) return;
  try {
    const particles = await file.particles({ signal });
    const wrong = orderFault(particles) ?? (await sampleFault(file, particles, signal));
    if (wrong !== undefined) yield finding("file-order", where, `${where} ${wrong}`);
  } catch (error) {
    if (!(error instanceof OctavoError)) throw error;
    yield failure("file-order", where, error);
  }
}

const nameOf = (part: Part): string => (part === ALL ? "" : "the sample, ");

/** A page of the table and, from level 4 on, its blocks. */
async function* pageFindings(
  file: ParticleFile,
  part: Part,
  page: number,
  level: number,
  { signal }: ValidateOptions,
): AsyncGenerator<Finding> {
  const { where, description } = file;
  let blocks: Blocks;
  try {
    blocks = await file.blocks(part, [page], { signal });
  } catch (error) {
    yield failure("file-block", `${where}, ${nameOf(part)}page ${page}`, error);
    return;
  }
  if (level < 4) return;
  const all = Array.from({ length: blocks.count }, (_, block) => block);
  for (const column of [description.particles, ...description.attributes]) {
    try {
      const values = await file.read(part, [column], blocks, all, { signal });
      if (column !== description.particles) continue;
      for (const block of all) {
        const [positions] = splitParticles(values[block]![0]!, blocks.sizes[block]!, column);
        const place = `${where}, ${nameOf(part)}block ${blocks.numbers[block]}`;
        if (!isInside(positions, blocks.boxes.subarray(6 * block, 6 * block + 6)))
          yield finding("file-order", place, `${place} has a particle outside of the box that it says`);
      }
    } catch (error) {
      if (!(error instanceof OctavoError)) throw error;
      for (const block of all)
        try {
          await file.read(part, [column], blocks, [block], { signal });
        } catch (error) {
          yield failure("file-block", `${where}, ${nameOf(part)}${column.name}, block ${blocks.numbers[block]}`, error);
        }
    }
  }
}

/** Each particle lies in the box of its block: an answer would be short of it else. */
function isInside(positions: ArrayLike<number>, box: Float64Array): boolean {
  for (let at = 0; at < positions.length; at++)
    if (!(positions[at]! >= box[at % 3]! && positions[at]! <= box[(at % 3) + 3]!)) return false;
  return true;
}

/** The order names each particle once. */
function orderFault({ order, count }: Particles): string | undefined {
  const seen = new Uint8Array(count);
  for (const number of order!) {
    if (number >= count || seen[number] === 1)
      return `names the particle ${number} of ${count} in its order twice, or too far`;
    seen[number] = 1;
  }
  return undefined;
}

/** The sample is that of these particles. */
async function sampleFault(
  file: ParticleFile,
  particles: Particles,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { levels, births } = await sampleOf(rowsInMemory(particles));
  if (JSON.stringify(levels) !== JSON.stringify(file.description.levels)) return "has other levels than its particles";
  const levelOf = levelByBirth(levels);
  const wanted = new Uint32Array(levels.at(-1)?.count ?? 0);
  const next = levels.map((_, level) => levels[level - 1]?.count ?? 0);
  for (let i = 0; i < births.length; i++) if (levelOf[births[i]!]! >= 0) wanted[next[levelOf[births[i]!]!]!++] = i;
  let at = 0;
  for (let page = 0; page < file.pages[SAMPLE].count; page++) {
    const blocks = await file.blocks(SAMPLE, [page], { signal });
    const all = Array.from({ length: blocks.count }, (_, block) => block);
    const column = file.description.particles;
    for (const [block, [bytes]] of (await file.read(SAMPLE, [column], blocks, all, { signal })).entries()) {
      const [positions, order] = splitParticles(bytes!, blocks.sizes[block]!, column);
      for (let i = 0; i < order.length; i++, at++) {
        const particle = wanted[at]!;
        const same = [0, 1, 2].every((axis) => positions[3 * i + axis] === particles.positions[3 * particle + axis]);
        if (order[i] !== particles.order![particle] || !same)
          return `has another particle than ${particle} in its sample`;
      }
    }
  }
  return undefined;
}
