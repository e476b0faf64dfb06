/** Where Node keeps what is needed only for a while: files without a name, and folders that are taken away again. */
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileStore } from "./file.js";
import { scratchFile } from "./scratch-file.js";
import type { Store } from "./types.js";

export const temporary = {
  file: () => scratchFile(),
  async folder(): Promise<{ readonly store: Store; readonly path: string; remove(): Promise<void> }> {
    const path = fs.mkdtempSync(join(tmpdir(), "octavo-"));
    const remove = async (): Promise<void> => fs.rmSync(path, { recursive: true, force: true });
    return { store: fileStore(path, { durability: "none" }), path, remove };
  },
};
