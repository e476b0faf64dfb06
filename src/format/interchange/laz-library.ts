/** The library that decodes LAZ (laz-perf, WASM), loaded when the first file is met. */
import { Unsupported } from "../../errors.js";

/** What of it is used. */
export interface LazModule {
  readonly HEAPU8: Uint8Array;
  _malloc(bytes: number): number;
  _free(pointer: number): void;
  readonly ChunkDecoder: new () => {
    open(format: number, pointBytes: number, source: number): void;
    getPoint(target: number): void;
    delete(): void;
  };
}

export interface LazLibrary {
  readonly module: LazModule;
  /** Nobody knows its state any more: the next one gets another. */
  forget(): void;
}

let loading: Promise<LazLibrary> | undefined;

export function loadLaz(): Promise<LazLibrary> {
  loading ??= make().catch((cause: unknown) => {
    loading = undefined;
    throw new Unsupported("the LAZ library (laz-perf) cannot be loaded", { cause });
  });
  return loading;
}

async function make(): Promise<LazLibrary> {
  const loaded = (await import("laz-perf")) as unknown as { create?: Create; default?: { create: Create } };
  const create = loaded.create ?? loaded.default!.create;
  const module = await withoutHandlers(() => create({ print() {}, printErr() {} }));
  return {
    module,
    forget() {
      loading = undefined;
    },
  };
}

type Create = (options: object) => Promise<LazModule>;

/** In Node it listens to errors of the whole process, which are none of its business. */
function withoutHandlers<T>(work: () => T): T {
  const host = (globalThis as { process?: NodeJS.Process }).process;
  if (typeof host?.listeners !== "function") return work();
  const events = ["uncaughtException", "unhandledRejection"] as const;
  const before = events.map((event) => host.listeners(event as "uncaughtException"));
  try {
    return work();
  } finally {
    for (const [i, event] of events.entries())
      for (const listener of host.listeners(event as "uncaughtException"))
        if (!before[i]!.includes(listener)) host.removeListener(event, listener);
  }
}
