/** A dataset as an object of three.js: it streams what its camera sees, and draws it. */
import {
  type Matrix4,
  Object3D,
  OrthographicCamera,
  PerspectiveCamera,
  type ShaderMaterial,
  type Camera as ThreeCamera,
  Vector3,
} from "three";
import { InvalidInput } from "../../errors.js";
import type { VectorDataset } from "../../model/vectors.js";
import { type Bounds, FIELD, middle, type Vector } from "../../scene/camera.js";
import { isCategorical } from "../../scene/colouring.js";
import { kindPalettes, kindStepsOf, paletteNamed, paletteOn, stepsOf } from "../../scene/palette.js";
import { buffersOf, type Drawing } from "../engine/drawing.js";
import type { Filter } from "../engine/engine.js";
import { drawnPlace } from "../engine/highlight.js";
import type { Step } from "../engine/packing.js";
import type { Picked } from "../engine/picked.js";
import type { Source } from "../engine/source.js";
import { LocalStreamer, type Streamer } from "../engine/streamer.js";
import type { View } from "../engine/view.js";
import { type StreamOptions, stream } from "../stream.js";
import { type BoxLines, boxLines } from "./boxes.js";
import { type Drawn, drawnOf, highlightOf } from "./drawn.js";
import { materialFor, paletteTexture } from "./materials.js";

/** How it looks; all of it can be changed later with `set`. */
export interface Look {
  /** The diameter of points and the width of lines, in pixels: 2 unless told. */
  readonly mark?: number | undefined;
  readonly opacity?: number | undefined;
  /** "#ff8800", "orientation", "object" or an attribute. */
  readonly color?: string | undefined;
  /** Of numbers "viridis", "inferno" …; of kinds of things "bold", "soft" or "safe". */
  readonly palette?: string | undefined;
  /** The values at the ends of the palette; those of the data unless told. */
  readonly range?: readonly [number, number] | undefined;
  /** The share of objects that is shown, chosen at random and always the same. */
  readonly subset?: number | undefined;
  /** Nothing outside of it is shown; in units of the data. */
  readonly clip?: Bounds | undefined;
  readonly filter?: Filter | undefined;
  /** Vertices per pixel. */
  readonly detail?: number | undefined;
  /** Whether the boxes of chunks, or of the nodes of an octree, are drawn around what is shown of them. */
  readonly boxes?: boolean | undefined;
  /** An object by its id, or a place, that is drawn over the others in a colour of its own. */
  readonly highlight?: bigint | Vector | undefined;
}

/** What an object understands besides. */
export interface VectorObjectOptions extends Look, Omit<StreamOptions, "color" | "filter" | "detail"> {
  /** Called by `pick`. */
  readonly onPick?: ((picked: Picked | undefined) => void) | undefined;
}

const REACH = 6; // pixels
const WIDER = 4; // pixels that what is highlighted has more
const UPLOAD = 8 << 20; // bytes that go to the graphics card with one frame

/** Add it to a scene, and call `update` whenever the camera has moved. Its units are those of the data. */
export class VectorObject extends Object3D {
  /** Where the data come from. */
  readonly engine: Streamer;
  readonly #options: VectorObjectOptions;
  readonly #material: ShaderMaterial;
  readonly #drawn = new Map<number, Drawn>();
  readonly #waiting: Step[] = [];
  #look: Look;
  #boxes: BoxLines | undefined;
  #highlight: readonly Drawn[] = [];
  #boxed = false; // what is drawn has its boxes, or they are on their way
  #palette = "";
  #background: number | undefined;
  #shared: { readonly asked: string; readonly share: number } | undefined;
  #view: View | undefined;
  #disposed = false;

  /** Of a dataset that is open: it is read in this thread. `VectorObject.open` reads in a worker. */
  constructor(data: VectorDataset | Streamer, options: VectorObjectOptions = {}) {
    super();
    this.#options = options;
    this.#look = lookOf(options);
    this.engine = "look" in data ? data : new LocalStreamer(data, options);
    this.#material = materialFor(this.engine.form);
    this.set(options.highlight === undefined ? {} : { highlight: options.highlight });
  }

  /** Of an address or of files: they are opened, read and decoded in a worker. */
  static async open(source: Source | VectorDataset, options: VectorObjectOptions = {}): Promise<VectorObject> {
    const engine = await stream(source, options);
    if ("look" in engine && "form" in engine) return new VectorObject(engine, options);
    engine.dispose();
    throw new InvalidInput(`${engine.about.url} is a volume, which a SliceObject shows`);
  }

  get look(): Look {
    return this.#look;
  }

  /** What it fills, in units of the data. */
  get bounds(): Bounds {
    return this.engine.bounds;
  }

