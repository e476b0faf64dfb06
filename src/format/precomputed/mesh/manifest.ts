/**
 * The manifest of a mesh of several resolutions: which cells of space have a fragment at each level of detail ("lod"), and how
 * many bytes each fragment has. The cells of a lod are twice as long as those of the one before; lod 0 is the finest.
 *
 * | bytes          | holds                                                                                       |
 * |----------------|---------------------------------------------------------------------------------------------|
 * | 12             | chunk_shape: x, y, z of a cell of lod 0                                                     |
 * | 12             | grid_origin: the lower corner of the cell 0, 0, 0                                           |
 * | 4              | number of lods, L: 1 or more                                                                |
 * | 4 L            | lod_scales: what each resolves; 0 where nothing is stored for it                            |
 * | 12 L           | vertex_offsets: x, y, z that are added to the vertices of each lod                          |
 * | 4 L            | number of fragments of each lod, n                                                          |
 * | for each lod 12 n | cells of the fragments: first all x, then all y, then all z                              |
 * | and 4 n        | bytes of the fragments; 0: the cell is there for those below it, and has no geometry        |
 *
 * Little-endian float32 and uint32, all in units of the model, which the info's transform turns to nanometres. The fragments
 * themselves lie one after the other, lod after lod, as the manifest names them: directly before it in its shard, or in a file
 * of their own. Within a lod the cells follow the z-curve, x lowest.
 */
import { Reader } from "../../../bytes/reader.js";
import { Corrupt, InvalidInput } from "../../../errors.js";

const MOST_LODS = 64; // cells are numbered with 32 bits: after 32 halvings there is one

/** The fragments of one level of detail. */
export interface Lod {
  /** What it resolves, in units of the model, before the multiplier of the info; 0 where nothing is stored for it. */
  readonly scale: number;
  /** x, y, z that are added to its vertices. */
  readonly offset: readonly number[];
  /** The cells of its fragments: first all x, then all y, then all z. */
  readonly cells: Uint32Array;
  /** The bytes of each fragment; 0: no geometry. */
  readonly sizes: Uint32Array;
}

/** A mesh without its geometry. */
export interface Manifest {
  /** x, y, z of a cell of lod 0. */
  readonly chunkShape: readonly number[];
  readonly gridOrigin: readonly number[];
  /** From fine to coarse. */
  readonly lods: readonly Lod[];
}

