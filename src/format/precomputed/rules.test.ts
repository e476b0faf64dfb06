import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rules } from "./rules.js";

test("the page on the format has every rule, with its level, its severity and what it says", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/formats/precomputed.md"), "utf8");
  for (const [id, { level, severity, says }] of Object.entries(rules))
    expect(page).toContain(`| \`precomputed/${id}\` | ${level} | ${severity} | ${says} |`);
  expect(page.match(/^\| `precomputed\//gm)?.length).toBe(Object.keys(rules).length);
});
