/**
 * The `__zmeta__` of zarr 0.3.0: a pickle, protocol 0, of a dict with the same keys as the later JSON. A pickle is a
 * program; this runs only the few instructions such a file needs and knows four names, so nothing of anybody's gets called.
 *
 * | opcode  | line after it | does                                 |
 * |---------|---------------|--------------------------------------|
 * | `(`     |               | marks the stack                      |
 * | `t d l` |               | what lies above the mark becomes a tuple, dict or list |
 * | `s a`   |               | sets a dict's item, appends to a list |
 * | `I L F` | a number      | integer (00 and 01: bool), long with an L at the end, float |
 * | `S V`   | text          | in quotes with \-escapes; with \uXXXX |
 * | `N`     |               | None                                 |
 * | `p g`   | a number      | keeps the top of the stack under it, fetches it again |
 * | `c`     | two lines     | a name: module and attribute         |
 * | `R`     |               | calls it with a tuple                |
 * | `b`     |               | gives the result its state           |
 * | `.`     |               | the end                              |
 *
 * Names: numpy.dtype, numpy.core.multiarray.scalar, _codecs.encode. The answer is what JSON would have said.
 */

import type { Json } from "../../bytes/json.js";
import { Corrupt, LimitExceeded, Unsupported } from "../../errors.js";
import type { Limits } from "../../limits.js";
import { fail } from "./document.js";
import { type Dict, type Global, is, unfold, type Value } from "./pickle-numpy.js";

const globals: ReadonlyMap<string, Global> = new Map([
  ["numpy.dtype", { kind: "global", name: "dtype" }],
  ["numpy.core.multiarray.scalar", { kind: "global", name: "scalar" }],
  ["_codecs.encode", { kind: "global", name: "encode" }],
]);
const MAX_BYTES = 1 << 20; // a structured type of ten thousand fields
const MAX_DIGITS = 100;

export function parsePickle(bytes: Uint8Array, limits: Limits, where: string): Json {
  const cap = Math.min(MAX_BYTES, limits.metadataBytes);
  if (bytes.length > cap)
    throw new LimitExceeded(`${where} has ${bytes.length} bytes of pickle, at most ${cap} are allowed`, { where });
  return unfold(run(bytes, where), where);
}

