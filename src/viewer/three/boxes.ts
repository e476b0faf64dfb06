/** Boxes as lines: twelve edges each. */
import { BufferAttribute, BufferGeometry, LineBasicMaterial, LineSegments } from "three";
import type { Vector } from "../../scene/camera.js";
import { boxEdges } from "../../scene/outline.js";

const COLOUR = 0x8fa3b8;
const EDGES = boxEdges(3);

export type BoxLines = LineSegments<BufferGeometry, LineBasicMaterial>;

/** Boxes of 6 numbers, low corner first. */
export function boxLines(boxes: Float64Array): BoxLines {
  const origin = [...boxes.subarray(0, 3)] as unknown as Vector;
  const places = new Float32Array(3 * EDGES.length * (boxes.length / 6));
  let to = 0;
  for (let at = 0; at < boxes.length; at += 6)
    for (const corner of EDGES)
      for (let k = 0; k < 3; k++) places[to++] = boxes[at + 3 * ((corner >> k) & 1) + k]! - origin[k]!;
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(places, 3));
  const lines = new LineSegments(geometry, new LineBasicMaterial({ color: COLOUR, transparent: true, opacity: 0.7 }));
  if (boxes.length > 0) lines.position.set(...origin);
  lines.frustumCulled = false;
  return lines;
}
