/** Layers of different units in one space. */
import { expect, test } from "vitest";
import { type Camera, lensOf, project, type Vector } from "../scene/camera.js";
import type { View } from "./engine/view.js";
import { boxToOwn, boxToScene, factorOf, multiplied, viewToOwn } from "./space.js";

test("factors are exact, and what has no unit of length is taken as it is", () => {
  expect(factorOf(["nanometer"], "µm")).toEqual([0.001, 0.001, 0.001]);
  expect(factorOf(["millimeter", "mm", "mm"], "nm")).toEqual([1e6, 1e6, 1e6]);
  expect(factorOf(["4 nm", "4 nm", "40 nm"], "nm")).toEqual([4, 4, 40]);
  for (const units of [[undefined], ["kiloparsec"], ["ms"], ["nm", undefined, "nm"], []])
    expect(factorOf(units, "mm")).toEqual([1, 1, 1]);
  expect(factorOf(["nm"], undefined)).toEqual([1, 1, 1]);
  const box = { min: [1, 2, 3], max: [4, 5, 6] } as const;
  expect(boxToOwn(boxToScene(box, [1000, 1000, 1e6]), [1000, 1000, 1e6])).toEqual(box);
});

test.each([true, false])(
  "a layer sees in its own units what the camera sees in the scene; perspective: %s",
  (perspective) => {
    const camera: Camera = { target: [12, -3, 5], azimuth: 33, elevation: 21, span: 40, perspective };
    const view: View = { camera, width: 800, height: 600 };
    const seen = ({ camera, basis }: View, place: Vector): number[] => {
      const out = new Float64Array(3);
      const [x, y, z] = place.map((at, k) => at - camera.target[k]!) as [number, number, number];
      project(lensOf(camera, 800, 600, basis), x, y, z, out);
      return [...out].map((at) => Math.round(1e6 * at) / 1e6);
    };
    const own: Vector = [2000, 400, 300];
    for (const factor of [
      [0.001, 0.001, 0.001],
      [0.004, 0.004, 0.04],
    ] as const)
      expect(seen(viewToOwn(view, factor), own)).toEqual(seen(view, multiplied(own, factor)));
  },
);
