/**
 * A page that draws one plane of an array: `index.html?url=https://host/image.zarr&slice=3`. The last two axes become the
 * picture, `slice` picks along those before. Bundled with esbuild:
 *
 *     npx esbuild examples/browser/main.ts --bundle --splitting --format=esm --outdir=site
 *     cp examples/browser/index.html node_modules/octavo/dist/worker.js site/
 */
import { createPool, OctavoError, open, type Region, typed } from "octavo";

const status = document.querySelector("#status")!;
const canvas = document.querySelector("canvas")!;
const parameters = new URLSearchParams(location.search);
const pool = createPool(); // worker.js lies beside this bundle
const leaving = new AbortController();
addEventListener("pagehide", () => leaving.abort());

async function show(url: string, slice: number): Promise<void> {
  const image = await open(url, { signal: leaving.signal });
  if (image.kind !== "array") throw new Error(`${url} is a group; name one of its arrays`);
  const before = image.shape.length - 2;
  if (before < 0) throw new Error(`${url} has ${image.shape.length} axes, and a picture needs two`);
  const region: Region = Array.from({ length: before }, () => slice);
  const plan = await image.plan(region);
  const plane = await image.read(region, {
    signal: leaving.signal,
    pool,
    onProgress: ({ done, total }) => {
      status.textContent = `${done} of ${total} chunks`;
    },
  });
  draw(Float64Array.from(typed(plane), Number), plane.shape as [number, number]);
  status.textContent = `${image.shape.join(" × ")} ${image.dtype.kind}, ${plan.requests} requests`;
}

function draw(values: Float64Array, [height, width]: readonly [number, number]): void {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const picture = new ImageData(width, height);
  for (let i = 0; i < values.length; i++) {
    picture.data.fill((255 * (values[i]! - low)) / (high - low || 1), 4 * i, 4 * i + 3);
    picture.data[4 * i + 3] = 255;
  }
  [canvas.width, canvas.height] = [width, height];
  canvas.getContext("2d")!.putImageData(picture, 0, 0);
}

show(parameters.get("url") ?? "image.zarr", Number(parameters.get("slice") ?? 0)).catch((error: unknown) => {
  if (leaving.signal.aborted) return;
  const hint = error instanceof OctavoError ? error.hint : undefined;
  status.textContent = [error instanceof Error ? error.message : String(error), hint].filter(Boolean).join(" ");
});
