/** A dataset as an object of three.js: it streams what its camera sees, and draws it. */
import {
  BufferAttribute,
  BufferGeometry,
  InstancedBufferAttribute,
  InstancedBufferGeometry,
  Mesh,
  Object3D,
  OrthographicCamera,
  PerspectiveCamera,
  Points,
  type ShaderMaterial,
  type Camera as ThreeCamera,
  Vector3,
} from "three";
import type { VectorDataset } from "../../model/vectors.js";
import { type Bounds, FIELD, lensOf, middle, type Vector } from "../../scene/camera.js";
import { paletteNamed } from "../../scene/palette.js";
import { type Drawing, drawingOf } from "../engine/drawing.js";
import { Engine, type EngineOptions, type Filter } from "../engine/engine.js";
import { hitAt } from "../engine/pick.js";
import { type Picked, pickedOf } from "../engine/picked.js";
import type { View } from "../engine/view.js";
import { materialFor, paletteTexture } from "./materials.js";

/** How it looks; all of it can be changed later with `set`. */
export interface Look {
  /** The diameter of points and the width of lines, in pixels: 2 unless told. */
  readonly mark?: number | undefined;
  readonly opacity?: number | undefined;
  /** "#ff8800", "orientation", "object" or an attribute. */
  readonly color?: string | undefined;
  readonly palette?: string | undefined;
  /** The values at the ends of the palette; those of the data unless told. */
  readonly range?: readonly [number, number] | undefined;
  /** The share of objects that is shown, chosen at random and always the same. */
  readonly subset?: number | undefined;
  /** Nothing outside of it is shown. */
  readonly clip?: Bounds | undefined;
  readonly filter?: Filter | undefined;
  /** Vertices per pixel. */
  readonly detail?: number | undefined;
}

/** What an object understands besides. */
export interface VectorObjectOptions extends Look, Omit<EngineOptions, "color" | "filter" | "detail"> {
  /** Called by `pick`. */
  readonly onPick?: ((picked: Picked | undefined) => void) | undefined;
}

const REACH = 6; // pixels

/** Add it to a scene, and call `update` whenever the camera has moved. Its units are those of the data. */
export class VectorObject extends Object3D {
  readonly engine: Engine;
  readonly #options: VectorObjectOptions;
  #look: Look;
  #drawn: Mesh | Points | undefined;
  #drawing: Drawing | undefined;
  readonly #material: ShaderMaterial;
  #stale = false;
  #view: View | undefined;

  constructor(dataset: VectorDataset, options: VectorObjectOptions = {}) {
    super();
    this.#options = options;
    this.#look = options;
    this.engine = new Engine(dataset, {
      ...options,
      onChange: () => {
        this.#stale = true;
        options.onChange?.();
      },
    });
    this.#material = materialFor(this.engine.form, paletteNamed(options.palette ?? "viridis"));
    this.set({});
  }

  get look(): Look {
    return this.#look;
  }

  /** Bounds in the space of the scene. */
  get bounds(): Bounds {
    return this.engine.bounds;
  }

  /** Changes how it looks; what is not named stays. */
  set(change: Look): void {
    this.#look = { ...this.#look, ...change };
    const { color, filter, detail, palette, opacity = 1, mark = 2, subset = 1 } = this.#look;
    if ("color" in change || "filter" in change) this.engine.set({ color, filter, detail });
    else if ("detail" in change) this.engine.set({ detail });
    const { uniforms } = this.#material;
    if ("palette" in change) {
      uniforms.palette!.value.dispose();
      uniforms.palette!.value = paletteTexture(paletteNamed(palette ?? "viridis"));
    }
    uniforms.opacity!.value = opacity;
    uniforms.mark!.value = mark;
    uniforms.subset!.value = subset;
    this.#material.transparent = opacity < 1;
    this.#material.depthWrite = opacity >= 1;
    this.#clip();
    this.#options.onChange?.();
  }

