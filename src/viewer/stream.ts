/**
 * Data to be drawn, read in a worker of its own. Where a worker cannot be (a page from file://, a policy that forbids it, a program
 * without workers), all of it runs in this thread, with the same answers.
 */
import { Unsupported } from "../errors.js";
import type { Dataset } from "../model/dataset.js";
import type { Volume } from "../scene/volume.js";
import type { Fetch } from "../store/send.js";
import type { EngineOptions } from "./engine/engine.js";
import { RemoteStreamer } from "./engine/remote.js";
import type { Source, Traffic } from "./engine/source.js";
import { LocalStreamer, type Streamer } from "./engine/streamer.js";
import type { SliceStreamer } from "./slices/streamer.js";

/** How data are reached, and what whoever draws them wants to know. */
export interface StreamOptions extends EngineOptions {
  /** Asked in the page's thread, for every request; the platform's, in the worker, unless told. */
  readonly fetch?: Fetch | undefined;
  /** The worker's program, where it is not in the place that the package has it in (`dist/page/worker.js`); false: no worker. */
  readonly worker?: string | URL | false | undefined;
}

/** Opens a source where it is read. A dataset that is open already stays where it is. */
export async function stream(source: Source | Dataset, options: StreamOptions = {}): Promise<Streamer | SliceStreamer> {
  options.signal?.throwIfAborted();
  if (typeof source === "object" && "kind" in source) return local(source, options);
  const worker = options.worker === false ? undefined : await started(options.worker);
  if (worker === undefined) {
    const { openSource } = await import("./engine/source.js");
    const { dataset, traffic } = await openSource(source, options);
    return local(dataset, options, traffic);
  }
  let streamer: Streamer | SliceStreamer | undefined;
  const opening = RemoteStreamer.open(worker, absolute(source), options, () => worker.terminate());
  const died = new Promise<never>((_, reject) => {
    worker.onerror = ({ message }) => {
      const error = new Unsupported(`the worker of the viewer died: ${message || "nobody said why"}`, {
        reason: "worker-died",
      });
      if (streamer !== undefined) options.onError?.(error);
      streamer?.dispose();
      worker.terminate();
      reject(error);
    };
  });
  streamer = await Promise.race([opening, died]);
  return streamer;
}

/** An address as the page means it: a worker would take one without a scheme for a neighbour of its own program. */
function absolute(source: Source): Source {
  const isRelative = typeof source === "string" && !/^[a-z][a-z0-9+.-]*:/i.test(source);
  return isRelative ? new URL(source, globalThis.document?.baseURI ?? location.href).href : source;
}

/** Of volumes the code comes with the first of them. */
async function local(
  data: Dataset | Volume,
  options: StreamOptions,
  traffic?: Traffic,
): Promise<Streamer | SliceStreamer> {
  if (data.kind === "vectors") return new LocalStreamer(data, options, traffic);
  const [{ SliceEngine }, { volumeOf }] = await Promise.all([
    import("./slices/engine.js"),
    import("../scene/volume.js"),
  ]);
  const volume = data.kind === "volume" ? data : await volumeOf(data, { signal: options.signal });
  const { memory, signal, onChange, onError } = options;
  return new SliceEngine(volume, { memory, signal, onChange, onError }, traffic);
}

/** A worker that has said that it is there; undefined where there can be none. */
async function started(url: string | URL | undefined): Promise<Worker | undefined> {
  try {
    // Bundlers look for these words, and bring the worker along: the one of the page, which is in the package whole.
    const worker =
      url === undefined
        ? new Worker(new URL("../page/worker.js", import.meta.url), { type: "module" })
        : new Worker(url, { type: "module" });
    return await new Promise((resolve) => {
      worker.onmessage = () => resolve(worker);
      worker.onerror = (event) => {
        event.preventDefault();
        worker.terminate();
        resolve(undefined);
      };
    });
  } catch {
    return undefined;
  }
}
