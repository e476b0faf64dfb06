/**
 * TCK, the tracks of MRtrix: streamlines in millimetres (RAS+), and nothing else.
 *
 * | part      | what                                                                                                       |
 * |-----------|------------------------------------------------------------------------------------------------------------|
 * | lines     | "mrtrix tracks", then `key: value` lines, then "END"; keys may come more than once                          |
 * | count     | how many streamlines, which nobody has to believe                                                           |
 * | datatype  | Float32LE, Float32BE, Float64LE or Float64BE                                                                 |
 * | file      | ". OFFSET": where the triplets begin; zeros may be before                                                    |
 * | triplets  | x y z of each vertex; NaN NaN NaN ends a streamline, Inf Inf Inf the file                                    |
 *
 * A file without its end mark was cut off. A streamline may have no vertices: MRtrix counts it, nibabel passes over it, here it is an
 * object like any other.
 */
import { room } from "../../bytes/room.js";
import { swapBytes } from "../../bytes/swap.js";
import { decodeUtf8 } from "../../bytes/text.js";
import { numericView } from "../../codec/numeric.js";
import { Corrupt, LimitExceeded, Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { Positions } from "../../model/vectors.js";
import type { Piece } from "../rows/row-source.js";
import { exactly, type InputFile } from "./file.js";
import type { VertexAt } from "./finite.js";
import { STREAMLINES, Stretches, schemaOf } from "./streamlines.js";
import { fieldOf, MAGIC, writeTck } from "./tck-write.js";
import type { FileContent, FileFormat, FileSample, OpenFileOptions, PieceIndex, SampleSize } from "./types.js";

export const file: FileFormat = { holdsEmpty: true, units: "millimeter", open: openTck, write: writeTck };

export interface TckType {
  readonly size: 4 | 8;
  readonly endian: "little" | "big";
}

export interface TckHeader {
  /** What is between the first line and END, as it is. */
  readonly lines: readonly string[];
  readonly type: TckType;
  readonly offset: number;
  readonly count: number | undefined;
  readonly notes: readonly string[];
}

async function openTck(input: InputFile, options: OpenFileOptions): Promise<FileContent> {
  const header = await readHeader(input, MAGIC, options);
  const { lines, type, count, notes } = header;
  return {
    ...STREAMLINES,
    version: `TCK of float${8 * type.size}, ${type.endian}-endian`,
    header: { lines },
    attributes: {},
    notes,
    objects: count,
    index: (now) => indexTck(input, header, options, now),
    sample: input.size === undefined ? undefined : (wanted, now) => sampleTck(input, header, wanted, now),
  };
}

const HEAD = 1 << 14; // bytes in which most headers end

/** The header of a TCK, or of a file like it that begins with other words. */
export async function readHeader(input: InputFile, magic: string, options: ReadOptions): Promise<TckHeader> {
  const { where } = input;
  const most = withLimits(options.limits).metadataBytes;
  for (let length = HEAD; ; length *= 4) {
    const bytes = await input.read(0, Math.min(length, most), options);
    if (String.fromCharCode(...bytes.subarray(0, magic.length)) !== magic)
      throw new Corrupt(`${where} does not begin with "${magic}"`, { where });
    const end = endOf(bytes);
    if (end !== undefined) return parseHeader(decodeUtf8(bytes.subarray(0, end), `the header of ${where}`), end, where);
    if (bytes.length < Math.min(length, most)) throw new Corrupt(`the header of ${where} has no END`, { where });
    if (length >= most) throw new LimitExceeded(`the header of ${where} has no END in its first ${most} bytes`);
  }
}

/** The byte after the line END. */
function endOf(bytes: Uint8Array): number | undefined {
  for (let at = bytes.indexOf(10); at >= 0; ) {
    const next = bytes.indexOf(10, at + 1);
    const line = bytes.subarray(at + 1, next < 0 ? bytes.length : next);
    if (next >= 0 && line.length < 16 && String.fromCharCode(...line).trim() === "END") return next + 1;
    at = next;
  }
  return undefined;
}

function parseHeader(text: string, end: number, where: string): TckHeader {
  const lines = text.split("\n").slice(1, -2);
  const notes: string[] = [];
  const said = (key: string): string | undefined => lines.map(fieldOf).find((field) => field.key === key)?.value;
  const datatype = said("datatype");
  if (datatype === undefined) notes.push("its header does not say which type it has; Float32LE is taken for granted");
  const [, bits, order] = /^Float(32|64)(LE|BE)?$/.exec(datatype ?? "Float32LE") ?? [];
  if (bits === undefined)
    throw new Unsupported(`${where} has the datatype ${datatype}, expected Float32 or Float64, LE or BE`, { where });
  const place = said("file");
  if (place === undefined) notes.push("its header does not say where the data begin; they follow it");
  const [, name, at] = /^(\S+)\s+(\d+)$/.exec(place ?? `. ${end}`) ?? [];
  if (name !== "." || !(Number(at) >= end && Number.isSafeInteger(Number(at))))
    throw new Corrupt(`${where} has its data at "${place}", expected ". N" with N of at least ${end}`, { where });
  const count = said("count");
  return {
    lines,
    type: { size: bits === "32" ? 4 : 8, endian: order === "BE" ? "big" : "little" },
    offset: Number(at),
    count: count !== undefined && /^\d{1,15}$/.test(count) ? Number(count) : undefined,
    notes,
  };
}

const ROWS = 1 << 18; // triplets that are looked at together

async function indexTck(
  input: InputFile,
  header: TckHeader,
  { onBad }: OpenFileOptions,
  options: ReadOptions,
): Promise<PieceIndex> {
  const { where } = input;
  const { type, offset, count } = header;
  const row = 3 * type.size;
  const most = withLimits(options.limits).chunkBytes;
  const stretches = new Stretches(offset);
  const notes: string[] = [];
  let [at, start, end] = [offset, offset, -1]; // start: of the streamline under way; end: the end mark, once it is found
  const mark = (i: number, isEnd: boolean): void => {
    const here = at + i * type.size;
    if (isEnd) end = here;
    else {
      stretches.add((here - start) / row, here + row);
      start = here + row;
    }
  };
  for (let more = true; more && end < 0; ) {
    options.signal?.throwIfAborted();
    const bytes = await input.read(at, ROWS * row, options);
    scan(floatsOf(bytes, type), mark);
    at += bytes.length;
    more = bytes.length === ROWS * row;
    if (at - start > most)
      throw new LimitExceeded(`${where}: streamline ${stretches.objects} has more than ${most} bytes`, { where });
  }
  if (end !== start) {
    const damage = cutOff(where, end < 0 ? at : end, end < 0, stretches.objects);
    if (onBad === undefined) throw damage;
    onBad(damage);
  }
  const found = stretches.done();
  if (end >= 0 && at > end + row) notes.push(`${where} has bytes after its end mark, which nobody reads`);
  if (count !== undefined && count !== stretches.objects)
    notes.push(`${where} has ${stretches.objects} streamlines, and its header says ${count}`);
  const load = async (piece: number, now: ReadOptions) => {
    const length = found.bytes[piece]!;
    const raw = await exactly(input, stretches.offsets[piece]!, length, "its streamlines", now);
    const { starts } = found.objects!;
    return split(floatsOf(raw, type), found.vertices[piece]!, starts[piece + 1]! - starts[piece]!, where);
  };
  const place = ({ piece, vertex, part, axis }: VertexAt) => ({
    place: `byte ${stretches.offsets[piece]! + (vertex + part) * row + axis * type.size}`,
  });
  return { ...found, schema: schemaOf(), notes, place, load };
}

const SAMPLED = 1 << 17; // bytes that are read at a place

/** The streamlines that begin after the first mark behind each place: marks are exact, so these are whole. */
async function sampleTck(
  input: InputFile,
  { type, offset }: TckHeader,
  { places, vertices: most }: SampleSize,
  options: ReadOptions,
): Promise<FileSample> {
  const row = 3 * type.size;
  const rows = Math.floor((input.size! - offset) / row);
  const length = Math.ceil(SAMPLED / row) * row;
  const pieces: Piece[] = [];
  for (let place = 0; place < places; place++) {
    options.signal?.throwIfAborted();
    const first = Math.floor((place * rows) / places);
    const until = Math.floor(((place + 1) * rows) / places); // what begins behind it is of the next place
    const values = floatsOf(await input.read(offset + first * row, length, options), type);
    const marks: number[] = first === 0 ? [-3] : [];
    scan(values, (i, isEnd) => void (isEnd || marks.push(i)));
    const begin = marks[0] ?? 0;
    let objects = 0;
    const here = (): number => (marks[objects]! - begin) / 3 - objects; // vertices so far
    while (objects + 1 < marks.length && here() < most && first + marks[objects]! / 3 + 1 < until) objects++;
    if (objects > 0) pieces.push(split(values.subarray(begin + 3, marks[objects]! + 3), here(), objects, input.where));
  }
  return { schema: schemaOf(), pieces };
}

function cutOff(where: string, end: number, isEndMissing: boolean, whole: number): Corrupt {
  const what = isEndMissing ? "without its end mark" : "within a streamline";
  const hint = "Leave out what is damaged (--skip-bad) to read these.";
  return new Corrupt(`${where} ends at byte ${end} ${what}, after ${whole} whole streamlines`, { where, hint });
}

export function floatsOf(bytes: Uint8Array, { size, endian }: TckType): Positions {
  const native = endian === "big" ? swapBytes(bytes, size) : bytes;
  return numericView({ kind: "float", size, endian: "little" }, native) as Positions;
}

const isNaN3 = (v: Positions, i: number): boolean =>
  Number.isNaN(v[i]!) && Number.isNaN(v[i + 1]!) && Number.isNaN(v[i + 2]!);

const isInf3 = (v: Positions, i: number): boolean =>
  isInfinite(v[i]!) && isInfinite(v[i + 1]!) && isInfinite(v[i + 2]!);
const isInfinite = (value: number): boolean => Math.abs(value) === Number.POSITIVE_INFINITY;

/** Calls `mark` for every triplet that ends a streamline, or the file, after which nothing is looked at. */
function scan(values: Positions, mark: (i: number, isEnd: boolean) => void): void {
  const end = values.length - (values.length % 3);
  for (let i = 0; i < end; i += 3) {
    const x = values[i]!;
    if (x - x === 0) continue; // a number: no mark
    if (isNaN3(values, i)) mark(i, false);
    else if (isInf3(values, i)) {
      mark(i, true);
      return;
    }
  }
}

/** The streamlines of a piece, without the marks between them. */
function split(values: Positions, vertices: number, objects: number, where: string): Piece {
  const positions =
    values instanceof Float32Array ? room(Float32Array, 3 * vertices) : room(Float64Array, 3 * vertices);
  const parts = new Uint32Array(objects + 1);
  let [at, part] = [0, 0];
  for (let i = 0; i + 2 < values.length; i += 3) {
    const x = values[i]!;
    if (x - x !== 0 && isNaN3(values, i)) parts[++part] = at / 3;
    else {
      positions[at] = x;
      positions[at + 1] = values[i + 1]!;
      positions[at + 2] = values[i + 2]!;
      at += 3;
    }
  }
  if (at !== positions.length || part !== objects)
    throw new Corrupt(`${where} has changed while it was read`, { where });
  return { positions, parts, vertexColumns: new Map(), objectColumns: new Map() };
}
