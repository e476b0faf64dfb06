/**
 * The rows of a sample, in its order: those of the coarsest level, then what each finer one adds, each in the order of the tree. Particles
 * lie in the order of the tree, so small levels are collected together in one walk, and a large one as it comes, piece by piece.
 */
import { type Field, pieceOf } from "./pack.js";
import { levelByBirth, type Sample } from "./sample.js";

/** Some rows: the values of each field, and how many of them are of each level. */
export interface SampledPiece {
  readonly values: readonly Uint8Array[];
  readonly counts: readonly number[];
}

/** Bytes that are collected at once. */
const ROOM = 64 << 20;
/** Particles that are looked at together. */
const STEP = 2 ** 16;

/** All rows; those of a level come in pieces of a multiple of `block`, but for its last. */
export async function* sampledPieces(
  fields: readonly Field[],
  sample: Sample,
  block: number,
): AsyncGenerator<SampledPiece> {
  const { levels, births } = sample;
  const bytes = fields.reduce((sum, field) => sum + field.bytes, 0);
  const most = Math.max(block, Math.floor(ROOM / bytes / block) * block);
  const levelOf = levelByBirth(levels);
  const added = levels.map(({ count }, i) => count - (levels[i - 1]?.count ?? 0));
  for (let first = 0, last = 0; first < levels.length; first = last) {
    let rows = 0;
    while (last < levels.length && (last === first || rows + added[last]! <= most)) rows += added[last++]!;
    for (let done = 0, from = 0; done < rows; ) {
      const counts = rows <= most ? added.slice(first, last) : [Math.min(most, rows - done)];
      const piece = await collect(fields, births, levelOf, first, counts, from);
      yield { values: piece.values, counts };
      [done, from] = [done + counts.reduce((sum, count) => sum + count, 0), piece.next];
    }
  }
}

/** So many rows of each of some levels, from a particle on; the particle to go on with. */
async function collect(
  fields: readonly Field[],
  births: Uint8Array,
  levelOf: Int8Array,
  first: number,
  counts: readonly number[],
  from: number,
): Promise<{ readonly values: Uint8Array[]; readonly next: number }> {
  const rows = counts.reduce((sum, count) => sum + count, 0);
  const values = fields.map(({ bytes }) => new Uint8Array(rows * bytes));
  const to = counts.map((_, i) => counts.slice(0, i).reduce((sum, count) => sum + count, 0));
  const [picked, places] = [new Uint32Array(STEP), new Uint32Array(STEP)];
  let [i, left] = [from, rows];
  while (left > 0) {
    const start = i;
    let n = 0;
    for (const end = Math.min(births.length, start + STEP); i < end && left > 0; i++) {
      const level = levelOf[births[i]!]! - first;
      if (level < 0 || level >= counts.length) continue;
      [picked[n], places[n++]] = [i, to[level]!++];
      left--;
    }
    if (n === 0) continue;
    const piece = await pieceOf(fields, picked[0]!, picked[n - 1]! + 1);
    for (const [f, { bytes }] of fields.entries())
      for (let k = 0; k < n; k++) {
        const at = (picked[k]! - picked[0]!) * bytes;
        values[f]!.set(piece[f]!.subarray(at, at + bytes), places[k]! * bytes);
      }
  }
  return { values, next: i };
}
