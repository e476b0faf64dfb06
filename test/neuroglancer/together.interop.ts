/**
 * Everything at once, as a person would publish it: a segmentation that names its meshes, skeletons and properties, and synapses that
 * are related to it. With PICTURE the client's picture is kept there: docs/pictures/neuroglancer.png is one.
 */
import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  chooseSharding,
  createAnnotations,
  createMeshes,
  createSkeletons,
  createVolume,
  volumeInfo,
  writeSegmentProperties,
} from "../../src/format/precomputed/index.js";
import { ndarray } from "../../src/model/elements.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { BLACK, hex, SIZE } from "./picture.js";
import { inNeuroglancer, requestsIn } from "./suite.js";

type Triple = [x: number, y: number, z: number];

/** Voxels along each side, and nanometres of one. */
const SIDE = 96;
const VOXEL = 50;
/** What is in the middle of the slices, in voxels, and voxels to a pixel of them. */
const MIDDLE: Triple = [48, 46, 48];
const SCALE = 0.55;

interface Branch {
  readonly from: Triple;
  readonly to: Triple;
  readonly radius: number;
}

/** A cell in voxels: a body, and branches that fork and become thinner. */
interface Cell {
  readonly id: bigint;
  readonly colour: Triple;
  readonly body: Triple;
  readonly radii: Triple;
  readonly branches: readonly Branch[];
}

function grow(id: bigint, colour: Triple, body: Triple, radii: Triple, seed: number): Cell {
  let state = seed;
  const random = (): number => {
    state = (Math.imul(state, 1103515245) + 12345) | 0;
    return (state >>> 8) / 2 ** 24;
  };
  const branches: Branch[] = [];
  const fork = (from: Triple, along: number, up: number, radius: number): void => {
    if (radius < 0.8) return;
    const length = 4 + 3 * radius;
    const step: Triple = [Math.cos(along) * Math.cos(up), Math.sin(along) * Math.cos(up), Math.sin(up)];
    const to = from.map((value, axis) => Math.min(SIDE - 3, Math.max(3, value + length * step[axis]!))) as Triple;
    branches.push({ from, to, radius });
    fork(to, along + 0.8 * (random() - 0.5), up + 0.6 * (random() - 0.5), radius * 0.86);
    if (random() < 0.45) fork(to, along + (random() < 0.5 ? 1 : -1), up + random() - 0.5, radius * 0.7);
  };
  for (let i = 0; i < 5; i++) fork(body, (i * 2 * Math.PI) / 5 + random(), 1.2 * (random() - 0.5), 2.6);
  return { id, colour, body, radii, branches };
}

const CELLS = [
  grow(1001n, [255, 170, 40], [30, 34, 40], [12, 9, 10], 3),
  grow(2n ** 63n + 2n, [80, 200, 255], [66, 30, 56], [9, 11, 9], 11),
  grow(2n ** 64n - 3n, [220, 90, 200], [52, 68, 44], [11, 9, 12], 4),
];

const nm = (point: Triple): Triple => point.map((value) => value * VOXEL) as Triple;

async function writeVolume(folder: string): Promise<void> {
  const ids = new BigUint64Array(SIDE ** 3);
  const mark = (id: bigint, middle: Triple, radii: Triple): void => {
    const [low, high] = [-1, 1].map((sign) =>
      middle.map((value, axis) => Math.min(SIDE - 1, Math.max(0, Math.round(value + sign * radii[axis]!)))),
    ) as [Triple, Triple];
    for (let x = low[0]; x <= high[0]; x++)
      for (let y = low[1]; y <= high[1]; y++)
        for (let z = low[2]; z <= high[2]; z++)
          if (Math.hypot(...[x, y, z].map((value, axis) => (value - middle[axis]!) / radii[axis]!)) <= 1)
            ids[(x * SIDE + y) * SIDE + z] = id;
  };
  for (const { id, body, radii, branches } of CELLS) {
    mark(id, body, radii);
    for (const { from, to, radius } of branches)
      for (let t = 0; t <= 1; t += 0.1)
        mark(id, from.map((value, axis) => value + t * (to[axis]! - value)) as Triple, [radius, radius, radius]);
  }
  const links = { mesh: "meshes", skeletons: "skeletons", segment_properties: "properties" };
  const resolution = [VOXEL, VOXEL, VOXEL] as const;
  const dtype = { kind: "uint", size: 8, endian: "little" } as const;
  const info = volumeInfo({
    size: [SIDE, SIDE, SIDE],
    dtype,
    resolution,
    chunkSize: [32, 32, 32],
    scales: 2,
    sharding: true,
    extras: links,
  });
  const volume = await createVolume(fileStore(folder), Prefix.root, info);
  await volume.write(undefined, ndarray([SIDE, SIDE, SIDE, 1], ids));
  await volume.commit();
}

