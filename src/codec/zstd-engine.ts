/**
 * The zstds that do the work: the kernel's decoder and its simple encoder, Node's own (from 22.15 and 23.8), and the WebAssembly build of
 * @hpcc-js/wasm-zstd, loaded when first needed (docs/decisions/zstd.md says why these). All get whole frames that scanZstd has
 * walked.
 *
 * The package's own `decompress` copies its result byte by byte through a JavaScript array, forty times slower than the
 * decoding, so its C functions and its memory are called directly. Its version is pinned, and the shape is checked.
 */
import { InvalidInput, LimitExceeded, Unsupported } from "../errors.js";
import { decodeFault, type Kernel, loadKernel, slack } from "../kernel/index.js";
import type { ZstdEncodeKernel } from "../kernel/zstd-encode.js";
import { builtin } from "../platform.js";
import { missingCode } from "./on-demand.js";
import { owned } from "./output.js";
import { xxh64 } from "./xxh64.js";

export interface ZstdEngine {
  compress(bytes: Uint8Array, level: number, checksum: boolean): Uint8Array;
  /**
   * One frame. The content, or zstd's word for what is wrong; "full" where the content passes `capacity`. Content as long
   * as `into` may lie there.
   */
  decompress(frame: Uint8Array, capacity: number, into?: Uint8Array): Uint8Array | string;
}

/** Frames beyond this are Node's where it can: a call costs it more than a small frame, a large one less. */
const SMALL = 256 << 10;

/** Decodes in the kernel; what is too large for its memory, or has no kernel, another does, loaded when it comes to that. */
export function kernelZstd(kernel: Kernel, other: ZstdEngine | undefined): ZstdEngine {
  let larger = other;
  return {
    compress: () => {
      throw new InvalidInput("this zstd was loaded to decode");
    },
    decompress: (frame, capacity, into) => {
      if (larger !== undefined && frame.length > SMALL) return larger.decompress(frame, capacity, into);
      const at = frame.length + slack; // nothing is read further behind the frame
      const { memory, start, zstdDecode } = kernel.reserve(at + capacity);
      if (zstdDecode === undefined) {
        if (larger !== undefined) return larger.decompress(frame, capacity, into);
        throw missingCode("a zstd frame needs a decoder that is not loaded", async () => {
          larger = await wasmZstd();
        });
      }
      memory.set(frame, start);
      const size = zstdDecode(start, frame.length, start + at, capacity);
      if (size < 0) return size === -3 ? "full" : decodeFault(size);
      if (into?.length !== size) return memory.slice(start + at, start + at + size);
      into.set(memory.subarray(start + at, start + at + size));
      return into;
    },
  };
}

/** Beyond this a frame is another's: the kernel's memory never shrinks. */
const LARGE = 16 << 20;
/** Levels up to which time counts for more than size. */
const FAST = 3;

/**
 * Encodes numbers in the kernel, of which no more than a part repeats (coordinates, measured values): about as small as another makes them at
 * these levels, in a half to a third of the time. The rest is for the other.
 */
export function numberZstd(kernel: ZstdEncodeKernel, compress: ZstdEngine["compress"]): ZstdEngine["compress"] {
  return (bytes, level, checksum) => {
    if (level > FAST || bytes.length === 0 || bytes.length > LARGE) return compress(bytes, level, checksum);
    const { memory, start, zstdFrame } = kernel.reserve(2 * bytes.length + slack + (1 << 19));
    if (zstdFrame === undefined) return compress(bytes, level, checksum);
    const to = start + bytes.length + slack;
    memory.set(bytes, start);
    const size = zstdFrame(start, bytes.length, to, checksum ? 1 : 0);
    return size === 0 ? compress(bytes, level, checksum) : memory.slice(to, to + size);
  };
}

/** The encoder of another, which is loaded when something is for it: whoever encodes must know of `withMissingCode`. */
export function laterZstd(load: () => Promise<ZstdEngine>): ZstdEngine["compress"] {
  let other: ZstdEngine | undefined;
  return (bytes, level, checksum) => {
    if (other !== undefined) return other.compress(bytes, level, checksum);
    throw missingCode("a zstd frame needs an encoder that is not loaded", async () => {
      other = await load();
    });
  };
}

export function nativeZstd(): ZstdEngine | undefined {
  const zlib = builtin("node:zlib");
  if (zlib?.zstdDecompressSync === undefined) return undefined;
  const { ZSTD_c_compressionLevel, ZSTD_c_checksumFlag, ZSTD_d_windowLogMax } = zlib.constants;
  return {
    compress: (bytes, level, checksum) =>
      owned(
        zlib.zstdCompressSync(bytes, {
          chunkSize: bound(bytes.length),
          params: { [ZSTD_c_compressionLevel]: level, [ZSTD_c_checksumFlag]: checksum ? 1 : 0 },
        }),
      ),
    decompress: (frame, capacity) => {
      try {
        const out = zlib.zstdDecompressSync(frame, {
          chunkSize: Math.max(64, capacity),
          maxOutputLength: Math.max(1, capacity),
          params: { [ZSTD_d_windowLogMax]: 31 }, // scanZstd has judged the window
        });
        return out.length > capacity ? "full" : owned(out);
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        return code === "ERR_BUFFER_TOO_LARGE" ? "full" : message;
      }
    },
  };
}

