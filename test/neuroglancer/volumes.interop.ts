/** Segmentations that Octavo wrote, as Neuroglancer shows them: every voxel in view has the colour of its segment. */
import { expect, it } from "vitest";
import { createVolume, type Triple, volumeInfo } from "../../src/format/precomputed/volume/index.js";
import { dtypeOf } from "../../src/format/precomputed/volume/info.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { BLACK, type Colour, compare, hex, SIZE, type Wanted } from "./picture.js";
import { damage, inNeuroglancer, requestsIn } from "./suite.js";
import type { State } from "./viewer.js";

const SHAPE: Triple = [128, 96, 40];
const OFFSET: Triple = [16, 32, 8];
/** In the middle of what is in view, and of a voxel along the axis that is looked along. */
const MIDDLE = [80, 80, 28.5] as const;
const SEGMENTS: readonly (readonly [id: bigint, colour: Colour])[] = [
  [0n, BLACK],
  [5n, [255, 0, 0]],
  [2n ** 63n + 11n, [0, 255, 0]],
  [2n ** 64n - 1n, [0, 0, 255]],
];

/** Boxes of 8 × 8 × 4 voxels, in an order that no exchange of axes leaves as it is, and a corner without anything. */
const segmentAt = (x: number, y: number, z: number): number =>
  x >= 112 && y >= 96 ? 0 : ((x >> 3) + 3 * (y >> 3) + (z >> 2) + (x >> 5)) % 4;

async function write(folder: string, sharding: boolean): Promise<void> {
  const dtype = dtypeOf("uint64");
  const placed = { size: SHAPE, offset: OFFSET, resolution: [8, 8, 8], chunkSize: [32, 32, 16] } as const;
  const info = volumeInfo({ ...placed, dtype, scales: 3, sharding });
  const volume = await createVolume(fileStore(folder), Prefix.root, info);
  const ids = new BigUint64Array(SHAPE[0] * SHAPE[1] * SHAPE[2]);
  let i = 0;
  for (let x = OFFSET[0]; x < OFFSET[0] + SHAPE[0]; x++)
    for (let y = OFFSET[1]; y < OFFSET[1] + SHAPE[1]; y++)
      for (let z = OFFSET[2]; z < OFFSET[2] + SHAPE[2]; z++) ids[i++] = SEGMENTS[segmentAt(x, y, z)]![0];
  await volume.write(undefined, { shape: [...SHAPE, 1], dtype, data: new Uint8Array(ids.buffer) });
  await volume.commit();
}

/** Which axes run to the right and down; `scale` voxels to a pixel. */
function slice([across, down]: readonly [number, number], scale: number, segment: typeof segmentAt): Wanted {
  return (x, y) => {
    const place: number[] = [...MIDDLE];
    place[across]! += (x - SIZE.width / 2) * scale;
    place[down]! += (y - SIZE.height / 2) * scale;
    for (const axis of [across, down]) {
      const voxel = place[axis]! / Math.max(1, scale);
      if (Math.abs(voxel - Math.round(voxel)) < 0.3) return undefined; // on the border of two voxels
    }
    const inside = place.every((value, axis) => value >= OFFSET[axis]! && value < OFFSET[axis]! + SHAPE[axis]!);
    return inside ? SEGMENTS[segment(...(place.map(Math.floor) as unknown as Triple))]![1] : BLACK;
  };
}

inNeuroglancer("volumes in Neuroglancer", ({ folder, source, show }) => {
  const chosen = SEGMENTS.slice(1);
  const state = (name: string, layout: string, crossSectionScale: number): State => ({
    dimensions: { x: [8e-9, "m"], y: [8e-9, "m"], z: [8e-9, "m"] },
    position: MIDDLE,
    crossSectionScale,
    layout,
    layers: [
      {
        type: "segmentation",
        name,
        source: source(name),
        segments: chosen.map(([id]) => `${id}`),
        segmentColors: Object.fromEntries(chosen.map(([id, colour]) => [`${id}`, hex(colour)])),
        selectedAlpha: 1,
        notSelectedAlpha: 0,
      },
    ],
  });

  /** Requests of each scale: in shards two for indexes, and none for the chunk that is not there. */
  it.each([
    ["sharded", [3, 6, 13, 14, 6], []],
    ["in files", [1, 4, 12, 12, 4], ["404: /in files/8_8_8/112-144_96-128_24-40"]],
  ] as const)("%s, in two planes and at two scales", async (name, [coarsest, coarse, fine, across, alone], absent) => {
    await write(folder(name), name === "sharded");
    const [info, near, far, farthest] = [name, `${name}/8_8_8`, `${name}/16_16_16`, `${name}/32_32_32`] as const;
    const views = [
      { axes: [0, 1], scale: 0.25, asked: { [info]: 1, [near]: fine, [far]: coarse, [farthest]: coarsest }, absent },
      {
        axes: [0, 2],
        scale: 0.25,
        asked: { [info]: 1, [near]: across, [far]: coarse, [farthest]: coarsest },
        absent: [],
      },
      { axes: [0, 1], scale: 2, asked: { [info]: 1, [far]: alone, [farthest]: coarsest }, absent: [] },
    ] as const;
    for (const { axes, scale, asked, absent } of views) {
      const shown = await show(state(name, axes.map((axis) => "xyz"[axis]).join(""), scale));
      expect(shown.complaints).toEqual(absent);
      expect(requestsIn(shown)).toEqual(asked);
      const { coloured, black, wrong } = compare(shown.picture, slice(axes, scale, segmentAt));
      expect(wrong).toEqual([]);
      expect(coloured).toBeGreaterThan(600);
      expect(black).toBeGreaterThan(15_000);
      // The same picture is none of a volume in which one box is of another segment.
      const other: typeof segmentAt = (x, y, z) =>
        segmentAt(x, y, z) ^ +(x >> 2 === 15 && y >> 2 === 20 && z >> 2 === 7);
      expect(compare(shown.picture, slice(axes, scale, other)).wrong).not.toEqual([]);
    }
  });

  it("does not pass with damage", async () => {
    await write(folder("whole"), true);
    damage(folder("whole"), folder("damaged"));
    const { picture, complaints } = await show(state("damaged", "xy", 0.25));
    expect([...complaints, ...compare(picture, slice([0, 1], 0.25, segmentAt)).wrong]).not.toEqual([]);
  });
});
