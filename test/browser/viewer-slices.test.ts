/** Volumes in the viewer, in a real Chromium: planes lie where their voxels are, behind geometry in other units, by pixels. */
import { join } from "node:path";
import { expect, test } from "vitest";
import type { DataType } from "../../src/bytes/dtype.js";
import { buildTree, joinParticles, writeParticles } from "../../src/format/packed-tree/index.js";
import { createVolume, volumeInfo } from "../../src/format/precomputed/volume/index.js";
import { createArray, createGroup, writeRegion } from "../../src/format/zarr/index.js";
import { ndarray } from "../../src/model/elements.js";
import type { Camera, Vector } from "../../src/scene/camera.js";
import { colourOfId } from "../../src/scene/palette.js";
import { fileStore } from "../../src/store/file.js";
import { Key, Prefix } from "../../src/store/key.js";
import { FRONT, makeStore, ON_A } from "./viewer-data.js";
import { type Colour, colourAt, GROUND, picture, settled } from "./viewer-harness.js";
import { viewerTests } from "./viewer-tests.js";

const { data, own, suite } = viewerTests(makeVolumes);

const uint = (size: 1 | 2 | 8): DataType => ({ kind: "uint", size, endian: "little" });
const SIDE = 64;

/** Bright on the left, dark on the right, and the darker the further up: of the first half along y another brightness. */
const grey = (x: number, y: number, z: number): number => (x < SIDE / 2 ? 200 : 100) - z + (y < SIDE / 2 ? 40 : 0);

async function makeVolumes(data: string): Promise<void> {
  const size: Vector = [SIDE, SIDE, SIDE];
  const each = <T>(value: (x: number, y: number, z: number) => T): T[] =>
    Array.from({ length: SIDE ** 3 }, (_, at) => value(at >> 12, (at >> 6) & 63, at & 63));
  // 1 µm voxels, from (10, -32, 18) µm on.
  const image = await createVolume(
    fileStore(join(data, "image.precomputed")),
    Prefix.root,
    volumeInfo({
      size,
      dtype: uint(1),
      resolution: [1000, 1000, 1000],
      offset: [10, -32, 18],
      chunkSize: [16, 16, 16],
      scales: 2,
    }),
  );
  await image.write(undefined, ndarray([...size, 1], Uint8Array.from(each(grey))));
  await image.commit();
  const labels = await createVolume(
    fileStore(join(data, "labels.precomputed")),
    Prefix.root,
    volumeInfo({ size, dtype: uint(8), resolution: [1000, 1000, 1000], offset: [10, -32, 18] }),
  );
  const label = (x: number): bigint => (x < 16 ? 0n : x < 32 ? 7n : 2n ** 60n);
  await labels.write(undefined, ndarray([...size, 1], BigUint64Array.from(each(label))));
  await labels.commit();
  // The same image as OME-NGFF, z y x, its first voxel around (10.5, -31.5, 18.5) µm.
  const store = fileStore(join(data, "image.zarr"));
  await createGroup(store, Prefix.root, {
    attributes: {
      ome: {
        version: "0.5",
        multiscales: [
          {
            axes: ["z", "y", "x"].map((name) => ({ name, type: "space", unit: "micrometer" })),
            datasets: [
              {
                path: "0",
                coordinateTransformations: [
                  { type: "scale", scale: [1, 1, 1] },
                  { type: "translation", translation: [18.5, -31.5, 10.5] },
                ],
              },
            ],
          },
        ],
      },
    },
  });
  const shape = [SIDE, SIDE, SIDE];
  const array = await createArray(store, Prefix.of("0/"), { shape, dtype: uint(2), chunkShape: [16, 16, 16] });
  await writeRegion(array, undefined, ndarray(shape, Uint16Array.from(each((z, y, x) => 10 * grey(x, y, z)))));
  await makeStore(join(data, "streamlines.zv"), "streamlines", "micrometer");
}

const inNanometres = (camera: Camera): Camera => ({
  ...camera,
  target: camera.target.map((at) => 1000 * at) as unknown as Vector,
  span: 1000 * camera.span,
});
const across = (y: number) => [{ axis: 1 as const, position: y }];
/** The grey of the voxel at a place in µm. */
const greyAt = ([x, y, z]: Vector): number => grey(Math.floor(x - 10), Math.floor(y + 32), Math.floor(z - 18));
const isGrey = (value: number) => (colour: Colour) => colour.every((own) => Math.abs(own - value) <= 2);
const PLACES: readonly Vector[] = [
  [14, 5, 30],
  [40, 5, 60],
  [44, 5, 60],
  [62, 5, 78],
];