/** The part of the emscripten module behind the package's class. */
interface Wasm {
  readonly memory: { readonly HEAPU8: Uint8Array; _malloc(size: number): number; _free(at: number): void };
  readonly zstd: {
    compress(to: number, capacity: number, from: number, size: number, level: number): number;
    decompress(to: number, capacity: number, from: number, size: number): number;
    isError(code: number): number;
    getErrorName(code: number): string;
  };
}

/** WebAssembly memory never shrinks: past this, an instance is replaced by a fresh one as soon as that is ready. */
const KEEP = 2 ** 28;

export async function wasmZstd(): Promise<ZstdEngine> {
  const kernel = await loadKernel();
  let wasm = await instantiate();
  let replacing = false;

  /** Copies `input` in, runs, and copies the result out, `tail` zeros behind it, or gives the name of zstd's error. */
  const run = (
    input: Uint8Array,
    capacity: number,
    call: (to: number, from: number) => number,
    { into, tail = 0 }: { readonly into?: Uint8Array | undefined; readonly tail?: number } = {},
  ): Uint8Array | string => {
    const { memory, zstd } = wasm;
    const from = memory._malloc(Math.max(1, input.length));
    const to = from === 0 ? 0 : memory._malloc(Math.max(1, capacity));
    try {
      if (to === 0) throw new LimitExceeded(`zstd found no memory for ${input.length} + ${capacity} bytes`);
      memory.HEAPU8.set(input, from);
      const size = call(to, from);
      if (zstd.isError(size)) return zstd.getErrorName(size);
      const out = into?.length === size ? into : new Uint8Array(size + tail);
      out.set(memory.HEAPU8.subarray(to, to + size));
      return out;
    } finally {
      if (to !== 0) memory._free(to);
      if (from !== 0) memory._free(from);
      if (memory.HEAPU8.length > KEEP && !replacing) {
        replacing = true;
        renew().then(
          (fresh) => {
            wasm = fresh;
            replacing = false;
          },
          () => {}, // then the old one has to do
        );
      }
    }
  };

  return {
    compress: (bytes, level, checksum) => {
      const capacity = bound(bytes.length);
      const compress = (to: number, from: number) => wasm.zstd.compress(to, capacity, from, bytes.length, level);
      const frame = run(bytes, capacity, compress, { tail: checksum ? 4 : 0 });
      if (typeof frame === "string") throw new LimitExceeded(`zstd could not compress ${bytes.length} bytes: ${frame}`);
      if (checksum) putChecksum(frame, contentSum(kernel, bytes));
      return frame;
    },
    decompress: (frame, capacity, into) => {
      const out = run(frame, capacity, (to, from) => wasm.zstd.decompress(to, capacity, from, frame.length), { into });
      return out === "Destination buffer is too small" ? "full" : out;
    },
  };
}

/** The package keeps one instance, until it is told to unload it. */
async function renew(): Promise<Wasm> {
  await (await import("@hpcc-js/wasm-zstd")).Zstd.unload();
  return instantiate();
}

async function instantiate(): Promise<Wasm> {
  const { Zstd } = await import("@hpcc-js/wasm-zstd");
  const inside = (await Zstd.load()) as unknown as {
    _mainModule?: { _module?: Wasm["memory"] };
    _zstdClass?: Wasm["zstd"];
  };
  const memory = inside._mainModule?._module;
  const zstd = inside._zstdClass;
  if (memory?.HEAPU8 === undefined || zstd?.isError === undefined)
    throw new Unsupported("this version of @hpcc-js/wasm-zstd is not the one that Octavo was built with");
  return { memory, zstd };
}

/** ZSTD_compressBound, and a little. */
const bound = (size: number): number => size + (size >>> 8) + 512;

/** Sets the flag in the frame's header and the checksum in its last four bytes. */
function putChecksum(frame: Uint8Array, sum: number): void {
  frame[4]! |= 4;
  new DataView(frame.buffer).setUint32(frame.length - 4, sum, true);
}

/** The low half of the XXH64: by the kernel, at fifty times the speed, wherever it has room. */
export function contentSum(kernel: Kernel, content: Uint8Array): number {
  const { memory, start, xxh64: fast } = kernel.reserve(content.length);
  if (fast !== undefined) memory.set(content, start);
  const hash = fast?.(start, content.length) ?? xxh64(content);
  return Number(BigInt.asUintN(32, hash));
}
