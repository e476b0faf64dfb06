/** Publishing to Neuroglancer, as a user does it: convert, link, validate, show. */
import { createReadStream, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createVolume, volumeInfo } from "../../src/format/precomputed/index.js";
import { createZarrVectors } from "../../src/format/zarr-vectors/index.js";
import { ndarray } from "../../src/model/elements.js";
import type { Geometry } from "../../src/model/vectors.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { scene } from "../zarr-vectors-scenes.js";
import { build, octavo } from "./run.js";

const folder = mkdtempSync(join(tmpdir(), "octavo-cli-neuroglancer-"));
let server: Server;
let base = "";
beforeAll(async () => {
  build();
  for (const geometry of ["skeletons", "points", "mesh"] satisfies Geometry[]) {
    const axes = ["x", "y", "z"].map((name) => ({ name, type: "space", unit: "um" }));
    const store = fileStore(join(folder, `${geometry}.zv`));
    const writer = await createZarrVectors(store, Prefix.root, { geometry, axes, chunkShape: 10 });
    await writer.add(scene(geometry, 3));
    await writer.commit();
  }
  const info = volumeInfo({
    size: [4, 4, 4],
    dtype: { kind: "uint", size: 8, endian: "little" },
    type: "segmentation",
  });
  const volume = await createVolume(fileStore(join(folder, "out")), Prefix.root, info);
  await volume.write(undefined, ndarray([4, 4, 4, 1], new BigUint64Array(64)));
  await volume.commit();
  server = createServer((request, response) => {
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("access-control-expose-headers", "*");
    response.setHeader("access-control-allow-headers", "range");
    if (request.method === "OPTIONS") return void response.writeHead(204).end();
    const file = join(folder, decodeURIComponent(request.url!));
    const size = statSync(file, { throwIfNoEntry: false })?.isFile() ? statSync(file).size : undefined;
    if (size === undefined) return void response.writeHead(404).end();
    const [, from = "0", to = `${size - 1}`] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    const end = Math.min(Number(to), size - 1);
    response.writeHead(request.headers.range ? 206 : 200, {
      "content-length": end + 1 - Number(from),
      ...(request.headers.range && { "content-range": `bytes ${from}-${end}/${size}` }),
    });
    createReadStream(file, { start: Number(from), end }).pipe(response);
  });
  await new Promise<void>((ready) => void server.listen(0, "127.0.0.1", ready));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close().closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

const json = (path: string) => JSON.parse(readFileSync(join(folder, path), "utf8"));

test("skeletons and meshes beside a volume, which names them", async () => {
  const out = join(folder, "out");
  const from = join(folder, "skeletons.zv");
  const dry = await octavo(["convert", from, join(out, "skeletons"), "--to", "precomputed", "--dry-run"]);
  expect([dry.code, dry.stdout]).toEqual([
    0,
    "precomputed skeletons, from skeletons\n50 vertices in 6 objects\n127 requests, 5.88 kB to read\nabout 2.36 kB to write\nno scratch space\nnothing was written\n",
  ]);
  const args = ["--to", "precomputed", "--link", out];
  const { code, stdout, stderr } = await octavo(["convert", from, join(out, "skeletons"), "--sharded", ...args]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/6 objects.* written\n(note .*\n)+.*nothing was lost/);
  const meshes = await octavo(["convert", join(folder, "mesh.zv"), join(out, "mesh"), ...args, "--json"]);
  expect([meshes.code, meshes.stderr]).toEqual([0, ""]);
  expect(JSON.parse(meshes.stdout)).toMatchObject({ objects: 6, losses: expect.arrayContaining([expect.any(String)]) });
  expect(json("out/info")).toMatchObject({ skeletons: "skeletons", mesh: "mesh", type: "segmentation" });
  expect(json("out/skeletons/info")).toMatchObject({
    segment_properties: "segment_properties",
    sharding: { "@type": "neuroglancer_uint64_sharded_v1" },
    transform: [1000, 0, 0, 0, 0, 1000, 0, 0, 0, 0, 1000, 0],
  });
  const again = await octavo(["convert", from, join(out, "skeletons"), ...args]);
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("already holds data")]);
  const image = await octavo(["convert", from, join(folder, "else"), "--to", "precomputed", "--link", folder]);
  expect([image.code, image.stderr]).toEqual([3, expect.stringContaining("should be the info of precomputed data")]);
});

test("points become annotations; all of it is shown", async () => {
  const points = join(folder, "synapses");
  const made = await octavo(["convert", join(folder, "points.zv"), points, "--to", "precomputed"]);
  expect([made.code, made.stderr]).toEqual([0, ""]);
  const checked = await octavo(["validate", "--for", "neuroglancer", `${base}/out/skeletons`, "--json"]);
  const { findings, valid } = JSON.parse(checked.stdout);
  expect(findings.map(({ rule }: { rule: string }) => rule)).toEqual(["neuroglancer/id-zero"]);
  expect([checked.code, valid]).toEqual([0, true]);
  for (const path of ["out", "out/mesh", "synapses"]) {
    const result = await octavo(["validate", "--for", "neuroglancer", `${base}/${path}`]);
    expect([result.code, result.stdout]).toEqual([0, expect.stringContaining("valid: 0 errors")]);
  }
  const shown = await octavo(["link", `${base}/out`, `${base}/out/skeletons`, `${base}/synapses`, "--json"]);
  expect(shown.code).toBe(0);
  expect(JSON.parse(shown.stdout).layers).toMatchObject([
    { type: "segmentation", name: "out", source: `precomputed://${base}/out` },
    { type: "segmentation", name: "skeletons" },
    { type: "annotation", name: "synapses" },
  ]);
  const url = await octavo(["link", `${base}/synapses`, "--client", "https://ng.example/v2"]);
  expect(url.stdout).toMatch(/^https:\/\/ng\.example\/v2\/#!%7B\S+\n$/);
});

test("what is not served, or cannot be shown", async () => {
  const local = await octavo(["link", join(folder, "out")]);
  expect([local.code, local.stderr]).toEqual([2, expect.stringContaining("is on no web server")]);
  const other = await octavo(["validate", "--for", "neuroglancer", join(folder, "points.zv")]);
  expect([other.code, other.stdout]).toEqual([
    1,
    expect.stringMatching(/neuroglancer\/format[\s\S]*neuroglancer\/not-served/),
  ]);
});
