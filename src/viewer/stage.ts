/** A canvas with a camera around the data, and layers in it; drawn when something has changed, and not else. */
import { OrthographicCamera, PerspectiveCamera, Scene, WebGLRenderer } from "three";
import { InvalidInput } from "../errors.js";
import type { Dataset } from "../model/dataset.js";
import { type Bounds, basisOf, type Camera, distanceOf, FIELD, fitted, type Vector } from "../scene/camera.js";
import { cssOf } from "../scene/palette.js";
import { scaleBarOf } from "../scene/scale-bar.js";
import { onAbort } from "../signal.js";
import { measureOf } from "../space/units.js";
import { controls } from "./controls.js";
import type { Status } from "./engine/engine.js";
import type { Picked } from "./engine/picked.js";
import type { Source } from "./engine/source.js";
import type { About } from "./engine/streamer.js";
import type { VolumeAbout } from "./slices/streamer.js";
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

/** Geometry that is shown. */
export interface VectorLayer {
  readonly kind: "vectors";
  readonly name: string;
  /** What it says of itself. */
  readonly about: About;
  readonly object: VectorObject;
}

/** A volume of which slices are shown. */
export interface VolumeLayer {
  readonly kind: "volume";
  readonly name: string;
  readonly about: VolumeAbout;
  readonly object: SliceObject;
}

/** Something that is shown. */
export type Layer = VectorLayer | VolumeLayer;

/** How it looks, whatever it turns out to be. */
export type LayerLook = Look & SliceObjectLook;

const SVG = "http://www.w3.org/2000/svg";
const AXES = [
  ["x", "#e0564f"],
  ["y", "#57b35a"],
  ["z", "#5b8def"],
] as const;

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
    this.#overlay = document.createElementNS(SVG, "svg");
    this.#overlay.setAttribute("aria-hidden", "true");
    this.#overlay.style.cssText =
      "position:absolute;inset:0;width:100%;height:100%;pointer-events:none;font:12px system-ui,sans-serif";
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
    layer =
      "slices" in engine
        ? { kind: "volume", name, about: engine.about, object: new SliceObject(engine, look) }
        : { kind: "vectors", name, about: engine.about, object: new VectorObject(engine, options) };
    this.layers.push(layer);
    this.#scene.add(layer.object);
    this.#measure();
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
    this.redraw();
  }

  /** Volumes are brought to the unit of the first geometry: what is given in nanometres may lie behind what is in micrometres. */
  #measure(): void {
    const own = measureOf(unitOf(this.#first()));
    for (const { kind, about, object } of this.layers)
      if (kind === "volume") {
        const measure = measureOf(about.unit);
        object.factor = own === undefined || measure?.unit !== own.unit ? 1 : measure.scale / own.scale;
      }
  }

  /** The layer whose space it is: the first of geometry, else the first. */
  #first(): Layer | undefined {
    return this.layers.find(({ kind }) => kind === "vectors") ?? this.layers[0];
  }

  /** What all layers fill. */
  bounds(): Bounds {
    const boxes = this.layers.map(({ object }) => object.bounds);
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

  /** The picture as it is, with its axes and scale bar, as a PNG file. */
  async screenshot(): Promise<Blob> {
    this.#draw();
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [this.canvas.width, this.canvas.height];
    const context = copy.getContext("2d")!;
    context.drawImage(this.canvas, 0, 0);
    context.drawImage(await imageOf(this.#overlay, this.#size()), 0, 0, copy.width, copy.height);
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
    for (const { object } of this.layers)
      if (object.visible) void object.lookWith({ camera: this.#camera, width, height, clip: object.look.clip });
    this.#renderer.render(this.#scene, threeCamera(this.#camera, width / height, size));
    this.#furnish(width, height);
    this.#options.onChange?.();
  }

  /** Axes and a scale bar; with perspective that is true around the target. */
  #furnish(width: number, height: number): void {
    const { right, up } = basisOf(this.#camera);
    const first = this.#first();
    const unit = unitOf(first);
    const dark = ((this.#background >> 8) & 255) < 128;
    const ink = cssOf(dark ? 0xd5dbe3 : 0x2a3038);
    const parts: SVGElement[] = [];
    const line = (x1: number, y1: number, x2: number, y2: number, stroke: string): void => {
      parts.push(svg("line", { x1, y1, x2, y2, stroke, "stroke-width": 2, "stroke-linecap": "round" }));
    };
    const text = (x: number, y: number, words: string, fill: string): void => {
      const node = svg("text", { x, y, fill });
      node.textContent = words;
      parts.push(node);
    };
    const [cx, cy, reach] = [46, height - 46, 26];
    for (const [k, [name, colour]] of AXES.entries()) {
      const [dx, dy] = [right[k]! * reach, -up[k]! * reach];
      line(cx, cy, cx + dx, cy + dy, colour);
      text(
        cx + dx * 1.35 - 3,
        cy + dy * 1.35 + 4,
        (first?.kind === "vectors" && first.about.axes[first.object.engine.axes[k] ?? -1]?.name) || name,
        colour,
      );
    }
    const bar = scaleBarOf(height / this.#camera.span, Math.min(200, width / 4), unit);
    if (bar !== undefined && first !== undefined) {
      const [x, y] = [100, height - 26];
      line(x, y, x + bar.pixels, y, ink);
      for (const end of [x, x + bar.pixels]) line(end, y - 5, end, y, ink);
      text(x, y - 10, this.#camera.perspective ? `${bar.text} at the centre` : bar.text, ink);
    }
    this.#overlay.replaceChildren(...parts);
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

const unitOf = (layer: Layer | undefined): string | undefined =>
  layer?.kind === "vectors" ? layer.about.axes[layer.object.engine.axes[0] ?? 0]?.unit : layer?.about.unit;

/** What is drawn over the canvas, as a picture of its own. */
async function imageOf(overlay: SVGSVGElement, { width, height }: { width: number; height: number }) {
  const copy = overlay.cloneNode(true) as SVGSVGElement;
  for (const [name, value] of [["xmlns", SVG] as const, ["width", width] as const, ["height", height] as const])
    copy.setAttribute(name, String(value));
  const image = new Image(width, height);
  image.src = `data:image/svg+xml,${encodeURIComponent(copy.outerHTML)}`;
  await image.decode();
  return image;
}

function svg(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  return node;
}

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
