/**
 * LAZ: chunks of compressed points, each a piece, decoded by laz-perf (WASM). Chunks are found by the table of chunks; those of COPC, which is
 * LAZ with an octree beside, by that: copc.ts.
 *
 * | record "laszip encoded" 22204 | u16 compressor (2 points, 3 layers), u16 coder, u8 u8 u16 version, u32 options, u32 points of a chunk (2^32 − 1: they differ), 16 bytes, u16 items, items: u16 type, size, version |
 * |-------------------------------|------------------------------------------------------------------------------------------------------------------------|
 *
 * The library knows no end of its input, and believes the lengths of layers. So these are checked here, zeros follow what it reads, and after it
 * has failed in any way a new one is made. LAZ has no checksums: damage within a chunk may be points.
 */
import { Reader } from "../../bytes/reader.js";
import { Corrupt, LimitExceeded, Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { ReadOptions } from "../../model/dataset.js";
import { exactly, type InputFile } from "./file.js";
import type { PointPieces } from "./las.js";
import { FORMATS } from "./las-fields.js";
import { type LasHeader, recordOf } from "./las-header.js";
import { type LazLibrary, loadLaz } from "./laz-library.js";
import { parseChunkTable } from "./laz-table.js";

const VARIABLE = 0xffff_ffff;
const KNOWN = [0, 1, 2, 3, 6, 7, 8];
const MOST = 1 << 28; // bytes of the points of a chunk; usual are 2 MB

export async function lazPieces(input: InputFile, header: LasHeader, options: ReadOptions): Promise<PointPieces> {
  const { where, size = 0 } = input;
  const { points, pointsAt } = header;
  const { chunkPoints } = describe(header, where);
  const readChunk = chunkReader(input, header, options);
  const start = pointsAt + 8;
  const place = new Reader(await exactly(input, pointsAt, 8, "the place of its table of chunks", options), where).i64();
  const table =
    place === -1n
      ? new Reader(await exactly(input, size - 8, 8, "the place of its table of chunks", options), where).i64()
      : place;
  if (table < BigInt(start) || table > BigInt(size - 8))
    throw new Corrupt(`${where} should have its table of chunks behind its points, found ${table}`, { where });
  const end = Number(table);
  const limits = withLimits(options.limits);
  const bytes = await input.read(end, Math.min(limits.metadataBytes, size - end), options);
  const { lengths, counts: said } = parseChunkTable(bytes, chunkPoints === VARIABLE, end - start, where);
  const counts = Uint32Array.from(lengths, (_, i) => said?.[i] ?? Math.min(chunkPoints, points - i * chunkPoints));
  const starts = new Float64Array(lengths.length + 1).fill(start);
  let total = 0;
  for (const [i, length] of lengths.entries()) {
    starts[i + 1] = starts[i]! + length;
    total += counts[i]!;
  }
  if (starts.at(-1)! > end || total !== points)
    throw new Corrupt(
      `${where} has ${points} points up to byte ${end}, but its chunks have ${total} up to byte ${starts.at(-1)}`,
      { where },
    );
  return {
    counts,
    bytes: Float64Array.from(lengths),
    read: (piece, now) =>
      readChunk({ offset: starts[piece]!, length: lengths[piece]!, points: counts[piece]! }, `chunk ${piece}`, now),
  };
}

/** Where a chunk is, and how many points it has. */
interface Chunk {
  readonly offset: number;
  readonly length: number;
  readonly points: number;
}

/** How to read a chunk, as bytes of points. */
export function chunkReader(input: InputFile, header: LasHeader, { limits }: ReadOptions) {
  const { where, size } = input;
  const { pointBytes, format } = header;
  const { layered } = describe(header, where);
  if (size === undefined)
    throw new Unsupported(`${where} is packed once more: LAZ is read by its chunks`, {
      where,
      hint: "Unpack it first.",
    });
  if (!KNOWN.includes(format))
    throw new Unsupported(`${where} has compressed points of format ${format}, which laz-perf does not know`, {
      where,
    });
  const most = Math.min(withLimits(limits).chunkBytes, MOST);
  return async ({ offset, length, points }: Chunk, name: string, options: ReadOptions): Promise<Uint8Array> => {
    if (points * pointBytes > most || length > most)
      throw new LimitExceeded(
        `${where} has a chunk of ${points} points in ${length} bytes, at most ${most} are decoded`,
        { where },
      );
    const packed = await exactly(input, offset, length, name, options);
    if (packed.length < pointBytes)
      throw new Corrupt(`${where} has a chunk of ${packed.length} bytes, less than a point`, { where });
    if (layered) checkLayers(packed, header, points, `${where}, ${name}`);
    return decode(await loadLaz(), packed, header, points, `${where}, ${name}`);
  };
}

function describe(header: LasHeader, where: string): { chunkPoints: number; layered: boolean } {
  const record = recordOf(header, "laszip encoded", 22204);
  if (record === undefined) throw new Corrupt(`${where} is compressed, and does not say how`, { where });
  const reader = new Reader(record.data, `${where}, its record of LASzip`);
  const compressor = reader.u16();
  reader.skip(10);
  const chunkPoints = reader.u32();
  if ((compressor !== 2 && compressor !== 3) || chunkPoints === 0)
    throw new Unsupported(`${where} is compressed by way ${compressor} of LASzip, expected chunks (2 or 3)`, { where });
  if ((compressor === 3) !== header.format > 5)
    throw new Corrupt(`${where} has points of format ${header.format}, compressed as others are`, { where });
  return { chunkPoints, layered: compressor === 3 };
}

/** After the first point of a layered chunk: how many points, then the bytes of every layer; nine, one or two of colours, one of each extra byte. */
function checkLayers(packed: Uint8Array, { format, pointBytes }: LasHeader, count: number, where: string): void {
  const reader = new Reader(packed, where);
  reader.skip(pointBytes);
  const found = reader.u32();
  const layers = 9 + (format === 7 ? 1 : format === 8 ? 2 : 0) + pointBytes - FORMATS[format]!.bytes;
  let sum = 0;
  for (let i = 0; i < layers; i++) sum += reader.u32();
  if (found !== count || sum > reader.remaining)
    throw new Corrupt(
      `${where}: layers of ${found} points in ${sum} bytes, where ${count} and at most ${reader.remaining} were expected`,
      { where },
    );
}

function decode(
  { module, forget }: LazLibrary,
  packed: Uint8Array,
  { format, pointBytes }: LasHeader,
  count: number,
  where: string,
): Uint8Array {
  const PADDING = 1024; // zeros that the decoder may run into
  try {
    const source = module._malloc(packed.length + PADDING);
    const target = module._malloc(count * pointBytes);
    if (source === 0 || target === 0) throw new RangeError("no memory");
    module.HEAPU8.set(packed, source);
    module.HEAPU8.fill(0, source + packed.length, source + packed.length + PADDING);
    const decoder = new module.ChunkDecoder();
    decoder.open(format, pointBytes, source);
    for (let i = 0, at = target; i < count; i++, at += pointBytes) decoder.getPoint(at);
    const points = module.HEAPU8.slice(target, target + count * pointBytes);
    decoder.delete();
    module._free(target);
    module._free(source);
    return points;
  } catch (cause) {
    forget();
    throw new Corrupt(
      `${where}: laz-perf cannot decode it (${cause instanceof Error ? cause.message : String(cause)})`,
      { where, cause },
    );
  }
}
