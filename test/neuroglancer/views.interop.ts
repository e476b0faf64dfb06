/**
 * Zarr Vectors stores of every kind in the real client, through views that Octavo's own server makes as they are read: every stroke in
 * its place and colour, a clean console, and few requests however many streamlines there are.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { neuroglancerState } from "../../src/format/precomputed/client/state.js";
import { precomputed } from "../../src/format/precomputed/format.js";
import { openZarrVectors } from "../../src/format/zarr-vectors/index.js";
import { type BatchParts, createZarrVectors } from "../../src/format/zarr-vectors/write/write.js";
import type { Geometry, VectorDataset } from "../../src/model/vectors.js";
import {
  createHandler,
  type Handler,
  listen,
  type View as ServedView,
  storeRoute,
  viewsOf,
} from "../../src/server/index.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { type Colour, compare, hex, type Wanted } from "./picture.js";
import { type Stroke, stateOf, strokes, type View } from "./view.js";
import { type Client, missingClient, openClient, type Shown } from "./viewer.js";

/** Coordinates count micrometres. */
const UNIT = 1000;
const VIEW: View = { position: [5000, 4000, 3000], height: 8000 };
const COLOUR: Colour = [250, 160, 40];
const WIDTH = 6;
const OBJECTS = 5;

/** Zigzags side by side, of `size` vertices each. */
function zigzags(size: number): Float32Array {
  const all: number[] = [];
  for (let o = 0; o < OBJECTS; o++)
    for (let v = 0; v < size; v++)
      all.push(2 + (v * 6) / Math.max(1, size - 1), 1.2 + o * 1.2 + (v % 2) * 0.7, 1 + o * 0.6 + v * 0.2);
  return Float32Array.from(all);
}

const f4 = { kind: "float", size: 4, endian: "little" } as const;

function batchOf(geometry: Geometry, size: number): BatchParts {
  const ends: number[] = [];
  for (let o = 0; o < OBJECTS; o++) for (let v = 1; v < size; v++) ends.push(o * size + v, o * size + v - 1);
  const hasLinks = geometry === "skeletons" || geometry === "graph";
  return {
    positions: zigzags(size),
    parts: Uint32Array.from({ length: OBJECTS + 1 }, (_, o) => o * size),
    objects: Int32Array.from({ length: OBJECTS }, (_, o) => o),
    ids: BigInt64Array.from({ length: OBJECTS }, (_, o) => BigInt(o)), // the first would be hidden, were it 0 there too
    links: hasLinks ? { width: 2, ends: Uint32Array.from(ends), columns: new Map() } : undefined,
    vertexColumns: new Map(),
    objectColumns: new Map([
      [
        "score",
        {
          info: { name: "score", dtype: f4, channels: 1 },
          values: Float32Array.from({ length: OBJECTS }, (_, o) => o / 4),
        },
      ],
    ]),
  };
}

const ANNOTATED = `void main() {
  setColor(vec3(${COLOUR.map((value) => (value / 255).toFixed(6)).join(", ")}));
  setPointMarkerSize(${WIDTH}.0);
  setPointMarkerBorderWidth(0.0);
  setLineWidth(${WIDTH}.0);
  setEndpointMarkerSize(0.0);
  setEndpointMarkerBorderWidth(0.0);
}`;

function strokesOf(positions: Float32Array, size: number): Stroke[] {
  const place = (v: number): number[] => [0, 1, 2].map((axis) => UNIT * positions[3 * v + axis]!);
  const all: Stroke[] = [];
  for (let v = 0; v < positions.length / 3; v++) {
    const ends = size === 1 ? ([place(v), place(v)] as const) : ([place(v), place(v + 1)] as const);
    if (size > 1 && v % size === size - 1) continue;
    all.push({ ends: size === 1 ? [ends[0], ends[0]] : ends, colours: [COLOUR, COLOUR], width: WIDTH });
  }
  return all;
}

