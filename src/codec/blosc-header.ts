/**
 * The container of blosc 1. All numbers are little-endian.
 *
 * | offset | bytes | what                                                                                       |
 * |--------|-------|--------------------------------------------------------------------------------------------|
 * | 0      | 1     | format version, 2                                                                          |
 * | 1      | 1     | version of the inner codec's format, 1                                                     |
 * | 2      | 1     | flags: 1 byte shuffle, 2 stored, 4 bit shuffle, 16 blocks are not split, bits 5-7 codec    |
 * | 3      | 1     | bytes per element; 1 where they are more than 255                                          |
 * | 4      | 4     | bytes when decoded                                                                         |
 * | 8      | 4     | bytes per block, the last block may be shorter                                             |
 * | 12     | 4     | bytes when encoded, this header included; what follows in the file is not looked at        |
 * | 16     | 4 × n | where each of the n blocks starts, in any order                                            |
 *
 * A block is one stream, or one per byte of an element: a length and that many bytes. A stream as long as what it decodes to
 * is stored as it is. A stored chunk has the plain bytes right after the header, never shuffled, whatever the flags say.
 */
import { Corrupt, Unsupported } from "../errors.js";

export type BloscCodec = "blosclz" | "lz4" | "snappy" | "zlib" | "zstd";
export type BloscShuffle = "none" | "byte" | "bit";

export interface BloscHeader {
  readonly codec: BloscCodec;
  readonly shuffle: BloscShuffle;
  readonly stored: boolean;
  readonly typesize: number;
  readonly nbytes: number;
  readonly blocksize: number;
  readonly cbytes: number;
  /** Streams of every block except a shorter last one, which has a single stream. */
  readonly streams: number;
}

export const bloscCodecs: readonly BloscCodec[] = ["blosclz", "lz4", "snappy", "zlib", "zstd"];
export const headerSize = 16;
export const flag = { byteShuffle: 1, stored: 2, bitShuffle: 4, future: 8, whole: 16 } as const;

/** Elements of more bytes, or blocks of fewer elements, are not split. */
export const splits = (typesize: number, blocksize: number): boolean =>
  typesize <= 16 && Math.trunc(blocksize / typesize) >= 128;

/** The header, of which everything has been compared with everything else and with the length of the file. */
export function parseBloscHeader(bytes: Uint8Array): BloscHeader {
  if (bytes.length < headerSize)
    throw new Corrupt(`a blosc chunk should have a header of ${headerSize} bytes, found ${bytes.length}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [version, inner, flags, typesize] = bytes as unknown as [number, number, number, number];
  const nbytes = view.getUint32(4, true);
  const blocksize = view.getUint32(8, true);
  const cbytes = view.getUint32(12, true);
  if (version !== 2) throw new Unsupported(`a blosc chunk of format version 2 was expected, found version ${version}`);
  const codec = bloscCodecs[flags >> 5];
  if (codec === undefined || flags & flag.future)
    throw new Unsupported(`a blosc chunk has the flags 0x${flags.toString(16)}, whose codec or option is unknown`);
  if (inner !== 1) throw new Unsupported(`version 1 of blosc's ${codec} streams was expected, found ${inner}`);
  if (cbytes < headerSize || cbytes > bytes.length)
    throw new Corrupt(`a blosc chunk should be ${cbytes} bytes long, found ${bytes.length}`);
  const stored = (flags & flag.stored) !== 0;
  if (stored) {
    if (cbytes !== headerSize + nbytes)
      throw new Corrupt(`a stored blosc chunk should be ${headerSize + nbytes} bytes long, found ${cbytes}`);
  } else {
    if (typesize === 0) throw new Corrupt("a blosc chunk has elements of 0 bytes");
    if (blocksize === 0 || blocksize > nbytes)
      throw new Corrupt(`a blosc chunk of ${nbytes} bytes has blocks of ${blocksize} bytes`);
    const blocks = Math.ceil(nbytes / blocksize);
    if (headerSize + 4 * blocks > cbytes)
      throw new Corrupt(`a blosc chunk of ${cbytes} bytes is too short for the table of its ${blocks} blocks`);
  }
  const streams = !stored && (flags & flag.whole) === 0 && splits(typesize, blocksize) ? typesize : 1;
  if (blocksize % streams !== 0)
    throw new Corrupt(`a blosc chunk has blocks of ${blocksize} bytes, which do not split into ${streams} streams`);
  const shuffle = flags & flag.byteShuffle ? "byte" : flags & flag.bitShuffle ? "bit" : "none";
  return { codec, shuffle, stored, typesize, nbytes, blocksize, cbytes, streams };
}
