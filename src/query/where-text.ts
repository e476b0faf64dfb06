/** The text of `--where`: to its tree and back. where.ts has the grammar. */
import { InvalidInput, LimitExceeded } from "../errors.js";
import type { Domain } from "../model/vectors.js";
import type { Comparison, Condition, Literal, Reference, Where } from "./where.js";

// The server parses what strangers send: these bound the stack and the work per row, and are beyond what a person writes.
export const mostDepth = 100;
export const mostConditions = 1000;
const mostText = 2 ** 16;

export const domains: readonly Domain[] = ["vertex", "link", "fragment", "object", "group"];
const keywords = new Set(["and", "or", "not", "in", "between", "is", "absent", "true", "false"]);
const comparisons: readonly string[] = ["=", "!=", "<", "<=", ">", ">="];
const word = /^[\p{L}_][\p{L}\p{M}\p{N}_]*$/u;
const token =
  /(?<word>[\p{L}_][\p{L}\p{M}\p{N}_]*)|(?<name>"[^"]*(?:""[^"]*)*")|(?<text>'[^']*(?:''[^']*)*')|(?<number>-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|(?<symbol>[!<>]=|[=<>()[\],.])/uy;

interface Token {
  readonly kind: "word" | "name" | "text" | "number" | "symbol" | "end";
  readonly text: string;
  readonly at: number;
}

const describe = ({ kind, text }: Token): string =>
  kind === "end" ? "its end" : text.length > 40 ? `${text.slice(0, 40)}…` : text;

export function parse(text: string): Where {
  if (text.length > mostText)
    throw new LimitExceeded(`the where expression has ${text.length} characters, at most ${mostText} are allowed`);
  let next = scan(text, 0);
  let depth = 0;
  let conditions = 0;

  const take = (): Token => {
    const taken = next;
    next = scan(text, taken.at + taken.text.length);
    return taken;
  };
  const wrong = (expected: string, hint = ""): InvalidInput =>
    new InvalidInput(
      `the where expression should have ${expected} at character ${next.at + 1}, found ${describe(next)}${hint}`,
    );
  const isKeyword = (keyword: string): boolean => next.kind === "word" && next.text.toLowerCase() === keyword;
  const skip = (keyword: string): boolean => isKeyword(keyword) && take() !== undefined;
  const isSymbol = (symbol: string): boolean => next.kind === "symbol" && next.text === symbol;
  const expect = (symbol: string): void => {
    if (!isSymbol(symbol)) throw wrong(`"${symbol}"`);
    take();
  };

  function nested(read: () => Where): Where {
    if (++depth > mostDepth)
      throw new LimitExceeded(`the where expression is nested over ${mostDepth} deep at character ${next.at + 1}`);
    const inner = read();
    depth--;
    return inner;
  }

  function chain(op: "and" | "or", read: () => Where): Where {
    const args = [read()];
    while (skip(op)) args.push(read());
    return args.length === 1 ? args[0]! : { op, args };
  }
  const expression = (): Where => chain("or", () => chain("and", factor));

  function factor(): Where {
    if (skip("not")) return { op: "not", arg: nested(factor) };
    if (!isSymbol("(")) return condition();
    take();
    const inner = nested(expression);
    expect(")");
    return inner;
  }

  function condition(): Where {
    if (++conditions > mostConditions)
      throw new LimitExceeded(`the where expression has over ${mostConditions} conditions; "in (…)" holds many values`);
    const reference = attribute();
    if (next.kind === "symbol" && comparisons.includes(next.text)) {
      const op = take().text as Comparison;
      return { op, ...reference, value: literal() };
    }
    if (skip("between")) {
      const low = literal();
      if (!skip("and")) throw wrong(`"and" after the lower bound`);
      return { op: "between", ...reference, low, high: literal() };
    }
    if (skip("is")) {
      const negated = skip("not");
      if (!skip("absent")) throw wrong(`"absent"`);
      const absent: Condition = { op: "absent", ...reference };
      return negated ? { op: "not", arg: absent } : absent;
    }
    const negated = skip("not");
    if (!skip("in")) throw wrong(negated ? `"in"` : `= != < <= > >= in, between or is`);
    return { op: negated ? "not in" : "in", ...reference, values: list() };
  }

  function attribute(): Reference {
    const first = next;
    const name = identifier("the name of an attribute");
    if (!isSymbol(".")) return { name, ...channel() };
    const domain = domains.find((one) => first.kind === "word" && one === name.toLowerCase());
    if (domain === undefined)
      throw wrong(`a dot only after ${domains.join(", ")}`, `; a name with a dot goes in double quotes`);
    take();
    return { domain, name: identifier("the name of an attribute"), ...channel() };
  }

  function channel(): { channel?: number | string } {
    if (!isSymbol("[")) return {};
    take();
    const isNumber = next.kind === "number" && /^\d{1,9}$/.test(next.text);
    const found = isNumber ? Number(take().text) : identifier("the number or the name of a channel");
    expect("]");
    return { channel: found };
  }

  function identifier(what: string): string {
    if (next.kind === "name") return unquote(take().text);
    if (next.kind !== "word") throw wrong(what);
    if (keywords.has(next.text.toLowerCase())) throw wrong(what, "; a name that is a keyword goes in double quotes");
    return take().text;
  }

  function list(): Literal[] {
    expect("(");
    const values = [literal()];
    while (isSymbol(",")) {
      take();
      values.push(literal());
    }
    expect(")");
    return values;
  }

  function literal(): Literal {
    if (next.kind === "text") return unquote(take().text);
    if (isKeyword("true") || isKeyword("false")) return take().text.toLowerCase() === "true";
    if (next.kind !== "number") {
      const hint = next.kind === "word" || next.kind === "name" ? "; text goes in single quotes" : "";
      throw wrong("a number, a text, true or false", hint);
    }
    const value = Number(next.text) + 0; // + 0 because -0 and 0 are the same value, and print the same
    if (!Number.isFinite(value)) throw wrong("a number that float64 can hold");
    const digits = take().text;
    return Number.isSafeInteger(value) || !/^-?\d+$/.test(digits) ? value : BigInt(digits);
  }

  const tree = expression();
  if (next.kind !== "end") throw wrong(`"and", "or" or its end`);
  return tree;
}

function scan(text: string, from: number): Token {
  let at = from;
  while (at < text.length && /\s/.test(text[at]!)) at++;
  if (at === text.length) return { kind: "end", text: "", at };
  token.lastIndex = at;
  const groups = token.exec(text)?.groups;
  if (groups === undefined) {
    const unclosed = text[at] === "'" || text[at] === '"';
    const what = unclosed ? `a second ${text[at]} after the one` : "a name, a value or an operator";
    const found = unclosed ? "none" : String.fromCodePoint(text.codePointAt(at)!);
    throw new InvalidInput(`the where expression should have ${what} at character ${at + 1}, found ${found}`);
  }
  for (const kind of ["word", "name", "text", "number", "symbol"] as const) {
    const found = groups[kind];
    if (found !== undefined) return { kind, text: found, at };
  }
  throw new Error("unreachable: one of the groups has matched");
}

/** Without the quotes around, and those inside once. */
const unquote = (text: string): string => text.slice(1, -1).replaceAll(text[0]! + text[0]!, text[0]!);
const quote = (text: string, mark: string): string => mark + text.replaceAll(mark, mark + mark) + mark;

export function format(where: Where): string {
  switch (where.op) {
    case "and":
    case "or":
      // An inner "and" needs no parentheses within "or"; within "and" they keep the tree as it is.
      return where.args.map((arg) => wrap(arg, arg.op === "or" || arg.op === where.op)).join(` ${where.op} `);
    case "not":
      if (where.arg.op === "absent") return `${formatName(where.arg)} is not absent`;
      return `not ${wrap(where.arg, where.arg.op === "and" || where.arg.op === "or")}`;
    case "absent":
      return `${formatName(where)} is absent`;
    case "between":
      return `${formatName(where)} between ${formatLiteral(where.low)} and ${formatLiteral(where.high)}`;
    case "in":
    case "not in":
      return `${formatName(where)} ${where.op} (${where.values.map(formatLiteral).join(", ")})`;
    default:
      return `${formatName(where)} ${where.op} ${formatLiteral(where.value)}`;
  }
}

const wrap = (arg: Where, parentheses: boolean): string => (parentheses ? `(${format(arg)})` : format(arg));

const formatWord = (name: string): string =>
  word.test(name) && !keywords.has(name.toLowerCase()) ? name : quote(name, '"');

export function formatName({ domain, name, channel }: Reference): string {
  const within = channel === undefined ? "" : `[${typeof channel === "number" ? channel : formatWord(channel)}]`;
  return `${domain === undefined ? "" : `${domain}.`}${formatWord(name)}${within}`;
}

export function formatLiteral(value: Literal): string {
  if (typeof value === "string") return quote(value, "'");
  // Digits alone would come back as a bigint.
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value))
    return value.toExponential();
  return String(value);
}
