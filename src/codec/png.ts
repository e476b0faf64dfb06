/**
 * png: a chunk of one to four channels of uint8 or uint16 as an image without loss; codec/image.ts says which pixel is which
 * voxel. Samples of 16 bits are big-endian. Numbers are big-endian.
 *
 * | bytes | what                                                                                                     |
 * |-------|----------------------------------------------------------------------------------------------------------|
 * | 8     | 89 "PNG" 0d 0a 1a 0a                                                                                     |
 * | 12 + n| pieces: u32 n, four letters, n bytes, u32 crc32 of letters and bytes                                      |
 * |       | IHDR: u32 width, u32 height, u8 depth, u8 colour (0 grey, 2 RGB, 4 grey and alpha, 6 RGBA), 3 zeros       |
 * |       | IDAT: together one zlib stream, the rows of png-filter.ts · IEND: nothing · small first letter: skipped   |
 */
import { concat } from "../bytes/concat.js";
import { Reader } from "../bytes/reader.js";
import { swapBytes } from "../bytes/swap.js";
import { Corrupt, Unsupported } from "../errors.js";
import type { Limits } from "../limits.js";
import { type Deflate, loadDeflate } from "./deflate.js";
import { checkImage, type ImageSpec, imageOf, interleaved, planar } from "./image.js";
import { integerOption } from "./options.js";
import { filter, unfilter } from "./png-filter.js";
import type { ChunkSpec, CodecEntry } from "./types.js";
import { zlibWith } from "./zlib.js";

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
/** The number of the colour by that of the channels. */
const COLOURS = [undefined, 0, 4, 2, 6];

export const pngCodec: CodecEntry = {
  name: "precomputed.png",
  async load(configuration) {
    const level = integerOption(configuration, "png", "level", [0, 9], 6);
    const engine = await loadDeflate();
    return {
      kind: "array-bytes",
      decode: (bytes, spec, limits) => decodePng(bytes, spec, limits, engine),
      encode: (data, spec) => encodePng(data as Uint8Array, spec, level, engine),
    };
  },
};

const specOf = (spec: ChunkSpec) => imageOf("png", spec, [1, 2, 3, 4], [1, 2]);

export function decodePng(bytes: Uint8Array, chunk: ChunkSpec, limits: Limits, engine: Deflate): Uint8Array {
  const spec = specOf(chunk);
  const reader = new Reader(bytes, "png data", "big");
  const signature = reader.bytes(8);
  if (!SIGNATURE.every((byte, i) => byte === signature[i]))
    throw new Corrupt(`png data should start with its signature, found ${[...signature].join(" ")}`);
  const parts: Uint8Array[] = [];
  let width = 0;
  let name = "";
  for (let first = true; name !== "IEND"; first = false) {
    const at = reader.offset;
    const length = reader.u32();
    const covered = reader.bytes(length + 4);
    name = String.fromCharCode(...covered.subarray(0, 4));
    const [crc, found] = [reader.u32(), engine.crc32(covered)];
    if (crc !== found) throw new Corrupt(`the png piece at byte ${at} should have crc32 ${crc}, found ${found}`);
    if (first !== (name === "IHDR"))
      throw new Corrupt(`png data should have one IHDR, its first piece, found ${JSON.stringify(name)} at byte ${at}`);
    const content = covered.subarray(4);
    if (name === "IHDR") width = checkHeader(content, spec);
    else if (name === "IDAT") parts.push(content);
    else if (name !== "IEND" && name !== "PLTE" && (covered[0]! & 32) === 0)
      throw new Unsupported(`the png piece ${JSON.stringify(name)} at byte ${at} is not known`);
  }
  reader.end();
  const [height, step] = [spec.voxels / width, spec.channels * spec.size];
  const rows = zlibWith(engine).decompress(concat(parts), height * (1 + width * step), limits);
  const samples = unfilter(rows, height, width * step, step);
  return planar(spec.size === 2 ? swapBytes(samples, 2) : samples, spec);
}

/** The width, once it is clear that all of it is as the chunk needs it. */
function checkHeader(header: Uint8Array, spec: ImageSpec): number {
  const reader = new Reader(header, "the header of png data", "big");
  const [width, height] = [reader.u32(), reader.u32()];
  const [depth, colour, compression, filters, interlace] = reader.bytes(5);
  reader.end();
  if (compression !== 0 || filters !== 0 || interlace! > 1)
    throw new Corrupt(
      `png data should have compression 0 and filters 0, found ${compression}, ${filters}, ${interlace}`,
    );
  if (interlace === 1) throw new Unsupported("the png image is interlaced, which no writer of volumes does");
  const channels = COLOURS.indexOf(colour);
  if (channels < 1)
    throw new Unsupported(`the png image has colours of kind ${colour}, and only 0, 2, 4 and 6 hold values`);
  if (depth !== 8 * spec.size)
    throw new Corrupt(`the png image of a chunk should have samples of ${8 * spec.size} bits, found ${depth}`);
  checkImage("png", spec, { width, height, channels });
  return width;
}

export function encodePng(data: Uint8Array, chunk: ChunkSpec, level: number, engine: Deflate): Uint8Array {
  const spec = specOf(chunk);
  const pixels = interleaved(data, spec);
  return pngOf(spec.size === 2 ? swapBytes(pixels, 2) : pixels, spec, level, engine);
}

/** An image whose samples lie as PNG has them: pixel after pixel, row after row. */
export function pngOf(
  samples: Uint8Array,
  { width, height, channels, size }: Omit<ImageSpec, "voxels">,
  level: number,
  engine: Deflate,
): Uint8Array {
  const rows = filter(samples, height, width * channels * size, channels * size);
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set([8 * size, COLOURS[channels]!], 8);
  const piece = (name: string, content: Uint8Array): Uint8Array => {
    const out = new Uint8Array(content.length + 12);
    const at = new DataView(out.buffer);
    at.setUint32(0, content.length);
    for (let i = 0; i < 4; i++) out[4 + i] = name.charCodeAt(i);
    out.set(content, 8);
    at.setUint32(out.length - 4, engine.crc32(out.subarray(4, out.length - 4)));
    return out;
  };
  const content = zlibWith(engine).compress(rows, level);
  return concat([
    Uint8Array.from(SIGNATURE),
    piece("IHDR", header),
    piece("IDAT", content),
    piece("IEND", new Uint8Array(0)),
  ]);
}
