/**
 * The outside of Zstandard data (RFC 8878): frames and blocks, walked before a decoder sees them. What the walk finds out
 * is needed because decoders keep quiet about it: Node's gives a frame without its end, or the first of two frames, as if
 * it were everything.
 *
 * | bytes       | frame                                                                                  |
 * |-------------|----------------------------------------------------------------------------------------|
 * | 4           | magic 0xFD2FB528                                                                       |
 * | 1           | bits 0–1 size of dictionary id, 2 checksum, 3 reserved, 5 single segment, 6–7 size of content size |
 * | 0 or 1      | window: (8 + low 3 bits) << (7 + high 5 bits); absent with single segment              |
 * | 0, 1, 2, 4  | dictionary id                                                                          |
 * | 0, 1, 2, 4, 8 | content size (the 2-byte form counts from 256)                                       |
 * | …           | blocks: 3 bytes (bit 0 last, 1–2 raw · RLE · compressed, 3–23 size), then the block    |
 * | 0 or 4      | low half of the XXH64 of the content                                                   |
 *
 * A skippable frame is magic 0x184D2A50–5F, u32 length, and that many bytes that are not content.
 */
import { Reader } from "../bytes/reader.js";
import { Corrupt, LimitExceeded, Unsupported } from "../errors.js";
import { refuseCrumbs } from "./output.js";

export interface ZstdFrame {
  readonly start: number;
  readonly end: number;
  /** The decoded size, where the frame declares it. */
  readonly contentSize: number | undefined;
  /** What the blocks can give at most. */
  readonly bound: number;
  readonly checksum: boolean;
}

const MAGIC = 0xfd2fb528;
const BLOCK_MAX = 1 << 17;
/** zstd's own limit; only frames that declare no content size are decoded through a window of that size. */
const WINDOW_MAX = 2 ** 27;

/** Every frame with content, in order. Nothing may be left over. */
export function scanZstd(bytes: Uint8Array): ZstdFrame[] {
  const reader = new Reader(bytes, "zstd data");
  const frames: ZstdFrame[] = [];
  do {
    const start = reader.offset;
    const magic = reader.u32();
    if (magic === MAGIC) {
      frames.push(scanFrame(reader, start));
      refuseCrumbs("zstd data", frames.length, bytes.length);
    } else if (magic >>> 4 === 0x184d2a5) reader.skip(reader.u32());
    else if ((magic >= 0xfd2fb522 && magic < MAGIC) || magic === 0xfd2fb51e)
      throw new Unsupported(
        `the zstd frame at byte ${start} is of a version before 0.8 (magic 0x${magic.toString(16)}), which no current zstd decodes`,
        { hint: "Only the software of that time (for zarr: 1.1.0) can decode it." },
      );
    else
      throw new Corrupt(
        `zstd data should have the magic number 0xfd2fb528 at byte ${start}, found 0x${magic.toString(16)}`,
      );
  } while (reader.remaining > 0);
  return frames;
}

const DICTIONARY_BYTES = [0, 1, 2, 4];

/** A number of 0, 1, 2, 4 or 8 bytes. */
function number(reader: Reader, bytes: number): number {
  switch (bytes) {
    case 0:
      return 0;
    case 1:
      return reader.u8();
    case 2:
      return reader.u16();
    case 4:
      return reader.u32();
    default:
      return reader.size();
  }
}

function scanFrame(reader: Reader, start: number): ZstdFrame {
  const descriptor = reader.u8();
  if (descriptor & 8) throw new Corrupt(`the zstd frame at byte ${start} has its reserved bit set`);
  const single = (descriptor & 32) !== 0;
  const windowByte = single ? 0 : reader.u8();
  const dictionary = number(reader, DICTIONARY_BYTES[descriptor & 3]!);
  if (dictionary !== 0)
    throw new Unsupported(`the zstd frame at byte ${start} needs dictionary ${dictionary}, and none can be given`);
  const sizeCode = descriptor >> 6;
  const contentSize =
    sizeCode === 0 && !single ? undefined : number(reader, 1 << sizeCode) + (sizeCode === 1 ? 256 : 0);
  const window = single ? contentSize! : (8 + (windowByte & 7)) * 2 ** (7 + (windowByte >> 3));
  if (contentSize === undefined && window > WINDOW_MAX)
    throw new LimitExceeded(
      `the zstd frame at byte ${start} asks for a window of ${window} bytes, beyond ${WINDOW_MAX}`,
    );
  const blockMax = Math.min(window, BLOCK_MAX);
  let bound = 0;
  for (let last = false; !last; ) {
    const at = reader.offset;
    const header = reader.u8() | (reader.u16() << 8);
    const type = (header >> 1) & 3;
    const size = header >>> 3;
    last = (header & 1) !== 0;
    if (type === 3 || size > blockMax)
      throw new Corrupt(
        `the zstd block at byte ${at} has type ${type} and ${size} bytes, where at most ${blockMax} fit`,
      );
    bound += type === 2 ? blockMax : size;
    reader.skip(type === 1 ? 1 : size);
  }
  const checksum = (descriptor & 4) !== 0;
  if (checksum) reader.skip(4);
  if (contentSize !== undefined && contentSize > bound)
    throw new Corrupt(
      `the zstd frame at byte ${start} declares ${contentSize} bytes, but its blocks give at most ${bound}`,
    );
  return { start, end: reader.offset, contentSize, bound: contentSize ?? bound, checksum };
}
