/**
 * The streaming engine: a dataset and a camera in, pieces to draw out. It knows neither a screen nor a library that draws.
 *
 * | what                                 | how it is read                                                                    |
 * |--------------------------------------|-----------------------------------------------------------------------------------|
 * | chunks                               | the first picture is one coarse level as `select` answers, then what the view sees |
 * |                                      | of a finer one, chunk by chunk, nearest first (plan.ts)                            |
 * | what lies in no chunks, or of which  | as `select` answers, at the finest level whose answer keeps to the budget          |
 * | nobody knows how much it is; filters | (answer.ts), then the objects that the view sees at a finer one                    |
 *
 * A new look ends the requests that it has no use for. A chunk that is damaged is told, once, and the others are shown. What was
 * not seen for longest goes when memory is full. What was shown stays until what comes instead is there.
 *
 * Where a path goes from one chunk to the next, chunks leave out a segment, and the first picture beneath shows it. So points and
 * paths of the first picture stay beneath finer ones. What has links is complete in each chunk (linked.ts): there the finer
 * chunks stand instead of the first picture (instead.ts).
 */
import { OctavoError } from "../../errors.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { LevelSource } from "../../model/source.js";
import type { Schema, VectorDataset } from "../../model/vectors.js";
import { linkWidthOf } from "../../query/assemble.js";
import { type Bounds, middle, type Vector } from "../../scene/camera.js";
import { type Colouring, Legend, plain } from "../../scene/colouring.js";
import { attributesOf } from "../../scene/dress.js";
import { type Outline, outlineOf } from "../../scene/outline.js";
import { boundsIn, type Form, sceneOf } from "../../scene/shape.js";
import { onAbort } from "../../signal.js";
import { answerLevel } from "./answer.js";
import { boxesOnce, shownBoxes } from "./boxes.js";
import { type ChunkReading, readChunks } from "./chunks.js";
import type { Drawing } from "./drawing.js";
import { type Filter, filterIn, listed } from "./filter.js";
import { drawnObject } from "./highlight.js";
import { refining, withoutObjects } from "./instead.js";
import { Kept } from "./kept.js";
import type { EngineOptions, Status } from "./options.js";
import { type Dress, firstPlace, grown, type Piece, pieceOf } from "./piece.js";
import { type Boxes, BUDGET, levelFor, type PlannedLevel, type Sample, sampleOf, shareIn } from "./plan.js";
import { prepared } from "./prepared.js";
import { soonOf } from "./soon.js";
import { Timeline } from "./timeline.js";
import { seenOf, sightOf, type View } from "./view.js";

export type { Filter } from "./filter.js";
export type { EngineOptions, Status } from "./options.js";

const MEMORY = 256 << 20;
const TOGETHER = 1 << 16; // vertices of a piece of what is read as a whole
const MOST = 4; // times the budget, of what is read as a whole or has links: of a surface half is behind the other half
const VERTEX = 48; // bytes, about, with what joins them
const UNTOLD = 1 << 19; // vertices, where nobody says how many there are

