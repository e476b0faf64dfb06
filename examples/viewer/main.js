/**
 * The same data twice: in a viewer with a camera and controls (octavo/viewer), and as an object in a scene of one's own
 * (octavo/three). `index.html?url=https://host/tracts.zv`. Any bundler that knows `new Worker(new URL(…))` builds it.
 */
import { VectorObject } from "octavo/three";
import { mount } from "octavo/viewer";
import { PerspectiveCamera, Scene, WebGLRenderer } from "three";

const url = new URLSearchParams(location.search).get("url") ?? "data/tracts.zv";
const leaving = new AbortController();
addEventListener("pagehide", () => leaving.abort());
const status = document.querySelector("#status");
const say = (error) => {
  status.textContent = [error.message, error.hint].filter(Boolean).join(". ");
};

async function inViewer() {
  await mount(document.querySelector("#viewer"), {
    data: [url],
    background: 0x000000,
    memory: 128 << 20,
    signal: leaving.signal,
    onError: say,
    onPick: (picked) => {
      status.textContent = picked === undefined ? "" : `object ${picked.id}, at ${picked.position.join(", ")}`;
    },
  });
}

async function inScene() {
  const canvas = document.querySelector("#scene");
  const renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
  const { width, height } = canvas;
  let frame = 0;
  const redraw = () => {
    if (frame === 0) frame = requestAnimationFrame(draw);
  };
  const object = await VectorObject.open(url, {
    color: "object",
    signal: leaving.signal,
    onChange: redraw,
    onError: say,
  });
  const scene = new Scene();
  scene.add(object);
  const { min, max } = object.bounds;
  const middle = min.map((low, k) => (low + max[k]) / 2);
  const size = Math.hypot(...min.map((low, k) => max[k] - low));
  const camera = new PerspectiveCamera(40, width / height, size / 100, 10 * size);
  camera.up.set(0, 0, 1);
  camera.position.set(middle[0], middle[1] - 1.5 * size, middle[2] + size / 2);
  camera.lookAt(...middle);

  function draw() {
    frame = 0;
    object.update(camera, width, height).catch(say); // asks for what the camera sees; what comes calls onChange
    renderer.render(scene, camera);
  }
  redraw();
}

inViewer().catch(say);
inScene().catch(say);
