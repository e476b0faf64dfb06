/** docs/limits.md names every limit with the default that it has. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { defaultLimits } from "../../src/limits.js";

const page = readFileSync(join(import.meta.dirname, "../../docs/limits.md"), "utf8");
const units = { "": 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

it.each(Object.entries(defaultLimits))("%s is %d", (name, value) => {
  const [, number, unit = ""] = new RegExp(`^\\| \`${name}\` \\| ([0-9]+)(?: ([KMG]iB))? \\|`, "m").exec(page) ?? [];
  expect(Number(number) * units[unit as keyof typeof units]).toBe(value);
});
