/** Slices of a volume as an object of three.js: a textured rectangle for each plane, streamed as its camera sees it. */
import {
  BufferAttribute,
  BufferGeometry,
  DataTexture,
  DoubleSide,
  Mesh,
  NearestFilter,
  Object3D,
  RGBAFormat,
  ShaderMaterial,
  type Camera as ThreeCamera,
  UnsignedByteType,
  Vector3,
} from "three";
import { InvalidInput } from "../../errors.js";
import type { Dataset } from "../../model/dataset.js";
import type { Bounds, Vector } from "../../scene/camera.js";
import type { Source } from "../engine/source.js";
import type { View } from "../engine/view.js";
import type { PlacedSlice, SliceLook } from "../slices/engine.js";
import type { SliceStreamer } from "../slices/streamer.js";
import { type StreamOptions, stream } from "../stream.js";
import { viewOf } from "./object.js";

/** How slices look; all of it can be changed later with `set`. */
export interface SliceObjectLook extends SliceLook {
  readonly opacity?: number | undefined;
  /** Nothing outside of it is shown; in units of the volume. */
  readonly clip?: Bounds | undefined;
}

/** What an object understands besides. */
export interface SliceObjectOptions
  extends SliceObjectLook,
    Pick<StreamOptions, "fetch" | "memory" | "worker" | "signal" | "onChange" | "onError"> {}

const VERTEX = /* glsl */ `
  varying vec2 at;
  varying vec3 place;
  void main() {
    at = uv;
    place = position;
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  }`;

const FRAGMENT = /* glsl */ `
  uniform sampler2D picture;
  uniform vec3 clipMin, clipMax;
  uniform float opacity;
  varying vec2 at;
  varying vec3 place;
  void main() {
    vec4 colour = texture2D(picture, at);
    if (colour.a < 0.5 || any(lessThan(place, clipMin)) || any(greaterThan(place, clipMax))) discard;
    gl_FragColor = vec4(colour.rgb, opacity);
  }`;

const FAR = 3.4e38;

interface Drawn {
  readonly mesh: Mesh<BufferGeometry, ShaderMaterial>;
  readonly texture: DataTexture;
  readonly origin: Vector;
  slice: PlacedSlice;
  changes: number;
}

/** Add it to a scene, and call `update` whenever the camera has moved. */
export class SliceObject extends Object3D {
  /** Where the pictures come from. */
  readonly engine: SliceStreamer;
  #look: SliceObjectLook;
  #drawn: Drawn[] = [];

  constructor(engine: SliceStreamer, look: SliceObjectLook = {}) {
    super();
    this.engine = engine;
    this.#look = look;
    this.set(look);
  }

  /** Of an address, of files, or of an array or group that is open. */
  static async open(source: Source | Dataset, options: SliceObjectOptions = {}): Promise<SliceObject> {
    const { fetch, memory, worker, signal, onChange, onError, ...look } = options;
    const engine = await stream(source, { fetch, memory, worker, signal, onChange, onError });
    if ("slices" in engine) return new SliceObject(engine, look);
    engine.dispose();
    throw new InvalidInput(`${engine.about.url} is geometry, which a VectorObject shows`);
  }

  get look(): SliceObjectLook {
    return this.#look;
  }

  /** What it fills, in units of the volume. */
  get bounds(): Bounds {
    return this.engine.about.bounds;
  }

  /** Changes how it looks; what is not named stays. */
  set(change: SliceObjectLook): void {
    this.#look = { ...this.#look, ...change };
    const { opacity: _, clip: __, ...slices } = change;
    if (Object.keys(slices).length > 0) this.engine.set(slices);
    for (const drawn of this.#drawn) this.#dress(drawn);
  }

  /** Draws what has come, and asks for what this camera sees; `height` and `width` are pixels of the screen. */
  update(camera: ThreeCamera, width: number, height: number): Promise<void> {
    this.updateWorldMatrix(true, false);
    return this.lookWith(viewOf(camera, this.bounds, width, height, this.#look.clip, this.matrixWorld));
  }

  /** As `update`, for who has a view already, in units of the volume. */
  lookWith(view: View): Promise<void> {
    const looked = this.engine.look(view);
    this.#draw();
    return looked;
  }

  override dispose(): void {
    this.engine.dispose();
    for (const drawn of this.#drawn.splice(0)) drop(drawn);
    this.removeFromParent();
  }

  #draw(): void {
    const slices = this.engine.slices();
    const before = this.#drawn;
    this.#drawn = slices.map((slice) => {
      const known = before.find((own) => own.slice.id === slice.id);
      if (known === undefined) return this.#made(slice);
      if (known.changes !== slice.changes || known.slice.pixels !== slice.pixels) {
        known.texture.image.data = slice.pixels;
        known.texture.needsUpdate = true;
        [known.slice, known.changes] = [slice, slice.changes];
      }
      return known;
    });
    for (const drawn of before) if (!this.#drawn.includes(drawn)) drop(drawn);
  }

  #made(slice: PlacedSlice): Drawn {
    const { width, height, pixels, corners, changes } = slice;
    const texture = new DataTexture(pixels, width, height, RGBAFormat, UnsignedByteType);
    texture.magFilter = texture.minFilter = NearestFilter; // a pixel is a voxel, also in a close look
    texture.needsUpdate = true;
    const origin = corners[0]!;
    const places = Float32Array.from(corners.flatMap((corner) => corner.map((at, k) => at - origin[k]!)));
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(places, 3));
    geometry.setAttribute("uv", new BufferAttribute(Float32Array.of(0, 0, 1, 0, 1, 1, 0, 1), 2));
    geometry.setIndex([0, 1, 2, 0, 2, 3]);
    const material = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      side: DoubleSide,
      polygonOffset: true, // what lies in the plane is seen before it
      polygonOffsetFactor: 1,
      polygonOffsetUnits: 1,
      uniforms: {
        picture: { value: texture },
        clipMin: { value: new Vector3() },
        clipMax: { value: new Vector3() },
        opacity: { value: 1 },
      },
    });
    const mesh = new Mesh(geometry, material);
    mesh.position.set(...origin);
    mesh.frustumCulled = false;
    this.add(mesh);
    const drawn = { mesh, texture, origin, slice, changes };
    this.#dress(drawn);
    return drawn;
  }

  #dress({ mesh: { material }, origin }: Drawn): void {
    const { opacity = 1, clip } = this.#look;
    material.uniforms.opacity!.value = opacity;
    material.transparent = opacity < 1;
    material.depthWrite = opacity >= 1;
    const side = (corner: Vector | undefined, far: number): Vector3 =>
      new Vector3(
        ...([0, 1, 2].map((k) => (corner === undefined ? far : corner[k]! - origin[k]!)) as unknown as Vector),
      );
    material.uniforms.clipMin!.value = side(clip?.min, -FAR);
    material.uniforms.clipMax!.value = side(clip?.max, FAR);
  }
}

function drop({ mesh, texture }: Drawn): void {
  texture.dispose();
  mesh.geometry.dispose();
  mesh.material.dispose();
  mesh.removeFromParent();
}
