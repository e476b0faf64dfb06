/**
 * Slices of a volume, streamed: a camera and planes in, pictures in space out. It knows neither a screen nor a library that draws.
 *
 * A look first reads what the planes go through of the coarsest level, then, nearest to the middle of the picture first, what the
 * view sees of the level whose voxels are about a pixel. Bricks that a later look has no use for are cancelled, those that it has
 * use for go on; decoded bricks stay until memory is full, the longest unused first to go, so that a plane moves inside of its
 * chunks without a request. A brick that is damaged is told, once, and what is coarser is seen in its place.
 */
import { forEachConcurrent } from "../../model/concurrent.js";
import { strides } from "../../model/region.js";
import type { Bounds, Vector } from "../../scene/camera.js";
import {
  type Brick,
  cornersOf,
  type Painter,
  type Plane,
  paintBrick,
  painterOf,
  rangeOf,
  type Slice,
  valuesOf,
} from "../../scene/slice.js";
import { channelAxis, type Volume, type VolumeLevel } from "../../scene/volume.js";
import { onAbort } from "../../signal.js";
import { soonOf } from "../engine/soon.js";
import type { Traffic } from "../engine/source.js";
import { Timeline } from "../engine/timeline.js";
import { sightOf, type View } from "../engine/view.js";
import { type Cell, type Planned, planned } from "./plan.js";
import { aboutVolume, type SliceStreamer, type VolumeAbout } from "./streamer.js";

/** How slices look; all of it can be changed later with `set`. */
export interface SliceLook {
  /** Through the middle, one across each axis, unless told. */
  readonly planes?: readonly Plane[] | undefined;
  /** The values that are black and white; what nearly all voxels lie between, unless told. */
  readonly range?: readonly [number, number] | undefined;
  /** Of amounts: from black to white unless told. */
  readonly palette?: string | undefined;
  /** Whether values are names of things; the volume says so unless told. */
  readonly labels?: boolean | undefined;
  /** Of volumes with several: 0 unless told. */
  readonly channel?: number | undefined;
}

/** What a slice engine understands. */
export interface SliceEngineOptions extends SliceLook {
  /** Bytes of decoded bricks that are kept: 256 MiB unless told. */
  readonly memory?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Other pictures are to be drawn: ask `slices`. */
  readonly onChange?: (() => void) | undefined;
  /** A brick is damaged or cannot be reached; the others are shown. */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** How far it is. */
export interface SliceStatus {
  readonly loading: boolean;
  /** The finest level that is shown; undefined where none is. */
  readonly level: number | undefined;
  readonly bricks: number;
  readonly bytes: number;
  readonly missing: number;
  /** What was asked for over the network, where somebody counts. */
  readonly traffic?: Traffic | undefined;
}

/** A picture in space, and how often it has changed. */
export interface PlacedSlice extends Slice {
  /** The same as long as it is a picture of the same voxels. */
  readonly id: number;
  readonly corners: readonly Vector[];
  readonly changes: number;
}

interface Picture extends PlacedSlice {
  changes: number;
  /** To be drawn from the beginning. */
  stale: boolean;
}

const MEMORY = 256 << 20;
const TOGETHER = 16;

export class SliceEngine implements SliceStreamer {
  readonly volume: Volume;
  readonly about: VolumeAbout;
  readonly timeline = new Timeline();
  readonly #traffic: Traffic | undefined;
  #options: SliceEngineOptions;
  readonly #bricks = new Map<string, Brick>();
  readonly #underWay = new Map<string, { readonly work: AbortController; readonly done: Promise<void> }>();
  readonly #damaged = new Map<string, Error>();
  #wanted = new Set<string>();
  #pictures: Picture[] = [];
  #asked = "";
  #running: Promise<void> = Promise.resolve();
  #turn = 0;
  #last = 0; // picture
  #loading = false;
  #bytes = 0;
  #natural: readonly [number, number] | undefined;
  readonly #changed = soonOf(() => this.#options.onChange?.());
  readonly #leave: () => void;

  constructor(volume: Volume, options: SliceEngineOptions = {}, traffic?: Traffic) {
    this.volume = volume;
    this.#traffic = traffic;
    this.about = aboutVolume(volume);
    this.#options = options;
    this.#leave = onAbort(options.signal, () => this.dispose());
  }

  get bounds(): Bounds {
    return this.volume.bounds;
  }
  get labels(): boolean {
    return this.#options.labels ?? this.volume.labels;
  }
  get planes(): readonly Plane[] {
    const { min, max } = this.bounds;
    const { planes } = this.#options;
    // They may come from the address of a page.
    if (planes !== undefined) return planes.filter(({ axis, position }) => axis in min && Number.isFinite(position));
    return ([0, 1, 2] as const).map((axis) => ({ axis, position: (min[axis] + max[axis]) / 2 }));
  }
  /** The values that are black and white; what nearly all voxels lie between, once there are some. */
  get range(): readonly [number, number] {
    return this.#options.range ?? this.#natural ?? [0, 1];
  }

