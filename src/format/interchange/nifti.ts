/**
 * NIfTI images, as far as streamlines need them: the grid of voxels and where it lies, and which voxels of a mask are not zero.
 *
 * | NIfTI-1       | NIfTI-2       | what                                                                                      |
 * |---------------|---------------|-------------------------------------------------------------------------------------------|
 * | 0, i32 = 348  | 0, i32 = 540  | length of the header, from which the byte order follows                                    |
 * | 344, "n+1\0"  | 4, "n+2\0"    | the data are in the same file                                                              |
 * | 40, i16 × 8   | 16, i64 × 8   | number of dimensions, then their sizes                                                     |
 * | 70, i16       | 12, i16       | type of a value                                                                            |
 * | 76, f32 × 8   | 104, f64 × 8  | −1 or 1 (third axis of the quaternion's turn), then sizes of a voxel                        |
 * | 108, f32      | 168, i64      | where the data begin                                                                       |
 * | 112, f32 × 2  | 176, f64 × 2  | slope and intercept: a value is slope × number + intercept; not where slope is 0            |
 * | 252, i16 × 2  | 344, i32 × 2  | whether the quaternion counts, and whether the affine does                                  |
 * | 256, f32 × 6  | 352, f64 × 6  | b, c, d of the quaternion, then the place of the first voxel                                |
 * | 280, f32 × 12 | 400, f64 × 12 | the affine, 3 rows of 4                                                                     |
 *
 * As nibabel chooses: the affine where it counts, else the quaternion, else voxels around the origin with the first axis to the left.
 * The first axis of the data is the fastest.
 */
