/** Images and other files as options of convert: the space of a TRK, masks, streamlines that leave the image, values of other files. */
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { paths, written } from "../../test/interchange.js";
import { nifti } from "../../test/nifti.js";
import { ownImage } from "../format/interchange/streamlines-write.js";
import { file } from "../format/interchange/tck.js";
import type { VectorDataset } from "../model/vectors.js";
import { convert, open, openLocation } from "../node.js";
import { Key } from "../store/key.js";

const at = (name: string): string => `memory:tracts/${name}`;
const along = (...x: number[]): number[] => x.flatMap((value) => [value, 0, 0]);

/** Ten voxels in a row of 1 mm, the first axis to the left: voxel i is at 9 − i. */
const image = (...voxels: number[]) =>
  nifti(
    { dim: [3, 10, 1, 1], pixdim: [1, 1, 1, 1], rows: [-1, 0, 0, 9, 0, 1, 0, 0, 0, 0, 1, 0] },
    Uint8Array.from({ length: 10 }, (_, i) => (voxels.includes(9 - i) ? 1 : 0)),
  );

beforeAll(async () => {
  const { store } = await openLocation("memory:tracts");
  const put = (name: string, bytes: Uint8Array | string) =>
    store.set(Key.of(name), typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes);
  const { bytes } = await written(file, paths([along(0, 1, 2), along(5, 2, 7), along(8, 9), along(3, 11)]));
  await put("a.tck", bytes);
  await put("T1.nii.gz", gzipSync(image()));
  await put("two.nii", image(2));
  await put("seven.nii.gz", gzipSync(image(7)));
  await put("w.txt", "10 11 12 13\n");
  await put("v.txt", "0 1 2 5 2 7 8 9 3 11");
  await put("short.txt", "1 2 3");
  await convert(at("a.tck"), at("a.zv"));
});

const read = async (name: string) => {
  const dataset = (await open(at(name))) as VectorDataset;
  return { dataset, ...(await dataset.select().read()) };
};

describe("without a reference, the image is the one that the header names", () => {
  beforeAll(async () => {
    await convert(at("a.tck"), at("own.trk"), { reference: at("T1.nii.gz") });
    await convert(at("own.trk"), at("own.zv"));
    await convert(at("own.trk"), at("own.trx"));
  });

  it.each(["own.trk", "own.zv", "own.trx"])("of %s", async (source) => {
    const left = await convert(at(source), at(`${source}-left.trk`), { invalid: "drop" });
    expect(left).toMatchObject({ objects: 3, losses: [expect.stringContaining("1 streamlines that leave the image")] });
    expect((await (await read(`${source}-left.trk`)).dataset.headers()).get("trk")).toMatchObject({
      dimensions: [10, 1, 1],
    });
    await expect(convert(at(source), at("no.trk"), { invalid: "fail" })).rejects.toThrow(/1 streamlines that leave/);
    const kept = await convert(at(source), at(`${source}-kept.tck`), { invalid: "keep" });
    expect(kept).toMatchObject({
      objects: 4,
      notes: [expect.stringMatching(/1 streamlines leave the image, and are kept/)],
    });
    const silent = await convert(at(source), at(`${source}-silent.tck`));
    expect(silent.notes).toBeUndefined();
  });

  it("where it names none, that is said", async () => {
    await expect(convert(at("a.tck"), at("no.zv"), { invalid: "drop" })).rejects.toThrow(/a reference is missing/);
  });

  it("the dimensions of a TRK are those of its own order of axes", () => {
    const affine = [0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]; // the first axis of a voxel leads to the front
    const image = (voxel_order: string) =>
      ownImage(new Map([["trk", { version: 2, vox_to_ras: affine, dimensions: [4, 5, 6], voxel_order }]]));
    expect(image("ARS")?.dimensions).toEqual([4, 5, 6]);
    expect(image("RAS")?.dimensions).toEqual([5, 4, 6]);
  });
});

