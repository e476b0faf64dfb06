/** Images that nibabel writes: the same affine, the same order of axes, the same voxels. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openFile } from "../../src/format/interchange/file.js";
import { readMask } from "../../src/format/interchange/nifti.js";
import { lettersOf, nearestOrientation } from "../../src/format/interchange/orientation.js";
import { fileStore } from "../../src/store/file.js";
import { Key } from "../../src/store/key.js";
import { missingPeer, runPeer } from "./peers.js";

const reason = missingPeer("interchange");
const folder = mkdtempSync(join(tmpdir(), "octavo-nifti-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(reason !== undefined)(`images of nibabel${reason === undefined ? "" : `: ${reason}`}`, () => {
  it("lie where nibabel says, and have the same voxels", async () => {
    const said = JSON.parse(runPeer("interchange", "ic_nifti.py", folder));
    expect(readdirSync(folder).sort()).toEqual(Object.keys(said).sort());
    for (const [name, own] of Object.entries(said) as [string, Record<string, number[]>][]) {
      const mask = await readMask(await openFile(fileStore(folder), Key.of(name)));
      expect([name, mask.dimensions]).toEqual([name, own.dimensions]);
      for (const [i, value] of mask.affine.entries()) expect(value, `${name}, ${i}`).toBeCloseTo(own.affine![i]!, 6);
      expect([name, [...mask.blocks[0]!.keys()].filter((voxel) => mask.blocks[0]![voxel] === 1)]).toEqual([
        name,
        own.inside,
      ]);
      expect(lettersOf(nearestOrientation(mask.affine)!)).toBe(own.order);
    }
  });
});
