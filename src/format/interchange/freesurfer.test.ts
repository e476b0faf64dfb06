import { describe, expect, it } from "vitest";
import { dataOf, written } from "../../../test/interchange.js";
import { asBytes, opened, plain } from "../../../test/surfaces.js";
import { concat } from "../../bytes/concat.js";
import { swapBytes } from "../../bytes/swap.js";
import { Corrupt, Unsupported } from "../../errors.js";
import { Key, Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { interchange } from "./format.js";
import { file } from "./freesurfer.js";

const big = (values: Int32Array | Float32Array): Uint8Array => swapBytes(new Uint8Array(values.buffer), 4);
const surface = (counts = [3, 1], points = [0, 0, 0, 1, 0, 0, 0, 1, 0.5], faces = [0, 1, 2]): Uint8Array =>
  concat([
    Uint8Array.of(255, 255, 254),
    asBytes("created by hand on Monday\n\n"),
    big(Int32Array.from(counts)),
    big(Float32Array.from(points)),
    big(Int32Array.from(faces)),
  ]);
const FOOTER = concat([
  big(Int32Array.of(2, 0, 20)),
  asBytes("valid = 1  # volume info valid\nvolume = 256 256 256\ncras   = 1.5 -2.25 3\n"),
]);

describe("FreeSurfer surfaces", () => {
  it("reads triangles, and keeps c_ras", async () => {
    const dataset = await opened(file, concat([surface(), FOOTER]), {}, "lh.freesurfer");
    expect(dataset.attributes).toEqual({ c_ras: [1.5, -2.25, 3] });
    expect(plain(await dataset.select().read())).toMatchObject({
      positions: [0, 0, 0, 1, 0, 0, 0, 1, 0.5],
      links: [0, 1, 2],
    });
    const { bytes } = await written(file, await dataOf(dataset));
    expect([...bytes]).toEqual([...concat([surface(), FOOTER])]);
  });

  it("is known by its first bytes, whatever its name", async () => {
    const store = memoryStore();
    const key = Key.of("surf/lh.thing");
    await store.set(key, surface());
    expect((await interchange.detect(store, Prefix.root, { file: key }))?.format).toBe("freesurfer");
  });

  it("says where a file is wrong", async () => {
    const bytes = surface();
    for (let length = 0; length < bytes.length; length++)
      await expect(opened(file, bytes.subarray(0, length))).rejects.toThrow(Corrupt);
    await expect(opened(file, surface([0x7fff_ffff, 1]))).rejects.toThrow("claims 2147483647 items");
    await expect(opened(file, surface([-1, 1]))).rejects.toThrow("claims -1 items");
    await expect(opened(file, surface([3, 1], undefined, [0, 1, 3]))).rejects.toThrow(
      "byte 74: a face points to vertex 3, counted from 0, of 3",
    );
    await expect(opened(file, surface([3, 1], undefined, [0, 1, -1]))).rejects.toThrow("points to vertex -1");
    await expect(opened(file, surface([1, 0], [0, Number.NaN, 0], []))).rejects.toThrow(
      "byte 38: a vertex has the coordinate NaN",
    );
    await expect(opened(file, Uint8Array.of(255, 255, 255, 0))).rejects.toThrow(Unsupported);
  });
});