  /** Changes how it looks; what is not named stays. */
  set(change: Look): void {
    this.#look = { ...this.#look, ...change };
    const { color, filter, detail, opacity = 1, mark = 2, subset = 1 } = this.#look;
    if ("color" in change || "filter" in change) this.engine.set({ color, filter, detail });
    else if ("detail" in change) this.engine.set({ detail });
    const { uniforms } = this.#material;
    uniforms.opacity!.value = opacity;
    uniforms.mark!.value = mark;
    uniforms.subset!.value = subset;
    this.#material.transparent = opacity < 1;
    this.#material.depthWrite = opacity >= 1;
    if ("highlight" in change) this.#mark(change.highlight);
    this.#options.onChange?.();
  }

  /** Draws what has come, and asks for what this camera sees; `height` and `width` are pixels of the screen. */
  update(camera: ThreeCamera, width: number, height: number): Promise<void> {
    this.updateWorldMatrix(true, false);
    const view = viewOf(camera, this.engine.bounds, width, height, this.#look.clip, this.matrixWorld);
    return this.lookWith(view);
  }

  /** As `update`, for who has a view already, in units of the data. */
  lookWith(view: View): Promise<void> {
    this.#view = view;
    this.#take();
    this.#drawBoxes();
    const { uniforms } = this.#material;
    const { legend, colouring } = this.engine;
    const kinds = isCategorical(colouring);
    this.#setPalette(kinds);
    const [low, high] = kinds ? [0, 255] : (this.#look.range ?? [legend.low, legend.high]);
    uniforms.low!.value = Number.isFinite(low) ? low : 0;
    uniforms.high!.value = Number.isFinite(high) ? high : 1;
    const { mark = 2 } = this.#look;
    for (const [i, { material }] of this.#highlight.entries()) {
      material.uniforms.mark!.value = mark;
      material.uniforms.wider!.value = WIDER * (this.#highlight.length - i);
    }
    for (const material of [this.#material, ...this.#highlight.map((own) => own.material)]) {
      material.uniforms.pixelsPerUnit!.value = view.height / view.camera.span;
      material.uniforms.screen!.value.set(view.width, view.height);
    }
    return this.engine.look(view);
  }

  /** The colours of numbers, at equal steps from the lowest to the highest. */
  get palette(): readonly number[] {
    const { palette } = this.#look;
    // What the values are is known late: until then a palette of kinds is none of numbers.
    const name = palette === undefined || Object.hasOwn(kindPalettes, palette) ? "viridis" : palette;
    return paletteOn(paletteNamed(name), this.#background);
  }

  /** What is behind it, 0xRRGGBB: palettes leave out what could not be told from it. All of them is shown where nobody says it. */
  set background(colour: number | undefined) {
    this.#background = colour;
  }

  /** Of kinds of things or of numbers, as it turns out that the values are. */
  #setPalette(kinds: boolean): void {
    const { palette } = this.#look;
    const name = `${kinds} ${palette} ${this.#background}`;
    if (this.#palette === name) return;
    this.#palette = name;
    const steps = kinds ? kindStepsOf(palette) : stepsOf(this.palette);
    const uniform = this.#material.uniforms.palette!;
    uniform.value?.dispose();
    uniform.value = paletteTexture(steps);
  }

  /** What is at this pixel, of those of the last update. */
  async pick(x: number, y: number): Promise<Picked | undefined> {
    if (this.#view === undefined || !this.visible) return undefined;
    const { subset = 1, clip, mark = 2 } = this.#look;
    const view = { ...this.#view, clip };
    const at = { view, x, y, reach: Math.max(REACH, mark), subset };
    const picked = await this.engine.pick(at).catch((error: unknown) => {
      if (!this.#disposed) throw error;
      return undefined;
    });
    this.#options.onPick?.(picked);
    return picked;
  }

  /** How much of what is drawn a random subset leaves, from 0 to 1. */
  share(): number {
    const { subset = 1 } = this.#look;
    const asked = [subset, ...this.#drawn.keys()].join();
    if (this.#shared?.asked === asked) return this.#shared.share;
    let [kept, all] = [0, 0];
    for (const { geometry } of this.#drawn.values()) {
      const { array } = geometry.getAttribute("seed");
      all += array.length;
      for (let i = 0; i < array.length; i++) if (array[i]! <= subset) kept++;
    }
    const share = all === 0 ? subset : kept / all;
    this.#shared = { asked, share };
    return share;
  }

  /** Ends every request and the worker, and gives back what it holds, also of the graphics card. */
  override dispose(): void {
    this.#disposed = true;
    this.engine.dispose();
    this.#takeBoxes(undefined);
    this.#takeHighlight([]);
    this.#waiting.length = 0;
    for (const id of [...this.#drawn.keys()]) this.#drop(id);
    this.#material.uniforms.palette!.value?.dispose();
    this.#material.dispose();
    this.removeFromParent();
  }

  /** Adds what has come, no more than a frame has time for; the rest waits for the next one. */
  #take(): void {
    this.#waiting.push(...this.engine.changes());
    for (let bytes = 0; bytes < UPLOAD; ) {
      const step = this.#waiting.shift();
      if (step === undefined) return;
      this.#boxed = false;
      if (step.add !== undefined) {
        this.#draw(step.add);
        for (const { byteLength } of buffersOf(step.add)) bytes += byteLength;
      }
      for (const id of step.drop) this.#drop(id);
    }
    if (this.#waiting.length > 0) this.#options.onChange?.();
  }

  /** Boxes follow what is drawn; old ones stay until the new ones are there. */
  #drawBoxes(): void {
    const wanted = this.#look.boxes === true;
    if (!wanted) this.#takeBoxes(undefined);
    if (!wanted || this.#boxed) return;
    this.#boxed = true;
    this.engine.boxes().then((boxes) => {
      if (this.#look.boxes !== true || this.#disposed) return;
      this.#takeBoxes(boxLines(boxes));
      this.#options.onChange?.();
    }, this.#failed);
  }

  readonly #failed = (error: Error): void => {
    if (!this.#disposed) this.#options.onError?.(error);
  };

  #takeBoxes(boxes: BoxLines | undefined): void {
    this.#boxes?.geometry.dispose();
    this.#boxes?.material.dispose();
    this.#boxes?.removeFromParent();
    this.#boxes = boxes;
    if (boxes === undefined) this.#boxed = false;
    else this.add(boxes);
  }

  #drop(id: number): void {
    const drawn = this.#drawn.get(id);
    drawn?.geometry.dispose();
    drawn?.removeFromParent();
    this.#drawn.delete(id);
  }

  #draw(drawing: Drawing): void {
    const drawn = drawnOf(drawing, this.#material, () => this.#look.clip);
    this.#drawn.set(drawing.id, drawn);
    this.add(drawn);
  }

  /** An object is read for it, and shown when it has come; a place is there at once. */
  #mark(wanted: Look["highlight"]): void {
    this.#takeHighlight([]);
    const come = (drawing: Drawing | undefined): void => {
      if (drawing === undefined || this.#disposed || this.#look.highlight !== wanted) return;
      this.#takeHighlight(highlightOf(drawing, () => this.#look.clip));
      this.#options.onChange?.();
    };
    if (typeof wanted === "bigint") this.engine.drawn(wanted).then(come, this.#failed);
    else come(wanted && drawnPlace(wanted));
  }

  #takeHighlight(highlight: readonly Drawn[]): void {
    for (const { geometry, material } of this.#highlight) {
      geometry.dispose();
      material.dispose();
    }
    this.remove(...this.#highlight);
    this.#highlight = highlight;
    if (highlight.length > 0) this.add(...highlight);
  }
}

/** What of these options says how it looks. */
function lookOf({ mark, opacity, color, palette, range, subset, clip, filter, detail, boxes, highlight }: Look): Look {
  return { mark, opacity, color, palette, range, subset, clip, filter, detail, boxes, highlight };
}

/** What a camera of three.js sees of a dataset with these bounds, whose space lies so in the world. */
export function viewOf(
  camera: ThreeCamera,
  bounds: Bounds,
  width: number,
  height: number,
  clip: Bounds | undefined,
  place?: Matrix4,
): View {
  camera.updateWorldMatrix(true, false);
  const matrix = camera.matrixWorld.clone();
  if (place !== undefined) matrix.premultiply(place.clone().invert());
  const column = (number: number): Vector3 => new Vector3().setFromMatrixColumn(matrix, number);
  const axis = (number: number): Vector => column(number).normalize().toArray();
  const basis = { right: axis(0), up: axis(1), back: axis(2) };
  const eye = new Vector3().setFromMatrixPosition(matrix);
  const towards = middle(bounds);
  const ahead = -[0, 1, 2].reduce((sum, k) => sum + (towards[k]! - eye.getComponent(k)) * basis.back[k]!, 0);
  const size = Math.hypot(...[0, 1, 2].map((k) => bounds.max[k]! - bounds.min[k]!)) || 1;
  const distance = Math.max(ahead, size * 1e-6);
  const target = [0, 1, 2].map((k) => eye.getComponent(k) - distance * basis.back[k]!) as unknown as Vector;
  const held = { azimuth: 0, elevation: 0, target };
  if (camera instanceof OrthographicCamera) {
    const span = ((camera.top - camera.bottom) / camera.zoom) * column(1).length();
    return { camera: { ...held, span, perspective: false }, basis, width, height, clip };
  }
  const field = camera instanceof PerspectiveCamera ? camera.getEffectiveFOV() : FIELD;
  const span = 2 * distance * Math.tan((field * Math.PI) / 360);
  return { camera: { ...held, span, perspective: true, field }, basis, width, height, clip };
}
