/** NIfTI: where the voxels are, by affine, quaternion or neither, in both versions and byte orders; masks, and what lies in them. */
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type Image, nifti } from "../../../test/nifti.js";
import { OctavoError } from "../../errors.js";
import { Key } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { openFile } from "./file.js";
import { leaves, touches } from "./inside.js";
import { readMask, readNifti } from "./nifti.js";

async function input(bytes: Uint8Array, name = "a.nii") {
  const store = memoryStore();
  await store.set(Key.of(name), bytes);
  return openFile(store, Key.of(name));
}

describe("where voxels are", () => {
  it.each([
    [1, true],
    [1, false],
    [2, true],
    [2, false],
  ] as const)("NIfTI-%i, little-endian %s", async (version, little) => {
    const header = await readNifti(await input(nifti({ version, little })));
    expect(header).toMatchObject({
      dimensions: [2, 3, 4],
      affine: [2, 0, 0, 10, 0, 2, 0, 20, 0, 0, 2, 30, 0, 0, 0, 1],
      dtype: { kind: "uint", size: 1 },
    });
  });

  it("the affine counts before the quaternion, and that before nothing", async () => {
    const quaternion = [0, 0, 1, -5, -6, -7]; // half a turn around z
    const by = async (codes: readonly [number, number], pixdim = [-1, 1, 2, 3]) =>
      (await readNifti(await input(nifti({ codes, quaternion, pixdim })))).affine;
    expect((await by([1, 2])).slice(0, 4)).toEqual([2, 0, 0, 10]);
    expect((await by([1, 0])).map((x) => x + 0)).toEqual([-1, 0, 0, -5, 0, -2, 0, -6, 0, 0, -3, -7, 0, 0, 0, 1]);
    expect(await by([0, 0])).toEqual([-1, 0, 0, 0.5, 0, 2, 0, -2, 0, 0, 3, -4.5, 0, 0, 0, 1]);
  });

  it.each([
    [{ magic: "ni1" }, "is the header of a pair"],
    [{ magic: "xyz" }, 'has the magic "xyz"'],
    [{ dim: [0] }, "expected 1 to 7 sizes above 0"],
    [{ dim: [3, 2, -1, 2] }, "expected 1 to 7 sizes above 0"],
    [{ type: 32 }, "has values of type 32"],
    [{ rows: [Number.NaN] }, "has the affine"],
    [{ offset: 0 }, "has its data at byte 0"],
    [{ version: 2, offset: 540.0 - 1 }, "has its data at byte 539"],
  ] as const)("%o", async (own, message) => {
    await expect(readNifti(await input(nifti(own as Image)))).rejects.toThrow(message);
  });
});

describe("masks", () => {
  it("are true where values are not zero, with slope and intercept, of every type", async () => {
    const floats = new Uint8Array(Float32Array.of(0, 1, Number.NaN, -2).buffer);
    const dim = [4, 4, 1, 1, 1];
    expect([...(await readMask(await input(nifti({ dim, type: 16 }, floats)))).blocks[0]!]).toEqual([0, 1, 0, 1]);
    const bytes = Uint8Array.of(0, 1, 2, 3);
    const scaled = await readMask(await input(nifti({ dim, scaling: [2, -4] }, bytes)));
    expect([...scaled.blocks[0]!]).toEqual([1, 1, 0, 1]);
    const wide = new Uint8Array(BigInt64Array.of(0n, 2n ** 60n, 0n, -1n).buffer);
    const packed = new Uint8Array(gzipSync(nifti({ dim, type: 1024 }, wide)));
    expect([...(await readMask(await input(packed, "a.nii.gz"))).blocks[0]!]).toEqual([0, 1, 0, 1]);
  });

  it("what they cannot be", async () => {
    await expect(readMask(await input(nifti({ dim: [4, 2, 2, 2, 2] })))).rejects.toThrow("a mask has 3");
    await expect(readMask(await input(nifti({ dim: [3, 2, 3, 5] })))).rejects.toThrow("need 382");
    const huge = nifti({ dim: [3, 32767, 32767, 32767] });
    await expect(readMask(await input(huge))).rejects.toThrow("at most 2147483648 are held");
    const packed = new Uint8Array(gzipSync(nifti({ dim: [3, 1000, 1000, 1000] })));
    await expect(readMask(await input(packed, "a.nii.gz"))).rejects.toThrow("within its voxels");
    const bytes = nifti({});
    for (let length = 0; length < bytes.length; length += 7)
      await expect(readMask(await input(bytes.slice(0, length)))).rejects.toBeInstanceOf(OctavoError);
  });

  it("say which paths touch them, and which leave the image", async () => {
    const values = new Uint8Array(24);
    values[1 + 2 * (2 + 3 * 3)] = 9; // voxel (1, 2, 3), whose centre is at (12, 24, 36)
    const mask = await readMask(await input(nifti({}, values)));
    const path = Float32Array.of(10, 20, 30, 12.99, 23, 36.5, 10, 20, 30);
    expect(touches(mask)(path, 0, 3)).toBe(true);
    expect(touches(mask)(path, 0, 1)).toBe(false);
    expect(touches(mask, true)(path, 0, 3)).toBe(false);
    expect(touches(mask, true)(path, 0, 2)).toBe(true);
    expect(touches(mask, true)(path, 1, 1)).toBe(false);
    expect(leaves(mask)(path, 0, 3)).toBe(false);
    for (const place of [
      [8.99, 20, 30],
      [13, 20, 30],
      [10, 25, 30],
      [10, 20, 37],
      [10, 20, Number.NaN],
    ])
      expect(leaves(mask)(Float32Array.from(place), 0, 1), `${place}`).toBe(true);
  });
});
