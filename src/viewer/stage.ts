/** A canvas with a camera around the data, and layers in it; drawn when something has changed, and not else. */
import { OrthographicCamera, PerspectiveCamera, Scene, WebGLRenderer } from "three";
import { InvalidInput } from "../errors.js";
import type { Dataset } from "../model/dataset.js";
import { type Bounds, basisOf, type Camera, distanceOf, FIELD, fitted, type Vector } from "../scene/camera.js";
import { isCategorical } from "../scene/colouring.js";
import { kindStepsOf, stepsOf } from "../scene/palette.js";
import { shown, unitText } from "../scene/scale-bar.js";
import { onAbort } from "../signal.js";
import { controls } from "./controls.js";
import type { Status } from "./engine/engine.js";
import type { Picked } from "./engine/picked.js";
import type { Source } from "./engine/source.js";
import type { About, Streamer } from "./engine/streamer.js";
import { drawFurniture, type Meaning, overlayOn, pictureOf } from "./furniture.js";
import type { SliceStreamer, VolumeAbout } from "./slices/streamer.js";
import { boxToOwn, boxToScene, type Factor, factorOf, isLength, viewToOwn } from "./space.js";
import { stream } from "./stream.js";
import { type Look, VectorObject, type VectorObjectOptions } from "./three/object.js";
import { SliceObject, type SliceObjectLook } from "./three/slices.js";

/** What a viewer understands. */
export interface ViewerOptions extends Pick<VectorObjectOptions, "fetch" | "memory" | "onError" | "signal" | "worker"> {
  /** 0xRRGGBB; nearly black unless told. */
  readonly background?: number | undefined;
  /** Something was clicked at; undefined where nothing is. */
  readonly onPick?: ((picked: Picked | undefined, layer: VectorLayer | undefined) => void) | undefined;
  /** A layer began or ended to load, or has more to show. */
  readonly onProgress?: ((status: Status, layer: Layer) => void) | undefined;
  /** The camera moved, or something came. */
  readonly onChange?: (() => void) | undefined;
}

interface Placed {
  readonly name: string;
  /** Units of the scene in one of its own, along each axis: its places, boxes and clipping are in its own units. */
  readonly factor: Factor;
}

/** Geometry that is shown. */
export interface VectorLayer extends Placed {
  readonly kind: "vectors";
  /** What it says of itself. */
  readonly about: About;
  readonly object: VectorObject;
}

/** A volume of which slices are shown. */
export interface VolumeLayer extends Placed {
  readonly kind: "volume";
  readonly about: VolumeAbout;
  readonly object: SliceObject;
}

/** Something that is shown. */
export type Layer = VectorLayer | VolumeLayer;

/** How it looks, whatever it turns out to be. */
export type LayerLook = Look & SliceObjectLook;

/** Layers under one camera, drawn into an element. */
export class Stage {
  readonly canvas: HTMLCanvasElement;
  readonly layers: Layer[] = [];
  readonly #element: HTMLElement;
  readonly #options: ViewerOptions;
  readonly #renderer: WebGLRenderer;
  readonly #scene = new Scene();
  readonly #overlay: SVGSVGElement;
  readonly #observer: ResizeObserver;
  readonly #stop: () => void;
  #camera: Camera = { target: [0, 0, 0], azimuth: 30, elevation: 20, span: 1, perspective: true };
  #background: number;
  #unit: string | undefined;
  #clip: Bounds | undefined;
  readonly #life = new AbortController();
  #frame = 0;
  #fitted = false;
  /** What the camera was brought to by itself: it follows where that turns out to be larger, until somebody moves it. */
  #follows: Bounds | undefined;

