/** Objects of three.js without a window: what comes from an engine becomes what is drawn, and goes again. */
import {
  type BufferGeometry,
  Group,
  type Mesh,
  type Object3D,
  OrthographicCamera,
  PerspectiveCamera,
  type Points,
} from "three";
import { expect, test } from "vitest";
import type { Drawing } from "../engine/drawing.js";
import { Timeline } from "../engine/timeline.js";
import { type Streamer, VectorObject, type VectorObjectOptions, type View } from "./index.js";

const FAR = 1e9;
const geometryOf = (drawn: Object3D): BufferGeometry => (drawn as Mesh | Points).geometry;

test("the entries can be imported without a window", async () => {
  expect(typeof globalThis.window).toBe("undefined");
  expect(await import("../index.js")).toHaveProperty("mount");
  await expect((await import("../index.js")).mount({} as HTMLElement)).rejects.toThrow();
});

test("files become drawings around an origin of 64 bits, also far from that of space", async () => {
  const rows = [0, 0.25, 0.5].map((x) => `${FAR + x},${FAR},7`).join("\n");
  const files = new Map([["far.csv", new File([`x,y,z\n${rows}\n`], "far.csv")]]);
  const object = await VectorObject.open({ name: "far.csv", files });
  const camera = new PerspectiveCamera(40, 1, 1, 100);
  camera.position.set(FAR, FAR, 20);
  camera.lookAt(FAR, FAR, 0);
  await object.update(camera, 200, 200);
  await object.update(camera, 200, 200);
  const xs = object.children.flatMap((drawn) => {
    const { array } = geometryOf(drawn).getAttribute("position")!;
    return Array.from({ length: array.length / 3 }, (_, v) => array[3 * v]! + drawn.position.x - FAR);
  });
  expect(xs.sort()).toEqual([0, 0.25, 0.5]);
  expect(await object.pick(100, 100)).toMatchObject({ position: [expect.closeTo(FAR, 3), FAR, 7] });
  object.dispose();
  expect(object.children).toEqual([]);
});

test("whatever moves, turns and scales it, it asks for what the camera sees of it", () => {
  const views: View[] = [];
  const engine = { ...saying([]), look: async (view: View) => void views.push(view) };
  const object = new VectorObject(engine);
  const parent = new Group();
  parent.add(object);
  const cameras = [new PerspectiveCamera(40, 1, 1, 100), new OrthographicCamera(-2, 2, 2, -2)];
  for (const camera of cameras) {
    camera.position.set(0.5, -5, 0.5);
    camera.up.set(0, 0, 1);
    camera.lookAt(0.5, 0.5, 0.5);
    void object.update(camera, 100, 100);
  }
  parent.position.set(1000, 20, 3);
  parent.rotation.set(0.3, 0.4, 0.5);
  parent.scale.setScalar(7);
  parent.updateMatrixWorld();
  for (const camera of cameras) {
    camera.applyMatrix4(parent.matrixWorld);
    camera.scale.setScalar(1);
    if (camera instanceof OrthographicCamera) camera.zoom = 1 / 7;
    void object.update(camera, 100, 100);
  }
  const numbers = ({ camera: { target, span }, basis }: View): number[] =>
    [...target, span, ...basis!.right, ...basis!.up].map((x) => Math.round(1e6 * x) / 1e6 + 0);
  expect(views.slice(2).map(numbers)).toEqual(views.slice(0, 2).map(numbers));
});

/** An engine that has these changes to tell. */
function saying(changes: ReturnType<Streamer["changes"]>): Streamer {
  const legend = { low: 0, high: 1, kinds: new Map<string, number>() };
  const nothing = { axes: [0, 1, 2], bounds: { min: [0, 0, 0], max: [1, 1, 1] }, legend, timeline: new Timeline() };
  const calls = { look: async () => {}, set() {}, dispose() {}, changes: () => changes.splice(0) };
  return { ...nothing, ...calls, form: "points", colouring: { by: "constant", colour: 0 } } as unknown as Streamer;
}

function points(id: number, count: number): Drawing {
  const column = (name: string, width: number) => ({ name, width, values: new Float32Array(width * count) });
  const columns = [column("position", 3), column("value", 1), column("seed", 1), column("radius", 1)];
  return { id, form: "points", origin: [0, 0, 0], direct: false, columns, index: undefined };
}

test("what is much comes over several frames, and what it replaces goes last", async () => {
  const adds = [1, 2, 3, 4].map((id) => ({ add: points(id, 200_000), drop: [] })); // 4.8 MB each
  const asked: string[] = [];
  const options: VectorObjectOptions = { onChange: () => void asked.push("frame") };
  const object = new VectorObject(saying([{ add: points(0, 10), drop: [] }, ...adds, { drop: [0] }]), options);
  const camera = new PerspectiveCamera();
  asked.length = 0;
  const counts: number[] = [];
  let freed = 0;
  for (let frame = 0; frame < 4; frame++) {
    void object.update(camera, 100, 100);
    if (frame === 0) geometryOf(object.children[0]!).addEventListener("dispose", () => void freed++);
    counts.push(object.children.length);
  }
  expect(counts).toEqual([3, 5, 4, 4]);
  expect(freed).toBe(1);
  expect(asked.length).toBe(2); // one more frame while something waits
  object.dispose();
  expect(object.children).toEqual([]);
});