/** From bytes, and to them. */
export const Manifest = {
  /** What bytes say; Corrupt where they are none, and `where` names them. */
  parse(bytes: Uint8Array, where: string): Manifest {
    const reader = new Reader(bytes, where);
    const floats = (count: number): number[] => Array.from({ length: count }, () => reader.f32());
    const [chunkShape, gridOrigin] = [floats(3), floats(3)];
    const levels = reader.count(reader.u32(), 20);
    const scales = floats(levels);
    const offsets = floats(3 * levels);
    const counts = Array.from({ length: levels }, () => reader.u32());
    const words = (count: number): Uint32Array => Uint32Array.from({ length: count }, () => reader.u32());
    const lods = counts.map((claimed, lod) => {
      const count = reader.count(claimed, 16);
      const offset = offsets.slice(3 * lod, 3 * lod + 3);
      return { scale: scales[lod]!, offset, cells: words(3 * count), sizes: words(count) };
    });
    reader.end();
    const manifest = { chunkShape, gridOrigin, lods };
    const wrong = problem(manifest);
    if (wrong !== undefined) throw new Corrupt(`${where} ${wrong}`, { where });
    return manifest;
  },

  /** As bytes; InvalidInput where it cannot be one. */
  encode(manifest: Manifest): Uint8Array<ArrayBuffer> {
    const wrong = problem(manifest);
    if (wrong !== undefined) throw new InvalidInput(`the manifest of a mesh ${wrong}`);
    const { chunkShape, gridOrigin, lods } = manifest;
    const count = lods.reduce((sum, { sizes }) => sum + sizes.length, 0);
    const out = new Uint8Array(28 + 20 * lods.length + 16 * count);
    const [floats, words] = [new Float32Array(out.buffer), new Uint32Array(out.buffer)];
    floats.set([...chunkShape, ...gridOrigin]);
    words[6] = lods.length;
    let at = 7 + 5 * lods.length;
    for (const [i, { scale, offset, cells, sizes }] of lods.entries()) {
      floats[7 + i] = scale;
      floats.set(offset, 7 + lods.length + 3 * i);
      words[7 + 4 * lods.length + i] = sizes.length;
      words.set(cells, at);
      words.set(sizes, at + cells.length);
      at += cells.length + sizes.length;
    }
    return out;
  },

  /** Where the fragments of a lod begin among those of all, how many bytes they have, and how many all have. */
  range({ lods }: Manifest, lod: number): { readonly offset: number; readonly length: number; readonly total: number } {
    const bytes = lods.map(({ sizes }) => sizes.reduce((sum, size) => sum + size, 0));
    const sum = (some: readonly number[]): number => some.reduce((a, b) => a + b, 0);
    return { offset: sum(bytes.slice(0, lod)), length: bytes[lod]!, total: sum(bytes) };
  },

  /** The lod that shows a level: the coarsest that is stored and not coarser, else the finest that is stored. */
  lodAt({ lods }: Manifest, level: number): number | undefined {
    let best: number | undefined;
    for (const [lod, { sizes }] of lods.entries())
      if (sizes.length > 0 && (lod <= level || best === undefined)) best = lod;
    return best;
  },

  /** The first fragment of a lod whose cell lies in none of the next coarser lod; undefined where all do. */
  orphan({ lods }: Manifest, lod: number): number | undefined {
    const next = lods.slice(lod + 1).findIndex(({ sizes }) => sizes.length > 0);
    if (next < 0) return undefined;
    const around = new Set(cellNames(lods[lod + 1 + next]!, 0));
    const first = cellNames(lods[lod]!, next + 1).findIndex((name) => !around.has(name));
    return first < 0 ? undefined : first;
  },

  /** The first fragment of a lod that does not follow the one before it on the z-curve; undefined where all do. */
  disorder({ cells, sizes }: Lod): number | undefined {
    for (let i = 1; i < sizes.length; i++) if (alongCurve(cells, sizes.length, i - 1, i) >= 0) return i;
    return undefined;
  },
};

/** The cells of so many lods further up in which those of a lod lie, as names. */
const cellNames = ({ cells, sizes }: Lod, up: number): string[] =>
  Array.from(sizes, (_, i) => [0, 1, 2].map((axis) => Math.floor(cells[axis * sizes.length + i]! / 2 ** up)).join(" "));

/** Which of two cells comes first: the highest bit in which they differ decides, and of equal bits that of z, then y, then x. */
function alongCurve(cells: Uint32Array, count: number, a: number, b: number): number {
  let [order, highest] = [0, 32];
  for (const axis of [2, 1, 0]) {
    const [left, right] = [cells[axis * count + a]!, cells[axis * count + b]!];
    const zeros = Math.clz32(left ^ right); // fewer: a higher bit
    if (zeros < highest) [order, highest] = [left - right, zeros];
  }
  return order;
}

function problem({ chunkShape, gridOrigin, lods }: Manifest): string | undefined {
  if (lods.length === 0 || lods.length > MOST_LODS)
    return `should have 1 to ${MOST_LODS} levels of detail, found ${lods.length}`;
  if (chunkShape.length !== 3 || !chunkShape.every((size) => Number.isFinite(size) && size >= 0))
    return `should have a chunk_shape of three finite numbers from 0 on, found [${chunkShape}]`;
  if (gridOrigin.length !== 3 || !gridOrigin.every(Number.isFinite))
    return `should have a grid_origin of three finite numbers, found [${gridOrigin}]`;
  for (const [lod, { scale, offset, cells, sizes }] of lods.entries()) {
    if (!Number.isFinite(scale) || scale < 0)
      return `should have finite lod_scales from 0 on, found ${scale} of lod ${lod}`;
    if (offset.length !== 3 || !offset.every(Number.isFinite))
      return `should have vertex_offsets of three finite numbers, found [${offset}] of lod ${lod}`;
    if (cells.length !== 3 * sizes.length)
      return `should have three numbers for each of ${sizes.length} cells of lod ${lod}, found ${cells.length}`;
  }
  return undefined;
}
