/**
 * The pictures of docs/formats/zarr-vectors.md show what stores hold and what queries answer, asked here; `npx vitest run
 * test/docs/zarr-vectors-pictures.test.ts -u` draws them anew.
 */
import { expect, test } from "vitest";
import { createZarrVectors, openZarrVectors, type ZarrVectors } from "../../src/format/zarr-vectors/index.js";
import type { Query } from "../../src/model/vectors.js";
import { Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import { copyOf } from "../zarr-vectors-copy.js";
import { dot, HUE_COUNT, line, picture, rect, text } from "./svg.js";

type Place = readonly [x: number, y: number];
const file = (name: string): string => `../../docs/pictures/zarr-vectors-${name}.svg`;

/** Paths in the plane, as a store. */
async function storeOf(
  paths: readonly (readonly Place[])[],
  ids: readonly bigint[],
  chunk: number,
): Promise<ZarrVectors> {
  const writer = await createZarrVectors(memoryStore(), Prefix.root, {
    geometry: "streamlines",
    dims: 2,
    chunkShape: chunk,
    bounds: { min: [0, 0], max: [100, 100] },
  });
  const parts = [0];
  for (const path of paths) parts.push(parts.at(-1)! + path.length);
  await writer.add({
    positions: Float32Array.from(paths.flat(2)),
    parts: Uint32Array.from(parts),
    objects: Int32Array.from(ids, (_, row) => row),
    ids: BigInt64Array.from(ids),
  });
  return writer.commit();
}

/** A square of space, 0 … 100 on both axes, upwards, with the borders of its chunks. */
function square(left: number, top: number, side: number, chunk: number) {
  const at = ([x, y]: Place): Place => [left + (x / 100) * side, top + side - (y / 100) * side];
  const grid = [rect(left, top, side, side, "line")];
  for (let edge = chunk; edge < 100; edge += chunk) {
    grid.push(line([at([edge, 0]), at([edge, 100])], "line"));
    grid.push(line([at([0, edge]), at([100, edge])], "line"));
  }
  return { at, grid };
}

test("what a box answers", async () => {
  const paths = Array.from({ length: 11 }, (_, i) =>
    Array.from({ length: 15 }, (_, step): Place => {
      const t = step / 14;
      const x = 4 + 92 * t;
      return [x, 11 + 7.6 * i + (8 - i * 0.4) * Math.sin(5 * t + i) * (0.35 + 0.9 * t)];
    }),
  );
  paths.push([
    [12, 97],
    [44, 76],
    [91, 41],
  ]); // it crosses the box without a vertex inside
  const chunk = 25;
  const dataset = await storeOf(
    paths,
    paths.map((_, i) => BigInt(i < 11 ? i : 15)),
    chunk,
  );
  const box = [40, 40, 72, 68];
  const side = 270;
  const panels: readonly (readonly [string, string, Query])[] = [
    ["whole objects that touch the box", "--box 40,40,72,68", { box }],
    ["cut at its faces", "--box … --clip", { box, clip: true }],
    ["only the vertices inside", "--box … --clip=vertices", { box, clip: "vertices" }],
  ];
  const drawn: string[] = [];
  for (const [i, [title, option, query]] of panels.entries()) {
    const left = 24 + i * (side + 24);
    const { at, grid } = square(left, 40, side, chunk);
    drawn.push(text(left, 26, title, "ink head"), ...grid);
    for (const path of paths) drawn.push(line(path.map(at), "line", ' stroke-width="1.5"'));
    const { positions, parts, objects, ids } = await dataset.select(query).read();
    for (let part = 0; part + 1 < parts.length; part++) {
      const hue = Number(ids[objects[part]!]) % HUE_COUNT;
      const own = Array.from({ length: parts[part + 1]! - parts[part]! }, (_, v): Place => {
        const vertex = parts[part]! + v;
        return at([positions[2 * vertex]!, positions[2 * vertex + 1]!]);
      });
      if (own.length > 1) drawn.push(line(own, `s${hue}`, ' stroke-width="2"'));
      drawn.push(...own.map(([x, y]) => dot(x, y, 2.6, `h${hue}`)));
    }
    const [low, high] = [at([box[0]!, box[1]!]), at([box[2]!, box[3]!])];
    drawn.push(rect(low[0], high[1], high[0] - low[0], low[1] - high[1], "box", ' stroke-width="1.5"'));
    drawn.push(text(left, 40 + side + 24, option, "ink code"));
    const vertices = positions.length / 2;
    drawn.push(text(left, 40 + side + 44, `${ids.length} objects, ${vertices} vertices`, "soft"));
  }
  await expect(
    picture(3 * (side + 24) + 24, 372, "Streamlines in a box: whole, cut, and their vertices", drawn),
  ).toMatchFileSnapshot(file("box"));
});

test("where an object lies", async () => {
  const ids = [7n, 12n];
  const dataset = await storeOf(
    [
      [
        [10, 20],
        [24, 30],
        [38, 26],
        [60, 20],
        [80, 32],
        [74, 62],
        [88, 80],
      ],
      [
        [15, 88],
        [30, 70],
        [42, 58],
        [38, 40],
        [20, 42],
        [12, 60],
        [26, 92],
      ],
    ],
    ids,
    50,
  );
  const source = await dataset.source(0);
  const table = await source.chunks();
  const placed = await source.objects!.place(Uint32Array.of(0, 1));
  const owner = new Map<string, number>(); // of "chunk fragment"
  const manifests = ids.map((_, row) => {
    const steps: string[] = [];
    for (let b = placed.offsets[row]!; b < placed.offsets[row + 1]!; b++)
      for (let f = placed.first[b]!; f < placed.first[b]! + placed.count[b]!; f++) {
        owner.set(`${placed.chunk[b]} ${f}`, row);
        steps.push(`${nameOf(placed.chunk[b]!)} f${f}`);
      }
    return steps;
  });
  function nameOf(chunk: number): string {
    return [...table.coords.subarray(2 * chunk, 2 * chunk + 2)].join(",");
  }

  const side = 340;
  const { at, grid } = square(24, 44, side, 50);
  const drawn = [text(24, 28, "space: chunks, and fragments of two objects", "ink head"), ...grid];
  const cells: string[] = [];
  const column = 400;
  const all = Array.from({ length: table.count }, (_, chunk) => chunk);
  const ends = new Map<string, readonly [Place, Place]>();
  for await (const { chunk, positions, parts, vertices } of source.tiles(
    all,
    { positions: true, vertex: [], fragment: [] },
    {},
  )) {
    const y = 232 + chunk * 38;
    const [cx = 0, cy = 0] = table.coords.subarray(2 * chunk, 2 * chunk + 2);
    const corner = at([cx * 50, cy * 50 + 50]);
    drawn.push(text(corner[0] + 6, corner[1] + (cy === 0 ? side / 2 - 8 : 17), `chunk ${nameOf(chunk)}`, "soft code"));
    cells.push(text(column, y + 14, `c/${cx}/${cy}`, "soft code"));
    for (let f = 0; f + 1 < parts.length; f++) {
      const row = owner.get(`${chunk} ${f}`)!;
      const own = Array.from({ length: parts[f + 1]! - parts[f]! }, (_, v) =>
        at([positions[2 * (parts[f]! + v)]!, positions[2 * (parts[f]! + v) + 1]!]),
      );
      ends.set(`${chunk} ${f}`, [own[0]!, own.at(-1)!]);
      if (own.length > 1) drawn.push(line(own, `s${row}`, ' stroke-width="2.5"'));
      drawn.push(...own.map(([x, y]) => dot(x, y, 4, `h${row}`)));
      const [start, next] = [own[0]!, own[1]!];
      const far = Math.hypot(next[0] - start[0], next[1] - start[1]) / 17;
      const aside: Place = [start[0] - (next[0] - start[0]) / far, start[1] - (next[1] - start[1]) / far + 5];
      drawn.push(text(...aside, `f${f}`, `h${row} code`, "middle")); // where the path does not go
      for (let v = parts[f]!; v < parts[f + 1]!; v++)
        cells.push(rect(column + 64 + v * 20 + f * 8, y, 18, 18, `h${row}`, ' rx="3"'));
      const middle = column + 64 + ((parts[f]! + parts[f + 1]!) / 2) * 20 + f * 8 - 1;
      cells.push(text(middle, y + 31, `f${f}`, "soft code", "middle"));
    }
    cells.push(text(column + 64 + vertices * 20 + (parts.length - 1) * 8 + 4, y + 14, `${vertices} vertices`, "soft"));
  }
  const links: string[] = [];
  for await (const joints of source.objects!.joints(() => true))
    for (let j = 0; j < joints.count; j++) {
      const from = ends.get(`${joints.chunkA[j]} ${joints.partA[j]}`)![1];
      const to = ends.get(`${joints.chunkB[j]} ${joints.partB[j]}`)![0];
      links.push(
        line([from, to], `s${joints.object[j]}`, ' stroke-width="2" stroke-dasharray="2 5" stroke-linecap="round"'),
      );
    }
  drawn.splice(1 + grid.length, 0, ...links);

  drawn.push(text(column, 28, "0/object_index: a manifest for each object", "ink head"));
  manifests.forEach((steps, row) => {
    drawn.push(text(column, 54 + 26 * row, `id ${ids[row]}`, `h${row} code head`));
    drawn.push(text(column + 64, 54 + 26 * row, steps.join("  →  "), "ink code"));
  });
  drawn.push(text(column, 118, "0/links: what leads from chunk to chunk", "ink head"));
  drawn.push(
    line(
      [
        [column, 138],
        [column + 54, 138],
      ],
      "edge",
      ' stroke-width="2" stroke-dasharray="2 5" stroke-linecap="round"',
    ),
  );
  drawn.push(text(column + 64, 142, `${links.length} links, by the two chunks that they join`, "ink"));
  drawn.push(text(column, 184, "0/vertices: one cell for each chunk; 0/vertex_fragments says", "ink head"));
  drawn.push(text(column, 203, "where each fragment begins; attributes have the same order", "ink head"));
  drawn.push(...cells);
  drawn.push(
    text(
      24,
      44 + side + 26,
      "A fragment is a run of vertices of one object in one chunk. Dashes: steps between chunks.",
      "soft",
    ),
  );
  expect(links.length).toBe(4);
  await expect(
    picture(920, 424, "How objects lie in chunks: fragments, manifests and links", drawn),
  ).toMatchFileSnapshot(file("layout"));
});

test("a pyramid", async () => {
  const dataset = await openZarrVectors(await copyOf("v0.9.2/pyramid_points_objects_sparse"));
  const side = 270;
  const drawn: string[] = [];
  for (const [i, { level, binShape, vertices }] of dataset.levels.entries()) {
    const left = 24 + i * (side + 24);
    const { at, grid } = square(left, 40, side, binShape[0]!);
    drawn.push(text(left, 26, `level ${level}`, "ink head"), ...grid);
    const tiles = await dataset.source(level);
    const all = Array.from({ length: (await tiles.chunks()).count }, (_, chunk) => chunk);
    let count = 0;
    for await (const tile of tiles.tiles(all, { positions: true, vertex: [], fragment: [] }, {}))
      for (let v = 0; v < tile.vertices; v++, count++) {
        const [x, y] = at([tile.positions[3 * v]!, tile.positions[3 * v + 1]!]);
        drawn.push(dot(x, y, [3, 4.5, 7][level]!, `h${level}`));
      }
    expect(count).toBe(vertices);
    const objects = (await dataset.objectIds(level)).length;
    drawn.push(text(left, 40 + side + 24, `bins of ${binShape[0]}`, "ink code"));
    drawn.push(text(left, 40 + side + 44, `${vertices} vertices of ${objects} objects`, "soft"));
  }
  await expect(
    picture(3 * (side + 24) + 24, 372, "Three levels of a point cloud, seen from above", drawn),
  ).toMatchFileSnapshot(file("pyramid"));
});
