/**
 * FreeSurfer's surfaces of triangles (lh.pial, rh.white …), big-endian. Coordinates are those of the surface (tkRAS), as stored: the centre of the
 * volume (c_ras), by which they differ from the scanner's, is told and kept with the rest of the end of the file.
 *
 * | bytes  | what                                                                   |
 * |--------|------------------------------------------------------------------------|
 * | 3      | ff ff fe                                                               |
 * | …      | who made it, up to two newlines                                        |
 * | 4, 4   | i32 vertices, i32 faces                                                |
 * | 12 × v | 3 × f32                                                                |
 * | 12 × f | 3 × i32                                                                |
 * | …      | maybe numbers that say so, and lines such as `cras = 1.0 2.0 3.0`      |
 */
import { believed, Reader } from "../../bytes/reader.js";
import { swapBytes } from "../../bytes/swap.js";
import { encodeUtf8 } from "../../bytes/text.js";
import { bytesOf } from "../../codec/numeric.js";
import { Corrupt, Unsupported } from "../../errors.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { Sink } from "../../store/types.js";
import { decodeBase64, encodeBase64 } from "./base64.js";
import { bytesFile, exactly, type InputFile, sized, wholeOrPassing } from "./file.js";
import { inMillimetres } from "./millimetres.js";
import { spoolIn } from "./spool.js";
import { RAS_MM } from "./streamlines.js";
import { columns } from "./surface.js";
import { type BlockOptions, blocksContent, NO_LINKS, NO_VERTICES } from "./surface-blocks.js";
import type { SurfaceFile } from "./surface-passing.js";
import { asFloat32, batchesOf, lossesOf, tellBatch, tellOne } from "./surface-write.js";
import type { FileContent, FileData, FileFormat, FileReport, OpenFileOptions, WriteFileOptions } from "./types.js";

export const file: FileFormat = { units: "millimeter", open, write };

const LONGEST = 1 << 16; // bytes of who made it
const MOST = 1 << 20; // bytes of the end of a file that is too large to be held
const ROW = 12; // bytes of a vertex or a face

async function open(input: InputFile, options: OpenFileOptions): Promise<FileContent> {
  const bytes = await wholeOrPassing(input, options);
  const refusal = bytes instanceof Unsupported ? bytes : undefined;
  const source = bytes instanceof Unsupported ? await sized(input, options) : bytesFile(input, bytes);
  const { comment, end, ...places } = await readStart(source, options);
  if (refusal !== undefined && source.size - end > MOST) throw refusal; // its end is kept, whatever it is
  const footer = await source.read(end, source.size - end, options);
  const cras = /cras\s*=\s*(\S+)\s+(\S+)\s+(\S+)/.exec(new TextDecoder("latin1").decode(footer.subarray(0, LONGEST)));
  const known = {
    version: "FreeSurfer surface",
    geometry: "mesh" as const,
    axes: RAS_MM,
    header: { comment, footer: new TextDecoder().decode(encodeBase64(footer)) },
    attributes: cras === null ? {} : { c_ras: cras.slice(1, 4).map(Number) },
  };
  return blocksContent(known, refusal, (now) => surfaceFile(source, places, now), input, options);
}

interface Places {
  readonly vertices: number;
  readonly faces: number;
  /** Where the first vertex is. */
  readonly start: number;
}

/** Everything before the vertices, and where the faces end. */
async function readStart(source: InputFile & { readonly size: number }, options: ReadOptions) {
  const { where, size } = source;
  const bytes = await source.read(0, LONGEST + 16, options);
  const reader = new Reader(bytes, where, "big");
  const magic = (reader.u16() << 8) | reader.u8();
  if (magic !== 0xfffffe)
    throw new (magic === 0xffffff ? Unsupported : Corrupt)(
      `${where} should begin with ff ff fe, the mark of FreeSurfer's triangles, found ${magic.toString(16)}`,
      { where },
    );
  const newlines = bytes.subarray(0, LONGEST).findIndex((byte, i) => byte === 10 && bytes[i + 1] === 10);
  if (newlines < 0) throw new Corrupt(`${where} has no two newlines after its first words`, { where });
  const comment = new TextDecoder().decode(reader.bytes(newlines - reader.offset));
  reader.skip(2);
  const claimed = [reader.i32(), reader.i32()];
  const start = reader.offset;
  const vertices = believed(claimed[0]!, ROW, where, start, size - start);
  const after = start + ROW * vertices;
  const faces = believed(claimed[1]!, ROW, where, after, size - after);
  return { comment, vertices, faces, start, end: after + ROW * faces };
}

function surfaceFile(source: InputFile, { vertices, faces, start }: Places, options: BlockOptions): SurfaceFile {
  async function* rows(from: number, count: number) {
    for (let row = 0; row < count; row += options.rows) {
      const at = from + ROW * row;
      const bytes = await exactly(source, at, ROW * Math.min(options.rows, count - row), "the rows", options);
      yield { numbers: swapBytes(bytes, 4).buffer, place: (_: unknown, i: number) => `byte ${at + ROW * i}` };
    }
  }
  return {
    where: source.where,
    geometry: "mesh",
    async *blocks(what) {
      if (what !== "links")
        for await (const { numbers, place } of rows(start, vertices))
          yield { ...NO_LINKS, positions: new Float32Array(numbers), vertexColumns: columns(), place };
      if (what !== "vertices")
        for await (const { numbers, place } of rows(start + ROW * vertices, faces))
          yield { ...NO_VERTICES, links: new Uint32Array(numbers), linkColumns: columns(), place };
    },
    told: () => ({}),
  };
}

async function write(sink: Sink, data: FileData, options: WriteFileOptions): Promise<FileReport> {
  const losses = lossesOf(data, "a surface of FreeSurfer", ["mesh"]);
  const left = [...data.schema.vertex.map(({ name }) => name), ...data.schema.link.map(({ name }) => `link.${name}`)];
  if (left.length > 0) losses.add(`a surface of FreeSurfer has no attributes: ${left.join(", ")} are left out`);
  const batches = await batchesOf(data, options);
  tellOne(batches, "a surface of FreeSurfer", losses);
  const [points, faces] = [spoolIn(options.scratch), spoolIn(options.scratch)];
  let [vertices, links, objects] = [0, 0, 0];
  for await (const { batch, first } of batches) {
    tellBatch(batch, losses);
    const positions = inMillimetres(batch.positions, data.axes);
    await points.write(swapBytes(bytesOf(asFloat32(positions, "a surface of FreeSurfer", losses)), 4));
    const ends = batch.links?.ends ?? new Uint32Array();
    await faces.write(swapBytes(bytesOf(Int32Array.from(ends, (end) => end + first)), 4));
    vertices += batch.positions.length / 3;
    links += ends.length / 3;
    objects += batch.repeats ? 0 : batch.ids.length;
  }
  const header = data.headers.get("freesurfer");
  const comment =
    typeof header?.comment === "string" && !header.comment.includes("\n\n") ? header.comment : "created by octavo";
  await sink.write(Uint8Array.of(255, 255, 254));
  await sink.write(encodeUtf8(`${comment}\n\n`, "who made the surface"));
  await sink.write(swapBytes(bytesOf(Int32Array.of(vertices, links)), 4));
  await points.pour(sink);
  await faces.pour(sink);
  if (typeof header?.footer === "string")
    await sink.write(decodeBase64(encodeUtf8(header.footer, "the footer"), "the footer").bytes);
  return { vertices, objects, losses: [...losses] };
}
