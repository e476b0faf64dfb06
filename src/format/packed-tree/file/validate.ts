/** Everything that can be said against a `.ptree` file: its description, its tree, each block, and whether they belong together. */
import { OctavoError } from "../../../errors.js";
import type { Finding, ValidateOptions } from "../../../model/format.js";
import type { Key } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import type { Particles } from "../particles.js";
import { failure, finding } from "../rules.js";
import { openParticleFile, type ParticleFile } from "./read.js";

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
  }
  if (level < 4) return;
  const { positions, order, attributes } = file.description;
  const columns = [positions, order, ...attributes];
  let damaged = false;
  for (let block = 0; block < file.blocks.count; block++) {
    for (const column of columns)
      try {
        await file.blocksOf([column], [block], { signal });
      } catch (error) {
        damaged = true;
        yield failure("file-block", `${where}, ${column.name}, block ${block}`, error);
      }
    onProgress?.({ done: block + 1, total: file.blocks.count, unit: "chunks" });
  }
  if (level < 5 || damaged) return;
  try {
    const particles = await file.particles({ signal });
    const wrong = orderFault(particles) ?? boxFault(file, particles);
    if (wrong !== undefined) yield finding("file-order", where, `${where} ${wrong}`);
  } catch (error) {
    if (!(error instanceof OctavoError)) throw error;
    yield failure("file-order", where, error);
  }
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

/** Each particle lies in the box of its block: an answer would be short of it else. */
function boxFault({ blocks }: ParticleFile, { positions }: Particles): string | undefined {
  for (let block = 0; block < blocks.count; block++)
    for (let at = 3 * blocks.starts[block]!; at < 3 * blocks.starts[block + 1]!; at++) {
      const [low, high] = [blocks.boxes[6 * block + (at % 3)]!, blocks.boxes[6 * block + 3 + (at % 3)]!];
      if (!(positions[at]! >= low && positions[at]! <= high)) return `has a particle outside of its block ${block}`;
    }
  return undefined;
}
