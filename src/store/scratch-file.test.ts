import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Corrupt, OctavoError } from "../errors.js";
import { scratchOn } from "./scratch.js";
import { scratchFile } from "./scratch-file.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octavo-scratch-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("gives back what was written, wherever that was, and nobody sees it", () => {
  const file = scratchFile(folder);
  file.write(5_000_000_000, Uint8Array.of(4, 5, 6)); // beyond 32 bits
  file.write(2, Uint8Array.of(1, 2, 3));
  file.write(3, Uint8Array.of(7));
  const bytes = new Uint8Array(5);
  file.read(0, bytes);
  expect([...bytes]).toEqual([0, 0, 1, 7, 3]);
  file.read(4_999_999_998, bytes);
  expect([...bytes]).toEqual([0, 0, 4, 5, 6]);
  if (process.platform !== "win32") expect(readdirSync(folder)).toEqual([]);
  file.close();
  file.close();
  expect(readdirSync(folder)).toEqual([]);
});

it("what was never written, and a folder that is not there, are errors", () => {
  const file = scratchFile(folder);
  file.write(0, Uint8Array.of(1));
  expect(() => file.read(0, new Uint8Array(2))).toThrow(Corrupt);
  file.close();
  expect(() => scratchFile(join(folder, "none"))).toThrow(OctavoError);
});

it("is a place to put pieces aside", async () => {
  const scratch = scratchOn(() => scratchFile(folder), 1000);
  const [first, second] = [await scratch.put(Uint8Array.of(1, 2, 3)), await scratch.put(Uint8Array.of(4, 5))];
  expect([...(await scratch.get(second, 0, 2)), ...(await scratch.get(first, 1, 2))]).toEqual([4, 5, 2, 3]);
  await scratch.clear();
  await expect(scratch.get(first, 0, 1)).rejects.toThrow(OctavoError);
});