const reason = missingClient();
describe.skipIf(reason !== undefined)(`views in Neuroglancer${reason === undefined ? "" : `: ${reason}`}`, () => {
  const root = mkdtempSync(join(tmpdir(), "octavo-views-"));
  let client: Client;
  let handler: Handler;
  beforeAll(async () => {
    client = await openClient(root, (log) =>
      listen((request) => handler(request), {
        onLog: ({ path, status, method }) => {
          if (method === "GET") log.push({ path, range: "", status });
        },
      }),
    );
  });
  afterAll(async () => {
    await client?.close();
    rmSync(root, { recursive: true, force: true });
  });

  async function stored(name: string, geometry: Geometry, batch: BatchParts, chunk = 2.5): Promise<VectorDataset> {
    const store = fileStore(join(root, name), { durability: "none" });
    const writer = await createZarrVectors(store, Prefix.root, {
      geometry,
      axes: ["x", "y", "z"].map((axis) => ({ name: axis, type: "space", unit: "micrometer" })),
      chunkShape: [chunk, chunk, chunk],
      objects: true,
      ids: "sparse",
      links: batch.links === undefined ? undefined : { width: batch.links.width },
    });
    await writer.add(batch);
    await writer.commit();
    return openZarrVectors(store, Prefix.root);
  }

  const serving = (views: readonly ServedView[]): void => {
    handler = createHandler({ routes: views.map(({ name, store }) => storeRoute(`${name}/`, store)), origins: ["*"] });
  };

  function show({ name, known }: ServedView, more: object = {}): Promise<Shown> {
    const source = `precomputed://${client.url}/${name}`;
    const layer =
      name === "annotations"
        ? { type: "annotation", name, source, shader: ANNOTATED, projectionAnnotationSpacing: 1 }
        : {
            type: "segmentation",
            name,
            source,
            segments: known!.objects.map(String),
            segmentDefaultColor: hex(COLOUR),
            skeletonRendering: { mode3d: "lines", lineWidth3d: WIDTH },
          };
    return client.show({ ...stateOf(VIEW), layers: [{ ...layer, ...more }] });
  }

  function check({ picture, complaints }: Shown, wanted: Wanted, how: object, coloured = 900): void {
    expect(complaints).toEqual([]);
    const found = compare(picture, wanted, { tolerance: 3, ...how });
    expect(found.wrong).toEqual([]);
    expect(found.coloured).toBeGreaterThan(coloured);
    expect(found.black).toBeGreaterThan(100_000);
  }

  it.each([
    ["points", 1],
    ["lines", 2],
    ["polylines", 9],
    ["streamlines", 9],
    ["graph", 9],
    ["skeletons", 9],
  ] as const)("%s", async (geometry, size) => {
    const source = await stored(geometry, geometry, batchOf(geometry, size));
    const { views } = await viewsOf(source, { cellLimit: geometry === "points" ? 2 : 12 });
    serving(views);
    const all = strokesOf(zigzags(size), size);
    for (const view of views) {
      const shown = await show(view);
      check(shown, strokes(VIEW, all), {}, size === 1 ? 20 : 900);
      // Nor is it the picture of all but one.
      expect(compare(shown.picture, strokes(VIEW, all.slice(1)), { tolerance: 3 }).wrong).not.toEqual([]);
    }
  });

  it("meshes", async () => {
    const [n, from, to] = [24, 2, 8];
    const positions: number[] = [];
    const faces: number[] = [];
    for (let i = 0; i <= n; i++)
      for (let j = 0; j <= n; j++) positions.push(from + (i * (to - from)) / n, 1 + (j * 6) / n, 3);
    for (let i = 0; i < n; i++)
      for (let j = 0; j < n; j++) {
        const a = i * (n + 1) + j;
        faces.push(a, a + n + 1, a + 1, a + 1, a + n + 1, a + n + 2);
      }
    const batch: BatchParts = {
      positions: Float32Array.from(positions),
      parts: Uint32Array.of(0, positions.length / 3),
      objects: Int32Array.of(0),
      ids: BigInt64Array.of(0n),
      links: { width: 3, ends: Uint32Array.from(faces), columns: new Map() },
      vertexColumns: new Map(),
      objectColumns: new Map(),
    };
    const { views } = await viewsOf(await stored("mesh", "mesh", batch));
    serving(views);
    const shown = await show(views[0]!, { segmentColors: { 1: hex(COLOUR) } });
    const scale = 384 / VIEW.height;
    const edge = (x: number, y: number): number =>
      Math.min(
        x - (256 + (2000 - 5000) * scale),
        256 + (8000 - 5000) * scale - x,
        y - (192 + (1000 - 4000) * scale),
        192 + 3000 * scale - y,
      );
    const wanted =
      (border: number): Wanted =>
      (x, y) =>
        edge(x, y) > border + 2 ? COLOUR : edge(x, y) < border - 2 ? [0, 0, 0] : undefined;
    check(shown, wanted(0), { lit: true }, 50_000);
    expect(compare(shown.picture, wanted(12), { tolerance: 3, lit: true }).wrong).not.toEqual([]);
  });

  it("many streamlines take few requests, as the address that serve prints has them", async () => {
    const count = Number(process.env.OCTAVO_STREAMLINES ?? 20_000);
    const source = await manyStreamlines(join(root, "many"), count);
    const { views } = await viewsOf(source);
    serving(views);
    const shownDatasets = await Promise.all(
      views.map(async ({ name, store, known }) => ({
        url: `${client.url}/${name}`,
        dataset: await precomputed.open(store, Prefix.root),
        known,
      })),
    );
    const state = await neuroglancerState(shownDatasets);
    const started = Date.now();
    const { picture, complaints, asked } = await client.show({
      ...state,
      layers: state.layers.map((own) => ({ ...own })),
    });
    console.log(`${count} streamlines: ${asked.length} requests, ${((Date.now() - started) / 1000).toFixed(1)} s`);
    expect(complaints).toEqual([]);
    let lit = 0;
    for (let i = 0; i < picture.bytes.length; i += 4)
      if (picture.bytes[i]! + picture.bytes[i + 1]! + picture.bytes[i + 2]! > 0) lit++;
    expect(lit).toBeGreaterThan(3000);
    expect(asked.length).toBeLessThanOrEqual(60);
  }, 3_600_000);
});

