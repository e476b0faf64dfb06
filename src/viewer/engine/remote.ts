/** A dataset that a worker opens, reads and decodes: this thread keeps what it is told of it, and the drawings that it is handed. */
import { InvalidInput } from "../../errors.js";
import type { Schema } from "../../model/vectors.js";
import type { Bounds } from "../../scene/camera.js";
import { type Colouring, Legend, plain } from "../../scene/colouring.js";
import { type Form, sceneOf } from "../../scene/shape.js";
import { onAbort } from "../../signal.js";
import type { Fetch } from "../../store/send.js";
import { type Channel, connect, type Port } from "../../worker/channel.js";
import { PortableError } from "../../worker/message.js";
import { RemoteSlices, type SliceWorkerSide } from "../slices/remote.js";
import type { Drawing } from "./drawing.js";
import type { EngineOptions, Status } from "./engine.js";
import { type FetchSide, fetchServer } from "./fetch-bridge.js";
import { listed } from "./filter.js";
import type { Found, NamedGroup } from "./found.js";
import type { Step } from "./packing.js";
import type { Pointed } from "./pick.js";
import type { Picked } from "./picked.js";
import type { News, PageSide, WorkerSide } from "./protocol.js";
import type { Source } from "./source.js";
import type { About, Change, Exported, Streamer } from "./streamer.js";
import { Timeline } from "./timeline.js";
import type { View } from "./view.js";

/** How the caller reaches data, and what it wants to know. */
export interface RemoteOptions extends EngineOptions {
  readonly fetch?: Fetch | undefined;
}

const FRAME = 16; // ms: looks in between are not sent

const UNSEEN = 2000; // ms after which a page that nobody looks at, which has no frames, is as good as drawn

/** After the next frame; at once where there are none. */
function framed(): Promise<void> {
  if (typeof requestAnimationFrame === "undefined") return Promise.resolve();
  return new Promise((done) => {
    const timer = setTimeout(done, UNSEEN);
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        clearTimeout(timer);
        done();
      }),
    );
  });
}

export class RemoteStreamer implements Streamer {
  readonly about: About;
  readonly axes: readonly number[];
  readonly form: Form;
  readonly timeline = new Timeline();
  readonly #options: EngineOptions;
  readonly #channel: Channel<WorkerSide>;
  readonly #end: () => void;
  #bounds: Bounds;
  #schema: Schema | undefined;
  #colouring: Colouring = plain;
  #legend: Legend = Legend.empty();
  #status: Status = {
    loading: false,
    level: undefined,
    vertices: 0,
    bytes: 0,
    missing: 0,
    truncated: false,
    coarse: false,
  };
  #changes: Step[] = [];
  #wanted = "";
  #looking: Promise<void> = Promise.resolve();
  #looks = 0; // that are not answered yet
  #sent = Number.NEGATIVE_INFINITY;
  #disposed = false;

  private constructor(about: About, options: EngineOptions, channel: Channel<WorkerSide>, end: () => void) {
    this.about = about;
    this.#options = options;
    ({ axes: this.axes, bounds: this.#bounds, form: this.form } = sceneOf(about, about.outline));
    this.#channel = channel;
    this.#end = end;
  }

  /** Has the other side of a port open a source; `end` is called when it is needed no longer. */
  static async open(
    port: Port,
    source: Source,
    options: RemoteOptions,
    end: () => void,
  ): Promise<RemoteStreamer | RemoteSlices> {
    const { fetch: own, signal, memory, color, filter, detail } = options;
    const life = new AbortController();
    let streamer: RemoteStreamer | RemoteSlices | undefined;
    const pageSide: Omit<PageSide, keyof FetchSide> = {
      news: (news) => {
        if (streamer instanceof RemoteStreamer) streamer.#take(news);
      },
      slices: (news) => {
        if (streamer instanceof RemoteSlices) streamer.take(news);
      },
      framed,
      failed: (error) => options.onError?.(PortableError.toError(error)),
    };
    const channel = connect<WorkerSide>(port, { ...pageSide, ...(own && fetchServer(own, life.signal)) });
    const close = (reason: unknown): void => {
      life.abort(reason);
      channel.close(reason);
      end();
    };
    try {
      const opened = { source, asks: own !== undefined, memory, color, filter: listed(filter), detail };
      const about = await channel.call("open", opened, { signal });
      const closed = new InvalidInput(`${about.url} was closed before this was answered`);
      const leave = onAbort(signal, () => streamer?.dispose());
      const ended = (): void => {
        leave();
        close(closed);
      };
      streamer =
        "shapes" in about
          ? new RemoteSlices(about, options, channel as unknown as Channel<SliceWorkerSide>, ended)
          : new RemoteStreamer(about, options, channel, ended);
    } catch (error) {
      close(error);
      throw error;
    }
    return streamer;
  }

  get bounds(): Bounds {
    return this.#bounds;
  }
  get colouring(): Colouring {
    return this.#colouring;
  }
  get legend(): Legend {
    return this.#legend;
  }
  get schema(): Schema | undefined {
    return this.#schema;
  }

  status(): Status {
    return { ...this.#status, loading: this.#status.loading || this.#looks > 0 };
  }

  changes(): Step[] {
    return this.#changes.splice(0);
  }

  set(change: Change): void {
    this.#wanted = "";
    this.#channel.tell("set", "filter" in change ? { ...change, filter: listed(change.filter) } : change);
  }

  look(view: View): Promise<void> {
    const wanted = JSON.stringify(view);
    if (wanted !== this.#wanted) {
      this.#wanted = wanted;
      this.#looking = this.#lookInTurn(view, wanted);
    }
    return this.#looking;
  }

  boxes(): Promise<Float64Array> {
    return this.#channel.call("boxes", undefined);
  }

  pick(at: Pointed): Promise<Picked | undefined> {
    return this.#channel.call("pick", at);
  }

  check(where: string): Promise<void> {
    return this.#channel.call("check", where);
  }

  groups(): Promise<readonly NamedGroup[]> {
    return this.#channel.call("groups", undefined);
  }

  find(id: bigint): Promise<Found | undefined> {
    return this.#channel.call("find", id);
  }

  drawn(id: bigint): Promise<Drawing | undefined> {
    return this.#channel.call("drawn", id);
  }

  exported({ as, query }: Exported): Promise<Uint8Array> {
    return this.#channel.call("exported", { as, query: listed(query) });
  }

  dispose(): void {
    this.#disposed = true;
    this.#changes = [];
    this.#end();
  }

  /** One per frame, the latest: it takes the place of those before it. */
  async #lookInTurn(view: View, wanted: string): Promise<void> {
    this.#looks++;
    const wait = this.#sent + FRAME - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    try {
      if (this.#disposed) return;
      if (this.#wanted !== wanted) return await this.#looking;
      this.#sent = performance.now();
      await this.#channel.call("look", view);
    } catch (error) {
      if (!this.#disposed) throw error;
    } finally {
      this.#looks--;
      if (!this.#disposed) this.#options.onProgress?.(this.status());
    }
  }

  #take({ status, bounds, known, legend, entries, steps }: News): void {
    this.#status = status;
    if (bounds !== undefined) this.#bounds = bounds;
    if (known !== undefined) ({ schema: this.#schema, colouring: this.#colouring } = known);
    if (legend !== undefined) this.#legend = legend;
    this.timeline.take(entries);
    this.#changes.push(...steps);
    if (steps.length > 0 || legend !== undefined) this.#options.onChange?.();
    this.#options.onProgress?.(this.status());
  }
}
