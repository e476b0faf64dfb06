import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fixtures } from "../../../test/fixtures.js";
import { InvalidInput } from "../../errors.js";
import { encodeTree } from "./encode.js";
import { parseTree } from "./parse.js";
import { rules } from "./rules.js";
import { validateTree } from "./validate.js";

const corrupt = join(fixtures("packed-tree"), "corrupt");
const findings = (name: string) => validateTree(readFileSync(join(corrupt, `${name}.bin`)), { where: name });

it.each([
  ["trunc_in_header", "header", "trunc_in_header"],
  ["header_only", "header", "header_only"],
  ["box_dx0", "header", "box_dx0"],
  ["version_2_0_0", "unsupported", "version_2_0_0"],
  ["bad_checksum", "checksum", "bad_checksum, byte 84"],
  ["skip_huge", "tree-skip", "skip_huge, byte 160"],
  ["skip_zero", "tree-skip", "skip_zero, byte 160"],
  ["my_index_mismatch", "tree-place", "my_index_mismatch, byte 160"],
  ["parent_offset_bad", "tree-parent", "parent_offset_bad, byte 160"],
  ["node_end_beyond_n", "tree-range", "node_end_beyond_n, byte 144"],
])("%s: the rule and the place", (name, rule, where) => {
  expect(findings(name)).toEqual([expect.objectContaining({ severity: "error", rule: `packed-tree/${rule}`, where })]);
});

it("what is sound has no finding; bare words without a box are the caller's mistake", () => {
  expect(findings("base_valid")).toEqual([]);
  expect(findings("big_endian_native")).toEqual([]);
  expect(() => validateTree(new Uint8Array(20))).toThrow(InvalidInput);
});

it("a threshold that the nodes do not follow is a warning", () => {
  const tree = parseTree(readFileSync(join(corrupt, "base_valid.bin")));
  const [found, ...rest] = validateTree(encodeTree({ ...tree, threshold: 200 }));
  expect(found).toMatchObject({ severity: "warning", rule: "packed-tree/threshold" });
  expect(rest).toEqual([]);
});

it("a tree of nothing but damage is told to a bound", () => {
  const bytes = encodeTree(parseTree(readFileSync(join(corrupt, "../u20k_t16.tree.bin"))));
  for (let at = 144 + 12; at < bytes.length; at += 20) bytes[at] = 7;
  const found = validateTree(bytes);
  expect(found.length).toBeGreaterThan(1);
  expect(found.length).toBeLessThanOrEqual(1000);
  for (const { rule } of found) expect(Object.keys(rules)).toContain(rule.replace("packed-tree/", ""));
});
