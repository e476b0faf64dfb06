/**
 * TRK, the streamlines of TrackVis: a header of 1000 bytes (trk-header.ts), then one streamline after the other. All numbers are of 4 bytes.
 *
 * | bytes            | what                                                                                               |
 * |------------------|----------------------------------------------------------------------------------------------------|
 * | i32              | n, the number of vertices                                                                           |
 * | n × (3 + s) f32  | of each vertex x, y, z (trk-space.ts has the way to RAS+), then s scalars                             |
 * | p f32            | the properties                                                                                      |
 */
import { concat } from "../../bytes/concat.js";
import { room } from "../../bytes/room.js";
import { swapBytes } from "../../bytes/swap.js";
import { Corrupt, LimitExceeded } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { AttributeInfo } from "../../model/attributes.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { Piece } from "../rows/row-source.js";
import { exactly, type InputFile } from "./file.js";
import type { VertexAt } from "./finite.js";
import { columnsOf, STREAMLINES, Stretches, schemaOf } from "./streamlines.js";
import { parseTrkHeader, TRK_BYTES, type TrkHeader } from "./trk-header.js";
import { runsOf } from "./trk-sample.js";
import { forward } from "./trk-space.js";
import { writeTrk } from "./trk-write.js";
import type { FileContent, FileFormat, FileSample, OpenFileOptions, PieceIndex, SampleSize } from "./types.js";

export const file: FileFormat = { holdsEmpty: true, units: "millimeter", open: openTrk, write: writeTrk };

async function openTrk(input: InputFile, options: OpenFileOptions): Promise<FileContent> {
  const { where } = input;
  const header = parseTrkHeader(await exactly(input, 0, TRK_BYTES, "its header", options), where);
  return {
    ...STREAMLINES,
    version: `TRK ${header.version}${header.endian === "big" ? ", big-endian" : ""}`,
    header: header.json,
    notes: header.notes,
    objects: header.count > 0 ? header.count : undefined,
    index: (now) => indexTrk(input, header, options, now),
    sample: input.size === undefined ? undefined : (wanted, now) => sampleTrk(input, header, wanted, now),
  };
}

async function sampleTrk(
  input: InputFile,
  header: TrkHeader,
  wanted: SampleSize,
  options: ReadOptions,
): Promise<FileSample> {
  const pieces: Piece[] = [];
  for await (const { words, vertices, objects } of runsOf(input, header, wanted, options))
    pieces.push(decode(words, header, vertices, objects, input.where));
  return { schema: schemaOf(header.scalars, header.properties), pieces };
}

const BLOCK = 4 << 20; // bytes that are looked at together

async function indexTrk(
  input: InputFile,
  header: TrkHeader,
  { onBad }: OpenFileOptions,
  options: ReadOptions,
): Promise<PieceIndex> {
  const { where } = input;
  const { scalars, properties, endian, count } = header;
  const stretches = new Stretches(TRK_BYTES);
  const damage = await walk(input, header, stretches, options);
  if (damage !== undefined) {
    if (onBad === undefined) throw damage;
    onBad(damage);
  }
  const found = stretches.done();
  const notes: string[] = [];
  if (count !== 0 && count !== stretches.objects)
    notes.push(`${where} has ${stretches.objects} streamlines, and its header says ${count}`);
  const load = async (piece: number, now: ReadOptions): Promise<Piece> => {
    const raw = await exactly(input, stretches.offsets[piece]!, found.bytes[piece]!, "its streamlines", now);
    const { starts } = found.objects!;
    const words = endian === "big" ? swapBytes(raw, 4) : raw.byteOffset % 4 === 0 ? raw : new Uint8Array(raw);
    return decode(words, header, found.vertices[piece]!, starts[piece + 1]! - starts[piece]!, where);
  };
  const place = ({ piece, vertex, part }: VertexAt) => {
    const before = part + 1 + part * header.perObject + vertex * (3 + header.perVertex);
    return { place: `byte ${stretches.offsets[piece]! + 4 * before}` };
  };
  return { ...found, schema: schemaOf(scalars, properties), notes, place, load };
}

