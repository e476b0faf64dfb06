/** Every input that ever broke a decoder, again (R2). A file's folder names its target. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { observe } from "./driver.js";
import { foundFolder } from "./runner.js";
import { targets } from "./targets.js";

const found = existsSync(foundFolder) ? readdirSync(foundFolder).filter((name) => !name.startsWith("drill-")) : [];

test("every find belongs to a target", () => {
  const names = targets.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(expect.arrayContaining(found));
});

for (const target of targets.filter(({ name }) => found.includes(name))) {
  test(`what broke ${target.name} does so no more`, async () => {
    const decoder = await target.load();
    for (const name of readdirSync(join(foundFolder, target.name))) {
      const bytes = new Uint8Array(readFileSync(join(foundFolder, target.name, name)));
      expect([name, (await observe(target, decoder, bytes)).problem]).toEqual([name, undefined]);
    }
  });
}
