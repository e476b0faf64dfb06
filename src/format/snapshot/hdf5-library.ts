/**
 * The HDF5 library itself, compiled to WASM (h5wasm), loaded when the first file is met. What is done about its ways:
 *
 * - It lives in a file system of its own, in memory, and every file it may read is put there one by one: external links, virtual
 *   datasets, external storage and plug-ins of filters find nothing, whatever a file names. The build for browsers is used in
 *   Node as well, because the one for Node sees the whole disk.
 * - A file of the disk is there without being in memory: its node hands on what is read of it.
 * - It prints what went wrong on standard error. That is caught, and its deepest line becomes part of the error.
 * - It answers failure with a negative number, null, or by throwing, and it can crash. A file on which it has crashed is Corrupt; for the
 *   next one it is as it was when it was loaded.
 */
import { Corrupt, LimitExceeded, OctavoError, Unsupported } from "../../errors.js";
import { checkHeap, isHeap } from "./hdf5-heap.js";
import { type H5Module, type Hdf5Instance, loadInstance, OWN } from "./hdf5-instance.js";

/** Bytes that the library reads where it wants to. */
export interface RandomBytes {
  readonly size: number;
  /** Fills `into` with the bytes from `at` on, or throws. */
  read(into: Uint8Array, at: number): void;
}

/** The library, as calls that end well or in one of Octavo's errors. */
export interface Hdf5Library {
  readonly module: H5Module;
  /** What `work` gives, with a negative number for failure; `doing` follows the name of the file in errors: "has no root". */
  call<T>(where: string, doing: string, work: (module: H5Module) => T): T;
  /** Memory of the library for as long as `work` takes. */
  withMemory<T>(bytes: number, where: string, what: string, work: (pointer: number) => T): T;
  /** Opens bytes as a file for as long as `work` takes. */
  reading<T>(where: string, bytes: RandomBytes, work: (file: bigint) => T): T;
  /** The bytes of a new file that `work` fills; what the library complains about while it does is why that failed. */
  writing(where: string, work: (file: bigint) => void): Uint8Array<ArrayBuffer>;
}

const EIO = 29; // as Emscripten numbers them

let loading: Promise<Hdf5Library> | undefined;

/** The library; Unsupported where it cannot be loaded. */
export function loadHdf5(): Promise<Hdf5Library> {
  loading ??= loadInstance().then(libraryOf, (cause: unknown) => {
    loading = undefined;
    throw new Unsupported("the HDF5 library (h5wasm) cannot be loaded", { cause });
  });
  return loading;
}

function libraryOf({ module, fs, fromC, restore, listen, heard }: Hdf5Instance): Hdf5Library {
  let files = 0;
  let opened = 0; // of them now
  let failed = false; // since it was as it was loaded
  let crash: Corrupt | undefined;
  let said: string | undefined; // by the last call, on standard error

  function call<T>(where: string, doing: string, work: (module: H5Module) => T): T {
    if (crash !== undefined) throw crash;
    listen();
    let failure: unknown;
    try {
      const result = fromC(() => work(module));
      if (!((typeof result === "number" || typeof result === "bigint") && result < 0)) return result;
    } catch (cause) {
      if (cause instanceof OctavoError) throw cause;
      failure = cause;
    } finally {
      said = reasonOf(heard());
    }
    failed = true;
    const crashed = CRASHES.some((kind) => failure instanceof kind);
    const reason = crashed ? `the HDF5 library crashed on it (${messageOf(failure)})` : said;
    const error = new Corrupt(`${where} ${doing}: ${reason ?? messageOf(failure ?? "HDF5 does not say why")}`, {
      where,
      cause: failure,
    });
    if (crashed) crash = error;
    throw error;
  }

  /** A file of ours is there while `work` goes on; after a failure and when none is left, the library begins anew. */
  function withFile<T>(work: (path: string) => T): T {
    const path = `${OWN}${++files}`;
    opened++;
    try {
      const result = work(path);
      if (crash === undefined) return result;
      throw crash; // whoever went on after it went on with nothing
    } finally {
      fs.unlink(path);
      if (--opened === 0 && failed) {
        restore(crash !== undefined);
        failed = false;
        crash = undefined;
      }
    }
  }

  return {
    module,
    call,
    withMemory(bytes, where, what, work) {
      const pointer = module._malloc(Math.max(bytes, 1));
      if (pointer === 0)
        throw new LimitExceeded(`the HDF5 library has no room for the ${bytes} bytes of ${what} in ${where}`, {
          where,
        });
      try {
        return work(pointer);
      } finally {
        if (crash === undefined) module._free(pointer);
      }
    },
    reading(where, bytes, work) {
      return withFile((path) => {
        const node = fs.create(path, 0o444);
        let failure: unknown;
        node.usedBytes = bytes.size;
        node.stream_ops = {
          ...node.stream_ops,
          read(_stream, buffer, offset, length, position) {
            try {
              const most = Math.max(0, Math.min(length, bytes.size - position));
              const into = new Uint8Array(buffer.buffer, buffer.byteOffset + offset, most);
              bytes.read(into, position);
              if (isHeap(into)) checkHeap(bytes, position, where);
              return most;
            } catch (error) {
              failure ??= error;
              throw new fs.ErrnoError(EIO); // the only one that the library lives to see
            }
          },
        };
        try {
          const file = call(where, "is not a whole HDF5 file", () =>
            module.open(path, module.H5F_ACC_RDONLY, false, -1, -1),
          );
          try {
            const result = work(file);
            if (failure === undefined) return result;
          } finally {
            if (crash === undefined) call(where, "cannot be closed", () => module.close_file(file));
          }
        } catch (error) {
          failure ??= error; // what could not be read is why the library failed
        }
        throw failure;
      });
    },
    writing(where, work) {
      return withFile((path) => {
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
        if (said !== undefined) throw new LimitExceeded(`${where} cannot be made: ${said}`, { where });
        return fs.readFile(path).slice();
      });
    },
  };
}

/** A trap, the end of the stack, and a call of a function that there is none of. */
const CRASHES = [WebAssembly.RuntimeError, RangeError, TypeError];

/** "#006: …/H5Fsuper.c line 577 in H5F__super_read(): truncated file: eof = 3000" is the last of several lines, and says most. */
const reasonOf = (text: string): string | undefined =>
  [...text.matchAll(/#\d+: .*? line \d+ in \w+\(\): (.*)/g)].at(-1)?.[1];

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