/** From streamline to streamline; what is wrong with the first one that is not whole. */
async function walk(
  input: InputFile,
  { perVertex, perObject, endian }: TrkHeader,
  stretches: Stretches,
  options: ReadOptions,
): Promise<Corrupt | undefined> {
  const { where, size = Number.POSITIVE_INFINITY } = input;
  const most = withLimits(options.limits).chunkBytes;
  let [block, from]: [Uint8Array, number] = [new Uint8Array(), TRK_BYTES]; // the bytes at hand, and where they begin in the file
  let view = new DataView(block.buffer);

  /** Reads on, until the bytes before `end` have been there; those from `keep` on are at hand then. False where the file ends. */
  async function reach(keep: number, end: number): Promise<boolean> {
    while (from + block.length < end) {
      options.signal?.throwIfAborted();
      const next = await input.read(from + block.length, BLOCK, options);
      if (next.length === 0) return false;
      const rest = block.subarray(Math.min(block.length, keep - from));
      from += block.length - rest.length;
      block = rest.length === 0 ? next : concat([rest, next]);
      view = new DataView(block.buffer, block.byteOffset, block.byteLength);
    }
    return true;
  }

  const hint = "Leave out what is damaged (--skip-bad) to read those before.";
  for (let at = TRK_BYTES; ; ) {
    const number = stretches.objects;
    if (at + 4 > from + block.length && !(await reach(at, at + 4))) {
      const end = from + block.length;
      return end === at
        ? undefined
        : new Corrupt(`${where} ends at byte ${end}, within streamline ${number}`, { where, hint });
    }
    const count = view.getInt32(at - from, endian === "little");
    if (count < 0)
      return new Corrupt(`${where}: streamline ${number} at byte ${at} claims ${count} vertices`, { where, hint });
    const next = at + 4 + 4 * (count * (3 + perVertex) + perObject);
    if (next > size || (next > from + block.length && next - at <= most && !(await reach(next, next))))
      return new Corrupt(`${where} ends before byte ${next}, within streamline ${number} of ${count} vertices`, {
        where,
        hint,
      });
    if (next - at > most)
      throw new LimitExceeded(`${where}: streamline ${number} has ${next - at} bytes, at most ${most} are read`, {
        where,
      });
    stretches.add(count, next);
    at = next;
  }
}

/** The streamlines of a piece; `bytes` are aligned, and in the order of this machine. */
function decode(bytes: Uint8Array, header: TrkHeader, vertices: number, objects: number, where: string): Piece {
  const { perVertex, perObject, toRas, scalars, properties } = header;
  const counts = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const values = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const stride = 3 + perVertex;
  const parts = new Uint32Array(objects + 1);
  const positions = room(Float32Array, 3 * vertices);
  const perVertexValues = roomFor(scalars, vertices);
  const perObjectValues = roomFor(properties, objects);
  for (let object = 0, at = 0; object < objects; object++) {
    const first = parts[object]!;
    const count = counts[at++]!;
    if (count < 0 || first + count > vertices || at + count * stride + perObject > values.length)
      throw new Corrupt(`${where} has changed while it was read`, { where });
    forward(toRas, values, at, stride, count, positions, 3 * first);
    scatter(values, at + 3, stride, count, scalars, perVertexValues, first);
    at += count * stride;
    scatter(values, at, perObject, 1, properties, perObjectValues, object);
    at += perObject;
    parts[object + 1] = first + count;
  }
  return {
    positions,
    parts,
    vertexColumns: columnsOf(scalars, perVertexValues),
    objectColumns: columnsOf(properties, perObjectValues),
  };
}

const roomFor = (infos: readonly AttributeInfo[], rows: number): Float32Array[] =>
  infos.map(({ channels }) => room(Float32Array, rows * channels));

/** Numbers that lie together row by row, each to its attribute. */
function scatter(
  values: Float32Array,
  at: number,
  stride: number,
  rows: number,
  infos: readonly AttributeInfo[],
  out: readonly Float32Array[],
  first: number,
): void {
  for (let k = 0, offset = at; k < infos.length; k++) {
    const { channels } = infos[k]!;
    const column = out[k]!;
    for (let row = 0, to = first * channels; row < rows; row++)
      for (let c = 0; c < channels; c++) column[to++] = values[offset + row * stride + c]!;
    offset += channels;
  }
}
