/**
 * A dataset as whoever draws it sees it, wherever it is read: in this thread (`LocalStreamer`: an engine beside the dataset) or in
 * a worker (`RemoteStreamer`, which has a LocalStreamer on its other side). Both answer the same.
 */
import type { Query, Schema, VectorDataset } from "../../model/vectors.js";
import type { Bounds } from "../../scene/camera.js";
import type { Colouring, Legend } from "../../scene/colouring.js";
import { type Outline, outlineOf } from "../../scene/outline.js";
import type { Form } from "../../scene/shape.js";
import { onAbort } from "../../signal.js";
import { levelsWith } from "./answer.js";
import type { Drawing } from "./drawing.js";
import { Engine, type EngineOptions, type Filter, type Status } from "./engine.js";
import { exported } from "./exported.js";
import { type Found, foundObject, type NamedGroup, namedGroups } from "./found.js";
import { packing, type Step } from "./packing.js";
import { hitAt, type Pointed } from "./pick.js";
import { type Picked, pickedOf } from "./picked.js";
import type { Traffic } from "./source.js";
import type { Timeline } from "./timeline.js";
import type { View } from "./view.js";

/** What a dataset says of itself. */
export interface About
  extends Pick<VectorDataset, "format" | "version" | "url" | "geometries" | "axes" | "bounds" | "levels" | "notes"> {
  /** Annotations that are drawn as what they are. */
  readonly outline: Outline | undefined;
}

/** What of the data is shown, and in which colours. */
export type Change = Pick<EngineOptions, "color" | "filter" | "detail">;

/** A part of a dataset as a file. */
export interface Exported {
  /** The kind of file, such as "trk". */
  readonly as: string;
  readonly query: Filter;
}

/** Streams a dataset to whoever draws it. */
export interface Streamer {
  readonly about: About;
  /** Which axes of the data are x, y and z. */
  readonly axes: readonly number[];
  /** What the data fill; where they do not say so, what has come so far. */
  readonly bounds: Bounds;
  readonly form: Form;
  readonly colouring: Colouring;
  readonly legend: Legend;
  /** The attributes; undefined before the first look. */
  readonly schema: Schema | undefined;
  readonly timeline: Timeline;
  /** How far it is. */
  status(): Status;
  /** What is to be drawn besides and no longer, since this was last asked, in this order. */
  changes(): Step[];
  /** Other colours, another part. */
  set(change: Change): void;
  /** Makes it so that what this view needs is there; resolves when it is, or when another look took its place. */
  look(view: View): Promise<void>;
  /** The boxes of the chunks that are shown, 6 numbers each, low corner first. */
  boxes(): Promise<Float64Array>;
  /** What somebody pointed at. */
  pick(at: Pointed): Promise<Picked | undefined>;
  /** Rejects with what is wrong with a condition; it may be about attributes that only some levels have. */
  check(where: string): Promise<void>;
  /** The groups of objects that there are. */
  groups(): Promise<readonly NamedGroup[]>;
  /** An object by its id; undefined where there is none. */
  find(id: bigint): Promise<Found | undefined>;
  /** An object by itself, in the colour of what is picked; undefined where there is none. */
  drawn(id: bigint): Promise<Drawing | undefined>;
  /** A part of the data as a file of this kind. */
  exported(what: Exported): Promise<Uint8Array>;
  /** Ends every request, and gives back all that it holds. */
  dispose(): void;
}

export class LocalStreamer implements Streamer {
  readonly about: About;
  readonly #engine: Engine;
  readonly #options: EngineOptions;
  readonly #traffic: Traffic | undefined;
  readonly #step = packing();
  readonly #changes: Step[] = [];
  readonly #leave: () => void;
  #packing: Promise<void> | undefined;
  #disposed = false;

  /** `drawn` resolves when whoever draws has drawn what it was told of. */
  constructor(dataset: VectorDataset, options: EngineOptions = {}, traffic?: Traffic, drawn?: () => Promise<void>) {
    const { format, version, url, geometries, axes, bounds, levels, notes } = dataset;
    const outline = outlineOf(dataset);
    this.about = { format, version, url, geometries, axes, bounds, levels, notes, outline };
    this.#options = options;
    this.#traffic = traffic;
    this.#engine = new Engine(
      dataset,
      { ...options, signal: undefined, onChange: () => this.#pack(), onProgress: () => this.#progress() },
      async () => {
        await this.#packing;
        await drawn?.();
      },
    );
    this.#leave = onAbort(options.signal, () => this.dispose());
  }

  get axes(): readonly number[] {
    return this.#engine.axes;
  }
  get bounds(): Bounds {
    return this.#engine.bounds;
  }
  get form(): Form {
    return this.#engine.form;
  }
  get colouring(): Colouring {
    return this.#engine.colouring;
  }
  get legend(): Legend {
    return this.#engine.legend;
  }
  get schema(): Schema | undefined {
    return this.#engine.schema;
  }
  get timeline(): Timeline {
    return this.#engine.timeline;
  }

  status(): Status {
    const status = this.#engine.status();
    return { ...status, loading: status.loading || this.#packing !== undefined, traffic: this.#traffic };
  }

  changes(): Step[] {
    return this.#changes.splice(0);
  }

  set(change: Change): void {
    this.#engine.set(change);
    this.#pack();
  }

  async look(view: View): Promise<void> {
    await this.#engine.look(view);
    await this.#packing;
  }

  boxes(): Promise<Float64Array> {
    return this.#engine.boxes();
  }

  async pick(at: Pointed): Promise<Picked | undefined> {
    const hit = hitAt(this.#engine.pieces(), at);
    return hit && (await pickedOf(this.#engine.dataset, hit));
  }

  async check(where: string): Promise<void> {
    const { dataset } = this.#engine;
    const coarseFirst = [...dataset.levels].sort((a, b) => b.level - a.level);
    await levelsWith(dataset, coarseFirst, where, {});
  }

  groups(): Promise<readonly NamedGroup[]> {
    return namedGroups(this.#engine.dataset);
  }

  find(id: bigint): Promise<Found | undefined> {
    return foundObject(this.#engine.dataset, this.#engine.axes, id);
  }

  drawn(id: bigint): Promise<Drawing | undefined> {
    return this.#engine.drawn(id);
  }

  exported({ as, query }: Exported): Promise<Uint8Array> {
    return exported(this.#engine.dataset, as, query as Query);
  }

  dispose(): void {
    this.#disposed = true;
    this.#leave();
    this.#engine.dispose();
    this.#changes.length = 0;
  }

  #progress(): void {
    if (!this.#disposed) this.#options.onProgress?.(this.status());
  }

  /** Makes the drawings of what is there now, one at a time: others have their turn in between. */
  #pack(): void {
    this.#packing ??= this.#packAll();
  }

  async #packAll(): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve));
      const step = this.#disposed ? undefined : this.#step(this.#engine.pieces());
      if (step === undefined) break;
      this.#changes.push(step);
      this.#options.onChange?.();
    }
    this.#packing = undefined;
    this.#progress();
  }
}
