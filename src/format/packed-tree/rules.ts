/**
 * The rules of `validate`, each with the level from which on it is checked, how bad it is, and what it says.
 * docs/formats/packed-tree.md has this table; a test compares them.
 */
import type { Finding } from "../../model/format.js";
import { failureWith, type Rule, rule } from "../../model/rules.js";

export const rules = {
  header: rule(1, "error", "the header is damaged, its box is none, or there are no whole nodes behind it"),
  unsupported: rule(1, "error", "a version, a size of fields or a checksum that is not known"),
  checksum: rule(2, "error", "the nodes do not have the checksum that the header says"),
  "tree-skip": rule(2, "error", "a node does not have as many words as it says, or reaches beyond its parent"),
  "tree-flags": rule(2, "error", "a byte of a node that has no meaning is not 0"),
  "tree-level": rule(2, "error", "the level of a node is not one more than that of its parent"),
  "tree-place": rule(2, "error", "a node says that it is another child than it is"),
  "tree-range": rule(2, "error", "particles of a node that are not, one after the other, those of its children"),
  "tree-parent": rule(2, "error", "the way back from a node does not lead to its parent"),
  threshold: rule(3, "warning", "a node that the threshold would have divided, or would not have"),
  unavailable: rule(1, "error", "the store did not give it: nothing is known about it"),
  file: rule(1, "error", "a ptree file is cut off, or what describes it is damaged"),
  "file-tree": rule(2, "error", "the tree in a ptree file is damaged"),
  "file-block": rule(
    3,
    "error",
    "a block of particles, or of the table of blocks, cannot be read, or has another checksum",
  ),
  "file-order": rule(5, "error", "particles, tree, blocks and order of a ptree file do not belong together"),
} as const satisfies { readonly [id: string]: Rule };

export type RuleId = keyof typeof rules;

export function finding(id: RuleId, where: string, message: string): Finding {
  return { severity: rules[id].severity, rule: `packed-tree/${id}`, where, message };
}

/** What went wrong as a finding; errors that are not Octavo's pass through. */
export const failure = failureWith<RuleId>(finding);
