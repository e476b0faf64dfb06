/** A `--where` tree against a schema: names become attributes and their channels, conditions become tests of stored values. */
import { InvalidInput, LimitExceeded } from "../errors.js";
import type { AttributeInfo } from "../model/attributes.js";
import type { Domain, Schema } from "../model/vectors.js";
import type { Condition, Reference, Where } from "./where.js";
import { type Test, testOf } from "./where-test.js";
import { domains, formatName, mostConditions, mostDepth } from "./where-text.js";

/** A test of one channel of one attribute. */
export interface Leaf {
  readonly op: "test";
  readonly domain: Domain;
  readonly key: string;
  readonly info: AttributeInfo;
  readonly channel: number;
  readonly test: Test;
}

export type Node =
  | { readonly op: "and" | "or"; readonly args: readonly Node[] }
  | { readonly op: "not"; readonly arg: Node }
  | Leaf;

/** How maps of columns and ranges spell an attribute. No domain has a dot in it, so the first dot parts the two. */
export const attributeKey = (domain: Domain, name: string): string => `${domain}.${name}`;

/** A checked expression, with the domains and the attributes, by `attributeKey`, that it needs. */
export interface Checked {
  readonly node: Node;
  readonly domains: ReadonlySet<Domain>;
  readonly attributes: ReadonlyMap<string, { readonly domain: Domain; readonly info: AttributeInfo }>;
}

export function check(where: Where, schema: Partial<Schema>): Checked {
  let conditions = 0;
  const resolve = (tree: Where, depth: number): Node => {
    // A pair of parentheses is one level of the text, but with "or" and "and" in it two of the tree.
    if (depth > 2 * mostDepth + 2) throw new LimitExceeded(`the where expression is nested over ${mostDepth} deep`);
    switch (tree?.op) {
      case "and":
      case "or":
        if (!Array.isArray(tree.args) || tree.args.length === 0)
          throw new InvalidInput(`"${tree.op}" in a where expression should have a list of args, found none`);
        return { op: tree.op, args: tree.args.map((arg) => resolve(arg, depth + 1)) };
      case "not":
        return { op: "not", arg: resolve(tree.arg, depth + 1) };
      default:
        if (++conditions > mostConditions)
          throw new LimitExceeded(`the where expression has over ${mostConditions} conditions`);
        return leaf(tree, schema);
    }
  };
  return checked(resolve(where, 0));
}

/** A tree of tests with what it needs. */
export function checked(node: Node): Checked {
  const attributes = new Map<string, { domain: Domain; info: AttributeInfo }>();
  const collect = (part: Node): void => {
    if (part.op === "test") attributes.set(part.key, { domain: part.domain, info: part.info });
    else if (part.op === "not") collect(part.arg);
    else part.args.forEach(collect);
  };
  collect(node);
  return { node, domains: new Set([...attributes.values()].map(({ domain }) => domain)), attributes };
}

function leaf(condition: Condition, schema: Partial<Schema>): Leaf {
  const { domain, info } = find(condition, schema);
  const name = formatName({ domain, name: info.name });
  const channel = findChannel(condition, info, name);
  return {
    op: "test",
    domain,
    key: attributeKey(domain, info.name),
    info,
    channel,
    test: testOf(condition, info, name),
  };
}

function find(reference: Reference, schema: Partial<Schema>): { domain: Domain; info: AttributeInfo } {
  const all = domains.flatMap((domain) => (schema[domain] ?? []).map((info) => ({ domain, info })));
  const found = all.filter(
    ({ domain, info }) => info.name === reference?.name && (reference.domain ?? domain) === domain,
  );
  if (found.length === 1) return found[0]!;
  const spell = (list: typeof all): string =>
    list
      .slice(0, 50)
      .map(({ domain, info }) => formatName({ domain, name: info.name }))
      .join(", ") + (list.length > 50 ? ` and ${list.length - 50} more` : "");
  if (typeof reference?.name !== "string")
    throw new InvalidInput(
      `a condition in a where expression should name an attribute, found ${String(reference?.name)}`,
    );
  const name = formatName({ name: reference.name, ...(reference.domain && { domain: reference.domain }) });
  if (found.length > 1) throw new InvalidInput(`the attribute ${name} could be ${spell(found)}: say which`);
  throw new InvalidInput(`there is no attribute ${name}; there ${all.length === 0 ? "are none" : `are ${spell(all)}`}`);
}

function findChannel({ channel }: Reference, { channels, channelNames = [] }: AttributeInfo, name: string): number {
  if (channel === undefined && channels === 1) return 0;
  const found = typeof channel === "string" ? channelNames.indexOf(channel) : channel;
  if (found !== undefined && Number.isInteger(found) && found >= 0 && found < channels) return found;
  const names = channelNames.length === 0 ? "" : `, or by name ${channelNames.slice(0, 50).join(", ")}`;
  const asked = channel === undefined ? "none" : `[${channel}]`;
  throw new InvalidInput(`the channel of ${name} should be [0] to [${channels - 1}]${names}, found ${asked}`);
}
