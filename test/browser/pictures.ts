/**
 * `npm run pictures [NAME…]`: the pictures of the viewer in docs/pictures, taken anew in a real Chromium of data that are computed here.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeNeuron, makeSurface, makeTracts } from "../../src/cli/demo-data.js";
import { createVolume, volumeInfo } from "../../src/format/precomputed/volume/index.js";
import { createZarrVectors } from "../../src/format/zarr-vectors/index.js";
import { ndarray } from "../../src/model/elements.js";
import type { Axis, Geometry } from "../../src/model/vectors.js";
import { convert } from "../../src/node.js";
import type { Camera } from "../../src/scene/camera.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { columnsOf, info, random } from "../zarr-vectors-scenes.js";
import { findChromium } from "./chromium.js";
import { type Shown, seenAt, settled, site, type Viewer, viewer } from "./viewer-harness.js";

const data = mkdtempSync(join(tmpdir(), "octavo-pictures-"));
const pictures = fileURLToPath(new URL("../../docs/pictures/", import.meta.url));
const [WIDTH, HEIGHT] = [900, 600];
const { signal } = new AbortController();
const float32 = { kind: "float", size: 4, endian: "little" } as const;
const at = (name: string): string => join(data, name);
const axesIn = (unit: string): Axis[] => ["x", "y", "z"].map((name) => ({ name, type: "space", unit }));

type Parts = Parameters<Awaited<ReturnType<typeof createZarrVectors>>["add"]>[0];
async function store(name: string, geometry: Geometry, unit: string, chunkShape: number, parts: Parts): Promise<void> {
  const writer = await createZarrVectors(fileStore(at(name)), Prefix.root, {
    geometry,
    axes: axesIn(unit),
    chunkShape,
  });
  await writer.add(parts);
  await writer.commit();
}

/** Stars in arms around a middle. */
async function makeGalaxy(): Promise<void> {
  const [next, count] = [random(3), 3500];
  const [positions, speed, kind] = [new Float32Array(3 * count), new Float32Array(count), [] as string[]];
  for (let i = 0; i < count; i++) {
    const far = 20 * next() ** 0.7;
    const arm = (2 * Math.PI * Math.floor(3 * next())) / 3;
    const turn = arm + far / 5 + (0.7 * (next() - 0.5) * 6) / (1 + far / 4);
    const flat = (next() + next() - 1) * 2.4 * Math.exp(-far / 7);
    positions.set([far * Math.cos(turn), far * Math.sin(turn), flat], 3 * i);
    speed[i] = 220 * (1 - Math.exp(-far / 3)) + 12 * (next() - 0.5);
    kind.push(far < 3 ? "bulge" : next() < 0.15 ? "young" : "disk");
  }
  const vertexColumns = columnsOf(
    [{ ...info("speed", float32), unit: "km/s" }, speed],
    [info("kind", { kind: "string" }), kind],
  );
  await store("galaxy.zv", "points", "kiloparsec", 10, { positions, vertexColumns });
  await convert(at("galaxy.zv"), at("galaxy.ptree"));
}

/** Vessels: a graph with rings in it. */
async function makeVessels(): Promise<void> {
  const [next, side] = [random(8), 6];
  const [positions, ends, flow] = [[], [], []] as [number[], number[], number[]];
  for (let z = 0; z < side; z++)
    for (let y = 0; y < side; y++)
      for (let x = 0; x < side; x++) {
        positions.push(...[x, y, z].map((place) => 20 * place + 9 * (next() - 0.5)));
        flow.push(Math.hypot(x - 2.5, y - 2.5, z - 2.5));
        const here = positions.length / 3 - 1;
        for (const [back, inside] of [
          [1, x],
          [side, y],
          [side * side, z],
        ] as const)
          if (inside > 0 && next() < 0.5) ends.push(here, here - back);
      }
  await store("vessels.zv", "graph", "micrometer", 60, {
    positions: Float32Array.from(positions),
    ids: BigInt64Array.of(1n),
    links: { width: 2, ends: Uint32Array.from(ends), columns: new Map() },
    vertexColumns: columnsOf([info("flow", float32), Float32Array.from(flow)]),
  });
}

/** Synapses as lines from one cell to another. */
async function makeSynapses(): Promise<void> {
  const [next, count] = [random(5), 600];
  const positions = Float32Array.from({ length: 6 * count }, () => 0);
  for (let i = 0; i < count; i++) {
    const [polar, turn] = [Math.acos(2 * next() - 1), 2 * Math.PI * next()];
    const out = [Math.sin(polar) * Math.cos(turn), Math.sin(polar) * Math.sin(turn), Math.cos(polar)];
    positions.set([...out.map((part) => 800 * part), ...out.map((part) => (800 + 260 * next()) * part)], 6 * i);
  }
  await store("synapses.zv", "lines", "nanometer", 800, {
    positions,
    parts: Uint32Array.from({ length: count + 1 }, (_, i) => 2 * i),
    objects: Int32Array.from({ length: count }, (_, i) => i),
    ids: BigInt64Array.from({ length: count }, (_, i) => BigInt(i + 1)),
    objectColumns: columnsOf([info("weight", float32), Float32Array.from({ length: count }, next)]),
  });
  await convert(at("synapses.zv"), at("synapses"), { to: "precomputed", kind: "annotations" });
}