  constructor(element: HTMLElement, options: ViewerOptions = {}) {
    this.#element = element;
    this.#options = options;
    this.#background = options.background ?? 0x10151c;
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application"); // keys belong to it
    this.canvas.setAttribute(
      "aria-label",
      "The data in space: drag to turn, shift and drag to move, wheel to come closer; keys: arrows, +, -, F, Escape",
    );
    this.canvas.style.cssText =
      "position:absolute;inset:0;width:100%;height:100%;display:block;touch-action:none;outline-offset:-2px";
    this.#overlay = overlayOn();
    if (getComputedStyle(element).position === "static") element.style.position = "relative";
    element.append(this.canvas, this.#overlay);
    this.#renderer = rendererOn(this.canvas);
    this.#observer = new ResizeObserver(() => this.redraw());
    this.#observer.observe(element);
    const letGo = controls(this.canvas, this, (error) => options.onError?.(error));
    const leave = onAbort(options.signal, () => this.dispose());
    this.#stop = () => {
      letGo();
      leave();
    };
  }

  get camera(): Camera {
    return this.#camera;
  }

  set camera(camera: Camera) {
    this.#camera = { ...camera, elevation: Math.max(-90, Math.min(90, camera.elevation)) };
    this.#fitted = true;
    this.#follows = undefined;
    this.redraw();
  }

  set background(colour: number) {
    this.#background = colour;
    for (const { kind, object } of this.layers) if (kind === "vectors") object.background = colour;
    this.redraw();
  }

  /** In which camera, bounds and clipping are: of the first layer that has a unit of length, unless it was set before. */
  get unit(): string | undefined {
    return this.#unit;
  }
  set unit(unit: string | undefined) {
    if (this.layers.length > 0) throw new InvalidInput("the unit of a scene is set before its first layer");
    this.#unit = isLength(unit) ? unit : undefined;
  }

  /** The unit of the scale bar: of no length, where nobody has one. */
  get barUnit(): string | undefined {
    const first = this.#first();
    return this.#unit ?? (first && unitsOf(first.object.engine)[0]);
  }

  /** Nothing outside of it is shown, of any layer. */
  get clip(): Bounds | undefined {
    return this.#clip;
  }
  set clip(clip: Bounds | undefined) {
    this.#clip = clip;
    for (const { object, factor } of this.layers) object.set({ clip: clip && boxToOwn(clip, factor) });
    this.redraw();
  }

