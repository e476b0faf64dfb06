/** Blosc chunks to bytes: block by block, so that the workspace stays as small as a block. */
import { Corrupt, LimitExceeded, Unsupported } from "../errors.js";
import { type DecodeLoop, decodeFault, type Kernel, slack, type Workspace } from "../kernel/index.js";
import { decodedCap, type Limits } from "../limits.js";
import { filterBlock, filterBlocks } from "./blosc-filter.js";
import { type BloscCodec, headerSize, parseBloscHeader } from "./blosc-header.js";
import { missingCode } from "./on-demand.js";
import { placeFor } from "./room.js";
import type { Into } from "./types.js";

/** What blosc needs from elsewhere: the loops, and those of the larger codecs that were loaded. */
export interface BloscTools {
  readonly kernel: Kernel;
  readonly zlib?: StreamCodec;
  readonly zstd?: StreamCodec;
  /** Adds one of the two, for a chunk that needs it. */
  readonly load?: (codec: "zlib" | "zstd") => Promise<void>;
}

export interface StreamCodec {
  compress(bytes: Uint8Array, level: number): Uint8Array;
  /** The result may lie in `into`, which has as many bytes as are expected. */
  decompress(bytes: Uint8Array, expected: number, limits: Limits, into?: Uint8Array): Uint8Array;
}

export function decodeBlosc(
  bytes: Uint8Array,
  expected: number | undefined,
  limits: Limits,
  tools: BloscTools,
  into?: Into,
): Uint8Array {
  const header = parseBloscHeader(bytes);
  const { nbytes, blocksize } = header;
  checkSize(nbytes, bytes.length, expected, limits);
  if (header.stored) {
    const plain = bytes.subarray(headerSize, headerSize + nbytes);
    if (into === "lend") return plain;
    const out = placeFor(into, nbytes) ?? new Uint8Array(nbytes);
    out.set(plain);
    return out;
  }

  const view = new DataView(bytes.buffer, bytes.byteOffset, header.cbytes);
  const longest = Math.min(longestStream(blocksize), header.cbytes);
  // To be lent, the whole lies in the workspace, behind what the loops may write past the end of a block.
  const lends = into === "lend" && nbytes <= LENT;
  const blocks = longest + filterBlocks[header.shuffle] * blocksize;
  const room = tools.kernel.reserve(lends ? blocks + slack + 16 + nbytes : blocks);
  const block = room.start + longest;
  const whole = (room.start + blocks + slack + 15) & ~15; // copying elements likes them aligned
  const out = lends
    ? room.memory.subarray(whole, whole + nbytes)
    : ((into === "lend" ? undefined : placeFor(into, nbytes)) ?? new Uint8Array(nbytes));
  for (let i = 0, at = 0; at < nbytes; i++, at += blocksize) {
    const size = Math.min(blocksize, nbytes - at);
    const streams = size < blocksize ? 1 : header.streams;
    let from = view.getInt32(headerSize + 4 * i, true);
    for (let j = 0; j < streams; j++) {
      if (from < headerSize || from + 4 > header.cbytes) throw damaged(i, j, `it lies outside, at byte ${from}`);
      const length = view.getInt32(from, true);
      from += 4;
      if (length < 0 || from + length > header.cbytes) throw damaged(i, j, `it should have ${length} bytes`);
      const target = block + (j * size) / streams;
      const fault = decodeStream(
        bytes.subarray(from, from + length),
        header.codec,
        room,
        target,
        size / streams,
        limits,
        tools,
      );
      if (fault !== undefined) throw damaged(i, j, fault);
      from += length;
    }
    const plain = filterBlock(room, "unshuffle", header, block, size, lends ? whole + at : undefined);
    if (!lends || plain !== whole + at) out.set(room.memory.subarray(plain, plain + size), at);
  }
  return out;
}

/** Larger chunks are rare, and the workspace keeps its size. */
const LENT = 16 << 20;

const damaged = (block: number, stream: number, fault: string): Corrupt =>
  new Corrupt(`block ${block}, stream ${stream} of a blosc chunk is damaged: ${fault}`);

function checkSize(nbytes: number, encoded: number, expected: number | undefined, limits: Limits): void {
  if (expected !== undefined) {
    if (nbytes !== expected) throw new Corrupt(`a blosc chunk should hold ${expected} bytes, found ${nbytes}`);
  } else if (nbytes > decodedCap(encoded, limits)) {
    throw new LimitExceeded(`a blosc chunk of ${encoded} bytes says that it holds ${nbytes}, which is over the limit`);
  }
}

/** No encoder makes more of incompressible bytes than Snappy's one sixth. */
const longestStream = (size: number): number => size + Math.ceil(size / 6) + 32;

/** Decodes one stream to `size` bytes at `target`, or says what is wrong with it. */
function decodeStream(
  stream: Uint8Array,
  codec: BloscCodec,
  room: Workspace,
  target: number,
  size: number,
  limits: Limits,
  tools: BloscTools,
): string | undefined {
  if (stream.length === size) {
    room.memory.set(stream, target);
    return undefined;
  }
  if (codec === "zlib" || codec === "zstd") {
    if (codec === "zstd") refuseOldZstd(stream);
    const inner = tools[codec];
    if (inner === undefined) {
      const message = `a blosc chunk is compressed with ${codec}, which was not loaded, as the codec's cname says otherwise`;
      throw tools.load ? missingCode(message, () => tools.load!(codec)) : new Unsupported(message);
    }
    const place = room.memory.subarray(target, target + size);
    const plain = inner.decompress(stream, size, limits, place);
    if (plain !== place) place.set(plain);
    return undefined;
  }
  if (stream.length > longestStream(size)) return `${stream.length} bytes are too many for ${size}`;
  room.memory.set(stream, room.start);
  const decode: DecodeLoop = room[`${codec}Decode`];
  const result = decode(room.start, stream.length, target, size);
  return result === size ? undefined : `${codec}: ${decodeFault(result)}`;
}

/** Before zstd 0.8, frames began with other magic numbers; zarr 1.1 wrote such chunks. */
function refuseOldZstd(stream: Uint8Array): void {
  const [version, b, c, d] = stream;
  if (b === 0xb5 && c === 0x2f && d === 0xfd && version !== undefined && version >= 0x1e && version < 0x28)
    throw new Unsupported("a blosc chunk holds a frame of zstd before 0.8, whose format no current zstd reads");
}