suite("slices in the viewer", () => {
  test("a plane of a precomputed volume has the voxels that are there", async () => {
    const camera = inNanometres(FRONT);
    const look = { planes: across(5000), range: [0, 255] };
    const asked: string[] = [];
    own.page.context().on("request", (request) => asked.push(request.url()));
    await own.show({ layers: [{ url: "image.precomputed", look }], camera } as never);
    const drawn = await picture(own.page);
    expect(await own.messages()).toEqual([]);
    for (const place of PLACES) expect(colourAt(drawn, FRONT, place)).toSatisfy(isGrey(greyAt(place)));
    expect(colourAt(drawn, FRONT, [7, 5, 50])).toEqual(GROUND); // beside the volume
    const chunks = asked.filter((url) => /\d+-\d+_/.test(url));
    expect(chunks.length).toBe(16 + 4); // of the finest level what the plane goes through, of the next one all of it
  });

  test("a multiscale image of Zarr lies behind streamlines, and its planes move", async () => {
    const look = { planes: across(5), range: [0, 2550] };
    const layers = [
      { url: "streamlines.zv", look: { mark: 5, color: "#ff0000" } },
      { url: "image.zarr", look },
    ];
    await own.show({ layers, camera: FRONT } as never);
    const drawn = await picture(own.page);
    for (const place of PLACES) expect(colourAt(drawn, FRONT, place)).toSatisfy(isGrey(greyAt(place)));
    const [r, g] = colourAt(drawn, FRONT, ON_A, [180, 180, 180]);
    expect(r - g).toBeGreaterThan(100);
    // With the slider, before the streamlines and to the other half of the volume.
    const slider = own.page.getByLabel("Plane at y");
    await slider.evaluate((input: HTMLInputElement) => {
      input.value = "-20";
      input.dispatchEvent(new Event("input"));
    });
    await settled(own.page);
    const moved = await picture(own.page);
    for (const [x, , z] of PLACES) {
      const place: Vector = [x, -20, z];
      expect(colourAt(moved, FRONT, place)).toSatisfy(isGrey(greyAt(place)));
    }
    expect(colourAt(moved, FRONT, ON_A)).toSatisfy(isGrey(greyAt([ON_A[0], -20, ON_A[2]])));
    expect(decodeURIComponent(own.page.url())).toContain('"planes":[{"axis":1,"position":-20}]');
  });

  test("a volume in nanometres lies where geometry in micrometres is", async () => {
    const look = { planes: across(5000), range: [0, 255] };
    const layers = [{ url: "image.precomputed", look }, { url: "streamlines.zv" }];
    await own.show({ layers, camera: FRONT, unit: "micrometer" } as never);
    const drawn = await picture(own.page);
    for (const place of PLACES) expect(colourAt(drawn, FRONT, place)).toSatisfy(isGrey(greyAt(place)));
  });

  test("labels have colours of their own, and 0 is seen through", async () => {
    const camera = inNanometres(FRONT);
    await own.show({ layers: [{ url: "labels.precomputed", look: { planes: across(5000) } }], camera } as never);
    const drawn = await picture(own.page);
    const colour = (label: bigint): Colour => {
      const own = colourOfId(label);
      return [own >> 16, (own >> 8) & 255, own & 255];
    };
    expect(colourAt(drawn, FRONT, [15, 5, 50])).toEqual(GROUND);
    expect(colourAt(drawn, FRONT, [35, 5, 50])).toEqual(colour(7n));
    expect(colourAt(drawn, FRONT, [60, 5, 50])).toEqual(colour(2n ** 60n));
  });

  test("three planes through the middle where nobody says where, and a range of the data", async () => {
    const camera: Camera = { target: [42, 0, 50], azimuth: 30, elevation: 20, span: 130, perspective: true };
    await own.show({ layers: [{ url: "image.zarr" }], camera } as never);
    await expect.poll(() => own.page.locator(".card [role=status]").textContent()).toBe("full resolution");
    expect(await own.page.getByLabel(/Plane at/).count()).toBe(3);
    const shares = await picture(own.page);
    let lit = 0;
    for (let at = 0; at < shares.pixels.length; at += 4)
      if (Math.abs(shares.pixels[at]! - GROUND[0]) > 8 && shares.pixels[at] === shares.pixels[at + 1]) lit++;
    expect(lit / (shares.width * shares.height)).toBeGreaterThan(0.15);
  });

  test("chunks have boxes where somebody wants to see them", async () => {
    const edge: Vector = [25, 0, 65]; // between two chunks of 25 that hold the first bar
    for (const boxes of [true, false]) {
      await own.show({ layers: [{ url: "streamlines.zv", look: { boxes } }], camera: FRONT } as never);
      const colour = async () => colourAt(await picture(own.page), FRONT, edge);
      if (boxes) await expect.poll(colour, { timeout: 20_000 }).not.toEqual(GROUND);
      else expect(await colour()).toEqual(GROUND);
    }
  });

  test("so have the nodes of an octree: around their particles, each its own", async () => {
    const [low, high]: Vector[] = [
      [10, 0, 30],
      [55, 0, 60],
    ]; // two squares of 20, in two octants: more than one node may hold
    const corners = [0, 20].flatMap((x) => [0, 20].map((z): Vector => [x, 0, z]));
    const positions = Array.from({ length: 800 }, (_, i) => {
      const [corner, first] = [corners[i % 4]!, i < 400 ? low! : high!];
      return corner.map((at, k) => first[k]! + at);
    }).flat();
    const particles = await joinParticles(await buildTree(Float32Array.from(positions)));
    await writeParticles(fileStore(data), Key.of("squares.ptree"), particles);
    const edges: Vector[] = [
      [20, 0, 30],
      [20, 0, 50],
      [10, 0, 40],
      [65, 0, 60],
      [65, 0, 80],
      [75, 0, 70],
    ];
    const elsewhere: Vector[] = [
      [42.5, 0, 30],
      [42.5, 0, 80],
      [20, 0, 40],
    ]; // around both, and inside
    for (const boxes of [true, false]) {
      await own.show({ layers: [{ url: "squares.ptree", look: { boxes } }], camera: FRONT } as never);
      const drawn = async (): Promise<boolean[]> => {
        const now = await picture(own.page);
        return [...edges, ...elsewhere].map((place) => String(colourAt(now, FRONT, place)) !== String(GROUND));
      };
      const expected = [...edges.map(() => boxes), ...elsewhere.map(() => false)];
      await expect.poll(drawn, { timeout: 20_000 }).toEqual(expected);
    }
  });

  test("a group that is no image is a sentence", async () => {
    await createGroup(fileStore(join(data, "nothing.zarr")), Prefix.root);
    await own.show({ layers: [{ url: "nothing.zarr" }] } as never);
    expect(await own.messages()).toEqual([
      expect.stringMatching(/is a group without multiscales: give the address of an array/),
    ]);
  });
});