export class Engine {
  readonly dataset: VectorDataset;
  readonly axes: readonly number[];
  readonly form: Form;
  readonly outline: Outline | undefined;
  readonly timeline = new Timeline();
  #options: EngineOptions;
  /** What the dataset says that it fills; where it does not, what has come so far. */
  #bounds: Bounds;
  readonly #unbounded: boolean;
  #schema: Schema | undefined;
  /** Of another colour or part: what was shown before, until what comes instead is there. */
  #held: { readonly pieces: readonly Piece[]; readonly dress: Dress } | undefined;
  #dressed = false;
  #dress: Dress = { colouring: plain, legend: Legend.empty(), radius: undefined, outline: undefined };
  #levels: readonly PlannedLevel[] = [];
  #first: PlannedLevel | undefined;
  readonly #boxesOf: (level: number, signal: AbortSignal) => Promise<Boxes>;
  readonly #pieces = new Kept();
  readonly #damaged = new Map<string, Error>();
  #sample: Sample = new Float64Array();
  #base: readonly string[] = [];
  #detail: readonly string[] = [];
  /** The last detail that was complete: it stays until the next one is. */
  #shown: readonly string[] = [];
  #work = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #wanted = "";
  #loading = false;
  #truncated = false;
  /** Of what is read as a whole: the budget and the level; and of which part a finer one was asked for last. */
  #answer: { readonly most: number; readonly level: number } | undefined;
  #finer = "";
  /** What is drawn where finer pieces stand instead of coarse ones. */
  #drawn: readonly Piece[] | undefined;
  readonly #refine = refining();
  /** How often something was read as a whole. */
  #reads = 0;
  readonly #changed = soonOf(() => {
    this.#options.onChange?.();
    this.#options.onProgress?.(this.status());
  });
  readonly #leave: () => void;
  readonly #handed: (() => Promise<void>) | undefined;

  /** `handed` resolves when whoever draws has what there is. */
  constructor(dataset: VectorDataset, options: EngineOptions = {}, handed?: () => Promise<void>) {
    this.dataset = dataset;
    this.#handed = handed;
    this.#options = { ...options, filter: listed(options.filter) };
    this.outline = outlineOf(dataset);
    ({ axes: this.axes, bounds: this.#bounds, form: this.form } = sceneOf(dataset, this.outline));
    // A format may give the box of the centres of ellipsoids.
    this.#unbounded = boundsIn(dataset.bounds, this.axes) === undefined || this.outline === "ellipsoids";
    this.#boxesOf = boxesOnce(dataset, this.axes);
    this.#leave = onAbort(options.signal, () => this.dispose());
  }

  get bounds(): Bounds {
    return this.#bounds;
  }
  get colouring(): Colouring {
    return (this.#held?.dress ?? this.#dress).colouring;
  }
  get legend(): Legend {
    return (this.#held?.dress ?? this.#dress).legend;
  }
  /** The attributes; undefined before the first look. */
  get schema(): Schema | undefined {
    return this.#schema;
  }

  /** What is to be drawn now. */
  pieces(): Piece[] {
    const drawn = this.#held?.pieces ?? this.#drawn;
    if (drawn !== undefined) return [...drawn];
    return this.#pieces.at([...this.#base, ...new Set([...this.#shown, ...this.#detail])]);
  }

  /** The boxes of the chunks that are shown, 6 numbers each, low corner first. */
  boxes(): Promise<Float64Array> {
    const { signal } = new AbortController(); // they are few, and the next look needs them too
    return shownBoxes(this.pieces(), (level) => this.#boxesOf(level, signal));
  }

  /** An object by itself, in the colour of what is picked. */
  async drawn(id: bigint): Promise<Drawing | undefined> {
    await this.#prepare({});
    return drawnObject(this.dataset, this.axes, id, this.#dress);
  }

  status(): Status {
    const pieces = this.pieces();
    return {
      loading: this.#loading,
      level: pieces.length === 0 ? undefined : Math.min(...pieces.map(({ level }) => level)),
      vertices: pieces.reduce((sum, { objects }) => sum + objects.length, 0),
      bytes: this.#pieces.bytes,
      missing: this.#damaged.size,
      truncated: this.#truncated,
      coarse: this.#options.filter !== undefined && (this.#answer?.level ?? 0) > (this.#levels.at(-1)?.level ?? 0),
    };
  }

  /** Other colours, another part: what is there is read anew where it must be. */
  set(change: Pick<EngineOptions, "color" | "filter" | "detail">): void {
    this.#options = { ...this.#options, ...change };
    if ("filter" in change) this.#options = { ...this.#options, filter: listed(change.filter) };
    if ("color" in change || "filter" in change) {
      this.#work.abort();
      this.#held ??= { pieces: this.pieces(), dress: this.#dress };
      this.#pieces.clear();
      this.#damaged.clear();
      [this.#base, this.#detail, this.#shown] = [[], [], []];
      this.#dressed = false;
      [this.#answer, this.#finer, this.#drawn] = [undefined, "", undefined];
    }
    this.#wanted = "";
  }

  /** Makes it so that what this view needs is there; resolves when it is, or when another look took its place. */
  look(view: View): Promise<void> {
    const wanted = JSON.stringify(view);
    if (wanted === this.#wanted) return this.#running;
    this.#wanted = wanted;
    this.#work.abort();
    this.#work = new AbortController();
    const { signal } = this.#work;
    if (this.#base.length > 0) this.#held = undefined; // who goes on sees what there is
    this.#running = this.#running
      .then(() => this.#see(view, signal))
      .catch((error: unknown) => this.#failed(error, signal));
    return this.#running;
  }

  dispose(): void {
    this.#work.abort();
    this.#leave();
    this.#changed.cancel();
    this.#pieces.clear();
    [this.#base, this.#detail, this.#shown, this.#drawn] = [[], [], [], undefined];
    this.#held = undefined;
  }

  async #see(view: View, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const budget = Math.max(20_000, view.width * view.height * (this.#options.detail ?? BUDGET));
    const room = this.#memory / 2 / VERTEX; // the first picture and the detail take half each, at most
    this.#setLoading(true);
    await this.#prepare({ signal });
    this.timeline.add("look", { vertices: Math.round(budget) });
    const source = await this.dataset.source(this.#first!.level, { signal });
    const linked = linkWidthOf(source) > 0;
    const untold = linked && this.#levels.some(({ vertices }) => vertices === 0);
    if (this.#options.filter !== undefined || source.scattered === true || untold)
      await this.#seeWhole(view, Math.min(budget * MOST, room), signal);
    else await this.#seeChunks(view, linked ? Math.min(budget * MOST, room) : budget, linked, signal);
    if (!signal.aborted) this.#release();
    this.#setLoading(false);
  }

  async #prepare(options: ReadOptions): Promise<void> {
    if (this.#dressed) return;
    const known = await prepared(this.dataset, this.#options.color, this.#schema, options);
    ({ levels: this.#levels, first: this.#first, schema: this.#schema, dress: this.#dress } = known);
    this.#dressed = true;
  }

  /** Chunk by chunk: first the coarse level, all of it, then what is seen of a finer one. */
  async #seeChunks(view: View, budget: number, linked: boolean, signal: AbortSignal): Promise<void> {
    const first = this.#first!;
    const isFirst = this.#base.length === 0;
    if (isFirst)
      await this.#seeFirst(first, linked && this.#levels.length === 1 ? budget : first.vertices || UNTOLD, signal);
    if (linked) this.#drawn ??= this.#refine(this.#pieces.at(this.#base), [], undefined);
    if (isFirst) {
      this.#changed.now(); // it is seen before anything finer is asked for
      await this.#handed?.();
    }
    if (this.#sample.length === 0) this.#sample = sampleOf(this.#pieces.at(this.#base));
    const sight = sightOf(view);
    const boxesOf = (level: number) => this.#boxesOf(level, signal);
    const chosen = await levelFor(sight, this.#levels, first, this.#sample, budget, boxesOf);
    if (signal.aborted) return;
    this.#detail = chosen?.chunks.map((chunk) => `${chosen.level}/${chunk}`) ?? [];
    if (chosen !== undefined) await this.#fetch(chosen.level, this.#detail, signal);
    if (signal.aborted) return;
    const boxes = chosen && linked ? await boxesOf(chosen.level) : undefined;
    if (linked) this.#drawn = this.#refine(this.#pieces.at(this.#base), this.#pieces.at(this.#detail), boxes);
    this.#shown = this.#detail;
    this.#evict();
    this.#changed.now();
  }

  /** The first picture, with what joins its chunks; chunk by chunk where one of them is damaged. */
  async #seeFirst({ level }: PlannedLevel, most: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#readWhole(level, most, signal);
    } catch (error) {
      if (signal.aborted || !(error instanceof OctavoError)) throw error;
      const { count } = await this.#boxesOf(level, signal);
      this.#base = Array.from({ length: count }, (_, chunk) => `${level}/${chunk}`);
      await this.#fetch(level, this.#base, signal);
    }
  }

  /** As one answer, at the finest level at which it is not too much; of that what the view sees, at a finer one. */
  async #seeWhole(view: View, most: number, signal: AbortSignal): Promise<void> {
    const { filter = {} } = this.#options;
    if (this.#answer?.most !== most) {
      const level = await this.#levelFor(filter, most, 1, signal);
      if (level !== this.#answer?.level || this.#truncated) await this.#readWhole(level, most, signal);
      if (signal.aborted) return;
      this.#answer = { most, level };
    }
    await this.#seeFiner(view, most, this.#answer.level, signal);
    this.#evict();
    this.#changed.now();
  }

  /** Objects are shown at one level: those that touch what is seen at a finer one, where that is not too much. */
  async #seeFiner(view: View, most: number, coarse: number, signal: AbortSignal): Promise<void> {
    const { filter = {} } = this.#options;
    const seen = seenOf(sightOf(view), this.bounds);
    // What is cut, or counted, is another answer in a part of space.
    const part = (filter.clip ?? false) === false && filter.limit === undefined && coarse > this.#levels.at(-1)!.level;
    const query = seen && part ? filterIn(filter, seen, this.axes, this.dataset.axes.length) : undefined;
    const asked = JSON.stringify([query?.box, most]);
    if (asked === this.#finer) return;
    const base = this.#pieces.at(this.#base);
    const level = query && (await this.#levelFor(query, most, shareIn(sampleOf(base), seen!), signal));
    const pieces: Piece[] = [];
    if (level !== undefined && level < coarse)
      for await (const piece of this.#answered(level, query!, signal)) pieces.push(piece);
    if (signal.aborted) return;
    this.#pieces.drop(this.#detail);
    for (const piece of pieces) this.#put(piece);
    this.#detail = this.#shown = pieces.map(({ key }) => key);
    this.#drawn = pieces.length === 0 ? undefined : [...withoutObjects(base, pieces, seen!), ...pieces];
    this.#finer = asked;
  }

  #levelFor(query: Filter, most: number, share: number, signal: AbortSignal): Promise<number> {
    const asked = { dataset: this.dataset, levels: this.#levels, most };
    return answerLevel(asked, query, share, { signal });
  }

  /** All that the filter leaves, instead of what was there before. */
  async #readWhole(level: number, most: number, signal: AbortSignal): Promise<void> {
    const keys: string[] = [];
    let [vertices, truncated] = [0, false];
    try {
      for await (const piece of this.#answered(level, this.#options.filter ?? {}, signal)) {
        this.#put(piece);
        keys.push(piece.key);
        vertices += piece.objects.length;
        truncated = vertices > 2 * most;
        if (truncated) break;
      }
    } catch (error) {
      this.#pieces.drop(keys);
      throw error;
    }
    this.#pieces.drop([...this.#base, ...this.#detail]);
    [this.#detail, this.#shown, this.#drawn, this.#finer] = [[], [], undefined, ""];
    [this.#base, this.#truncated] = [keys, truncated];
    this.#changed.now();
  }

  async *#answered(level: number, query: Filter, signal: AbortSignal): AsyncGenerator<Piece> {
    const attributes = attributesOf(this.#dress);
    const selection = this.dataset.select({ ...query, level });
    const read = ++this.#reads;
    let count = 0;
    for await (const batch of selection.batches({ signal, attributes, batchVertices: TOGETHER })) {
      const unknown = this.#unbounded && count === 0 && this.#base.length === 0;
      const origin = unknown ? firstPlace(batch, this.axes) : middle(this.bounds);
      yield pieceOf(`${level}/whole/${read}/${count++}`, batch, this.axes, origin, this.#dress);
    }
  }

  /** The pieces of these chunks that are not there yet, shown as they come. */
  async #fetch(level: number, keys: readonly string[], signal: AbortSignal): Promise<void> {
    const missing = keys.filter((key) => !this.#pieces.has(key) && !this.#damaged.has(key));
    this.#pieces.touch(keys);
    const chunks = missing.map((key) => Number(key.slice(key.indexOf("/") + 1)));
    if (chunks.length === 0) return this.#changed.now();
    const source = await this.dataset.source(level, { signal });
    await this.#read(source, chunks, signal);
  }

  async #read(source: LevelSource, chunks: readonly number[], signal: AbortSignal): Promise<void> {
    const { level } = source;
    const { boxes } = await this.#boxesOf(level, signal);
    const reading: ChunkReading = {
      source,
      dress: this.#dress,
      signal,
      asks: (count) => this.timeline.add("read", { level, chunks: count }),
      takes: ({ chunk, batch, places }) => {
        const corner = [...boxes.subarray(6 * chunk, 6 * chunk + 3)];
        const origin = corner.every(Number.isFinite) ? (corner as unknown as Vector) : middle(this.bounds);
        this.#put(pieceOf(`${level}/${chunk}`, batch, this.axes, origin, this.#dress, chunk, places));
        this.#changed.soon();
      },
      fails: (chunk, error) => {
        this.#damaged.set(`${level}/${chunk}`, error);
        this.timeline.add("error", { level });
        this.#options.onError?.(error);
      },
    };
    await readChunks(reading, chunks);
  }

  #put(piece: Piece): void {
    if (this.#unbounded) this.#bounds = grown(this.#pieces.size === 0 ? undefined : this.#bounds, piece);
    this.#pieces.put(piece);
    this.timeline.add("piece", { level: piece.level, vertices: piece.objects.length, bytes: this.#pieces.bytes });
  }

  get #memory(): number {
    return this.#options.memory ?? MEMORY;
  }

  #evict(): void {
    const needed = new Set([...this.#base, ...this.#detail, ...this.#shown]);
    for (const bytes of this.#pieces.evict(this.#memory, needed)) this.timeline.add("drop", { bytes: -bytes });
  }

  #setLoading(loading: boolean): void {
    this.#loading = loading;
    this.#options.onProgress?.(this.status());
  }

  #release(): void {
    if (this.#held === undefined) return;
    this.#held = undefined;
    this.#changed.now();
  }

  #failed(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#release();
    this.#setLoading(false);
    this.#options.onError?.(error instanceof Error ? error : new Error(String(error)));
  }
}
