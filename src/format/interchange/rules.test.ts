/** The documentation has the table of rules that `validate` follows. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rules } from "./rules.js";

test("the page has every rule, and no other", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/formats/interchange.md"), "utf8");
  const rows = Object.entries(rules).map(
    ([id, { level, severity, says }]) => `| \`interchange/${id}\` | ${level} | ${severity} | ${says} |`,
  );
  expect(page.match(/^\| `interchange\/.*$/gm)).toEqual(rows);
});
