/**
 * The hot loops of the codecs, which exist twice: as WebAssembly with SIMD and in plain TypeScript, with one test suite.
 *
 * Both work on addresses in one memory, which a kernel hands out as a workspace: fill it, run loops, copy the result out, all
 * before anything else runs. A kernel has one memory per thread and uses it again and again.
 */
export interface Loops {
  /** Byte j of element i moves from i * typesize + j to j * count + i; the target is apart from the source. */
  shuffle(typesize: number, src: number, count: number, dst: number): void;
  unshuffle(typesize: number, src: number, count: number, dst: number): void;
  /**
   * Bit k of byte j of element i moves to bit i % 8 of byte (8 j + k) * count / 8 + i / 8. `count` is a multiple of 8;
   * `scratch` has as many bytes as the elements.
   */
  bitshuffle(typesize: number, src: number, count: number, dst: number, scratch: number): void;
  bitunshuffle(typesize: number, src: number, count: number, dst: number, scratch: number): void;

  /**
   * Adds (xor) every byte, in order, to those `near`, `middle` and `far` bytes further on, all of them at least 16. `size` is
   * a multiple of 16.
   */
  fold(src: number, size: number, near: number, middle: number, far: number): void;

  readonly lz4Decode: DecodeLoop;
  readonly blosclzDecode: DecodeLoop;
  readonly snappyDecode: DecodeLoop;

  /**
   * The content of one zstd frame, which has been walked, into at most `room` bytes: how many, or as `decodeFault` has it. Only
   * in WebAssembly: whoever finds none uses another zstd.
   */
  readonly zstdDecode?: (src: number, srcLen: number, dst: number, room: number) => number;

  /** XXH64 with seed 0, of which the sign is a bit like the others. Only in WebAssembly, which has 64-bit numbers. */
  readonly xxh64?: (src: number, size: number) => bigint;

  /** `effort` is LZ4's acceleration: how fast the steps through incompressible bytes grow, from 1. */
  readonly lz4Encode: EncodeLoop;
  readonly blosclzEncode: EncodeLoop;
  readonly snappyEncode: EncodeLoop;
  /** `effort` is how many candidates are tried at each place. */
  readonly lz4hcEncode: EncodeLoop;
}

/** The loops of compressed_segmentation, a kernel of their own: what reads no labels does not load them. */
export interface LabelLoops {
  /**
   * One channel of compressed_segmentation, `words` of 32 bits, to sx × sy × sz voxels of `size` bytes, 4 or 8, x fastest, in
   * blocks of bx × by × bz; 0, or as `decodeFault` has it. Addresses are multiples of 4, of voxels multiples of `size`.
   */
  segmentationDecode(
    ...args: [size: number, src: number, words: number, dst: number, sx: number, sy: number, sz: number, ...Block]
  ): number;
  /**
   * The way back: how many bytes, at most as many as `segmentationRoom` says, which also says how much `scratch` takes; -1
   * where a table would lie beyond the 2^24 words that a header can name.
   */
  segmentationEncode(
    ...args: [size: number, src: number, dst: number, scratch: number, sx: number, sy: number, sz: number, ...Block]
  ): number;
}

/** An encoder of deflate, a kernel of its own: what only reads does not load it. */
export interface DeflateLoops {
  /**
   * A raw stream: how many bytes, at most `size`, a 1,024th of it and 64. `tries` is how many places are looked at for each match. Only in
   * WebAssembly: whoever finds none uses another deflate.
   */
  readonly deflate?: (src: number, size: number, dst: number, tries: number) => number;
}

/** An encoder of zstd, a kernel of its own: what only reads does not load it. */
export interface ZstdEncodeLoops {
  /**
   * A zstd frame, with a checksum where that is 1, by an encoder for numbers: how many bytes, at most `size`, 3 for every 2^17 of them and
   * 32 more, while working 2^19 more than that; 0 where most of the content repeats, so that a longer search would pay.
   */
  readonly zstdFrame?: (src: number, size: number, dst: number, checksum: number) => number;
}

/** The loops of Zarr Vectors, a kernel of their own. */
export interface VectorLoops {
  /**
   * The manifests of the first `rows` elements of a vlen chunk, as places: how many blocks, where the chunk of each (−1: there is no
   * such chunk) and its fragment lie then, and in `offsets` where the blocks of each row begin and end. −1 where anything is
   * wrong, or not a single fragment of a chunk: whoever reads that otherwise says what. `grid` is, for each axis, the lowest
   * coordinate and how many there are, then for each cell its chunk. Numbers are of 32 bits, at any address.
   */
  readonly placeManifests?: (
    ...args: [
      src: number,
      size: number,
      rows: number,
      dims: number,
      ...to: [grid: number, offsets: number, chunks: number, first: number],
    ]
  ) => number;

  /**
   * The chunk of each point, its number in the table less 1, into `buckets`; how many were placed before one whose number the table does
   * not have. Coordinates are float64 where `wide` is 1, else float32. `grid` is, for each axis, the size of chunks in float64, the
   * lowest coordinate of a chunk and how many there are; the table has a cell for each, the last axis fastest.
   */
  readonly placePoints?: (
    ...args: [
      src: number,
      wide: number,
      dims: number,
      count: number,
      ...to: [grid: number, table: number, buckets: number],
    ]
  ) => number;

  /** Rows of `width` bytes, each to the address that `next` has for its bucket, which then moves on by as much. */
  readonly spreadRows?: (width: number, src: number, count: number, buckets: number, next: number) => void;
}

/** The shape of a volume, or of the blocks that it is cut into. */
export type Block = [x: number, y: number, z: number];

/**
 * Decodes exactly `srcLen` bytes to exactly `dstLen` bytes and returns `dstLen`, or the reason why that is impossible, as in
 * `decodeFault`. Nothing before `dst` changes; up to 32 bytes behind the end may.
 */
export type DecodeLoop = (src: number, srcLen: number, dst: number, dstLen: number) => number;

/** Encodes into at most `room` bytes and returns how many they are; 0 when they do not fit. */
export type EncodeLoop = (src: number, srcLen: number, dst: number, room: number, effort: number) => number;

interface Room {
  /** The whole memory; dead after the next `reserve`. */
  readonly memory: Uint8Array;
  /** The first address of the room that was asked for. */
  readonly start: number;
}

export interface KernelOf<L> {
  readonly kind: "wasm" | "plain";
  /** A workspace with room for `size` bytes, and slack behind them. */
  reserve(size: number): L & Room;
}

export type Workspace = Loops & Room;
export type Kernel = KernelOf<Loops>;
export type LabelKernel = KernelOf<LabelLoops>;

/** Behind the last byte of a workspace: loops in steps of 16 bytes read and write past the end. */
export const slack = 64;

/** What a decode loop found, by its negative result. */
export function decodeFault(code: number): string {
  switch (code) {
    case -1:
      return "its input ends too early";
    case -2:
      return "a match reaches back before the start";
    case -3:
      return "it holds more than it should";
    case -5:
      return "its tables or codes contradict each other";
    case -6:
      return "its checksum is another";
    case -7:
      return "the indices of a block have a number of bits that there is not";
    case -8:
      return "the table of a block does not lie behind the headers and before the end";
    case -9:
      return "the indices of a block do not lie behind the headers and before the end";
    case -10:
      return "an index points past the end";
    default:
      return "it holds less than it should";
  }
}
