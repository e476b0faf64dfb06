/** A page of somebody's own around `octavo/viewer` and `octavo/three`: what viewer-worker.test.ts drives. */
import { PerspectiveCamera, Scene, WebGLRenderer } from "three";
import { mount } from "../../src/viewer/index.js";
import { VectorObject } from "../../src/viewer/three/index.js";

const place = document.getElementById("app")!;
const width = 320;
const height = 240;

/** Mounts, waits until all is there, and takes it down again. */
async function mounted(url: string, worker?: string | false) {
  const requests: string[] = [];
  let [progress, errors] = [0, 0];
  const own: typeof fetch = (asked, init) => {
    requests.push(String(asked));
    return fetch(asked, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), "x-own": "1" } });
  };
  const stage = await mount(place, {
    data: [url],
    fetch: own,
    worker,
    onProgress: () => void progress++,
    onError: () => void errors++,
  });
  const { engine } = stage.layers[0]!.object as VectorObject;
  await settledIs(() => !engine.status().loading && engine.status().vertices > 0);
  const { vertices, level, traffic } = engine.status();
  const through = requests.length;
  stage.camera = { ...stage.camera, span: stage.camera.span / 10 };
  stage.dispose();
  const left = place.childElementCount;
  await new Promise((resolve) => setTimeout(resolve, 200));
  return { vertices, level, traffic, through, after: requests.length - through, progress, errors, left };
}

/** An object in a scene of one's own: what the graphics card holds while it is shown, and after. */
async function inScene(url: string) {
  const renderer = new WebGLRenderer();
  renderer.setSize(width, height);
  const scene = new Scene();
  const camera = new PerspectiveCamera(40, width / height, 1, 1000);
  camera.position.set(50, -200, 50);
  camera.lookAt(50, 50, 50);
  const object = await VectorObject.open(url);
  scene.add(object);
  const draw = (): Promise<void> => {
    const looking = object.update(camera, width, height);
    renderer.render(scene, camera);
    return looking;
  };
  await draw();
  await draw();
  const shown = { ...renderer.info.memory, lines: renderer.info.render.triangles };
  camera.position.y = 20;
  await draw();
  await draw();
  const near = object.engine.status();
  object.dispose();
  renderer.render(scene, camera);
  const left = { ...renderer.info.memory };
  renderer.dispose();
  return { shown, near, left, children: scene.children.length };
}

/** Mounts several, and answers how they lie in one space. */
async function together(...data: string[]) {
  const stage = await mount(place, { data });
  const { unit } = stage;
  const layers = stage.layers.map(({ factor, object }) => ({ factor, scale: object.scale.toArray() }));
  const bounds = stage.bounds();
  stage.dispose();
  return { unit, layers, bounds };
}

/** Aborted while it opens. */
async function aborted(url: string) {
  const controller = new AbortController();
  const mounting = mount(place, { data: [url], signal: controller.signal }).then(
    () => "mounted",
    (error: unknown) => String(error),
  );
  setTimeout(() => controller.abort("enough"));
  return { outcome: await mounting, left: place.childElementCount };
}

async function settledIs(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}

Object.assign(globalThis, { mounted, inScene, together, aborted });