async function writeObjects(folder: string): Promise<void> {
  const store = fileStore(folder);
  const { sharding } = chooseSharding({ count: 1e5, bytes: 1e9 });
  const attributes = [{ id: "radius", type: "float32", components: 1 }] as const;
  const skeletons = await createSkeletons(store, Prefix.of("skeletons"), { attributes, sharding });
  const meshes = await createMeshes(store, Prefix.of("meshes"), { sharding });
  for (const { id, body, radii, branches } of CELLS) {
    const ends = branches.flatMap(({ from, to, radius }) => [from, to].map((point) => ({ point, radius })));
    await skeletons.put(id, {
      vertices: Float32Array.from(ends.flatMap(({ point }) => nm(point))),
      edges: Uint32Array.from(ends, (_, i) => i),
      attributes: new Map([["radius", Float32Array.from(ends, ({ radius }) => radius * VOXEL)]]),
    });
    const [columns, rows] = [64, 32];
    const positions: number[] = [];
    const faces: number[] = [];
    for (let j = 0; j <= rows; j++)
      for (let i = 0; i < columns; i++) {
        const [along, down] = [(2 * Math.PI * i) / columns, (Math.PI * j) / rows];
        const unit: Triple = [Math.cos(along) * Math.sin(down), Math.sin(along) * Math.sin(down), Math.cos(down)];
        positions.push(...nm(unit.map((value, axis) => body[axis]! + radii[axis]! * value) as Triple));
        const [at, next] = [j * columns + i, j * columns + ((i + 1) % columns)];
        if (j < rows) faces.push(at, next, at + columns, next, next + columns, at + columns);
      }
    await meshes.put(id, { positions: Float32Array.from(positions), faces: Uint32Array.from(faces) });
  }
  await skeletons.commit();
  await meshes.commit();
  await writeSegmentProperties(store, Prefix.of("properties"), {
    ids: BigUint64Array.from(CELLS, ({ id }) => id),
    properties: [{ id: "label", type: "label", values: ["amber", "blue", "violet"] }],
  });
}

/** A synapse at each end that nothing goes on from. */
async function writeSynapses(folder: string): Promise<void> {
  const tips = CELLS.flatMap(({ id, branches }) =>
    branches
      .filter(({ to }) => !branches.some(({ from }) => from === to))
      .map(({ to, radius }) => ({ id, to, radius })),
  );
  const writer = await createAnnotations(fileStore(folder), Prefix.root, {
    type: "point",
    dimensions: ["x", "y", "z"].map((name) => ({ name, scale: 1e-9, unit: "m" })),
    properties: [{ id: "size", type: "float32" }],
    relationships: ["cell"],
  });
  await writer.add({
    ids: BigUint64Array.from(tips, (_, i) => BigInt(i + 1)),
    offsets: Uint32Array.from({ length: tips.length + 1 }, (_, i) => i),
    points: Float32Array.from(tips.flatMap(({ to }) => nm(to))),
    properties: new Map([["size", Float32Array.from(tips, ({ radius }) => radius)]]),
    related: new Map([
      [
        "cell",
        {
          offsets: Uint32Array.from({ length: tips.length + 1 }, (_, i) => i),
          ids: BigUint64Array.from(tips, ({ id }) => id),
        },
      ],
    ]),
  });
  await writer.commit();
}

inNeuroglancer("everything at once in Neuroglancer", ({ folder, source, show }) => {
  it("a segmentation with meshes, skeletons and properties, and synapses", async () => {
    await writeVolume(folder("cells"));
    await writeObjects(folder("cells"));
    await writeSynapses(folder("synapses"));
    const shown = await show(
      {
        dimensions: { x: [VOXEL * 1e-9, "m"], y: [VOXEL * 1e-9, "m"], z: [VOXEL * 1e-9, "m"] },
        position: MIDDLE,
        crossSectionScale: SCALE,
        projectionScale: 130,
        projectionOrientation: [0.35, -0.2, 0.05, 0.91],
        layout: "4panel",
        showSlices: false,
        showScaleBar: true,
        layers: [
          {
            type: "segmentation",
            name: "cells",
            source: source("cells"),
            segments: CELLS.map(({ id }) => `${id}`),
            segmentColors: Object.fromEntries(CELLS.map(({ id, colour }) => [`${id}`, hex(colour)])),
            selectedAlpha: 1,
            skeletonRendering: { mode3d: "lines", lineWidth3d: 3 },
          },
          {
            type: "annotation",
            name: "synapses",
            source: source("synapses"),
            shader: "void main() { setColor(vec3(1.0)); setPointMarkerSize(3.0 + 2.0 * prop_size()); }",
            linkedSegmentationLayer: { cell: "cells" },
          },
        ],
      },
      async (page) => {
        if (process.env.PICTURE === undefined) return;
        await page.setViewportSize({ width: 680, height: 500 });
        await page.waitForTimeout(5000);
        writeFileSync(process.env.PICTURE, await page.screenshot());
      },
    );
    expect(shown.complaints).toEqual([]);
    const asked = requestsIn(shown);
    for (const part of ["properties", "meshes", "skeletons", "50_50_50"])
      expect(asked[`cells/${part}`], part).toBeGreaterThan(0);
    expect(asked["synapses/spatial0"]).toBeGreaterThan(0);
    // In the slice on the upper left, a quarter of the picture, all bodies are cut.
    for (const { body, colour } of CELLS) {
      const [x, y] = [0, 1].map((axis) => (body[axis]! + 2 - MIDDLE[axis]!) / SCALE) as [number, number];
      expect(shown.picture.at(SIZE.width / 4 + x, SIZE.height / 4 + y)).toEqual(colour);
    }
    expect(shown.picture.at(SIZE.width / 4 - 100, SIZE.height / 4 - 80)).toEqual(BLACK);
  });
});
