/** What a checked `--where` says before its rows are read: from the ranges of a chunk, or from some domains alone. */
import type { Domain } from "../model/vectors.js";
import { type Checked, checked, type Leaf, type Node } from "./where-check.js";
import { codesOf } from "./where-eval.js";

/** Bounds of the values of one channel; `min` above `max` where there are none. A dictionary's are those of its codes. */
export interface ValueRange {
  readonly min: number | bigint;
  readonly max: number | bigint;
  /** Whether a value may be absent; for rows that go through an index, also whether it may be -1. */
  readonly hasAbsent: boolean;
}

/** What a condition can come out as for some row. */
interface Outcomes {
  readonly yes: boolean;
  readonly no: boolean;
}
const either: Outcomes = { yes: true, no: true };

/**
 * Whether a row with values in these ranges could match; `ranges` are by `attributeKey`, one per channel. True where it is
 * not known: conditions on the same attribute are looked at one by one.
 */
export function mayMatch({ node }: Checked, ranges: ReadonlyMap<string, readonly ValueRange[]>): boolean {
  return outcomes(node, (leaf) => {
    const range = ranges.get(leaf.key)?.[leaf.channel];
    return range === undefined || Number.isNaN(range.min) || Number.isNaN(range.max) ? either : ofRange(leaf, range);
  }).yes;
}

function outcomes(node: Node, ofLeaf: (leaf: Leaf) => Outcomes): Outcomes {
  if (node.op === "test") return ofLeaf(node);
  if (node.op === "not") {
    const { yes, no } = outcomes(node.arg, ofLeaf);
    return { yes: no, no: yes };
  }
  const args = node.args.map((arg) => outcomes(arg, ofLeaf));
  return node.op === "and"
    ? { yes: args.every(({ yes }) => yes), no: args.some(({ no }) => no) }
    : { yes: args.some(({ yes }) => yes), no: args.every(({ no }) => no) };
}

function ofRange({ test, info }: Leaf, { min, max, hasAbsent }: ValueRange): Outcomes {
  const hasPresent = min <= max;
  const present = (inside: boolean, outside: boolean, negate: boolean): Outcomes => ({
    yes: hasPresent && (negate ? outside : inside),
    no: hasAbsent || (hasPresent && (negate ? inside : outside)),
  });
  switch (test.kind) {
    case "absent":
      return { yes: hasAbsent, no: hasPresent };
    case "range":
    case "big-range": {
      const { low, high, negate } = test;
      const inside = low <= high && max >= low && min <= high;
      return present(inside, low > high || min < low || max > high, negate);
    }
    case "set": {
      const inside = [...test.values].filter((value) => value >= min && value <= max);
      return present(inside.length > 0, min !== max || inside.length === 0, test.negate);
    }
    case "text": {
      const { categories } = info;
      if (categories === undefined || min < 0 || max >= categories.length) return either; // some of the codes are absent values
      const codes = codesOf(test, categories).subarray(Number(min), Number(max) + 1);
      return present(codes.includes(1), codes.includes(0), false);
    }
  }
}

/** Parts of which all must match for the whole to match: one for each set of domains whose conditions depend on each other. */
export function split({ node }: Checked): readonly Checked[] {
  const parts = new Map<string, Node[]>();
  const collect = (part: Node): void => {
    if (part.op === "and") {
      part.args.forEach(collect);
      return;
    }
    const key = [...checked(part).domains].sort().join();
    parts.set(key, [...(parts.get(key) ?? []), part]);
  };
  collect(node);
  return [...parts.values()].map((args) => checked(args.length === 1 ? args[0]! : { op: "and", args }));
}

/**
 * What must hold in these domains alone for a row to match, so that objects can be chosen before their vertices are read; undefined
 * where every one of them may have a matching row. Only a row that matches this can match the whole; whether it does, the whole says.
 */
export function project({ node }: Checked, ...domains: readonly Domain[]): Checked | undefined {
  const kept = weaken(node, new Set(domains), true);
  return kept && checked(kept);
}

/** `node` with other domains' conditions taken for true, or for false within a "not": `taken`. Undefined: all of it is. */
function weaken(node: Node, domains: ReadonlySet<Domain>, taken: boolean): Node | undefined {
  if (node.op === "test") return domains.has(node.domain) ? node : undefined;
  if (node.op === "not") {
    const arg = weaken(node.arg, domains, !taken);
    return arg && { op: "not", arg };
  }
  const args = node.args.map((arg) => weaken(arg, domains, taken));
  const kept = args.filter((arg) => arg !== undefined);
  const decides = (node.op === "or") === taken; // "or" with something true in it, "and" with something false
  return kept.length === 0 || (decides && kept.length < args.length) ? undefined : { op: node.op, args: kept };
}
