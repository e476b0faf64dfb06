import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, it } from "vitest";
import { fill, runStoreSuite } from "../testing/index.js";
import { fileStore } from "./file.js";

const base = fs.mkdtempSync(join(tmpdir(), "octavo-file-"));
afterAll(() => fs.rmSync(base, { recursive: true }));
let made = 0;
const fresh = () => join(base, String(made++));

runStoreSuite({ describe, it }, "file", { list: true, write: true, conditional: true }, async (values) => {
  const root = fresh();
  await fill(fileStore(root, { durability: "none" }), values);
  return fileStore(root);
});
