/**
 * One space for layers of different units. Each keeps its own: places, boxes and files are in the units of its data. A factor for
 * each axis says how many units of the scene are in one of its own; what has no unit of length is taken as it is.
 */
import { type Bounds, basisOf, type Vector } from "../scene/camera.js";
import { measureOf } from "../space/units.js";
import type { View } from "./engine/view.js";

/** Units of the scene in one of each axis' own. */
export type Factor = Vector;

export const AS_IT_IS: Factor = [1, 1, 1];

const lengthOf = (unit: string | undefined): number | undefined => {
  const measure = measureOf(unit);
  return measure?.unit === "m" ? measure.scale : undefined;
};

/** Whether it is a unit of length that others can be brought to. */
export const isLength = (unit: string | undefined): boolean => lengthOf(unit) !== undefined;

/** From the units of up to three axes to that of the scene; as it is, unless all of them are lengths. */
export function factorOf(units: readonly (string | undefined)[], scene: string | undefined): Factor {
  const [own, to] = [units.map(lengthOf), lengthOf(scene)];
  if (to === undefined || own.length === 0 || own.includes(undefined)) return AS_IT_IS;
  return [0, 1, 2].map((k) => ratio(own[k] ?? own[0]!, to)) as unknown as Factor;
}

/** Without what division leaves: a thousand nanometres are one micrometre, not 1.0000000000000002. */
const ratio = (from: number, to: number): number => Number((from / to).toPrecision(14));

export const multiplied = (a: Vector, by: Factor): Vector => [a[0] * by[0], a[1] * by[1], a[2] * by[2]];
export const divided = (a: Vector, by: Factor): Vector => [a[0] / by[0], a[1] / by[1], a[2] / by[2]];

/** A box of a layer, in the scene. */
export const boxToScene = ({ min, max }: Bounds, by: Factor): Bounds => ({
  min: multiplied(min, by),
  max: multiplied(max, by),
});

/** A box of the scene, in a layer's own units. */
export const boxToOwn = ({ min, max }: Bounds, by: Factor): Bounds => ({
  min: divided(min, by),
  max: divided(max, by),
});

/** What the camera of the scene sees, in a layer's own units; its directions are stretched where its axes differ. */
export function viewToOwn(view: View, by: Factor): View {
  const { camera, basis, clip } = view;
  const [one] = by;
  const own = { ...camera, target: divided(camera.target, by), span: camera.span / one };
  const box = clip && boxToOwn(clip, by);
  if (by[1] === one && by[2] === one) return { ...view, camera: own, clip: box };
  const { right, up, back } = basis ?? basisOf(camera);
  const turned = (axis: Vector): Vector => multiplied(axis, [1, by[1] / one, by[2] / one]);
  return { ...view, camera: own, clip: box, basis: { right: turned(right), up: turned(up), back: turned(back) } };
}
