/** Paths by where they are: masks that include and exclude, ends only, and paths that leave the image. */
import { describe, expect, it } from "vitest";
import { openBytes, paths, written } from "../../test/interchange.js";
import { touches } from "../format/interchange/inside.js";
import { file } from "../format/interchange/trx.js";
import type { Batch } from "../model/vectors.js";
import { type Feed, feedOf } from "./feed.js";
import { masked, withinImage } from "./mask.js";

const affine = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

/** A row of ten voxels from 0 to 9, of which these are in the mask. */
const mask = (...voxels: number[]) => ({
  affine,
  dimensions: [10, 1, 1],
  blocks: [Uint8Array.from({ length: 10 }, (_, i) => (voxels.includes(i) ? 1 : 0))],
});
const along = (...x: number[]): number[] => x.flatMap((value) => [value, 0, 0]);
const w = { name: "w", dtype: { kind: "float", size: 4, endian: "little" }, channels: 1 } as const;

async function feed(): Promise<Feed> {
  const lines = [along(0, 1, 2), along(5, 2, 7), along(8, 9), along(3, 11)];
  const data = paths(lines, {
    vertex: [{ info: w, values: Float32Array.of(0, 1, 2, 5, 2, 7, 8, 9, 3, 11) }],
    object: [{ info: w, values: Float32Array.of(0, 1, 2, 3) }],
    groups: [BigInt64Array.of(0n, 2n), BigInt64Array.of(3n)],
  });
  return feedOf(await openBytes(file, "a.trx", (await written(file, data)).bytes), {});
}

async function all(from: Feed): Promise<Batch[]> {
  const found: Batch[] = [];
  for await (const batch of from.batches()) found.push(batch);
  return found;
}
const ids = async (from: Feed) => (await all(from)).flatMap((batch) => [...batch.ids]);

describe("masks", () => {
  it("include what touches each of them, and exclude what touches any", async () => {
    const two = touches(mask(2));
    expect(await ids(masked(await feed(), { include: [two] }))).toEqual([0n, 1n]);
    expect(await ids(masked(await feed(), { include: [two, touches(mask(7))] }))).toEqual([1n]);
    expect(await ids(masked(await feed(), { exclude: [two, touches(mask(9))] }))).toEqual([3n]);
    expect(await ids(masked(await feed(), { include: [touches(mask(2), true)] }))).toEqual([0n]);
    expect(await ids(masked(await feed(), { include: [touches(mask(4))] }))).toEqual([]);
    expect(await ids(masked(await feed(), {}))).toEqual([0n, 1n, 2n, 3n]);
  });

  it("what stays has its attributes and its groups", async () => {
    const own = masked(await feed(), { exclude: [touches(mask(2))] });
    const [batch] = await all(own);
    expect([...batch!.positions]).toEqual([...along(8, 9), ...along(3, 11)]);
    expect([...batch!.parts]).toEqual([0, 2, 4]);
    expect([...batch!.objects]).toEqual([0, 1]);
    expect([...batch!.vertexColumns.get("w")!.values]).toEqual([8, 9, 3, 11]);
    expect([...batch!.objectColumns.get("w")!.values]).toEqual([2, 3]);
    const { members, columns } = await own.groups();
    expect(members.map((group) => [...group])).toEqual([[2n], [3n]]);
    expect(columns.get("name")!.values).toEqual(["group_0", "group_1"]);
    const fewer = masked(await feed(), { include: [touches(mask(0))] });
    expect((await fewer.groups()).columns.get("name")!.values).toEqual(["group_0"]);
  });
});

it("masks know of coordinates that were left as they lie in a TRK", async () => {
  const far = affine.map((value, i) => (i === 3 ? 100 : value));
  const trk = { space: "voxmm", version: 2, dimensions: [10, 1, 1], voxel_size: [1, 1, 1], vox_to_ras: far };
  const stored = { ...(await feed()), headers: new Map([["trk", { ...trk, voxel_order: "RAS" }]]) };
  const eight = { ...mask(8), affine: far };
  expect(await ids(masked(stored, { include: [touches(eight)] }))).toEqual([2n]);
  expect((await withinImage(stored, eight, "keep")).outside).toBe(1);
});

describe("paths that leave the image", () => {
  it("are counted, and kept, dropped or refused", async () => {
    const kept = await withinImage(await feed(), mask(), "keep");
    expect([kept.outside, await ids(kept.feed)]).toEqual([1, [0n, 1n, 2n, 3n]]);
    const dropped = await withinImage(await feed(), mask(), "drop");
    expect([dropped.outside, await ids(dropped.feed)]).toEqual([1, [0n, 1n, 2n]]);
    expect(dropped.feed.losses).toEqual(["memory:/a.trx: 1 streamlines that leave the image"]);
    await expect(withinImage(await feed(), mask(), "fail")).rejects.toThrow("has 1 streamlines that leave the image");
  });
});
