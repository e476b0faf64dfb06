/**
 * Slices that a worker cuts: it reads, decodes and paints (`reportSlices`), and this thread keeps the pictures that it is handed
 * (`RemoteSlices`). A picture that has changed is sent again, whole; what has not is named.
 */

import type { Channel } from "../../worker/channel.js";
import { type Entry, Timeline } from "../engine/timeline.js";
import type { View } from "../engine/view.js";
import type { PlacedSlice, SliceEngine, SliceEngineOptions, SliceLook, SliceStatus } from "./engine.js";
import type { SliceStreamer, VolumeAbout } from "./streamer.js";

/** What the worker tells. */
export interface SliceNews {
  readonly status: SliceStatus;
  readonly range: readonly [number, number];
  readonly entries: readonly Entry[];
  /** The pictures there are now, by their numbers. */
  readonly shown: readonly number[];
  /** Those that are new or have changed. */
  readonly changed: readonly PlacedSlice[];
}

/** What the worker does for the page. */
export type SliceWorkerSide = {
  look(view: View): Promise<void>;
  set(change: SliceLook): void;
};

/** What has changed since the last time, with buffers of its own. */
export function sliceReports(): (engine: SliceEngine) => SliceNews {
  let told = new Map<number, number>();
  let entries = 0;
  return (engine) => {
    const slices = engine.slices();
    const changed = slices.filter(({ id, changes }) => told.get(id) !== changes);
    told = new Map(slices.map(({ id, changes }) => [id, changes]));
    const news = {
      status: engine.status(),
      range: engine.range,
      entries: engine.timeline.entries(entries),
      shown: slices.map(({ id }) => id),
      changed: changed.map((slice) => ({ ...slice, pixels: slice.pixels.slice() })),
    };
    entries = engine.timeline.count;
    return news;
  };
}

export class RemoteSlices implements SliceStreamer {
  readonly about: VolumeAbout;
  readonly timeline = new Timeline();
  readonly #options: SliceEngineOptions;
  readonly #channel: Channel<SliceWorkerSide>;
  readonly #end: () => void;
  #range: readonly [number, number] = [0, 1];
  #status: SliceStatus = { loading: true, level: undefined, bricks: 0, bytes: 0, missing: 0 };
  #slices: readonly PlacedSlice[] = [];
  #wanted = "";
  #looking: Promise<void> = Promise.resolve();
  #looks = 0; // that are not answered yet
  #disposed = false;

  constructor(about: VolumeAbout, options: SliceEngineOptions, channel: Channel<SliceWorkerSide>, end: () => void) {
    this.about = about;
    this.#options = options;
    this.#channel = channel;
    this.#end = end;
  }

  get range(): readonly [number, number] {
    return this.#range;
  }

  slices(): readonly PlacedSlice[] {
    return this.#slices;
  }

  status(): SliceStatus {
    return { ...this.#status, loading: this.#status.loading || this.#looks > 0 };
  }

  set(change: SliceLook): void {
    this.#wanted = "";
    this.#channel.tell("set", change);
  }

  look(view: View): Promise<void> {
    const wanted = JSON.stringify(view);
    if (wanted !== this.#wanted) {
      this.#wanted = wanted;
      this.#looking = this.#ask(view);
    }
    return this.#looking;
  }

  /** What the worker tells. */
  take({ status, range, entries, shown, changed }: SliceNews): void {
    [this.#status, this.#range] = [status, range];
    this.timeline.take(entries);
    const known = new Map([...this.#slices, ...changed].map((slice) => [slice.id, slice]));
    this.#slices = shown.flatMap((id) => known.get(id) ?? []);
    this.#options.onChange?.();
  }

  dispose(): void {
    this.#disposed = true;
    this.#slices = [];
    this.#end();
  }

  async #ask(view: View): Promise<void> {
    this.#looks++;
    try {
      await this.#channel.call("look", view);
    } catch (error) {
      if (!this.#disposed) throw error;
    } finally {
      this.#looks--;
      if (!this.#disposed) this.#options.onChange?.();
    }
  }
}