/** Tissue around the neuron: bright where its cells are, in nanometres. */
async function makeTissue(): Promise<void> {
  await makeNeuron(at("in-tissue.zv"), signal);
  const size = [128, 128, 48] as const;
  const [next, values] = [random(6), new Uint8Array(size[0] * size[1] * size[2])];
  const cells = Array.from({ length: 40 }, () => [...size.map((side) => side * next()), 4 + 7 * next()]);
  let to = 0;
  for (let x = 0; x < size[0]; x++)
    for (let y = 0; y < size[1]; y++)
      for (let z = 0; z < size[2]; z++) {
        let bright = 60 + 18 * Math.sin(x / 9) * Math.cos(y / 7 + z / 5) + 14 * next();
        for (const [cx = 0, cy = 0, cz = 0, r = 1] of cells) {
          const off = Math.hypot(x - cx, y - cy, z - cz) / r;
          if (off < 1) bright += off > 0.8 ? 110 : 60;
        }
        values[to++] = Math.min(255, bright);
      }
  const description = {
    size,
    dtype: { kind: "uint", size: 1, endian: "little" },
    resolution: [2000, 2000, 2000],
    offset: [-64, -64, -24],
    chunkSize: [32, 32, 16],
    scales: 2,
  } as const;
  const volume = await createVolume(fileStore(at("tissue")), Prefix.root, volumeInfo(description));
  await volume.write(undefined, ndarray([...size, 1], values));
  await volume.commit();
}

const ABOVE: Camera = { target: [0, 0, 0], azimuth: 20, elevation: 40, span: 44, perspective: true };

/** A floor and two walls behind the neuron. */
const TISSUE = [
  { axis: 0, position: -126_000 },
  { axis: 1, position: 126_000 },
  { axis: 2, position: -46_000 },
];

interface Scene {
  readonly name: string;
  readonly make: () => Promise<void>;
  readonly shows: Shown;
  readonly act?: (viewer: Viewer) => Promise<void>;
}

const SCENES: readonly Scene[] = [
  {
    name: "viewer-streamlines",
    make: () => makeTracts(at("tracts.zv"), 2000, signal),
    shows: { layers: [{ url: "tracts.zv", look: { color: "vertex.fa" } }] },
  },
  {
    name: "viewer-skeleton",
    make: () => makeNeuron(at("neuron.zv"), signal),
    shows: { layers: [{ url: "neuron.zv" }], theme: "light" },
    act: async ({ page }) => {
      await page.getByLabel("From the top").click();
      await page.waitForTimeout(1000); // until the address has the camera
      const { camera } = JSON.parse(decodeURIComponent(new URL(page.url()).hash.slice(1)));
      const { x, y } = seenAt(camera, [0, 0, 0], { width: WIDTH - 320, height: HEIGHT }); // the cell body
      await page.mouse.click(x, y);
      await page.locator("section[aria-label=Picked] tr").first().waitFor();
      await page.waitForTimeout(1000); // until it is highlighted
    },
  },
  {
    name: "viewer-mesh",
    make: async () => {
      await makeSurface(at("cell.zv"), signal);
      await convert(at("cell.zv"), at("cell"), { to: "precomputed" });
    },
    shows: { layers: [{ url: "cell", look: { color: "#e0b080" } }] },
    act: async ({ page }) => {
      await page.locator("#panel").getByLabel("Keep").selectOption("box");
      await page.locator("#panel").getByLabel("y from").fill("0");
    },
  },
  {
    name: "viewer-points",
    make: makeGalaxy,
    shows: {
      layers: [{ url: "galaxy.ptree", look: { color: "vertex.speed", palette: "inferno", mark: 3 } }],
      camera: ABOVE,
    },
  },
  {
    name: "viewer-kinds",
    make: makeGalaxy,
    shows: { layers: [{ url: "galaxy.zv", look: { color: "vertex.kind", palette: "safe", mark: 3 } }], camera: ABOVE },
  },
  {
    name: "viewer-graph",
    make: makeVessels,
    shows: { layers: [{ url: "vessels.zv", look: { color: "vertex.flow", palette: "coolwarm", mark: 4 } }] },
  },
  {
    name: "viewer-lines",
    make: makeSynapses,
    shows: { layers: [{ url: "synapses", look: { color: "object.weight", palette: "ice", mark: 3 } }] },
  },
  {
    name: "viewer-volume",
    make: makeTissue,
    shows: {
      layers: [
        { url: "in-tissue.zv", look: { color: "#f0a030" } },
        { url: "tissue", look: { planes: TISSUE } as object },
      ],
      camera: { target: [0, 0, -20], azimuth: 38, elevation: 30, span: 320, perspective: true },
    },
  },
];

const chromium = findChromium();
if (chromium === undefined) throw new Error("there is no Chromium on the PATH or in CHROMIUM");
const wanted = process.argv.slice(2);
const made = new Set<() => Promise<void>>();
const served = await site(chromium, data);
try {
  for (const { name, make, shows, act } of SCENES) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    if (!made.has(make)) await make();
    made.add(make);
    const own = await viewer(served, { viewport: { width: WIDTH, height: HEIGHT } });
    await own.show(shows);
    await act?.(own);
    await settled(own.page);
    await own.page.screenshot({ path: join(pictures, `${name}.png`) });
    for (const text of [...own.complaints(), ...(await own.messages())]) console.error(`${name}: ${text}`);
    console.log(name);
    await own.page.close();
  }
} finally {
  await served.close();
  rmSync(data, { recursive: true, force: true });
}
