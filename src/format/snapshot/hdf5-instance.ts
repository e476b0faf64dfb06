/**
 * The instance of the HDF5 library that its package gives out, made so that every call can fail. The library leaves a failure by a
 * JavaScript exception, and WebAssembly a crash by another: both pass through C without a trace of it being undone.
 *
 * - The C stack stays where it was: 100 to 1,200 bytes less of 2 MB with every failure, and behind its end lie the constants of the library.
 *   The package has no way to set it. But every C function that returns puts it back, so all calls are made from inside of one: `iprintf`,
 *   which prints to a file that is no file, but what is to be called.
 * - What HDF5 had open stays open, and after a crash its memory is in a state that nobody knows. So it is put back as it was when it was
 *   loaded, 3 MB, at a moment when no file is open.
 */

export type H5Module = Awaited<typeof import("h5wasm").ready>;

/** What of Emscripten's file system is used here. */
export interface FileSystem {
  readonly streams: (Stream | null | undefined)[];
  create(path: string, mode: number): { usedBytes: number; stream_ops: StreamOps };
  unlink(path: string): void;
  close(stream: Stream): void;
  readonly ErrnoError: new (code: number) => Error;
  readFile(path: string): Uint8Array<ArrayBuffer>;
}
interface Stream {
  readonly fd: number;
  readonly path: string;
  stream_ops: StreamOps;
}
interface StreamOps {
  read(stream: unknown, buffer: Int8Array, offset: number, length: number, position: number): number;
  write(stream: unknown, buffer: Int8Array, offset: number, length: number, position: number): number;
}

/** The library, and what brings it back. */
export interface Hdf5Instance {
  readonly module: H5Module;
  readonly fs: FileSystem;
  /** What `work` gives or throws, with the C stack where it was before. */
  fromC<T>(work: () => T): T;
  /** The library as it was when it was loaded. Where the application itself has files open in it, that waits until it must be: after a crash. */
  restore(crashed: boolean): void;
  /** Begins to catch what is printed on standard error; what others let it print goes where it went before. */
  listen(): void;
  /** The text since then; "" where nobody listens. */
  heard(): string;
}

/** Where our files are. */
export const OWN = "/octavo-";
const [STDOUT, STDERR] = [1, 2];

export async function loadInstance(): Promise<Hdf5Instance> {
  const module = await (await import("h5wasm")).ready;
  const { _iprintf } = module as unknown as { _iprintf(format: number, values: number): number };
  const fs = module.FS as unknown as FileSystem;
  const line = module._malloc(2);
  module.HEAPU8.set([0x0a, 0], line);
  // Emscripten prints that it aborts, and remembers it for good; this comes before both.
  (module as unknown as { onAbort: (what: string) => never }).onAbort = (what) => {
    throw new WebAssembly.RuntimeError(`aborted ${what}`.trimEnd());
  };

  let inside: (() => void) | undefined;
  let depth = 0;
  hook(STDOUT, () => {
    const work = inside;
    inside = undefined;
    work?.();
    return work !== undefined || depth > 0;
  });

  const decoder = new TextDecoder();
  let text: string | undefined;
  hook(STDERR, (bytes) => {
    if (text === undefined) return false;
    text += decoder.decode(bytes);
    return true;
  });

  /** Shows `take` what is printed to a stream; what it does not take is printed. */
  function hook(fd: number, take: (bytes: Uint8Array) => boolean): void {
    const stream = fs.streams[fd]!;
    const { write } = stream.stream_ops;
    stream.stream_ops = {
      ...stream.stream_ops,
      write(own, buffer, offset, length, position) {
        const bytes = new Uint8Array(buffer.buffer, buffer.byteOffset + offset, length);
        return take(bytes) ? length : write(own, buffer, offset, length, position);
      },
    };
  }

  function fromC<T>(work: () => T): T {
    if (depth > 0) return work();
    let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
    inside = () => {
      try {
        outcome = { value: work() };
      } catch (error) {
        outcome = { error };
      }
    };
    depth++;
    try {
      _iprintf(line, 0);
    } catch (error) {
      outcome ??= { error }; // a crash may reach this call as well
    } finally {
      depth--;
    }
    if (outcome !== undefined && "value" in outcome) return outcome.value;
    throw outcome?.error ?? new WebAssembly.RuntimeError("the HDF5 library does not print");
  }

  fromC(() => {}); // the first line prepares the stream
  const words = new Uint32Array(module.HEAPU8.buffer);
  let used = words.length;
  while (used > 0 && words[used - 1] === 0) used--;
  const image = module.HEAPU8.slice(0, 4 * used); // what lies behind is nobody's, whatever it holds

  return {
    module,
    fs,
    fromC,
    restore(crashed) {
      const files = fs.streams.filter((stream) => stream != null && stream.fd > STDERR) as Stream[];
      if (!crashed && files.some(({ path }) => !path.startsWith(OWN))) return;
      for (const stream of files) fs.close(stream);
      module.HEAPU8.set(image);
    },
    listen() {
      text = "";
    },
    heard() {
      const all = text ?? "";
      text = undefined;
      return all;
    },
  };
}
