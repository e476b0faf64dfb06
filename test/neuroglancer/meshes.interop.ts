/**
 * Meshes that Octavo wrote, as Neuroglancer draws them, in their finest and in their coarsest level: a sheet, in which every
 * fragment that is missing leaves a hole, and an ellipsoid, whose outline shows all three axes.
 */
import { expect, it } from "vitest";
import type { Mesh } from "../../src/format/precomputed/mesh/legacy.js";
import { createMeshes, type MeshDescription } from "../../src/format/precomputed/mesh/write.js";
import { chooseSharding } from "../../src/format/precomputed/sharded/choose.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { BLACK, type Colour, compare, hex, type Picture, SIZE, type Wanted } from "./picture.js";
import { damage, inNeuroglancer } from "./suite.js";
import { FROM_THE_SIDE, project, stateOf, type View } from "./view.js";
import type { Asked, State } from "./viewer.js";

/** Coordinates are stored in micrometres from the middle of the view. */
const TRANSFORM = [1000, 0, 0, 5000, 0, 1000, 0, 4000, 0, 0, 1000, 3000];
const VIEW: View = { position: [5000, 4000, 3000], height: 8000 };
const ASIDE: View = { ...VIEW, turn: FROM_THE_SIDE };
const SHEET = { id: 9n, colour: [255, 200, 0] as Colour, x: [-3.2, 3.2], y: [-3.2, 0.6], height: 0.5 } as const;
const EGG = {
  id: 2n ** 64n - 1n,
  colour: [0, 120, 255] as Colour,
  centre: [0.4, 2.3, -0.2],
  radii: [2.6, 1, 1.7],
} as const;

/** A grid of vertices over [0, 1] × [0, 1]. */
function surface(columns: number, rows: number, place: (u: number, v: number) => readonly number[]): Mesh {
  const positions: number[] = [];
  const faces: number[] = [];
  for (let j = 0; j <= rows; j++)
    for (let i = 0; i <= columns; i++) {
      positions.push(...place(i / columns, j / rows));
      if (i === columns || j === rows) continue;
      const at = j * (columns + 1) + i;
      faces.push(at, at + 1, at + columns + 1, at + 1, at + columns + 2, at + columns + 1);
    }
  return { positions: Float32Array.from(positions), faces: Uint32Array.from(faces) };
}

const sheet = surface(120, 80, (u, v) => {
  const [x, y] = [SHEET.x[0] + u * (SHEET.x[1] - SHEET.x[0]), SHEET.y[0] + v * (SHEET.y[1] - SHEET.y[0])];
  return [x, y, SHEET.height * Math.sin(2 * x) * Math.cos(3 * y)];
});
const egg = surface(96, 48, (u, v) => {
  const [along, down] = [2 * Math.PI * u, Math.PI * v];
  const unit = [Math.cos(along) * Math.sin(down), Math.sin(along) * Math.sin(down), Math.cos(down)];
  return unit.map((value, axis) => EGG.centre[axis]! + EGG.radii[axis]! * value);
});

async function write(folder: string, description: MeshDescription): Promise<void> {
  const writer = await createMeshes(fileStore(folder), Prefix.root, { ...description, transform: TRANSFORM });
  await writer.put(SHEET.id, sheet);
  await writer.put(EGG.id, egg);
  await writer.commit();
}

const SEVERAL: MeshDescription = { levels: 3, chunkShape: [1, 1, 1], quantizationBits: 10 };
const SHARDED: MeshDescription = { ...SEVERAL, sharding: chooseSharding({ count: 1e4, bytes: 1e9 }).sharding };

/** Pixels within which an outline of a coarse level may lie. */
const BORDER = 3;

/** From above both are seen whole; from the side the sheet is a band that hides a part of the other. */
function wanted(view: View, radii: readonly number[] = EGG.radii): Wanted {
  const pixels = (1000 * SIZE.height) / VIEW.height;
  const down = view.turn === undefined ? 1 : 2;
  const place = (point: readonly number[]): [number, number] =>
    project(
      view,
      point.map((value, axis) => 1000 * value + TRANSFORM[4 * axis + 3]!),
    );
  const [ex, ey] = place(EGG.centre);
  const [rx, ry] = [radii[0]! * pixels, radii[down]! * pixels];
  const [left, top] = place([SHEET.x[0], SHEET.y[0], -SHEET.height]);
  const [right, bottom] = place([SHEET.x[1], SHEET.y[1], SHEET.height]);
  return (x, y) => {
    const inSheet = Math.min(x - left, right - x, y - top, bottom - y);
    if (inSheet > BORDER && down === 1) return SHEET.colour;
    if (inSheet > -BORDER) return undefined;
    const ratio = Math.sqrt(((x - ex) / rx) ** 2 + ((y - ey) / ry) ** 2);
    const outside = (ratio - 1) * Math.min(rx, ry);
    return outside < -BORDER ? EGG.colour : outside > BORDER ? BLACK : undefined;
  };
}

/** Bytes of the ranges that were asked for. */
const bytesOf = (asked: readonly Asked[]): number =>
  asked.reduce((sum, { range }) => {
    const [, first, last] = /(\d+)-(\d+)/.exec(range) ?? [0, 0, -1];
    return sum + Number(last) + 1 - Number(first);
  }, 0);

inNeuroglancer("meshes in Neuroglancer", ({ folder, source, show }) => {
  const state = (name: string, view: View, meshRenderScale: number): State => ({
    ...stateOf(view),
    layers: [
      {
        type: "segmentation",
        name,
        source: source(name),
        segments: [`${SHEET.id}`, `${EGG.id}`],
        segmentColors: { [`${SHEET.id}`]: hex(SHEET.colour), [`${EGG.id}`]: hex(EGG.colour) },
        meshRenderScale,
      },
    ],
  });
  const how = { tolerance: 3, lit: true };
  const check = (picture: Picture, view: View): void => {
    const { coloured, black, wrong } = compare(picture, wanted(view), how);
    expect(wrong).toEqual([]);
    expect(coloured).toBeGreaterThan(15_000);
    expect(black).toBeGreaterThan(100_000);
    // The same picture is none of an ellipsoid that is a little larger.
    const larger = EGG.radii.map((radius) => radius + 0.2);
    expect(compare(picture, wanted(view, larger), how).wrong).not.toEqual([]);
  };

  it.each([
    ["sharded", SHARDED],
    ["in files", SEVERAL],
  ] as const)("%s, in the finest and the coarsest level", async (name, description) => {
    await write(folder(name), description);
    const bytes: number[] = [];
    for (const [view, scale] of [[VIEW, 1] as const, [VIEW, 1e4] as const, [ASIDE, 1] as const]) {
      const { picture, complaints, asked } = await show(state(name, view, scale));
      expect(complaints).toEqual([]);
      check(picture, view);
      bytes.push(bytesOf(asked));
    }
    expect(bytes[0]).toBeGreaterThan(10 * bytes[1]!);
    expect(bytes[2]).toBe(bytes[0]);
  });

  it("in the older form", async () => {
    await write(folder("older"), { kind: "legacy" });
    for (const view of [VIEW, ASIDE]) {
      const { picture, complaints } = await show(state("older", view, 1));
      expect(complaints).toEqual([]);
      check(picture, view);
    }
  });

  it("does not pass with damage", async () => {
    await write(folder("whole"), SHARDED);
    damage(folder("whole"), folder("damaged"));
    const { picture, complaints } = await show(state("damaged", VIEW, 1));
    expect([...complaints, ...compare(picture, wanted(VIEW), how).wrong]).not.toEqual([]);
  });
});
