/** What a cut leaves of a path in several pieces is several objects of a store, with what is known of the one they were. */
import { beforeEach, expect, it } from "vitest";
import { columnsOf, info } from "../../test/zarr-vectors-scenes.js";
import { type BatchParts, createZarrVectors } from "../format/zarr-vectors/write/write.js";
import type { Geometry, VectorDataset } from "../model/vectors.js";
import { convert, open, openLocation, split } from "../node.js";

let count = 0;
let folder = "";
const at = (name: string): string => `${folder}/${name}`;
beforeEach(() => {
  folder = `memory:apart-${count++}`;
});

const f4 = { kind: "float", size: 4, endian: "little" } as const;

async function store(geometry: Geometry, batch: BatchParts, groups: bigint[][] = []): Promise<VectorDataset> {
  const { store, at: place } = await openLocation(at("a.zv"), { durability: "none", create: true });
  const writer = await createZarrVectors(store, place, { geometry, dims: 3, chunkShape: 100, ids: "sparse" });
  await writer.add(batch);
  if (groups.length > 0)
    writer.groups(groups, columnsOf([info("name", { kind: "string" }), groups.map((_, i) => `${i}`)]));
  await writer.commit();
  return (await open(at("a.zv"))) as VectorDataset;
}

/** Object 7 crosses the plane x = 10 three times, 9 stays below it, 12 is beyond. */
const zigzag = () =>
  store(
    "streamlines",
    {
      positions: Float32Array.of(
        5,
        0,
        0,
        15,
        0,
        0,
        15,
        1,
        0,
        5,
        1,
        0,
        5,
        2,
        0,
        15,
        2,
        0,
        1,
        1,
        1,
        2,
        2,
        2,
        50,
        0,
        0,
        60,
        0,
        0,
      ),
      parts: Uint32Array.of(0, 6, 8, 10),
      objects: Int32Array.of(0, 1, 2),
      ids: BigInt64Array.of(7n, 9n, 12n),
      objectColumns: columnsOf([info("w", f4), Float32Array.of(0.5, 1, 2)]),
    },
    [[7n, 12n], [12n]],
  );
const BOX = [0, 0, 0, 10, 10, 10];

it("pieces are objects of a store, with the attributes, the groups and the id of theirs", async () => {
  await zigzag();
  const report = await convert(at("a.zv"), at("b.zv"), { query: { box: BOX, clip: true }, durability: "none" });
  expect(report).toMatchObject({ vertices: 8, objects: 3 });
  expect(report.losses).toEqual([
    expect.stringMatching(/pieces of a cut path are one object: .* new ids, and the object's is the attribute object$/),
  ]);
  const back = (await open(at("b.zv"))) as VectorDataset;
  const { ids, objectColumns } = await back.select().read();
  expect([...ids]).toEqual([7n, 9n, 13n]);
  expect([...objectColumns.get("object")!.values]).toEqual([7n, 9n, 7n]);
  expect([...objectColumns.get("w")!.values]).toEqual([0.5, 1, 0.5]);
  expect((await back.groups(0)).length).toBe(1);
  expect([...(await back.groupMembers(0, 0))]).toEqual([7n, 13n]);
});

it("pieces are objects of precomputed data, and carry only the attributes that were asked for", async () => {
  await zigzag();
  const options = { query: { box: BOX, clip: "vertices" as const }, attributes: ["w"], durability: "none" as const };
  const report = await convert(at("a.zv"), at("b"), { ...options, to: "precomputed" });
  expect(report).toMatchObject({ vertices: 5, objects: 3 });
  const back = (await open(at("b"))) as VectorDataset;
  expect((await back.schema()).object.map(({ name }) => name)).toEqual(["w"]);
});

it("boxes of a split have them, and it is known beforehand how many", async () => {
  await zigzag();
  const options = { by: "box", size: [10, 100, 100], clip: true, durability: "none" } as const;
  const { outputs } = await split(at("a.zv"), at("parts"), { ...options, dryRun: true });
  expect(outputs.slice(0, 2)).toEqual([
    { name: "box_0_0_0.zv", vertices: 8, objects: 3 },
    { name: "box_1_0_0.zv", vertices: 6, objects: 2 },
  ]);
  expect((await split(at("a.zv"), at("parts"), options)).outputs).toEqual(outputs);
});

it("a line of which one point is left is none", async () => {
  await store("lines", {
    positions: Float32Array.of(0, 0, 0, 5, 0, 0, 10, 0, 0, 15, 0, 0),
    parts: Uint32Array.of(0, 2, 4),
    objects: Int32Array.of(0, 1),
    ids: BigInt64Array.of(0n, 1n),
  });
  const report = await convert(at("a.zv"), at("b.zv"), { query: { box: BOX, clip: true }, durability: "none" });
  expect(report).toMatchObject({ vertices: 2, objects: 1 });
  expect(report.losses).toEqual([expect.stringMatching(/lines of which only a point is left$/)]);
});
