/**
 * A corner of a large array on a web server: what it will cost, then reading it, then what it did cost.
 *
 * The server is a few lines of this file, so that requests can be counted where they arrive. Yours can be any that
 * answers ranges: a static file server, S3, a CDN.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Key, memoryStore, ndarray, open, Prefix, type Store, typed } from "octavo/node";
import { createArray, writeRegion } from "octavo/zarr";

const side = 1024;
const heights = Float32Array.from({ length: side * side }, (_, i) => Math.hypot(i % side, Math.floor(i / side)));
const disk = memoryStore();
const written = await createArray(disk, Prefix.root, {
  shape: [side, side],
  chunkShape: [64, 64],
  shardShape: [512, 512], // 64 chunks to a shard: 4 objects instead of 256
  dtype: "float32",
});
await writeRegion(written, undefined, ndarray([side, side], heights));

const { url, traffic, close } = await serve(disk);

const image = await open(url);
if (image.kind !== "array") throw new Error(`${url} is a group`);
console.log(`${image.shape.join(" × ")} of ${image.dtype.kind}`);

const corner = [
  { start: 500, stop: 530 },
  { start: 100, stop: 120 },
];
const plan = await image.plan(corner);
console.log(`planned: at most ${plan.requests} requests`);

traffic.requests = traffic.bytes = 0;
const part = await image.read(corner);
console.log(`read: ${traffic.requests} requests, ${traffic.bytes < 50_000 ? "under 50 kB" : `${traffic.bytes} bytes`}`);
console.log(`shape ${part.shape.join(" × ")}, first value ${typed(part)[0]}`);
await close();

/** GET and HEAD of a store's values, with one range, as any web server has it. */
async function serve(store: Store) {
  const traffic = { requests: 0, bytes: 0 };
  const server = createServer(async (request, response) => {
    traffic.requests++;
    const value = await store.get(Key.of((request.url ?? "").slice(1)));
    if (value === undefined) return response.writeHead(404).end();
    const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? "") ?? [];
    const start = from === "" ? Math.max(0, value.length - Number(to)) : Number(from ?? 0);
    const end = from && to ? Math.min(value.length, Number(to) + 1) : value.length;
    const body = value.subarray(start, end);
    traffic.bytes += body.length;
    response.writeHead(from === undefined ? 200 : 206, {
      "content-length": body.length,
      ...(from !== undefined && { "content-range": `bytes ${start}-${end - 1}/${value.length}` }),
    });
    return response.end(request.method === "HEAD" ? undefined : body);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const close = (): Promise<void> => {
    server.closeAllConnections();
    return new Promise((resolve) => void server.close(() => resolve()));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, traffic, close };
}
