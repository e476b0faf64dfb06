import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clientRules } from "./rules.js";

test("the page on publishing has every rule, with its level, its severity and what it says", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../../docs/formats/neuroglancer.md"), "utf8");
  for (const [id, { level, severity, says }] of Object.entries(clientRules))
    expect(page).toContain(`| \`neuroglancer/${id}\` | ${level} | ${severity} | ${says} |`);
  expect(page.match(/^\| `neuroglancer\//gm)?.length).toBe(Object.keys(clientRules).length);
});
