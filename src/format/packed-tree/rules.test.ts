import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rules } from "./rules.js";

test("the page on the format has every rule, with its level, its severity and what it says", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/formats/packed-tree.md"), "utf8");
  for (const [id, { level, severity, says }] of Object.entries(rules))
    expect(page).toContain(`| \`packed-tree/${id}\` | ${level} | ${severity} | ${says} |`);
  expect(page.match(/^\| `packed-tree\//gm)?.length).toBe(Object.keys(rules).length);
});
