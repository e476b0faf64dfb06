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

import { isFixed } from "../../bytes/dtype.js";
import type { Json } from "../../bytes/json.js";
import { Corrupt, LimitExceeded, Unsupported } from "../../errors.js";
import type { Limits } from "../../limits.js";
import { valueAt } from "../../model/elements.js";
import { parseNumpyDtype } from "./dtype-numpy.js";

type Atom = null | boolean | number | bigint | string;
type Value = Atom | Sequence | Dict | Global | Dtype | Scalar;
/** Bytes are text of one character per byte, as Python 2 has them anyway. */
interface Sequence {
  readonly kind: "tuple" | "list";
  readonly items: Value[];
}
interface Dict {
  readonly kind: "dict";
  readonly items: Map<string, Value>;
}
interface Global {
  readonly kind: "global";
  readonly name: "dtype" | "scalar" | "encode";
}
interface Dtype {
  readonly kind: "dtype";
  readonly code: string;
  state?: Sequence;
}
interface Scalar {
  readonly kind: "scalar";
  readonly dtype: Dtype;
  readonly bytes: string;
}

const globals: ReadonlyMap<string, Global> = new Map([
  ["numpy.dtype", { kind: "global", name: "dtype" }],
  ["numpy.core.multiarray.scalar", { kind: "global", name: "scalar" }],
  ["_codecs.encode", { kind: "global", name: "encode" }],
]);
const MAX_BYTES = 1 << 20; // a structured type of ten thousand fields
const MAX_DIGITS = 100;
const MAX_VALUES = 100_000; // a shared value counts each time it is reached: small files must not unfold into large ones
const MAX_DEPTH = 64;

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
        stack.push(float(line()) ?? fail(broken("has a float that is none")));
        break;
      case "S":
        stack.push(quoted(line()) ?? fail(broken("has a string that is none")));
        break;
      case "V":
        stack.push(escaped(line()) ?? fail(broken("has a text with a broken escape")));
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
        stack.push(call(pop(), parameters) ?? fail(broken("calls something in a way that zarr 0.3.0 never did")));
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

function is<Kind extends Exclude<Value, Atom>["kind"]>(
  value: Value | undefined,
  kind: Kind,
): value is Extract<Value, { kind: Kind | "tuple" | "list" }> & { kind: Kind } {
  return typeof value === "object" && value !== null && value.kind === kind;
}

/** The values as JSON, each type in numpy's spelling. */
function unfold(root: Value, where: string): Json {
  let budget = MAX_VALUES;
  const broken = (what: string): Corrupt => new Corrupt(`${where}, as a pickle, has ${what}`, { where });

  const json = (value: Value, depth: number): Json => {
    if (--budget < 0 || depth > MAX_DEPTH)
      throw new LimitExceeded(`${where} is a pickle of more than ${MAX_VALUES} values or ${MAX_DEPTH} levels`, {
        where,
      });
    if (value === null || typeof value !== "object") return value;
    switch (value.kind) {
      case "tuple":
      case "list":
        return value.items.map((item) => json(item, depth + 1));
      case "dict": {
        const object: { [key: string]: Json } = Object.create(null);
        for (const [key, item] of value.items) object[key] = json(item, depth + 1);
        return object;
      }
      case "dtype":
        return dtype(value, depth);
      case "scalar":
        return scalar(value, depth);
      case "global":
        throw broken(`the name ${value.name} as a value`);
    }
  };

  /** State: version, byte order, (base, shape), names, {name: (type, offset)}, size, alignment, flags, (…, (unit, scale, …)) */
  const dtype = ({ code, state }: Dtype, depth: number): Json => {
    const [, order, , names, fields, size, , , metadata] = state?.items ?? [];
    if (is(names, "tuple") && is(fields, "dict")) return struct(names, fields, size, depth);
    const mark = order === "<" || order === ">" || order === "|" ? order : "";
    const unit = is(metadata, "tuple") ? metadata.items.at(-1) : undefined;
    if (!is(unit, "tuple")) return mark + code;
    const [name, scale] = unit.items;
    return name === "generic" ? mark + code : `${mark}${code}[${scale === 1 ? "" : String(scale)}${String(name)}]`;
  };

  const struct = (names: Sequence, fields: Dict, size: Value | undefined, depth: number): Json => {
    const list: Json[] = [];
    let end = 0;
    const padTo = (offset: number): void => {
      if (offset > end) list.push(["", `|V${offset - end}`]);
    };
    for (const name of names.items) {
      const [type, offset] = typeof name === "string" ? sequence(fields.items.get(name)) : [];
      if (typeof name !== "string" || !is(type, "dtype") || typeof offset !== "number" || offset < end)
        throw broken("a structured type whose fields do not follow each other");
      padTo(offset);
      const base = sequence(type.state?.items[2]);
      const entry = base.length === 2 ? base : [type];
      const parts = entry.map((part) => json(part, depth + 1));
      list.push([name, ...parts]);
      const lengths = Array.isArray(parts[1]) ? (parts[1] as readonly Json[]) : [];
      const item = parseNumpyDtype(parts[0], where).size;
      end = offset + lengths.reduce<number>((product, length) => product * Number(length), item);
    }
    if (typeof size === "number") padTo(size);
    return list;
  };

  const scalar = ({ dtype: type, bytes }: Scalar, depth: number): Json => {
    const parsed = parseNumpyDtype(json(type, depth + 1), where);
    const data = Uint8Array.from(bytes, (character) => character.charCodeAt(0));
    if (!isFixed(parsed) || data.length !== parsed.size || ("endian" in parsed && parsed.endian === "big"))
      throw broken("a scalar that is not as long as its type");
    const value = valueAt({ shape: [], dtype: parsed, data }, 0);
    if (typeof value === "object") throw broken("a scalar that is no single value");
    return value;
  };

  return json(root, 0);
}

const sequence = (value: Value | undefined): readonly Value[] => (is(value, "tuple") ? value.items : []);

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i++) text += String.fromCharCode(bytes[i]!);
  return text;
}

function float(text: string): number | undefined {
  const word = { nan: Number.NaN, inf: Number.POSITIVE_INFINITY, "-inf": Number.NEGATIVE_INFINITY }[text];
  return word ?? (/^-?\d+(\.\d*)?(e[+-]?\d+)?$/.test(text) ? Number(text) : undefined);
}

/** Python 2's repr of a str. */
function quoted(text: string): string | undefined {
  const body = /^(['"])(.*)\1$/s.exec(text)?.[2];
  if (body === undefined) return undefined;
  const plain = body.replace(/\\(x[0-9a-f]{2}|[\\'"nrt])/g, (_, code: string) =>
    code[0] === "x"
      ? String.fromCharCode(Number.parseInt(code.slice(1), 16))
      : ({ n: "\n", r: "\r", t: "\t" }[code] ?? code),
  );
  return plain;
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

function fail(error: Error): never {
  throw error;
}
