/** Drawings as objects of three.js. */
import {
  BufferAttribute,
  BufferGeometry,
  InstancedBufferAttribute,
  InstancedBufferGeometry,
  Mesh,
  Points,
  type ShaderMaterial,
} from "three";
import type { Bounds, Vector } from "../../scene/camera.js";
import { RIM } from "../../scene/palette.js";
import type { Drawing } from "../engine/drawing.js";
import { materialFor } from "./materials.js";

export type Drawn = (Mesh | Points) & { readonly material: ShaderMaterial };

/** What `clip` says when it is drawn is cut away. */
export function drawnOf(drawing: Drawing, material: ShaderMaterial, clip: () => Bounds | undefined): Drawn {
  const geometry = geometryOf(drawing);
  const drawn = drawing.form === "points" ? new Points(geometry, material) : new Mesh(geometry, material);
  drawn.position.set(...drawing.origin);
  drawn.frustumCulled = false;
  drawn.onBeforeRender = () => {
    const { direct, clipMin, clipMax } = material.uniforms;
    const box = clip();
    direct!.value = drawing.direct ? 1 : 0;
    clipMin!.value.set(...cornerOf(box?.min, drawing.origin, -FAR));
    clipMax!.value.set(...cornerOf(box?.max, drawing.origin, FAR));
    material.uniformsNeedUpdate = true;
  };
  return drawn;
}

/**
 * Over everything else, the rim first: points and lines are seen also where something is before them, and are told by their dark rim
 * from data of any colour. Surfaces have none.
 */
export function highlightOf(drawing: Drawing, clip: () => Bounds | undefined): Drawn[] {
  return drawing.form === "triangles"
    ? [overAll(drawing, clip, 1)]
    : [overAll(drawing, clip, 1, RIM), overAll(drawing, clip, 2)];
}

function overAll(drawing: Drawing, clip: () => Bounds | undefined, order: number, shade?: number): Drawn {
  const material = materialFor(drawing.form);
  material.uniforms.shade!.value = shade ?? -1;
  material.transparent = true; // those are drawn last
  material.depthWrite = false;
  material.depthTest = drawing.form === "triangles";
  material.polygonOffset = true;
  material.polygonOffsetFactor = material.polygonOffsetUnits = -1;
  const drawn = drawnOf(drawing, material, clip);
  drawn.renderOrder = order;
  return drawn;
}

const FAR = 3.4e38;

/** A corner of the clipping box, relative to the origin of what is drawn. */
const cornerOf = (corner: Vector | undefined, origin: Vector, far: number): [number, number, number] =>
  corner === undefined ? [far, far, far] : [corner[0] - origin[0], corner[1] - origin[1], corner[2] - origin[2]];

/** Of lines each is an instance of one rectangle; `corner.x` says which end, `corner.y` which side. */
function geometryOf({ form, columns, index }: Drawing): BufferGeometry {
  if (form !== "lines") {
    const geometry = new BufferGeometry();
    for (const { name, width, values } of columns) geometry.setAttribute(name, new BufferAttribute(values, width));
    if (index !== undefined) geometry.setIndex(new BufferAttribute(index, 1));
    return geometry;
  }
  const geometry = new InstancedBufferGeometry();
  geometry.setAttribute("corner", new BufferAttribute(Float32Array.of(0, -1, 1, -1, 1, 1, 0, 1), 2));
  geometry.setIndex([0, 1, 2, 0, 2, 3]);
  for (const { name, width, values } of columns)
    geometry.setAttribute(name, new InstancedBufferAttribute(values, width));
  geometry.instanceCount = columns[0]!.values.length / columns[0]!.width;
  return geometry;
}
