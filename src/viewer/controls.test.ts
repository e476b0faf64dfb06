/** A click that cannot be answered is told, and ends with the viewer. */
import { expect, test } from "vitest";
import type { Camera } from "../scene/camera.js";
import { controls } from "./controls.js";

test("a click picks at its place in the canvas, what fails is told, and nothing is heard after the end", async () => {
  const canvas = Object.assign(new EventTarget(), {
    setPointerCapture() {},
    getBoundingClientRect: () => ({ left: 10, top: 20 }),
  });
  const camera: Camera = { target: [0, 0, 0], azimuth: 0, elevation: 0, span: 1, perspective: false };
  const picked: number[][] = [];
  const told: string[] = [];
  const pick = async (...at: number[]): Promise<void> => {
    picked.push(at);
    throw new Error("the server is gone");
  };
  const click = async (): Promise<void> => {
    for (const type of ["pointerdown", "pointerup"])
      canvas.dispatchEvent(Object.assign(new Event(type), { pointerId: 1, button: 0, clientX: 15, clientY: 27 }));
    await Promise.resolve();
    await Promise.resolve();
  };
  const end = controls(
    canvas as unknown as HTMLCanvasElement,
    { camera, fit() {}, zoom() {}, choose() {}, pick },
    (error) => told.push(error.message),
  );
  await click();
  end();
  await click();
  expect(picked).toEqual([[5, 7]]);
  expect(told).toEqual(["the server is gone"]);
});