  /** Other planes, other colours; planes are read with the next look. */
  set(change: SliceLook): void {
    const before = this.labels;
    this.#options = { ...this.#options, ...change };
    if ("channel" in change || this.labels !== before) this.#forget();
    for (const picture of this.#pictures) picture.stale = true;
    this.#asked = "";
    this.#changed.soon();
  }

  /** Reads what this view needs; resolves when it is there, or when another look took its place. */
  look(view: View): Promise<void> {
    const asked = JSON.stringify([view, this.planes]);
    if (asked === this.#asked) return this.#running;
    this.#asked = asked;
    const { levels } = this.volume;
    const sight = sightOf(view);
    const memory = (this.#options.memory ?? MEMORY) / 2;
    const plans = this.planes.flatMap((plane) => {
      const plan = planned(levels, plane, sight, memory / this.planes.length);
      return plan === undefined ? [] : [{ plane, plan }];
    });
    const cells = [
      ...this.#coarse(
        plans.map(({ plane }) => plane),
        view,
      ),
      ...interleaved(plans.map(({ plan }) => plan)),
    ];
    this.#wanted = new Set(cells.map(({ key }) => key));
    for (const [key, { work }] of this.#underWay) if (!this.#wanted.has(key)) work.abort();
    this.#frame(plans);
    this.#running = this.#read(cells, ++this.#turn);
    return this.#running;
  }

  /** The pictures as they are now. */
  slices(): readonly PlacedSlice[] {
    const painter = painterOf({ ...this.#options, labels: this.labels, low: this.range[0], high: this.range[1] });
    for (const picture of this.#pictures) if (picture.stale) this.#repaint(picture, painter);
    return this.#pictures;
  }

  status(): SliceStatus {
    const levels = this.#pictures.map(({ level }) => level);
    return {
      loading: this.#loading,
      level: levels.length === 0 ? undefined : Math.min(...levels),
      bricks: this.#bricks.size,
      bytes: this.#bytes,
      missing: this.#damaged.size,
      traffic: this.#traffic,
    };
  }

  dispose(): void {
    this.#turn++;
    this.#leave();
    this.#changed.cancel();
    this.#forget();
    this.#pictures = [];
  }

  #forget(): void {
    for (const { work } of this.#underWay.values()) work.abort();
    this.#underWay.clear();
    this.#bricks.clear();
    this.#damaged.clear();
    [this.#bytes, this.#natural] = [0, undefined];
  }

  /** What the planes go through of the coarsest level, all of it, where it is not too much. */
  #coarse(planes: readonly Plane[], { clip: _, ...view }: View): Cell[] {
    const { levels, bounds } = this.volume;
    const everything = sightOf({ ...view, camera: { ...view.camera, ...whole(bounds) } });
    return planes.flatMap((plane) => {
      const plan = planned(levels.slice(-1), plane, everything, MEMORY / 16);
      const level = levels.length - 1;
      return (plan?.cells ?? []).map(({ cell }) => ({ level, cell, key: `${level}/${cell.join(",")}` }));
    });
  }

  /** Pictures for these planes: those that are the same as before stay. */
  #frame(plans: readonly { readonly plane: Plane; readonly plan: Planned }[]): void {
    const before = new Map(this.#pictures.map((own) => [keyOf(own), own]));
    this.#pictures = plans.map(({ plane, plan: { level, from, to } }) => {
      const [width, height] = [to[0] - from[0], to[1] - from[1]];
      const known = before.get(keyOf({ plane, level, from, width, height }));
      if (known !== undefined) return known;
      const slice = { plane, level, from, width, height, pixels: new Uint8Array(4 * width * height) };
      const corners = cornersOf(slice, this.volume.levels[level]!);
      return { ...slice, id: ++this.#last, corners, changes: 0, stale: true };
    });
  }

  async #read(cells: readonly Cell[], turn: number): Promise<void> {
    this.#loading = true;
    this.#changed.now();
    const mine = (function* (engine: SliceEngine): Generator<Cell> {
      for (const cell of cells) if (engine.#turn === turn) yield cell;
    })(this);
    await forEachConcurrent(mine, TOGETHER, (cell) => this.#brick(cell));
    if (this.#turn !== turn) return;
    this.#loading = false;
    this.#evict();
    this.#changed.now();
  }

  /** Makes it so that a brick is there; one that is under way already is waited for. */
  async #brick(cell: Cell): Promise<void> {
    const { key } = cell;
    const known = this.#bricks.get(key);
    if (known !== undefined) {
      this.#bricks.delete(key); // the map is in the order of use
      this.#bricks.set(key, known);
      return;
    }
    if (this.#damaged.has(key)) return;
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) await underWay.done;
    if (underWay !== undefined && !underWay.work.signal.aborted) return;
    const work = new AbortController();
    const done = this.#fetch(cell, work.signal).finally(() => {
      if (this.#underWay.get(key)?.work === work) this.#underWay.delete(key);
    });
    this.#underWay.set(key, { work, done });
    await done;
  }

  async #fetch({ level, cell, key }: Cell, signal: AbortSignal): Promise<void> {
    const own = this.volume.levels[level]!;
    this.timeline.add("read", { level, chunks: 1 });
    try {
      const brick = await readBrick(own, level, cell, { ...this.#options, labels: this.labels, signal });
      if (signal.aborted) return;
      this.#bricks.set(key, brick);
      this.#bytes += brick.values.byteLength;
      this.timeline.add("piece", { level, bytes: this.#bytes });
      this.#arrived(brick);
    } catch (error) {
      if (signal.aborted) return;
      const told = error instanceof Error ? error : new Error(String(error));
      this.#damaged.set(key, told);
      this.timeline.add("error", { level });
      this.#options.onError?.(told);
    }
  }

  #arrived(brick: Brick): void {
    if (this.#natural === undefined && this.#options.range === undefined && !this.labels) this.#measure();
    const painter = painterOf({ ...this.#options, labels: this.labels, low: this.range[0], high: this.range[1] });
    for (const picture of this.#pictures) {
      if (picture.stale) continue;
      // A coarse one that comes late would cover finer ones.
      if (brick.level > picture.level) picture.stale = true;
      else if (brick.level === picture.level) this.#paint(picture, brick, painter);
    }
    this.#changed.soon();
  }

  /** The natural range is that of the first look's coarse bricks, once all of them are there. */
  #measure(): void {
    const coarsest = this.volume.levels.length - 1;
    const keys = [...this.#wanted].filter((key) => key.startsWith(`${coarsest}/`));
    const bricks = keys.flatMap((key) => this.#bricks.get(key) ?? []);
    const missing = keys.filter((key) => !this.#bricks.has(key) && !this.#damaged.has(key));
    const range = rangeOf(bricks.length > 0 ? bricks : [...this.#bricks.values()]);
    if (missing.length === 0) this.#natural = range;
    for (const picture of this.#pictures) picture.stale = true;
  }

  #paint(picture: Picture, brick: Brick, painter: Painter): void {
    paintBrick(picture, brick, this.volume.levels, painter);
    picture.changes++;
  }

  /** From the coarsest level to its own. */
  #repaint(picture: Picture, painter: Painter): void {
    picture.pixels.fill(0);
    picture.stale = false;
    picture.changes++;
    for (let level = this.volume.levels.length - 1; level >= picture.level; level--) {
      for (const brick of this.#bricks.values())
        if (brick.level === level) paintBrick(picture, brick, this.volume.levels, painter);
    }
  }

  #evict(): void {
    for (const [key, { values }] of this.#bricks) {
      if (this.#bytes <= (this.#options.memory ?? MEMORY)) break;
      if (this.#wanted.has(key)) continue;
      this.#bricks.delete(key);
      this.#bytes -= values.byteLength;
      this.timeline.add("drop", { bytes: this.#bytes });
    }
  }
}

const keyOf = ({ plane, level, from, width, height }: Omit<Slice, "pixels">): string =>
  JSON.stringify([plane, level, from, width, height]);

/** A camera far enough away to see all. */
function whole({ min, max }: Bounds): { readonly target: Vector; readonly span: number } {
  const target: Vector = [0, 1, 2].map((k) => (min[k]! + max[k]!) / 2) as never;
  return { target, span: 4 * Math.hypot(...[0, 1, 2].map((k) => max[k]! - min[k]!)) };
}

/** One of each in turn, so that all planes come at the same time; what two have is there once. */
function interleaved(plans: readonly Planned[]): Cell[] {
  const cells = new Map<string, Cell>();
  for (let i = 0; plans.some(({ cells }) => i < cells.length); i++)
    for (const { cells: own } of plans) if (i < own.length) cells.set(own[i]!.key, own[i]!);
  return [...cells.values()];
}

async function readBrick(
  { array, axes, brick, shape }: VolumeLevel,
  level: number,
  cell: Vector,
  { channel = 0, signal, labels }: SliceEngineOptions & { readonly labels: boolean },
): Promise<Brick> {
  const start = cell.map((at, k) => at * brick[k]!) as unknown as Vector;
  const size = start.map((from, k) => Math.min(brick[k]!, shape[k]! - from)) as unknown as Vector;
  const other = channelAxis(array, axes);
  const region = array.shape.map((_, axis) => {
    const k = axes.indexOf(axis);
    const from = k >= 0 ? start[k]! : axis === other ? channel : 0;
    return { start: from, stop: from + (k >= 0 ? size[k]! : 1) };
  });
  const read = await array.read(region, { signal });
  const steps = strides(read.shape);
  return {
    level,
    start,
    shape: size,
    values: valuesOf(read, labels),
    strides: axes.map((axis) => steps[axis] ?? 0) as unknown as Vector,
  };
}
