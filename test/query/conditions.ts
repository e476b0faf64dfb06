/** Conditions on plain columns, one value at a time, as the words of `--where` have it. */
import { halfToNumber } from "../../src/bytes/half.js";
import type { Column } from "../../src/model/attributes.js";
import type { Domain } from "../../src/model/vectors.js";
import type { Condition, Literal, Where } from "../../src/query/where.js";
import type { Dice, PlainLevel } from "./plain.js";

/** The row of each domain that a vertex or a link belongs to; undefined: none. */
export type Rows = { readonly [D in Domain]?: number | undefined };

type Value = number | bigint | string | boolean;

/** The value of a row; undefined where it has none. */
export function plainValue({ info, values }: Column, row: number, channel: number): Value | undefined {
  const raw = values[row * info.channels + channel]!;
  if (info.categories !== undefined) return info.categories[Number(raw)];
  if (raw === info.absent) return undefined;
  if (info.dtype.kind === "bool") return raw === 1;
  if (info.dtype.kind === "float") {
    const value = info.dtype.size === 2 ? halfToNumber(Number(raw)) : Number(raw);
    return Number.isNaN(value) || value === info.absent ? undefined : value;
  }
  return raw;
}

export function holds(where: Where, level: PlainLevel, rows: Rows): boolean {
  switch (where.op) {
    case "and":
      return where.args.every((arg) => holds(arg, level, rows));
    case "or":
      return where.args.some((arg) => holds(arg, level, rows));
    case "not":
      return !holds(where.arg, level, rows);
    default:
      return conditionHolds(where, level, rows);
  }
}

function conditionHolds(condition: Condition, level: PlainLevel, rows: Rows): boolean {
  const { domain, name } = condition;
  const column = level.columns[domain!].find(({ info }) => info.name === name)!;
  const channel = (condition.channel as number | undefined) ?? 0;
  if (domain === "group") {
    const own = level.groups.flatMap((members, group) =>
      rows.object !== undefined && members.includes(rows.object) ? [plainValue(column, group, channel)] : [],
    );
    if (condition.op === "absent") return own.every((value) => value === undefined);
    return own.some((value) => value !== undefined && matches(condition, value));
  }
  const row = rows[domain!];
  const value = row === undefined ? undefined : plainValue(column, row, channel);
  if (condition.op === "absent") return value === undefined;
  return value !== undefined && matches(condition, value);
}

function matches(condition: Exclude<Condition, { op: "absent" }>, value: Value): boolean {
  const same = (literal: Literal): boolean =>
    typeof value === "bigint" ? value === BigInt(literal) : value === literal;
  switch (condition.op) {
    case "in":
      return condition.values.some(same);
    case "not in":
      return !condition.values.some(same);
    case "between":
      return value >= condition.low && value <= condition.high;
    case "=":
      return same(condition.value);
    case "!=":
      return !same(condition.value);
    case "<":
      return value < condition.value;
    case "<=":
      return value <= condition.value;
    case ">":
      return value > condition.value;
    default:
      return value >= condition.value;
  }
}

export function domainsOf(where: Where): Set<Domain> {
  if (where.op === "and" || where.op === "or") return new Set(where.args.flatMap((arg) => [...domainsOf(arg)]));
  if (where.op === "not") return domainsOf(where.arg);
  return new Set([(where as Condition).domain!]);
}

/** A condition that this level's attributes may satisfy; undefined where it has none. */
export function anyWhere(dice: Dice, level: PlainLevel, depth = 2): Where | undefined {
  const withLinks = dice.one(3);
  const domains = (withLinks ? ["link", "object", "group"] : ["vertex", "fragment", "object", "group"]) as Domain[];
  const known = domains.flatMap((domain) =>
    level.columns[domain].filter(({ values }) => values.length > 0).map((column) => ({ domain, column })),
  );
  return known.length === 0 ? undefined : tree(dice, known, depth);
}

type Known = { readonly domain: Domain; readonly column: Column };

function tree(dice: Dice, known: readonly Known[], depth: number): Where {
  if (depth === 0 || dice.one(2)) return leaf(dice, dice.of(known));
  if (dice.one(4)) return { op: "not", arg: tree(dice, known, depth - 1) };
  const args = Array.from({ length: 2 + dice.below(2) }, () => tree(dice, known, depth - 1));
  return { op: dice.of(["and", "or"]), args };
}

function leaf(dice: Dice, { domain, column }: Known): Condition {
  const { info, values } = column;
  const channel = dice.below(info.channels);
  const reference = { domain, name: info.name, ...(info.channels > 1 && { channel }) };
  const present = Array.from({ length: values.length / info.channels }, (_, row) =>
    plainValue(column, row, channel),
  ).filter((value) => value !== undefined);
  if (present.length === 0 || dice.one(8)) return { op: "absent", ...reference };
  const any = (): Literal => dice.of(present) as Literal;
  if (info.dtype.kind === "bool") return { op: dice.of(["=", "!="]), ...reference, value: any() };
  switch (dice.below(4)) {
    case 0:
      return { op: dice.of(["in", "not in"]), ...reference, values: [any(), any()] };
    case 1:
      return { op: "between", ...reference, low: any(), high: any() };
    default:
      return { op: dice.of(["=", "!=", "<", "<=", ">", ">="]), ...reference, value: any() };
  }
}
