/** Streamlines with images and values of other files on the command line. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { file } from "../../src/format/interchange/tck.js";
import { paths, written } from "../interchange.js";
import { nifti } from "../nifti.js";
import { build, octavo } from "./run.js";

let folder = "";
const at = (name: string): string => join(folder, name);
const along = (...x: number[]): number[] => x.flatMap((value) => [value, 0, 0]);
const image = (...voxels: number[]) =>
  nifti(
    { dim: [3, 10, 1, 1], pixdim: [1, 1, 1, 1], rows: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0] },
    Uint8Array.from({ length: 10 }, (_, i) => (voxels.includes(i) ? 1 : 0)),
  );

beforeAll(async () => {
  build();
  folder = mkdtempSync(join(tmpdir(), "octavo-cli-tracts-"));
  const { bytes } = await written(file, paths([along(0, 1, 2), along(5, 2, 7), along(8, 9), along(3, 11)]));
  writeFileSync(at("a.tck"), bytes);
  writeFileSync(at("T1.nii.gz"), gzipSync(image()));
  writeFileSync(at("two.nii"), image(2));
  writeFileSync(at("w,1.txt"), "10 11 12 13\n");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("a TRK gets the space of an image, and what leaves it is told first", async () => {
  const args = ["convert", at("a.tck"), at("a.trk"), "--reference", at("T1.nii.gz"), "--attach", `w=${at("w,1.txt")}`];
  const dry = await octavo([...args, "--dry-run"]);
  expect(dry).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/1 streamlines leave .*T1\.nii\.gz, and are kept/),
  });
  expect(existsSync(at("a.trk"))).toBe(false);
  const done = await octavo(args);
  expect(done).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/1 streamlines leave .*T1\.nii\.gz, and are kept/),
  });
  expect(done.stdout).toMatch(/^10 vertices in 4 objects written\nnote .* and are kept\nnothing was lost\n$/);
  const got = await octavo(["get", at("a.trk"), "--where", "object.w > 11.5", "--count", "--json"]);
  expect(JSON.parse(got.stdout)).toMatchObject({ objects: 2 });
  const refused = await octavo([...args.slice(0, 2), at("b.trk"), ...args.slice(3), "--invalid", "fail"]);
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining("has 1 streamlines that leave the image") });
  expect(readdirSync(folder).sort()).toEqual(["T1.nii.gz", "a.tck", "a.trk", "two.nii", "w,1.txt"]);
});

it("masks choose streamlines, also on the way through a pipe", async () => {
  const store = await octavo(["convert", at("a.tck"), at("m.zv"), "--include", at("two.nii"), "--ends-only"]);
  expect(store).toMatchObject({ code: 0, stdout: "3 vertices in 1 object written\nnothing was lost\n" });
  const piped = await octavo(["convert", at("a.tck"), "-", "--to", "xyz", "--exclude", at("two.nii")]);
  expect({ code: piped.code, stdout: piped.stdout.split("\n").length }).toEqual({ code: 0, stdout: 5 });
  const wrong = await octavo(["convert", at("a.tck"), at("n.zv"), "--invalid", "drop"]);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("a reference is missing") });
});
