/** Everything that can be said against the bytes of a tree, each with its byte. */
import { Corrupt, Unsupported } from "../../errors.js";
import type { Finding } from "../../model/format.js";
import { TreeBox } from "./box.js";
import { isLeaf, levelOf, META, ROW, START, STOP } from "./nodes.js";
import { inspectTree, type ParseTreeOptions } from "./parse.js";
import { finding } from "./rules.js";
import type { PackedTree } from "./types.js";

/** How many findings are told; whoever has as many needs no more. */
const MOST = 1000;

/** What is wrong with the bytes of a tree; nothing, where they can be trusted. */
export function validateTree(bytes: Uint8Array, options: ParseTreeOptions = {}): Finding[] {
  const { where = "the packed tree" } = options;
  const found: Finding[] = [];
  try {
    const tree = inspectTree(bytes, options, ({ rule, byte, message }) => {
      if (found.length < MOST) found.push(finding(rule, `${where}, byte ${byte}`, message));
    });
    if (found.length === 0) found.push(...thresholds(tree, where));
  } catch (error) {
    if (!(error instanceof Corrupt || error instanceof Unsupported)) throw error;
    found.push(finding(error instanceof Corrupt ? "header" : "unsupported", where, error.message));
  }
  return found;
}

/** Nodes of more particles than the threshold are divided, down to the deepest level, and no others. */
function thresholds(tree: PackedTree, where: string): Finding[] {
  const { rows } = tree.nodes;
  const deepest = TreeBox.deepest(tree.box);
  let odd = 0;
  let first = -1;
  for (let row = 0; row < rows.length; row += ROW) {
    const meta = rows[row + META]!;
    const many = rows[row + STOP]! - rows[row + START]! > tree.threshold && levelOf(meta) < deepest;
    if (many !== isLeaf(meta)) continue;
    if (odd++ === 0) first = row / ROW;
  }
  if (odd === 0 || tree.count === 1) return []; // one particle may be none: see PackedTree.count
  const message = `${odd} of ${rows.length / ROW} nodes of ${where}, the first of them node ${first}, are not divided as the threshold of ${tree.threshold} says`;
  return [finding("threshold", where, message)];
}