  /** Draws what has come, and asks for what this camera sees; `height` and `width` are pixels of the screen. */
  update(camera: ThreeCamera, width: number, height: number): Promise<void> {
    const view = viewOf(camera, this.engine.bounds, width, height, this.#look.clip);
    return this.lookWith(view);
  }

  /** As `update`, for who has a view already. */
  lookWith(view: View): Promise<void> {
    this.#view = view;
    if (this.#stale) this.#redraw(view.camera.target);
    const { uniforms } = this.#material;
    const { legend } = this.engine;
    const [low, high] = this.#look.range ?? [legend.low, legend.high];
    uniforms.low!.value = Number.isFinite(low) ? low : 0;
    uniforms.high!.value = Number.isFinite(high) ? high : 1;
    uniforms.pixelsPerUnit!.value = view.height / view.camera.span;
    uniforms.screen!.value.set(view.width, view.height);
    return this.engine.look(view);
  }

  /** What is at this pixel, of those of the last update. */
  async pick(x: number, y: number): Promise<Picked | undefined> {
    if (this.#view === undefined || this.#drawing === undefined || !this.visible) return undefined;
    const { camera, width, height, basis } = this.#view;
    const { seeds, positions, origin } = this.#drawing;
    const { subset = 1, clip, mark = 2 } = this.#look;
    const hidden = (v: number): boolean =>
      seeds[v]! > subset ||
      (clip !== undefined &&
        [0, 1, 2].some((k) => {
          const at = positions[3 * v + k]! + origin[k]!;
          return at < clip.min[k]! || at > clip.max[k]!;
        }));
    const hit = hitAt(this.#drawing, lensOf(camera, width, height, basis), x, y, Math.max(REACH, mark), hidden);
    const picked = hit && (await pickedOf(this.engine.dataset, hit));
    this.#options.onPick?.(picked);
    return picked;
  }

  override dispose(): void {
    this.engine.dispose();
    this.#drop();
    this.#material.uniforms.palette!.value.dispose();
    this.#material.dispose();
    this.removeFromParent();
  }

  #drop(): void {
    this.#drawn?.geometry.dispose();
    this.#drawn?.removeFromParent();
    this.#drawn = undefined;
  }

  #redraw(target: Vector): void {
    this.#stale = false;
    this.#drop();
    const drawing = drawingOf(this.engine.form, this.engine.pieces(), target);
    this.#drawing = drawing;
    this.#material.uniforms.direct!.value = drawing.direct ? 1 : 0;
    const drawn =
      drawing.form === "points"
        ? new Points(pointsOf(drawing), this.#material)
        : new Mesh(facesOf(drawing), this.#material);
    drawn.position.set(...target);
    drawn.frustumCulled = false;
    this.#drawn = drawn;
    this.add(drawn);
    this.#clip();
  }

  /** The box, relative to the origin of what is drawn. */
  #clip(): void {
    const { clip } = this.#look;
    const origin = this.#drawing?.origin ?? [0, 0, 0];
    const { clipMin, clipMax } = this.#material.uniforms;
    for (const [uniform, corner] of [
      [clipMin, clip?.min],
      [clipMax, clip?.max],
    ] as const) {
      const far = uniform === clipMin ? -3.4e38 : 3.4e38;
      uniform!.value.set(
        ...([0, 1, 2].map((k) => (corner === undefined ? far : corner[k]! - origin[k]!)) as [number, number, number]),
      );
    }
  }
}

function pointsOf({ positions, values, seeds, radii }: Drawing): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(positions, 3));
  geometry.setAttribute("value", new BufferAttribute(values, 1));
  geometry.setAttribute("seed", new BufferAttribute(seeds, 1));
  geometry.setAttribute("radius", new BufferAttribute(radii, 1));
  return geometry;
}

function facesOf(drawing: Drawing): BufferGeometry {
  if (drawing.form === "lines") return linesOf(drawing);
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(drawing.positions, 3));
  geometry.setAttribute("normal", new BufferAttribute(drawing.normals!, 3));
  geometry.setAttribute("value", new BufferAttribute(drawing.values, 1));
  geometry.setAttribute("seed", new BufferAttribute(drawing.seeds, 1));
  geometry.setIndex(new BufferAttribute(drawing.index, 1));
  return geometry;
}

function linesOf({ positions, index, values, seeds, radii }: Drawing): InstancedBufferGeometry {
  const count = index.length / 2;
  const [from, to] = [new Float32Array(3 * count), new Float32Array(3 * count)];
  const [value, radius, seed] = [new Float32Array(2 * count), new Float32Array(2 * count), new Float32Array(count)];
  for (let line = 0; line < count; line++) {
    const [a, b] = [index[2 * line]!, index[2 * line + 1]!];
    for (let k = 0; k < 3; k++) {
      from[3 * line + k] = positions[3 * a + k]!;
      to[3 * line + k] = positions[3 * b + k]!;
    }
    value[2 * line] = values[a]!;
    value[2 * line + 1] = values[b]!;
    radius[2 * line] = radii[a]!;
    radius[2 * line + 1] = radii[b]!;
    seed[line] = seeds[a]!;
  }
  const geometry = new InstancedBufferGeometry();
  geometry.instanceCount = count;
  geometry.setAttribute("corner", new BufferAttribute(Float32Array.of(0, -1, 1, -1, 1, 1, 0, 1), 2));
  geometry.setIndex([0, 1, 2, 0, 2, 3]);
  geometry.setAttribute("from", new InstancedBufferAttribute(from, 3));
  geometry.setAttribute("to", new InstancedBufferAttribute(to, 3));
  geometry.setAttribute("lineValue", new InstancedBufferAttribute(value, 2));
  geometry.setAttribute("lineRadius", new InstancedBufferAttribute(radius, 2));
  geometry.setAttribute("seed", new InstancedBufferAttribute(seed, 1));
  return geometry;
}

/** What a camera of three.js sees of a dataset with these bounds. */
export function viewOf(
  camera: ThreeCamera,
  bounds: Bounds,
  width: number,
  height: number,
  clip: Bounds | undefined,
): View {
  camera.updateMatrixWorld();
  const axis = (column: number): Vector => {
    const vector = new Vector3().setFromMatrixColumn(camera.matrixWorld, column).normalize();
    return [vector.x, vector.y, vector.z];
  };
  const basis = { right: axis(0), up: axis(1), back: axis(2) };
  const eye = new Vector3().setFromMatrixPosition(camera.matrixWorld);
  const towards = middle(bounds);
  const ahead = -[0, 1, 2].reduce((sum, k) => sum + (towards[k]! - eye.getComponent(k)) * basis.back[k]!, 0);
  const size = Math.hypot(...[0, 1, 2].map((k) => bounds.max[k]! - bounds.min[k]!)) || 1;
  const distance = Math.max(ahead, size * 1e-6);
  const target = [0, 1, 2].map((k) => eye.getComponent(k) - distance * basis.back[k]!) as unknown as Vector;
  const held = { azimuth: 0, elevation: 0, target };
  if (camera instanceof OrthographicCamera) {
    const span = (camera.top - camera.bottom) / camera.zoom;
    return { camera: { ...held, span, perspective: false }, basis, width, height, clip };
  }
  const field = camera instanceof PerspectiveCamera ? camera.getEffectiveFOV() : FIELD;
  const span = 2 * distance * Math.tan((field * Math.PI) / 360);
  return { camera: { ...held, span, perspective: true, field }, basis, width, height, clip };
}
