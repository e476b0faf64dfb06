/**
 * The HDF5 library itself, compiled to WASM (h5wasm), loaded when the first file is met. What is done about its ways:
 *
 * - It lives in a file system of its own, in memory, and every file it may read is put there one by one: external links, virtual
 *   datasets, external storage and plug-ins of filters find nothing, whatever a file names. The build for browsers is used in
 *   Node as well, because the one for Node sees the whole disk.
 * - A file of the disk is there without being in memory: its node hands on what is read of it.
 * - It prints what went wrong on standard error. That is caught, and its deepest line becomes part of the error.
 * - It answers failure with a negative number, null, or by throwing; a crash leaves its memory in a state that nobody knows, after
 *   which it is not called again in this process.
 */
import { Corrupt, LimitExceeded, OctavoError, Unsupported } from "../../errors.js";

export type H5Module = Awaited<typeof import("h5wasm").ready>;

/** Bytes that the library reads where it wants to. */
export interface RandomBytes {
  readonly size: number;
  /** Fills `into` with the bytes from `at` on, or throws. */
  read(into: Uint8Array, at: number): void;
}

/** What of Emscripten's file system is used here. */
interface FileSystem {
  readonly streams: { stream_ops: StreamOps }[];
  create(path: string, mode: number): { usedBytes: number; stream_ops: StreamOps };
  unlink(path: string): void;
  readonly ErrnoError: new (code: number) => Error;
  readFile(path: string): Uint8Array<ArrayBuffer>;
}
interface StreamOps {
  read(stream: unknown, buffer: Int8Array, offset: number, length: number, position: number): number;
  write(stream: unknown, buffer: Int8Array, offset: number, length: number, position: number): number;
}

/** The library, as calls that end well or in one of Octavo's errors. */
export interface Hdf5Library {
  readonly module: H5Module;
  /** What `work` gives, with a negative number for failure; `doing` follows the name of the file in errors: "has no root". */
  call<T>(where: string, doing: string, work: (module: H5Module) => T): T;
  /** Opens bytes as a file for as long as `work` takes. */
  reading<T>(where: string, bytes: RandomBytes, work: (file: bigint) => T): T;
  /** The bytes of a new file that `work` fills; what the library complains about while it does is why that failed. */
  writing(where: string, work: (file: bigint) => void): Uint8Array<ArrayBuffer>;
}

const EIO = 29; // as Emscripten numbers them

let loading: Promise<Hdf5Library> | undefined;

/** The library; Unsupported where it cannot be loaded. */
export function loadHdf5(): Promise<Hdf5Library> {
  loading ??= load().catch((cause: unknown) => {
    loading = undefined;
    throw new Unsupported("the HDF5 library (h5wasm) cannot be loaded", { cause });
  });
  return loading;
}

async function load(): Promise<Hdf5Library> {
  const module = await (await import("h5wasm")).ready;
  const fs = module.FS as unknown as FileSystem;
  const words = listen(fs);
  let crashedOn: string | undefined;
  let files = 0;

  function call<T>(where: string, doing: string, work: (module: H5Module) => T): T {
    if (crashedOn !== undefined)
      throw new Unsupported(`the HDF5 library crashed on ${crashedOn} and cannot be used again in this process`, {
        where,
      });
    words.begin();
    try {
      const result = work(module);
      if (!((typeof result === "number" || typeof result === "bigint") && result < 0)) return result;
    } catch (cause) {
      if (cause instanceof OctavoError) throw cause;
      if (cause instanceof WebAssembly.RuntimeError || cause instanceof RangeError) crashedOn = where;
      throw new Corrupt(`${where} ${doing}: ${words.end() ?? messageOf(cause)}`, { where, cause });
    } finally {
      words.end();
    }
    throw new Corrupt(`${where} ${doing}: ${words.said ?? "HDF5 does not say why"}`, { where });
  }

  return {
    module,
    call,
    reading(where, bytes, work) {
      const path = `/octavo-${++files}`;
      const node = fs.create(path, 0o444);
      let failure: unknown;
      node.usedBytes = bytes.size;
      node.stream_ops = {
        ...node.stream_ops,
        read(_stream, buffer, offset, length, position) {
          try {
            const most = Math.max(0, Math.min(length, bytes.size - position));
            bytes.read(new Uint8Array(buffer.buffer, buffer.byteOffset + offset, most), position);
            return most;
          } catch (error) {
            failure ??= error;
            throw new fs.ErrnoError(EIO); // the only one that the library lives to see
          }
        },
      };
      let file: bigint | undefined;
      try {
        file = call(where, "is not a whole HDF5 file", () => module.open(path, module.H5F_ACC_RDONLY, false, -1, -1));
        const result = work(file);
        if (failure === undefined) return result;
      } catch (error) {
        failure ??= error; // what could not be read is why the library failed
      } finally {
        if (file !== undefined && crashedOn === undefined) module.close_file(file);
        fs.unlink(path);
      }
      throw failure;
    },
    writing(where, work) {
      const path = `/octavo-${++files}`;
      try {
        call(where, "cannot be made", () => {
          const file = module.open(path, module.H5F_ACC_TRUNC, false, -1, -1);
          if (file < 0n) return -1;
          try {
            work(file);
          } finally {
            module.close_file(file); // what it could not do it has said
          }
          return 0;
        });
        if (words.said !== undefined) throw new LimitExceeded(`${where} cannot be made: ${words.said}`, { where });
        return fs.readFile(path).slice();
      } finally {
        fs.unlink(path);
      }
    },
  };
}

/** Catches what the library prints while it is called; what others let it print goes where it went before. */
function listen(fs: FileSystem) {
  const stderr = fs.streams[2]!;
  const { write } = stderr.stream_ops;
  const decoder = new TextDecoder();
  let text = "";
  const heard = {
    listening: false,
    /** The deepest of the reasons that were printed. */
    said: undefined as string | undefined,
    begin() {
      heard.listening = true;
      text = "";
    },
    end(): string | undefined {
      if (heard.listening) heard.said = reasonOf(text);
      heard.listening = false;
      return heard.said;
    },
  };
  stderr.stream_ops = {
    ...stderr.stream_ops,
    write(stream, buffer, offset, length, position) {
      if (!heard.listening) return write(stream, buffer, offset, length, position);
      text += decoder.decode(new Uint8Array(buffer.buffer, buffer.byteOffset + offset, length));
      return length;
    },
  };
  return heard;
}

/** "#006: …/H5Fsuper.c line 577 in H5F__super_read(): truncated file: eof = 3000" is the last of several lines, and says most. */
const reasonOf = (text: string): string | undefined =>
  [...text.matchAll(/#\d+: .*? line \d+ in \w+\(\): (.*)/g)].at(-1)?.[1];

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
