/**
 * Google's Draco as WebAssembly, under guard (docs/decisions/draco.md). Its functions are called directly, by their names in
 * C: the arguments are addresses and numbers, objects live in its memory until their `__destroy__`.
 *
 * It is fast and not trusted: it gets no more memory than a call allows, and an instance that gave up, or wanted more, is
 * never used again.
 */
import { LimitExceeded, OctavoError, Unsupported } from "../errors.js";

/** What scripts/draco.mjs finds in the package draco3d. */
export interface DracoBinary {
  /** Under these names the binary exports its memory and what must run first, and imports what asks for more memory. */
  readonly memory: string;
  readonly start: string;
  readonly grow: string;
  readonly names: { readonly [name: string]: string };
  /** The binary: zlib, then base64. */
  readonly deflated: string;
}

export interface DracoInstance {
  /** Runs the function of this name. */
  call(name: string, ...args: number[]): number;
  /** A new object of this class. */
  make(name: string, ...args: number[]): number;
  /** The address of room for so many bytes. */
  room(size: number): number;
  /** The address of a copy of these bytes. */
  put(bytes: Uint8Array): number;
  /** The memory as it is now: growing it makes another one of it. */
  bytes(): Uint8Array<ArrayBuffer>;
}

export interface DracoHost {
  /**
   * Gives `work` an instance whose memory holds at most so many bytes more than a fresh one, and frees what it made and put
   * there. `failure` is the error where Draco itself gives up on `what` it was given.
   */
  run<T>(spare: number, what: string, failure: (cause: unknown) => Error, work: (draco: DracoInstance) => T): T;
}

const PAGE = 65536;

/** WebAssembly memory never shrinks: past this, an instance is not kept. */
const KEEP = 2 ** 27;

export async function dracoHost(binary: DracoBinary): Promise<DracoHost> {
  const module = await WebAssembly.compile(await inflate(binary.deflated));
  let kept: Guarded | undefined;
  return {
    run<T>(spare: number, what: string, failure: (cause: unknown) => Error, work: (draco: DracoInstance) => T): T {
      const guarded = kept ?? instantiate(module, binary);
      kept = undefined;
      guarded.allow(spare);
      let outcome: { readonly result: T } | OctavoError | undefined;
      let cause: unknown;
      try {
        outcome = attempt(() => work(guarded.draco));
        guarded.release();
        if (!guarded.refused() && guarded.draco.bytes().length <= KEEP) kept = guarded;
      } catch (trap) {
        [outcome, cause] = [undefined, trap];
      }
      if (guarded.refused())
        throw new LimitExceeded(`${what} should need at most ${spare} bytes of memory, Draco asked for more`);
      if (outcome === undefined) throw failure(cause);
      if (outcome instanceof OctavoError) throw outcome;
      return outcome.result;
    },
  };
}

/** What was made, or what was found wrong; anything else is Draco's own end and passes through. */
function attempt<T>(work: () => T): { readonly result: T } | OctavoError {
  try {
    return { result: work() };
  } catch (error) {
    if (error instanceof OctavoError) return error;
    throw error;
  }
}

interface Guarded {
  readonly draco: DracoInstance;
  allow(spare: number): void;
  /** More memory was asked for than allowed. */
  refused(): boolean;
  /** Frees what was made since the last time. */
  release(): void;
}

function instantiate(module: WebAssembly.Module, { memory: memoryName, start, grow, names }: DracoBinary): Guarded {
  let most = 0;
  let refused = false;
  let made: (() => void)[] = [];
  const die = () => {
    throw new Error("Draco called abort");
  };
  const imports = WebAssembly.Module.imports(module).map(({ name }) => [name, die] as const);
  const exports = new WebAssembly.Instance(module, {
    a: {
      ...Object.fromEntries(imports),
      [grow]: (wanted: number): number => {
        const size = wanted >>> 0;
        refused ||= size > most;
        if (refused) return 0;
        try {
          // A little more than asked for, because growing copies the lot.
          const generous = Math.min(most, size + (size >>> 3));
          memory.grow(Math.ceil((generous - memory.buffer.byteLength) / PAGE));
          return 1;
        } catch {
          refused = true; // the engine has no more
          return 0;
        }
      },
    },
  }).exports as { readonly [name: string]: ((...args: number[]) => number) & WebAssembly.Memory };
  const memory = exports[memoryName] as WebAssembly.Memory;
  exports[start]!();
  const fresh = memory.buffer.byteLength;

  const call = (name: string, ...args: number[]): number => {
    const run = exports[names[name] ?? ""];
    if (run === undefined) throw new Unsupported(`this build of Draco has no ${name}`);
    return run(...args);
  };
  const make = (name: string, ...args: number[]): number => {
    const at = call(`${name}_${name}_${args.length}`, ...args);
    made.push(() => call(`${name}___destroy___0`, at));
    return at;
  };
  const room = (size: number): number => {
    const at = call("malloc", Math.max(1, size)) >>> 0;
    if (at === 0) die();
    made.push(() => call("free", at));
    return at;
  };
  const bytes = () => new Uint8Array(memory.buffer) as Uint8Array<ArrayBuffer>;
  const put = (content: Uint8Array): number => {
    const at = room(content.length);
    bytes().set(content, at);
    return at;
  };
  return {
    draco: { call, make, room, put, bytes },
    allow: (spare) => {
      most = Math.min(fresh + spare, 2 ** 31);
    },
    refused: () => refused,
    release: () => {
      for (const free of made.reverse()) free();
      made = [];
    },
  };
}

async function inflate(base64: string): Promise<ArrayBuffer> {
  const packed = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}
