import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { fileStore } from "./file.js";
import { Key } from "./key.js";
import { scratchIn } from "./scratch.js";

const folder = fs.mkdtempSync(join(tmpdir(), "octavo-scratch-"));
afterAll(() => fs.rmSync(folder, { recursive: true }));

it("what is put aside comes back, goes away, and is not synced on the way; everything else is", async () => {
  const store = fileStore(folder);
  const scratch = scratchIn({ store }, 0);
  const synced = vi.spyOn(fs, "fsync");
  try {
    const [first, second] = [await scratch.put(Uint8Array.of(1, 2, 3)), await scratch.put(Uint8Array.of(4))];
    expect(await scratch.get(first, 1, 2)).toEqual(Uint8Array.of(2, 3));
    await scratch.drop(first);
    await expect(scratch.get(first, 0, 1)).rejects.toMatchObject({ kind: "corrupt" });
    expect(await scratch.get(second, 0, 1)).toEqual(Uint8Array.of(4));
    await scratch.clear();
    expect(fs.readdirSync(folder)).toEqual([]);
    expect(synced).not.toHaveBeenCalled();
    await store.set(Key.of("kept"), Uint8Array.of(5));
    expect(synced).toHaveBeenCalled();
  } finally {
    synced.mockRestore();
  }
});