import { swapUnit } from "../../bytes/dtype.js";
import { swapBytes } from "../../bytes/swap.js";
import { isBig, type NumericType, numericView } from "../../codec/numeric.js";
import { Corrupt, LimitExceeded, Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { ReadOptions } from "../../model/dataset.js";
import { exactly, type InputFile } from "./file.js";
import type { ImageSpace } from "./types.js";

export interface NiftiHeader extends ImageSpace {
  /** All dimensions, with those beyond the three of space. */
  readonly shape: readonly number[];
  readonly dtype: NumericType;
  readonly offset: number;
  readonly slope: number;
  readonly intercept: number;
}

const TYPES: { readonly [code: number]: readonly [NumericType["kind"], 1 | 2 | 4 | 8] } = {
  2: ["uint", 1],
  4: ["int", 2],
  8: ["int", 4],
  16: ["float", 4],
  64: ["float", 8],
  256: ["int", 1],
  512: ["uint", 2],
  768: ["uint", 4],
  1024: ["int", 8],
  1280: ["uint", 8],
};

export async function readNifti(input: InputFile, options: ReadOptions = {}): Promise<NiftiHeader> {
  const { where } = input;
  const bytes = await exactly(input, 0, 348, "its header", options);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (const little of [true, false]) {
    const length = view.getInt32(0, little);
    if (length === 348) return parse(fields(view, little, 1), where);
    if (length !== 540) continue;
    const all = await exactly(input, 0, 540, "its header", options);
    return parse(fields(new DataView(all.buffer, all.byteOffset, all.length), little, 2), where);
  }
  throw new Corrupt(`${where} is no NIfTI: its header should say that it has 348 or 540 bytes`, { where });
}

interface Fields {
  readonly endian: "little" | "big";
  readonly magic: string;
  readonly dim: readonly number[];
  readonly datatype: number;
  readonly pixdim: readonly number[];
  readonly offset: number;
  readonly scaling: readonly number[];
  readonly codes: readonly number[];
  readonly quaternion: readonly number[];
  readonly rows: readonly number[];
}

function fields(view: DataView, little: boolean, version: 1 | 2): Fields {
  const one = version === 1;
  const list = (at: number, count: number, size: number, get: (at: number) => number): number[] =>
    Array.from({ length: count }, (_, i) => get(at + i * size));
  const i16 = (at: number): number => view.getInt16(at, little);
  const i32 = (at: number): number => view.getInt32(at, little);
  const i64 = (at: number): number => Number(view.getBigInt64(at, little));
  const real = one ? (at: number) => view.getFloat32(at, little) : (at: number) => view.getFloat64(at, little);
  const reals = (at: number, count: number): number[] => list(at, count, one ? 4 : 8, real);
  return {
    endian: little ? "little" : "big",
    magic: String.fromCharCode(...list(one ? 344 : 4, 3, 1, (at) => view.getUint8(at))),
    dim: one ? list(40, 8, 2, i16) : list(16, 8, 8, i64),
    datatype: i16(one ? 70 : 12),
    pixdim: reals(one ? 76 : 104, 8),
    offset: one ? real(108) : i64(168),
    scaling: reals(one ? 112 : 176, 2),
    codes: one ? list(252, 2, 2, i16) : list(344, 2, 4, i32),
    quaternion: reals(one ? 256 : 352, 6),
    rows: reals(one ? 280 : 400, 12),
  };
}

function parse(found: Fields, where: string): NiftiHeader {
  const { magic, dim, datatype, endian, pixdim, codes, rows, offset, scaling } = found;
  if (magic === "ni1" || magic === "ni2")
    throw new Unsupported(`${where} is the header of a pair of files; one file with both is read (.nii)`, { where });
  if (magic !== "n+1" && magic !== "n+2")
    throw new Corrupt(`${where} has the magic ${JSON.stringify(magic)}, expected n+1 or n+2`, { where });
  const [rank = 0, ...sizes] = dim;
  const shape = sizes.slice(0, rank);
  if (rank < 1 || rank > 7 || !shape.every((size) => Number.isSafeInteger(size) && size > 0))
    throw new Corrupt(`${where} has the dimensions [${dim}], expected 1 to 7 sizes above 0`, { where });
  const [kind, size] = TYPES[datatype] ?? [];
  if (kind === undefined || size === undefined)
    throw new Unsupported(`${where} has values of type ${datatype}; integers and floats of up to 64 bits are read`, {
      where,
    });
  const dimensions = [shape[0]!, shape[1] ?? 1, shape[2] ?? 1];
  const zooms = [1, 2, 3].map((axis) => Math.abs(pixdim[axis]!));
  const affine =
    codes[1] !== 0 ? [...rows, 0, 0, 0, 1] : codes[0] !== 0 ? turned(found, zooms) : centred(dimensions, zooms);
  if (!affine.every(Number.isFinite)) throw new Corrupt(`${where} has the affine [${affine}]`, { where });
  if (!Number.isSafeInteger(offset) || offset < (magic === "n+1" ? 348 : 540))
    throw new Corrupt(`${where} has its data at byte ${offset}, which is within its header`, { where });
  const isScaled = Number.isFinite(scaling[0]!) && scaling[0] !== 0 && Number.isFinite(scaling[1]!);
  return {
    shape,
    dimensions,
    affine,
    dtype: { kind, size, endian } as NumericType,
    offset,
    slope: isScaled ? scaling[0]! : 1,
    intercept: isScaled ? scaling[1]! : 0,
  };
}

/** The affine of a quaternion, whose first number follows from the others. */
function turned({ quaternion, pixdim }: Fields, zooms: readonly number[]): number[] {
  const [b, c, d, x, y, z] = quaternion as [number, number, number, number, number, number];
  const a = Math.sqrt(Math.max(0, 1 - (b * b + c * c + d * d)));
  const s = 2 / (a * a + b * b + c * c + d * d);
  const [i, j, k] = [zooms[0]! * s, zooms[1]! * s, (pixdim[0]! < 0 ? -1 : 1) * zooms[2]! * s];
  return [
    ...[(1 / s - (c * c + d * d)) * i, (b * c - d * a) * j, (b * d + c * a) * k, x],
    ...[(b * c + d * a) * i, (1 / s - (b * b + d * d)) * j, (c * d - b * a) * k, y],
    ...[(b * d - c * a) * i, (c * d + b * a) * j, (1 / s - (b * b + c * c)) * k, z],
    ...[0, 0, 0, 1],
  ];
}

/** Where nothing is said: around the origin. */
function centred(dimensions: readonly number[], zooms: readonly number[]): number[] {
  const [x, y, z] = [-zooms[0]!, zooms[1]!, zooms[2]!];
  const shift = (axis: number, zoom: number): number => (-(dimensions[axis]! - 1) / 2) * zoom;
  return [x, 0, 0, shift(0, x), 0, y, 0, shift(1, y), 0, 0, z, shift(2, z), 0, 0, 0, 1];
}

/** An image of which only matters where it is not zero. */
export interface Mask extends ImageSpace {
  /** Blocks of 2^20 voxels, the first axis being the fastest: 1 where the value is neither 0 nor NaN. */
  readonly blocks: readonly Uint8Array[];
}

export const MASK_BITS = 20;

export async function readMask(input: InputFile, options: ReadOptions = {}): Promise<Mask> {
  const { where, size } = input;
  const header = await readNifti(input, options);
  const { shape, dimensions, affine, dtype, offset } = header;
  const voxels = dimensions.reduce((product, count) => product * count, 1);
  if (shape.slice(3).some((count) => count !== 1))
    throw new Unsupported(`${where} has ${shape.length} dimensions, [${shape}]; a mask has 3`, { where });
  const most = withLimits(options.limits).chunkBytes;
  if (voxels > most) throw new LimitExceeded(`${where} has ${voxels} voxels, at most ${most} are held`, { where });
  const end = offset + voxels * dtype.size;
  if (size !== undefined && size < end)
    throw new Corrupt(`${where} ends at byte ${size}, and its ${voxels} voxels need ${end}`, { where });
  const blocks: Uint8Array[] = [];
  for (let from = 0; from < voxels; from += 1 << MASK_BITS) {
    options.signal?.throwIfAborted();
    const count = Math.min(1 << MASK_BITS, voxels - from);
    blocks.push(
      nonZero(await exactly(input, offset + from * dtype.size, count * dtype.size, "its voxels", options), header),
    );
  }
  return { dimensions, affine, blocks };
}

function nonZero(bytes: Uint8Array, { dtype, slope, intercept }: NiftiHeader): Uint8Array {
  const native = dtype.endian === "big" ? swapBytes(bytes, swapUnit(dtype)) : bytes;
  const values = numericView(dtype, native);
  const out = new Uint8Array(values.length);
  const big = isBig(values);
  for (let i = 0; i < out.length; i++) {
    const value = slope * (big ? Number(values[i]) : (values[i] as number)) + intercept;
    if (value !== 0 && !Number.isNaN(value)) out[i] = 1;
  }
  return out;
}