describe.each(["a.tck", "a.zv"])("of %s", (source) => {
  const to = (name: string) => `${source}-${name}`;

  it("the space of a TRK is that of the reference, and what leaves it is told before it is written", async () => {
    const told: string[] = [];
    const report = await convert(at(source), at(to("a.trk")), {
      reference: at("T1.nii.gz"),
      onNote: (note) => void told.push(note),
    });
    const note = expect.stringMatching(/: 1 streamlines leave memory:tracts\/T1\.nii\.gz, and are kept$/);
    expect(told).toEqual([note]);
    expect(report).toMatchObject({ objects: 4, losses: [], notes: told });
    const { dataset, positions } = await read(to("a.trk"));
    expect([...positions.subarray(0, 9)]).toEqual(along(0, 1, 2));
    expect((await dataset.headers()).get("trk")).toMatchObject({ voxel_order: "LAS", dimensions: [10, 1, 1] });
    const space = { dimensions: [10, 1, 1], affine: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] };
    await convert(at(source), at(to("b.trk")), { reference: space });
    expect((await (await read(to("b.trk"))).dataset.headers()).get("trk")).toMatchObject({ voxel_order: "RAS" });
  });

  it("streamlines that leave the reference are dropped, or are an error before anything is there", async () => {
    const options = { reference: at("T1.nii.gz"), invalid: "drop" } as const;
    const report = await convert(at(source), at(to("inside.zv")), options);
    expect(report).toMatchObject({
      objects: 3,
      losses: [expect.stringMatching(/: 1 streamlines that leave the image$/)],
    });
    expect([...(await read(to("inside.zv"))).ids]).toEqual([0n, 1n, 2n]);
    const failing = convert(at(source), at(to("failed.zv")), { ...options, invalid: "fail" });
    await expect(failing).rejects.toThrow("has 1 streamlines that leave the image");
    await expect(open(at(to("failed.zv")))).rejects.toThrow("memory:tracts");
    await expect(convert(at(source), at(to("no.tck")), { invalid: "drop" })).rejects.toThrow("a reference is missing");
  });

  it("masks include and exclude, whole streamlines or their ends", async () => {
    const ids = async (options: Parameters<typeof convert>[2]) => {
      await convert(at(source), at(to("masked.zv")), { ...options, overwrite: true });
      return [...(await read(to("masked.zv"))).ids];
    };
    expect(await ids({ include: [at("two.nii")] })).toEqual([0n, 1n]);
    expect(await ids({ include: [at("two.nii"), at("seven.nii.gz")] })).toEqual([1n]);
    expect(await ids({ exclude: [at("two.nii")] })).toEqual([2n, 3n]);
    expect(await ids({ include: [at("two.nii")], endsOnly: true })).toEqual([0n]);
    expect(await ids({ include: [at("two.nii")], query: { object: [1, 2] } })).toEqual([1n]);
    await expect(ids({ endsOnly: true })).rejects.toThrow("there are no masks");
    await expect(ids({ include: [at("none.nii")] })).rejects.toThrow("none.nii is not there");
  });

  it("values of other files are attributes, of which a question can be asked", async () => {
    const attach = { w: at("w.txt"), v: at("v.txt") };
    const report = await convert(at(source), at(to("with.trk")), { attach, reference: at("T1.nii.gz") });
    expect(report.losses).toEqual([]);
    const { objectColumns, vertexColumns } = await read(to("with.trk"));
    expect([...objectColumns.get("w")!.values]).toEqual([10, 11, 12, 13]);
    expect([...vertexColumns.get("v")!.values]).toEqual([0, 1, 2, 5, 2, 7, 8, 9, 3, 11]);
    await convert(at(source), at(to("some.zv")), { attach, query: { where: "object.w >= 11 and v > 8" } });
    expect([...(await read(to("some.zv"))).ids]).toEqual([2n, 3n]);
    await expect(convert(at(source), at(to("x.zv")), { attach: { w: at("short.txt") } })).rejects.toThrow(
      "short.txt has 3 values, and there are 4 streamlines with 10 vertices",
    );
  });
});

it("values go with one dataset, and images with paths", async () => {
  await expect(convert([at("a.tck"), at("a.tck")], at("two.zv"), { attach: { w: at("w.txt") } })).rejects.toThrow(
    "values are attached to the streamlines of one dataset, and there are 2",
  );
  await convert(at("a.tck"), at("points.csv"));
  await expect(convert(at("points.csv"), at("points.zv"), { include: [at("two.nii")] })).rejects.toThrow(
    "has points along 3 axes; images are for paths in space",
  );
});
