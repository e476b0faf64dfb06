import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rules } from "./validate-rules.js";

test("the documentation has this table of rules", () => {
  const path = join(import.meta.dirname, "../../../../docs/formats/zarr-vectors-rules.md");
  const table = Object.entries(rules).map(
    ([id, { level, severity, says }]) => `| \`zarr-vectors/${id}\` | ${level} | ${severity} | ${says} |`,
  );
  expect(
    readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line.startsWith("| `")),
  ).toEqual(table);
});
