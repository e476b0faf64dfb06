/**
 * `--where`: conditions on attributes, the same for the library, the command line, the server and the viewer.
 *
 * ```
 * expression = term { "or" term }            term = factor { "and" factor }            factor = "not" factor | test
 * test       = "(" expression ")" | name ( compare value | [ "not" ] "in" "(" value { "," value } ")"
 *              | "between" value "and" value | "is" [ "not" ] "absent" )
 * name       = [ domain "." ] word [ "[" channel "]" ]     domain = vertex | link | fragment | object | group
 * compare    = "=" | "!=" | "<" | "<=" | ">" | ">="        value  = number | 'text' | true | false
 * ```
 *
 * - Keywords and domains are case-insensitive, names are not. A word with other characters than letters, digits and "_", or
 *   that is a keyword, goes in double quotes; a quote inside quotes, of either kind, is doubled.
 * - A dot only ever follows a domain. A channel of a wider attribute goes in brackets, by number or by name: `color[0]`, `color[r]`.
 * - An absent value makes every comparison false: also `!=` and `not in`. `not` turns that around: where x is absent,
 *   `x <= 3` is false and `not x > 3` is true.
 * - A number is taken at the precision of the attribute, so that `fa = 0.1` finds the float32 that prints as 0.1. Integers
 *   are compared exactly, up to 64 bits and with fractions.
 * - Text is ordered by its UTF-16 code units. datetime and timedelta are the integers that they are stored as.
 *
 * The structured form, for programs, is the syntax tree itself: `{ op: ">", name: "fa", value: 0.3 }`.
 */
import type { Domain } from "../model/vectors.js";
import { check } from "./where-check.js";
import { evaluate } from "./where-eval.js";
import { mayMatch, project, split } from "./where-range.js";
import { format, parse } from "./where-text.js";

/** A value to compare with. Whole numbers beyond 2^53 are bigint; others are numbers, and finite. */
export type Literal = number | bigint | string | boolean;

/** An attribute as the expression names it. A name without a domain must be in one domain only. */
export interface Reference {
  readonly domain?: Domain;
  readonly name: string;
  /** The number or the name of a channel; needed where there are several. */
  readonly channel?: number | string;
}

export type Comparison = "=" | "!=" | "<" | "<=" | ">" | ">=";

/** A condition on one attribute. */
export type Condition =
  | (Reference & { readonly op: Comparison; readonly value: Literal })
  | (Reference & { readonly op: "in" | "not in"; readonly values: readonly Literal[] })
  | (Reference & { readonly op: "between"; readonly low: Literal; readonly high: Literal })
  | (Reference & { readonly op: "absent" });

/** A condition on attributes, as a tree. */
export type Where =
  | { readonly op: "and" | "or"; readonly args: readonly Where[] }
  | { readonly op: "not"; readonly arg: Where }
  | Condition;

export const Where = {
  /** Text to tree; InvalidInput says at which character what was expected. */
  parse,
  /** Tree to text, which parses to the same tree. */
  format,
  /** Names found in a schema, types compared, ready to evaluate. */
  check,
  /** One 0 or 1 per row. */
  evaluate,
  /** False only where no row with values in these ranges can match. */
  mayMatch,
  /** Parts of which all must match, one for each set of domains. */
  split,
  /** What must hold in these domains alone for a row to match; undefined where that says nothing. */
  project,
};