function run(bytes: Uint8Array, where: string): Value {
  const stack: Value[] = [];
  const marks: number[] = [];
  const memo = new Map<string, Value>();
  let at = 0;
  const broken = (problem: string): Corrupt =>
    new Corrupt(`${where}, as a pickle, ${problem} at byte ${at}`, { where });

  const line = (): string => {
    const end = bytes.indexOf(0x0a, at);
    if (end < 0) throw broken("ends inside a line");
    const text = latin1(bytes.subarray(at, end));
    at = end + 1;
    return text;
  };
  const pop = (): Value => {
    if (stack.length <= (marks.at(-1) ?? 0)) throw broken("takes a value that is not there");
    return stack.pop()!;
  };
  const popAll = (): Value[] => {
    const mark = marks.pop();
    if (mark === undefined) throw broken("has no mark");
    return stack.splice(mark);
  };
  const integer = (text: string): number | bigint => {
    if (!/^-?\d+$/.test(text) || text.length > MAX_DIGITS)
      throw broken(`has the integer ${JSON.stringify(text.slice(0, 40))}`);
    return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text);
  };
  const setItem = (dict: Value | undefined, key: Value, value: Value): void => {
    if (!is(dict, "dict") || typeof key !== "string")
      throw broken("sets an item of something that is no dict of names");
    dict.items.set(key, value);
  };

  for (;;) {
    const opcode = String.fromCharCode(bytes[at++] ?? 0);
    switch (opcode) {
      case "(":
        marks.push(stack.length);
        break;
      case "t":
      case "l":
        stack.push({ kind: opcode === "t" ? "tuple" : "list", items: popAll() });
        break;
      case "d": {
        const pairs = popAll();
        const dict: Dict = { kind: "dict", items: new Map() };
        if (pairs.length % 2 === 1) throw broken("has a dict with a key and no value");
        for (let i = 0; i < pairs.length; i += 2) setItem(dict, pairs[i]!, pairs[i + 1]!);
        stack.push(dict);
        break;
      }
      case "s": {
        const value = pop();
        const key = pop();
        setItem(stack.at(-1), key, value);
        break;
      }
      case "a": {
        const value = pop();
        const list = stack.at(-1);
        if (!is(list, "list")) throw broken("appends to something that is no list");
        list.items.push(value);
        break;
      }
      case "I": {
        const text = line();
        stack.push(text === "00" ? false : text === "01" ? true : integer(text));
        break;
      }
      case "L":
        stack.push(integer(line().replace(/L$/, "")));
        break;
      case "F":
        stack.push(float(line()) ?? fail(() => broken("has a float that is none")));
        break;
      case "S":
        stack.push(quoted(line()) ?? fail(() => broken("has a string that is none")));
        break;
      case "V":
        stack.push(escaped(line()) ?? fail(() => broken("has a text with a broken escape")));
        break;
      case "N":
        stack.push(null);
        break;
      case "p":
        if (stack.length === 0) throw broken("keeps a value that is not there");
        memo.set(line(), stack.at(-1)!);
        break;
      case "g": {
        const value = memo.get(line());
        if (value === undefined) throw broken("fetches a value that was not kept");
        stack.push(value);
        break;
      }
      case "c": {
        const name = `${line()}.${line()}`;
        const found = globals.get(name);
        if (found === undefined)
          throw new Unsupported(
            `${where} is a pickle that wants to call ${JSON.stringify(name.slice(0, 80))}, which Octavo never does`,
            { where },
          );
        stack.push(found);
        break;
      }
      case "R": {
        const parameters = pop();
        stack.push(call(pop(), parameters) ?? fail(() => broken("calls something in a way that zarr 0.3.0 never did")));
        break;
      }
      case "b": {
        const state = pop();
        const target = stack.at(-1);
        if (!is(target, "dtype") || !is(state, "tuple") || target.state !== undefined)
          throw broken("gives state to something that takes none");
        target.state = state;
        break;
      }
      case ".": {
        const result = pop();
        if (stack.length > 0 || marks.length > 0) throw broken("leaves values behind");
        return result;
      }
      default:
        at--;
        if (at >= bytes.length) throw broken("ends without its last opcode");
        throw new Unsupported(
          `${where} is a pickle with the opcode 0x${bytes[at]!.toString(16).padStart(2, "0")} at byte ${at}, which is not one of those zarr 0.3.0 wrote`,
          { where },
        );
    }
  }
}

function call(target: Value, parameters: Value): Value | undefined {
  if (!is(target, "global") || !is(parameters, "tuple")) return undefined;
  const [first, second] = parameters.items;
  switch (target.name) {
    case "dtype":
      return typeof first === "string" ? { kind: "dtype", code: first } : undefined;
    case "encode":
      return typeof first === "string" && second === "latin1" && [...first].every((character) => character <= "\xff")
        ? first
        : undefined;
    case "scalar":
      return is(first, "dtype") && typeof second === "string"
        ? { kind: "scalar", dtype: first, bytes: second }
        : undefined;
  }
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i++) text += String.fromCharCode(bytes[i]!);
  return text;
}

const floatWords: ReadonlyMap<string, number> = new Map([
  ["nan", Number.NaN],
  ["inf", Number.POSITIVE_INFINITY],
  ["-inf", Number.NEGATIVE_INFINITY],
]);

function float(text: string): number | undefined {
  return floatWords.get(text) ?? (/^-?\d+(\.\d*)?(e[+-]?\d+)?$/.test(text) ? Number(text) : undefined);
}

/** Python 2's repr of a str. */
function quoted(text: string): string | undefined {
  const body = /^(['"])(.*)\1$/s.exec(text)?.[2];
  if (body === undefined) return undefined;
  return body.replace(/\\(x[0-9a-f]{2}|[\\'"nrt])/g, (_, code: string) =>
    code[0] === "x"
      ? String.fromCharCode(Number.parseInt(code.slice(1), 16))
      : ({ n: "\n", r: "\r", t: "\t" }[code] ?? code),
  );
}

/** raw-unicode-escape: only \uXXXX and \UXXXXXXXX are escapes. */
function escaped(text: string): string | undefined {
  let isBroken = false;
  const plain = text.replace(/\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})/g, (_, short?: string, long?: string) => {
    const code = Number.parseInt(short ?? long!, 16);
    isBroken ||= code > 0x10ffff;
    return isBroken ? "" : String.fromCodePoint(code);
  });
  return isBroken ? undefined : plain;
}
