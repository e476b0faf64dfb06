/** Pictures: what lands on which pixel, in which colour, in front of what. */
import { describe, expect, test } from "vitest";
import { loadDeflate } from "../codec/deflate.js";
import { decodePng } from "../codec/png.js";
import { InvalidInput } from "../errors.js";
import { createAnnotations, precomputed } from "../format/precomputed/index.js";
import {
  type BatchParts,
  createZarrVectors,
  openZarrVectors,
  type VectorDescription,
} from "../format/zarr-vectors/index.js";
import { defaultLimits } from "../limits.js";
import type { VectorDataset } from "../model/vectors.js";
import { paletteOn, palettes } from "../scene/palette.js";
import { Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import type { Picture } from "./frame.js";
import { encodePicture, render } from "./picture.js";

async function made(description: VectorDescription, input: BatchParts): Promise<VectorDataset> {
  const store = memoryStore();
  const writer = await createZarrVectors(store, Prefix.root, { dims: 3, chunkShape: 200, ...description });
  await writer.add(input);
  await writer.commit();
  return openZarrVectors(store, Prefix.root);
}

const pixel = ({ width, pixels }: Picture, x: number, y: number): number => {
  const at = 3 * (y * width + x);
  return (pixels[at]! << 16) | (pixels[at + 1]! << 8) | pixels[at + 2]!;
};
const inked = ({ pixels }: Picture): number => {
  let count = 0;
  for (let at = 0; at < pixels.length; at += 3) if (pixels[at]! + pixels[at + 1]! + pixels[at + 2]! > 0) count++;
  return count;
};

/** 108 pixels see 100 units, from above: a unit is a pixel, and (0, 0) is at pixel 4, 104. */
const above = { width: 108, height: 108, view: "top", background: 0, furniture: false } as const;
const corners = [0, 0, 0, 100, 100, 0];
/** As it is on black. */
const grey = paletteOn(palettes.grey!, above.background);

test("a point is where it is, round, and nothing else is there", async () => {
  const dataset = await made({ geometry: "points" }, { positions: Float32Array.of(...corners, 30, 60, 0) });
  const picture = await render(dataset, {}, { ...above, color: "#ff8800", mark: 5 });
  expect(pixel(picture, 34, 43)).toBe(0xff8800);
  expect(pixel(picture, 34, 47)).toBe(0);
  expect(pixel(picture, 36, 41)).not.toBe(0xff8800); // no square
  expect(pixel(picture, 4, 103)).toBe(0xff8800);
  expect(pixel(picture, 103, 4)).toBe(0xff8800);
  expect(inked(picture)).toBeLessThan(3 * 40);
});

test.each(["skeletons", "graph"] as const)("a vertex of %s that nothing is joined to is a ball", async (geometry) => {
  const dataset = await made(
    { geometry },
    {
      positions: Float32Array.of(...corners, 30, 60, 0),
      parts: Uint32Array.of(0, 2, 3),
      objects: Int32Array.of(0, 1),
      ids: BigInt64Array.of(1n, 2n),
      links: { width: 2, ends: Uint32Array.of(1, 0), columns: new Map() },
    },
  );
  const picture = await render(dataset, {}, { ...above, color: "#ff8800", mark: 5 });
  expect(pixel(picture, 34, 43)).toBe(0xff8800);
  expect(pixel(picture, 34, 47)).toBe(0);
  const alone = await render(dataset, { object: [2n] }, { ...above, color: "orientation", mark: 5 });
  expect(inked(alone)).toBeGreaterThan(10);
});

test("what is nearer hides what is behind, whichever comes first", async () => {
  for (const order of [1, -1]) {
    const dataset = await made(
      { geometry: "points" },
      {
        positions: Float32Array.of(...corners, 50, 50, order * 10, 50, 50, order * -10),
        vertexColumns: new Map([
          [
            "v",
            {
              info: { name: "v", dtype: { kind: "float", size: 4, endian: "little" }, channels: 1 },
              values: Float32Array.of(0, 0, order, -order),
            },
          ],
        ]),
      },
    );
    const look = { ...above, color: "v", palette: "grey", range: [-1, 1] as const, mark: 4 };
    expect(pixel(await render(dataset, {}, look), 54, 54)).toBe(0xf2f2f2);
    expect(pixel(await render(dataset, {}, { ...look, view: "bottom" }), 54, 54)).toBe(grey[0]);
  }
});

test("a line goes from end to end, as wide as it is said, coloured by where it goes", async () => {
  const dataset = await made(
    { geometry: "streamlines" },
    { positions: Float32Array.of(0, 50, 0, 100, 50, 0, 50, 0, -1, 50, 100, -1), parts: Uint32Array.of(0, 2, 4) },
  );
  const picture = await render(dataset, {}, { ...above, mark: 4 });
  for (const x of [5, 30, 102]) expect(pixel(picture, x, 54)).toBe(0xff0000);
  expect(pixel(picture, 30, 55)).toBe(0xff0000);
  expect(pixel(picture, 30, 57)).toBe(0);
  expect(pixel(picture, 54, 20)).toBe(0x00ff00);
  expect(pixel(picture, 54, 54)).toBe(0xff0000); // the one along x is above
  expect(pixel(picture, 20, 20)).toBe(0);
});

const NM = ["x", "y", "z"].map((name) => ({ name, type: "space", unit: "nm" }));

test.each([
  ["", undefined, 1],
  [", in nanometres", "nm", 1],
  [", in micrometres", "um", 1000],
] as const)(
  "bends of what has a radius are round, and a thick vertex is a ball before the lines that end in it%s",
  async (_, unit, per) => {
    const radius = { name: "radius", dtype: { kind: "float", size: 4, endian: "little" }, channels: 1, unit } as const;
    const dataset = await made(
      { geometry: "skeletons", axes: NM },
      {
        positions: Float32Array.of(0, 50, 0, 50, 50, 0, 50, 0, 4, 100, 100, 0, 100, 99, 0),
        ids: BigInt64Array.of(1n),
        links: { width: 2, ends: Uint32Array.of(0, 1, 2, 1, 4, 3), columns: new Map() },
        vertexColumns: new Map([
          ["radius", { info: radius, values: Float32Array.of(10, 20, 10, 1, 1).map((r) => r / per) }],
        ]),
      },
    );
    const picture = await render(dataset, {}, above);
    expect(pixel(picture, 66, 42)).not.toBe(0); // 17 from the bend, beyond both lines
    expect(pixel(picture, 70, 38)).toBe(0); // 23
    expect(pixel(picture, 54, 70)).toBe(pixel(picture, 54, 54)); // the line that is above ends behind the ball
  },
);

test("values on a line go from one end's to the other's", async () => {
  const column = {
    info: { name: "fa", dtype: { kind: "float", size: 4, endian: "little" }, channels: 1 },
    values: Float32Array.of(0, 1),
  } as const;
  const dataset = await made(
    { geometry: "streamlines" },
    {
      positions: Float32Array.of(0, 0, 0, 100, 100, 0),
      parts: Uint32Array.of(0, 2),
      vertexColumns: new Map([["fa", column]]),
    },
  );
  const picture = await render(dataset, {}, { ...above, color: "fa", palette: "grey", mark: 6 });
  const seen = [10, 54, 98].map((x) => pixel(picture, x, 107 - x) & 255);
  expect(Math.abs(seen[1]! - ((grey[0]! & 255) + 0xf2) / 2)).toBeLessThan(4);
  expect(seen[0]! < seen[1]! && seen[1]! < seen[2]!).toBe(true);
});

test("a surface covers its inside and no more, and is brightest where it faces the eye", async () => {
  const dataset = await made(
    { geometry: "mesh" },
    {
      positions: Float32Array.of(0, 0, 0, 100, 0, 0, 0, 100, 0, 100, 0, 80),
      ids: BigInt64Array.of(1n),
      links: { width: 3, ends: Uint32Array.of(0, 1, 2), columns: new Map() },
    },
  );
  const picture = await render(dataset, {}, { ...above, color: "white" });
  expect(pixel(picture, 20, 90)).toBeGreaterThan(0xe00000);
  expect(pixel(picture, 90, 20)).toBe(0);
  const share = inked(picture) / 5000;
  expect(share).toBeGreaterThan(0.98);
  expect(share).toBeLessThan(1.05);
});

describe("annotations are drawn as what they are", () => {
  const dimensions = ["x", "y", "z"].map((name) => ({ name, scale: 1e-9, unit: "m" }));
  async function annotated(type: "axis_aligned_bounding_box" | "ellipsoid", points: number[]) {
    const store = memoryStore();
    const writer = await createAnnotations(store, Prefix.root, { type, dimensions });
    const offsets = Uint32Array.of(0, 2, 4);
    const annotations = { ids: BigUint64Array.of(7n, 8n), offsets, points: Float32Array.from(points) };
    await writer.add({ ...annotations, properties: new Map() });
    await writer.commit();
    return (await precomputed.open(store, Prefix.root)) as VectorDataset;
  }

  test("boxes have edges, and nothing inside", async () => {
    const dataset = await annotated("axis_aligned_bounding_box", [0, 0, 0, 100, 100, 0, 20, 30, 0, 60, 80, 9]);
    const picture = await render(dataset, {}, { ...above, color: "white", mark: 3 });
    const at = (x: number, y: number): boolean => pixel(picture, 4 + x, 103 - y) > 0;
    for (const [x, y] of [
      [20, 50],
      [60, 50],
      [40, 30],
      [40, 80],
      [1, 50],
      [50, 99],
    ] as const)
      expect(at(x, y)).toBe(true);
    for (const [x, y] of [
      [40, 55],
      [10, 10],
      [80, 80],
      [50, 50],
    ] as const)
      expect(at(x, y)).toBe(false);
    expect(picture.vertices).toBe(4);
    const part = await render(
      dataset,
      { box: [10, 20, 0, 110, 120, 9], clip: true },
      { ...above, color: "white", mark: 3 },
    );
    expect(pixel(part, 4 + 10, 103 - 30)).toBeGreaterThan(0); // the same box, not the part of a line that is inside
  });

  test("ellipsoids reach to where their radii end", async () => {
    const dataset = await annotated("ellipsoid", [50, 50, 0, 50, 50, 5, 60, 40, 0, 20, 10, 5]);
    const picture = await render(dataset, {}, { ...above, color: "white", mark: 3 });
    const at = (x: number, y: number): boolean => pixel(picture, 4 + x, 103 - y) > 0;
    for (const [x, y] of [
      [1, 50],
      [99, 50],
      [50, 1],
      [50, 99],
      [80, 40],
      [40, 40],
      [60, 30],
    ] as const)
      expect(at(x, y)).toBe(true);
    for (const [x, y] of [
      [5, 5],
      [30, 70],
      [70, 44],
    ] as const)
      expect(at(x, y)).toBe(false);
    expect(picture.vertices).toBe(2);
  });
});

describe("selections", () => {
  const two: BatchParts = {
    positions: Float32Array.of(0, 0, 0, 100, 0, 0, 40, 40, 0, 60, 60, 0),
    parts: Uint32Array.of(0, 2, 4),
    objects: Int32Array.of(0, 1),
    ids: BigInt64Array.of(7n, 8n),
  };
  test("the picture shows the part that is asked for, as large as it can be", async () => {
    const dataset = await made({ geometry: "streamlines" }, two);
    const { vertices, ...picture } = await render(dataset, { object: [8n] }, { ...above, color: "white" });
    expect(vertices).toBe(2);
    expect(pixel(picture, 6, 101)).toBe(0xffffff);
  });

  test("colours, palettes, views and sizes that there are not are told", async () => {
    const dataset = await made({ geometry: "streamlines" }, two);
    await expect(render(dataset, {}, { color: "no" })).rejects.toThrow(
      /no attribute "no" to colour by; there are: none/,
    );
    await expect(render(dataset, {}, { palette: "toString" })).rejects.toThrow(InvalidInput);
    await expect(render(dataset, {}, { view: "behind" })).rejects.toThrow(/a view is front, back/);
    await expect(render(dataset, {}, { width: 1e6 })).rejects.toThrow(/1 to 16384 pixels/);
  });
});

test("a PNG file has the pixels of the picture", async () => {
  const dataset = await made({ geometry: "points" }, { positions: Float32Array.of(...corners) });
  const picture = await render(dataset, {}, { width: 60, height: 40, background: 0xffffff });
  const spec = { shape: [3, 1, 40, 60], dtype: { kind: "uint", size: 1, endian: "little" }, fill: 0 } as const;
  const planar = decodePng(await encodePicture(picture), spec as never, defaultLimits, await loadDeflate());
  for (const at of [0, 777, 2399])
    expect([0, 1, 2].map((c) => planar[c * 2400 + at])).toEqual([...picture.pixels.subarray(3 * at, 3 * at + 3)]);
});
