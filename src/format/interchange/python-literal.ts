/**
 * The Python literals that numpy puts into headers: dictionaries with text keys, tuples, lists, texts, whole numbers, True,
 * False and None. Tuples and lists both become arrays. Anything else is Corrupt; nothing is ever evaluated.
 */
import type { Json } from "../../bytes/json.js";
import { Corrupt, LimitExceeded } from "../../errors.js";
import type { Limits } from "../../limits.js";

const escapes: { readonly [letter: string]: string } = { n: "\n", r: "\r", t: "\t", "\\": "\\", "'": "'", '"': '"' };

export function parseLiteral(text: string, limits: Limits, where: string): Json {
  let at = 0;

  const fail = (expected: string): Corrupt =>
    new Corrupt(
      `${where} should have ${expected} at ${at} of its header, found ${JSON.stringify(text.slice(at, at + 12))}`,
      {
        where,
      },
    );
  const skip = (): void => {
    while (/\s/.test(text[at] ?? "")) at++;
  };
  const take = (mark: string): boolean => {
    skip();
    if (text[at] !== mark) return false;
    at++;
    return true;
  };

  function value(depth: number): Json {
    if (depth > limits.jsonDepth)
      throw new LimitExceeded(`${where} is nested deeper than ${limits.jsonDepth}`, { where });
    if (take("(")) return items(")", depth);
    if (take("[")) return items("]", depth);
    if (take("{")) return entries(depth);
    skip();
    if (text[at] === "'" || text[at] === '"') return string();
    const word = /^(?:True|False|None|-?\d{1,20}L?)(?![\w.])/.exec(text.slice(at, at + 24))?.[0];
    if (word === undefined) throw fail("a literal");
    at += word.length;
    if (word === "True" || word === "False") return word === "True";
    if (word === "None") return null;
    const digits = word.replace("L", ""); // Python 2 marks long integers
    return Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits);
  }

  function items(end: string, depth: number): Json {
    const out: Json[] = [];
    while (!take(end)) {
      out.push(value(depth + 1));
      if (!take(",")) {
        if (!take(end)) throw fail(`"," or "${end}"`);
        if (end === ")" && out.length === 1) return out[0]!; // parentheses, no tuple
        return out;
      }
    }
    return out;
  }

  function entries(depth: number): Json {
    const out: { [key: string]: Json } = Object.create(null);
    while (!take("}")) {
      skip();
      const key = string();
      if (key in out) throw fail(`${JSON.stringify(key)} only once`);
      if (!take(":")) throw fail('":"');
      out[key] = value(depth + 1);
      if (!take(",")) {
        if (!take("}")) throw fail('"," or "}"');
        return out;
      }
    }
    return out;
  }

  function string(): string {
    const quote = text[at];
    if (quote !== "'" && quote !== '"') throw fail("a text");
    let out = "";
    for (at++; text[at] !== quote; at++) {
      const character = text[at];
      if (character === undefined) throw fail("the end of a text");
      if (character !== "\\") {
        out += character;
        continue;
      }
      const letter = text[++at] ?? "";
      const width = { x: 2, u: 4, U: 8 }[letter];
      if (width === undefined) {
        const plain = escapes[letter];
        if (plain === undefined) throw fail("a known escape");
        out += plain;
      } else {
        const digits = text.slice(at + 1, at + 1 + width);
        const code = Number.parseInt(digits, 16);
        if (!/^[0-9a-fA-F]+$/.test(digits) || digits.length !== width || code > 0x10ffff) throw fail("a code point");
        out += String.fromCodePoint(code);
        at += width;
      }
    }
    at++;
    return out;
  }

  const result = value(0);
  skip();
  if (at !== text.length) throw fail("nothing more");
  return result;
}
