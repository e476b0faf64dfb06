/** Skeletons that Octavo wrote, as Neuroglancer draws them: an attribute as the colour, along each edge. */
import { expect, it } from "vitest";
import { chooseSharding } from "../../src/format/precomputed/sharded/choose.js";
import type { Skeleton } from "../../src/format/precomputed/skeleton/skeleton.js";
import { createSkeletons } from "../../src/format/precomputed/skeleton/write.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { type Colour, compare } from "./picture.js";
import { damage, inNeuroglancer, requestsIn } from "./suite.js";
import { FROM_THE_SIDE, type Stroke, stateOf, strokes, type View } from "./view.js";
import type { State } from "./viewer.js";

/** Coordinates are stored in micrometres from the middle of the view. */
const TRANSFORM = [1000, 0, 0, 5000, 0, 1000, 0, 4000, 0, 0, 1000, 3000];
const VIEW: View = { position: [5000, 4000, 3000], height: 8000 };
const IDS = [2n ** 53n + 1n, 7n, 2n ** 64n - 1n];
const SHOWN = [0, 2];
const WIDTH = 6;

/** A zigzag with a branch; each has its own height and its own way through the colours. */
function skeletonOf(number: number): Skeleton {
  const last = 9;
  const vertices = new Float32Array(3 * (last + 1));
  const tint = new Float32Array(3 * (last + 1));
  const edges: number[] = [];
  for (let i = 0; i <= last; i++) {
    const branch = i === last;
    vertices.set([branch ? 2.2 : i - 4, (i % 2) * 0.6 + number * 1.5 - 2.3, branch ? 2 : i * 0.4 - number - 1], 3 * i);
    tint.set([i / last, 1 - i / last, number / 2], 3 * i);
    if (i > 0) edges.push(branch ? 4 : i - 1, i);
  }
  const radius = Float32Array.from({ length: last + 1 }, (_, i) => i + 0.5);
  return {
    vertices,
    edges: Uint32Array.from(edges),
    attributes: new Map([
      ["radius", radius],
      ["tint", tint],
    ]),
  };
}

async function write(folder: string, sharded: boolean): Promise<void> {
  const writer = await createSkeletons(fileStore(folder), Prefix.root, {
    attributes: [
      { id: "radius", type: "float32", components: 1 },
      { id: "tint", type: "float32", components: 3 },
    ],
    transform: TRANSFORM,
    sharding: sharded ? chooseSharding({ count: 1e5, bytes: 1e8 }).sharding : null,
  });
  for (const [number, id] of IDS.entries()) await writer.put(id, skeletonOf(number));
  await writer.commit();
}

function strokesOf({ vertices, edges, attributes }: Skeleton): Stroke[] {
  const tint = attributes.get("tint") as Float32Array;
  const place = (vertex: number): number[] =>
    [0, 1, 2].map((axis) => 1000 * vertices[3 * vertex + axis]! + TRANSFORM[4 * axis + 3]!);
  const colour = (vertex: number): Colour => [0, 1, 2].map((c) => 255 * tint[3 * vertex + c]!) as unknown as Colour;
  return Array.from({ length: edges.length / 2 }, (_, i) => {
    const [a, b] = [edges[2 * i]!, edges[2 * i + 1]!];
    return { ends: [place(a), place(b)], colours: [colour(a), colour(b)], width: WIDTH };
  });
}

inNeuroglancer("skeletons in Neuroglancer", ({ folder, source, show }) => {
  const state = (name: string, view: View): State => ({
    ...stateOf(view),
    layers: [
      {
        type: "segmentation",
        name,
        source: source(name),
        segments: SHOWN.map((number) => `${IDS[number]}`),
        skeletonRendering: { mode3d: "lines", lineWidth3d: WIDTH, shader: "void main() { emitRGB(prop_tint()); }" },
      },
    ],
  });
  const all = SHOWN.flatMap((number) => strokesOf(skeletonOf(number)));

  it.each([
    ["sharded", 7], // the info; for each skeleton the index of its shard, of its minishard, and itself
    ["in files", 3],
  ] as const)("%s, from above and from the side", async (name, requests) => {
    await write(folder(name), name === "sharded");
    for (const view of [VIEW, { ...VIEW, turn: FROM_THE_SIDE }]) {
      const shown = await show(state(name, view));
      expect(shown.complaints).toEqual([]);
      expect(requestsIn(shown)).toEqual({ [name]: requests });
      const { coloured, black, wrong } = compare(shown.picture, strokes(view, all), { tolerance: 12 });
      expect(wrong).toEqual([]);
      expect(coloured).toBeGreaterThan(1500);
      expect(black).toBeGreaterThan(150_000);
      // The same picture is none of skeletons that are only a little different.
      const moved = all.map((one, i) => (i > 0 ? one : { ...one, ends: [one.ends[0], [1500, 2000, 3000]] as const }));
      expect(compare(shown.picture, strokes(view, moved), { tolerance: 12 }).wrong).not.toEqual([]);
      const tinted = all.map((one, i) => (i > 0 ? one : { ...one, colours: all[9]!.colours }));
      expect(compare(shown.picture, strokes(view, tinted), { tolerance: 12 }).wrong).not.toEqual([]);
    }
  });

  it("does not pass with damage", async () => {
    await write(folder("whole"), true);
    damage(folder("whole"), folder("damaged"));
    const { picture, complaints } = await show(state("damaged", VIEW));
    expect([...complaints, ...compare(picture, strokes(VIEW, all), { tolerance: 12 }).wrong]).not.toEqual([]);
  });
});
