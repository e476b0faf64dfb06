/** Joints from manifests, of parts that may be empty. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ChunkTable, Joints, Placement, Tile } from "../../../model/source.js";
import { jointsOf } from "./joints.js";
import type { ObjectPages } from "./object-pages.js";
import type { Tiles } from "./tiles.js";

const SIDE = 3;

/** 3 × 3 chunks of size 1. */
const table: ChunkTable = {
  count: SIDE * SIDE,
  rank: 2,
  coords: Int32Array.from({ length: 2 * SIDE * SIDE }, (_, i) =>
    i % 2 === 0 ? Math.floor(i / 2 / SIDE) : (i >> 1) % SIDE,
  ),
  find: (coords) => coords[0]! * SIDE + coords[1]!,
  box(chunk, min, max) {
    for (const axis of [0, 1]) {
      min[axis] = this.coords[2 * chunk + axis]!;
      max[axis] = min[axis]! + 1;
    }
  },
};

type Block = readonly [chunk: number, first: number, count: number];

const pagesOf = (objects: readonly (readonly Block[])[], pageRows: number): ObjectPages => ({
  rows: objects.length,
  pageRows,
  async page(i): Promise<Placement> {
    const some = objects.slice(i * pageRows, (i + 1) * pageRows);
    let end = 0;
    return {
      offsets: Uint32Array.from([0, ...some.map((blocks) => (end += blocks.length))]),
      chunk: Int32Array.from(some.flat(), ([chunk]) => chunk),
      first: Uint32Array.from(some.flat(), ([, first]) => first),
      count: Uint32Array.from(some.flat(), ([, , count]) => count),
    };
  },
});

/** Tiles that know of each chunk the sizes of its parts, and which of them were asked for. */
function tilesOf(sizes: readonly (readonly number[])[]): Tiles & { readonly asked: Set<number> } {
  const asked = new Set<number>();
  const offsets = sizes.map((own) => {
    let end = 0;
    return Uint32Array.from([0, ...own.map((size) => (end += size))]);
  });
  return {
    asked,
    async *read(chunks) {
      for (const chunk of chunks) {
        asked.add(chunk);
        yield { chunk, parts: offsets[chunk]! } as Tile;
      }
    },
  } as Partial<Tiles> as Tiles & { readonly asked: Set<number> };
}

async function found(
  objects: readonly (readonly Block[])[],
  tiles: Tiles,
  meets: (min: Float64Array, max: Float64Array) => boolean,
  pageRows = 2,
): Promise<number[][]> {
  const all: number[][] = [];
  for await (const joints of jointsOf(pagesOf(objects, pageRows), table, tiles, 2, meets))
    for (let j = 0; j < joints.count; j++)
      all.push(
        (["object", "chunkA", "partA", "chunkB", "partB"] as const).map((of: keyof Joints) =>
          Number((joints[of] as Int32Array)[j]),
        ),
      );
  return all;
}

const around =
  (x: number, y: number) =>
  (min: Float64Array, max: Float64Array): boolean =>
    min[0]! <= x && max[0]! >= x && min[1]! <= y && max[1]! >= y;

test("a part without vertices is in no joint: those before and after it are", async () => {
  // From (0, 1) to (1, 0), by way of (0, 0), where there is nothing: the step may lead through (1, 1).
  const path: Block[] = [
    [1, 0, 1],
    [0, 0, 1],
    [3, 0, 1],
  ];
  const meets = around(1.5, 1.5);
  expect(await found([path], tilesOf([[0], [5], [], [5], [], [], [], [], []]), meets)).toEqual([[0, 1, 0, 3, 0]]);
  expect(await found([path], tilesOf([[1], [5], [], [5], [], [], [], [], []]), meets)).toEqual([]);
});

test("only the chunks whose empty parts would matter are looked at", async () => {
  const tiles = tilesOf(Array.from({ length: 9 }, () => [1]));
  await found(
    [
      [
        [0, 0, 1],
        [1, 0, 1],
      ],
      [[0, 0, 1]],
    ],
    tiles,
    around(0.5, 0.5),
  );
  expect([...tiles.asked]).toEqual([]);
  await found(
    [
      [
        [1, 0, 1],
        [0, 0, 1],
        [3, 0, 1],
        [4, 0, 1],
      ],
    ],
    tiles,
    around(1.5, 1.5),
  );
  expect([...tiles.asked].sort()).toEqual([0, 3]);
});

test("every joint that meets is found, whatever is empty, however long the path", async () => {
  const sizes = fc.array(fc.array(fc.nat(1), { minLength: 4, maxLength: 4 }), { minLength: 9, maxLength: 9 });
  const block = fc
    .tuple(fc.nat(8), fc.nat(3), fc.nat(1))
    .map(([chunk, first, more]): Block => [chunk, first, Math.min(4 - first, 1 + more)]);
  const path = fc.oneof(fc.array(block, { maxLength: 5 }), fc.array(block, { maxLength: 60 }));
  await fc.assert(
    fc.asyncProperty(
      sizes,
      fc.array(path, { maxLength: 6 }),
      fc.nat(5),
      fc.nat(5),
      fc.integer({ min: 1, max: 4 }),
      async (parts, objects, x, y, pageRows) => {
        const meets = around(x / 2 + 0.25, y / 2 + 0.25);
        const expected: string[] = [];
        for (const [object, blocks] of objects.entries()) {
          const steps = blocks.flatMap(([chunk, first, count]) =>
            Array.from({ length: count }, (_, i) => [chunk, first + i] as const),
          );
          const full = steps.filter(([chunk, part]) => parts[chunk]![part]! > 0);
          for (const [i, [b, partB]] of full.entries()) {
            if (i === 0) continue;
            const [a, partA] = full[i - 1]!;
            const [min, max, low, high] = [0, 1, 2, 3].map(() => new Float64Array(2)) as Float64Array[];
            table.box(a, min!, max!);
            table.box(b, low!, high!);
            const hull = [
              min!.map((v, k) => Math.min(v, low![k]!)),
              max!.map((v, k) => Math.max(v, high![k]!)),
            ] as const;
            if (meets(...hull)) expected.push([object, a, partA, b, partB].join());
          }
        }
        const isFull = ([, a, partA, b, partB]: number[]): boolean =>
          parts[a!]![partA!]! > 0 && parts[b!]![partB!]! > 0;
        const all = (await found(objects, tilesOf(parts), meets, pageRows)).filter(isFull).map((one) => one.join());
        expect(all.sort()).toEqual(expected.sort());
      },
    ),
    { numRuns: 300 },
  );
});