/** Fibres that fan out from a stem, in pieces. */
async function manyStreamlines(folder: string, count: number): Promise<VectorDataset> {
  const STEPS = 40;
  const store = fileStore(folder, { durability: "none" });
  const writer = await createZarrVectors(store, Prefix.root, {
    geometry: "streamlines",
    axes: ["x", "y", "z"].map((name) => ({ name, type: "space", unit: "millimeter" })),
    chunkShape: [20, 20, 20],
  });
  const PIECE = 20_000;
  for (let from = 0; from < count; from += PIECE) {
    const own = Math.min(PIECE, count - from);
    const positions = new Float32Array(3 * STEPS * own);
    for (let i = 0; i < own; i++) {
      const fibre = from + i;
      const [angle, spread] = [fibre * 2.4, Math.sqrt((fibre + 0.5) / count)];
      for (let step = 0; step < STEPS; step++) {
        const t = step / STEPS;
        const bend = 8 + 42 * spread * t * t;
        positions.set(
          [50 + bend * Math.cos(angle + t), 50 + bend * Math.sin(angle + t), 4 + 92 * t],
          3 * (i * STEPS + step),
        );
      }
    }
    await writer.add({
      positions,
      parts: Uint32Array.from({ length: own + 1 }, (_, i) => i * STEPS),
      objects: Int32Array.from({ length: own }, (_, i) => i),
      ids: BigInt64Array.from({ length: own }, (_, i) => BigInt(from + i)),
    });
  }
  await writer.commit();
  return openZarrVectors(store, Prefix.root);
}