  /**
   * Shows an address or files, read in a worker, or a dataset that is open, read in this thread. The first one is brought into
   * view, unless the camera was set.
   */
  async add(source: Source | Dataset, name = nameOf(source), look: LayerLook = {}): Promise<Layer> {
    const { fetch, memory, onError, worker } = this.#options;
    let layer: Layer | undefined;
    const options = {
      ...look,
      fetch,
      memory,
      worker,
      onError,
      signal: this.#life.signal,
      onChange: () => this.redraw(),
      onProgress: (status: Status) => {
        if (layer !== undefined) this.#options.onProgress?.(status, layer);
        this.#options.onChange?.();
      },
    };
    const engine = await stream(source, options);
    const units = unitsOf(engine);
    if (isLength(units[0])) this.#unit ??= units[0];
    const placed = { name, factor: factorOf(units, this.#unit) };
    layer =
      "slices" in engine
        ? { ...placed, kind: "volume", about: engine.about, object: new SliceObject(engine, look) }
        : { ...placed, kind: "vectors", about: engine.about, object: new VectorObject(engine, options) };
    if (layer.kind === "vectors") layer.object.background = this.#background;
    layer.object.scale.set(...placed.factor);
    if (this.#clip !== undefined && look.clip === undefined)
      layer.object.set({ clip: boxToOwn(this.#clip, placed.factor) });
    this.layers.push(layer);
    this.#scene.add(layer.object);
    if (!this.#fitted) this.#follow();
    this.redraw();
    return layer;
  }

  /** Takes a layer out, and gives back what it held. */
  remove(layer: Layer): void {
    const at = this.layers.indexOf(layer);
    if (at < 0) throw new InvalidInput(`there is no such layer: ${layer.name}`);
    this.layers.splice(at, 1);
    layer.object.dispose();
    if (this.layers.length === 0) [this.#unit, this.#clip] = [undefined, undefined];
    this.redraw();
  }

  /** What all layers fill. */
  bounds(): Bounds {
    const boxes = this.layers.map(({ object, factor }) => boxToScene(object.bounds, factor));
    const side = (corner: "min" | "max", pick: (...values: number[]) => number): Vector =>
      [0, 1, 2].map((k) => pick(...boxes.map((box) => box[corner][k]!))) as unknown as Vector;
    return boxes.length === 0
      ? { min: [0, 0, 0], max: [1, 1, 1] }
      : { min: side("min", Math.min), max: side("max", Math.max) };
  }

  /** Brings everything, or what these bounds hold, into view, from these angles or from where it is seen now. */
  fit(azimuth = this.#camera.azimuth, elevation = this.#camera.elevation, bounds = this.bounds()): void {
    const { width, height } = this.#size();
    this.camera = fitted(bounds, azimuth, elevation, width / height, this.#camera.perspective);
  }

  /** Comes closer (below 1) or goes away; not beyond what numbers can tell apart, nor to where the data are less than a pixel. */
  zoom(by: number): void {
    const { min, max } = this.bounds();
    const far = Math.max(...min.map(Math.abs), ...max.map(Math.abs));
    const size = Math.hypot(...[0, 1, 2].map((k) => max[k]! - min[k]!)) || far || 1;
    const [closest, farthest] = [1e-9 * Math.max(size, far), 1000 * size];
    const { span } = this.#camera;
    const wanted = Math.max(closest, Math.min(farthest, span * by));
    // A camera that is beyond may come back.
    if (wanted < span === by < 1) this.camera = { ...this.#camera, span: wanted };
  }

  /** What is at a place of the element, in pixels; the topmost layer first. */
  async pick(x: number, y: number): Promise<Picked | undefined> {
    for (const layer of [...this.layers].reverse()) {
      if (layer.kind !== "vectors") continue;
      const picked = await layer.object.pick(x, y);
      if (picked === undefined) continue;
      this.choose(picked, layer);
      return picked;
    }
    this.choose(undefined, undefined);
    return undefined;
  }

  /** Highlights what was picked or found, and nothing else; `onPick` is told. */
  choose(picked: Picked | undefined, layer: VectorLayer | undefined): void {
    for (const { kind, object } of this.layers) {
      if (kind !== "vectors") continue;
      const highlight = object === layer?.object ? (picked?.id ?? picked?.position) : undefined;
      if (object.look.highlight !== highlight) object.set({ highlight });
    }
    this.#options.onPick?.(picked, layer);
  }

  /** The picture as it is, with its axes, its scale bar and what its colours mean, as a PNG file. */
  async screenshot(): Promise<Blob> {
    this.#draw();
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [this.canvas.width, this.canvas.height];
    const context = copy.getContext("2d")!;
    context.drawImage(this.canvas, 0, 0);
    const meanings = this.layers.flatMap((layer) =>
      layer.kind === "vectors" && layer.object.visible ? (meaningOf(layer) ?? []) : [],
    );
    const over = await pictureOf(this.#overlay, { ...this.#size(), background: this.#background, meanings });
    context.drawImage(over, 0, 0, copy.width, copy.height);
    return new Promise((resolve, reject) => {
      copy.toBlob((blob) => (blob === null ? reject(new InvalidInput("the canvas is empty")) : resolve(blob)));
    });
  }

  /** Draws once more, with the next frame. */
  redraw(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  /** Ends every request, and gives back all that the viewer holds. */
  dispose(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = -1;
    this.#life.abort();
    this.#observer.disconnect();
    this.#stop();
    for (const { object } of this.layers.splice(0)) object.dispose();
    this.#renderer.dispose();
    this.#renderer.forceContextLoss(); // browsers have few contexts, and free those that nobody holds late
    this.canvas.remove();
    this.#overlay.remove();
  }

  #size(): { width: number; height: number } {
    const { clientWidth, clientHeight } = this.#element;
    return { width: Math.max(1, clientWidth), height: Math.max(1, clientHeight) };
  }

  #follow(): void {
    this.fit();
    this.#follows = this.bounds();
  }

  #draw(): void {
    const { width, height } = this.#size();
    const { min, max } = this.bounds();
    if (this.#follows !== undefined && JSON.stringify(this.#follows) !== JSON.stringify({ min, max })) this.#follow();
    this.#frame = 0;
    const size = Math.hypot(...[0, 1, 2].map((k) => max[k]! - min[k]!)) || 1;
    this.#renderer.setPixelRatio(Math.min(2, globalThis.devicePixelRatio || 1));
    this.#renderer.setSize(width, height, false);
    this.#renderer.setClearColor(this.#background);
    for (const { object, factor } of this.layers)
      if (object.visible)
        void object.lookWith({
          ...viewToOwn({ camera: this.#camera, width, height }, factor),
          clip: object.look.clip,
        });
    this.#renderer.render(this.#scene, threeCamera(this.#camera, width / height, size));
    this.#furnish(width, height);
    this.#options.onChange?.();
  }

  /** Whose axes are named: the first of geometry, else the first. */
  #first(): Layer | undefined {
    return this.layers.find(({ kind }) => kind === "vectors") ?? this.layers[0];
  }

  #furnish(width: number, height: number): void {
    const first = this.#first();
    const axes = first?.kind === "vectors" ? first.object.engine.axes.map((axis) => first.about.axes[axis]?.name) : [];
    drawFurniture(this.#overlay, {
      camera: this.#camera,
      width,
      height,
      background: this.#background,
      axes,
      bar: first && { unit: this.barUnit },
    });
  }
}

/** A name for people: the last part of an address, or what was dropped. */
export function nameOf(source: Source | Dataset): string {
  if (typeof source !== "string" && "files" in source) return source.name;
  const url = typeof source === "string" ? source : source.url;
  const last = url.replace(/\/+$/, "").split("/").at(-1) || url;
  try {
    return decodeURIComponent(last);
  } catch {
    return last; // a stray %
  }
}

function meaningOf({ object }: VectorLayer): Meaning | undefined {
  const { colouring, legend } = object.engine;
  if (colouring.by !== "attribute") return undefined;
  const { name, unit } = colouring.info;
  const title = unit === undefined ? name : `${name} (${unitText(unit)})`;
  if (isCategorical(colouring)) {
    const steps = kindStepsOf(object.look.palette);
    const colours = [...legend.kinds.values()].map((number) => steps[number]!);
    return { title, colours, texts: [...legend.kinds.keys()], numbers: false };
  }
  const [low, high] = object.look.range ?? [legend.low, legend.high];
  if (!(low <= high)) return undefined;
  const steps = stepsOf(object.palette);
  const colours = Array.from({ length: 50 }, (_, i) => steps[Math.round((i * 255) / 49)]!);
  return { title, colours, texts: [shown(low), shown(high)], numbers: true };
}

/** Of its axes of space; a volume has one for all. */
const unitsOf = (engine: Streamer | SliceStreamer): (string | undefined)[] =>
  "slices" in engine ? [engine.about.unit] : engine.axes.map((axis) => engine.about.axes[axis]?.unit);

function rendererOn(canvas: HTMLCanvasElement): WebGLRenderer {
  try {
    return new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
  } catch (cause) {
    throw new InvalidInput("this browser has no WebGL 2, which the viewer draws with", { cause });
  }
}

/** The same camera, as three.js has it. */
function threeCamera(camera: Camera, aspect: number, size: number): PerspectiveCamera | OrthographicCamera {
  const { up, back } = basisOf(camera);
  const distance = camera.perspective ? distanceOf(camera) : 2 * (size + camera.span);
  const half = camera.span / 2;
  const own = camera.perspective
    ? new PerspectiveCamera(FIELD, aspect, distance / 64, distance + 2 * size + camera.span)
    : new OrthographicCamera(-half * aspect, half * aspect, half, -half, 0, 2 * distance);
  own.up.set(...up);
  own.position.set(...([0, 1, 2].map((k) => camera.target[k]! + back[k]! * distance) as [number, number, number]));
  own.lookAt(...camera.target);
  return own;
}
