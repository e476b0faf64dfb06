import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Corrupt, InvalidInput, LimitExceeded } from "../errors.js";
import { defaultLimits } from "../limits.js";
import {
  compareCodePoints,
  isJsonObject,
  type Json,
  JsonFloat,
  type ParseOptions,
  parseJson,
  showJson,
  stringifyJson,
} from "./json.js";

const parse = (source: string | Uint8Array, options?: ParseOptions) => parseJson(source, defaultLimits, "doc", options);
const python = { indent: 4, sortKeys: true, ascii: true, tokens: true } as const;

describe("numbers", () => {
  test("integers are exact whatever their size", () => {
    expect(
      parse("[9007199254740991,9007199254740992,9007199254740993,18446744073709551615,-9223372036854775808]"),
    ).toEqual([9007199254740991, 9007199254740992n, 9007199254740993n, 18446744073709551615n, -9223372036854775808n]);
    expect(parse("123456789012345")).toBe(123456789012345);
    expect(parse("-1234567890123456")).toBe(-1234567890123456);
  });
  test("minus zero stays", () => {
    expect(Object.is(parse("-0"), -0)).toBe(true);
    expect(Object.is(parse("-0.0"), -0)).toBe(true);
  });
  test("a float stays a float", () => {
    expect(parse("[1e3, 1.5E-2, 1e+20, 5e-324, 123456789012345680.0]")).toEqual([
      1000, 0.015, 1e20, 5e-324, 1.2345678901234568e17,
    ]);
  });
  test.each(["01", "-01", "1.", ".5", "+1", "1e", "1e+", "-", "0x1", "1_0", "--1", "-a"])("%s is refused", (text) => {
    expect(() => parse(text)).toThrow(Corrupt);
  });
  test("a float beyond the range is refused, also a long one", () => {
    expect(() => parse("[1e400]")).toThrow(
      "doc, as JSON, has the number 1e400, beyond the range of float64 at line 1, column 2",
    );
    expect(() => parse(`${"9".repeat(400)}.0`)).toThrow(Corrupt);
  });
  test("an endless integer is refused before it costs time", () => {
    expect(() => parse("9".repeat(1_000_000))).toThrow(LimitExceeded);
    expect(parse("9".repeat(4300))).toBe(10n ** 4300n - 1n);
  });
  test("bare words are there only where asked for", () => {
    expect(parse("[NaN,Infinity,-Infinity]", { tokens: true })).toEqual([
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
    ]);
    for (const text of ["NaN", "Infinity", "-Infinity"]) expect(() => parse(text)).toThrow(Corrupt);
    for (const text of ["nan", "Inf", "-NaN", "NaNa", "+Infinity"])
      expect(() => parse(text, { tokens: true })).toThrow(Corrupt);
  });
});

describe("objects (R14)", () => {
  test("__proto__, constructor and the empty key are data", () => {
    const doc = parse(
      '{"__proto__": {"polluted": 1}, "constructor": 2, "": 3, "toString": null, "hasOwnProperty": []}',
    );
    if (!isJsonObject(doc)) throw new Error("an object");
    expect(Object.keys(doc)).toEqual(["__proto__", "constructor", "", "toString", "hasOwnProperty"]);
    expect(Object.getPrototypeOf(doc)).toBe(null);
    expect((Object.entries(doc)[0]![1] as { polluted: number }).polluted).toBe(1);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(stringifyJson(doc)).toBe(
      '{"__proto__":{"polluted":1},"constructor":2,"":3,"toString":null,"hasOwnProperty":[]}',
    );
  });
  test("a key that is not there is undefined, also constructor", () => {
    const doc = parse("{}");
    for (const key of ["constructor", "__proto__", "toString"])
      expect((doc as { [key: string]: Json })[key]).toBeUndefined();
  });
  test("a key of 10 kB", () => {
    const key = "k".repeat(10_000);
    expect(Object.keys(parse(`{"${key}":1}`) as object)).toEqual([key]);
  });
  test.each(['{"a":1,"a":2}', '{"a":1,"b":0,"\\u0061":2}', '{"__proto__":1,"__proto__":2}', '{"":1,"":1}'])(
    "%s has a key twice",
    (text) => {
      expect(() => parse(text)).toThrow(/twice/);
    },
  );
  test("an array is no object, null neither", () => {
    expect([parse("[]"), null, undefined, "a"].map(isJsonObject)).toEqual([false, false, false, false]);
  });
});

describe("text", () => {
  test("escapes", () => {
    expect(parse('"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00 é😀"')).toBe('"\\/\b\f\n\r\té😀 é😀');
  });
  test("half of a surrogate pair stays as it is, both ways", () => {
    expect(parse('"\\ud800"')).toBe("\ud800");
    expect(stringifyJson("\ud800")).toBe('"\\ud800"');
  });
  test.each(['"', '"\\"', '"\\x"', '"\\u12g4"', '"\\u12', '"\n"', '"\u0000"', "'a'", '"\\'])(
    "%j is refused",
    (text) => {
      expect(() => parse(text)).toThrow(Corrupt);
    },
  );
  test("bytes must be UTF-8", () => {
    const quoted = (...bytes: number[]) => Uint8Array.of(0x22, ...bytes, 0x22);
    expect(parse(quoted(0xc3, 0xa9))).toBe("é");
    for (const bad of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf5, 0x80, 0x80, 0x80]])
      expect(() => parse(quoted(...bad))).toThrow("doc is not valid UTF-8");
  });
  test("a byte order mark is skipped at the start only", () => {
    expect(parse(Uint8Array.of(0xef, 0xbb, 0xbf, 0x31))).toBe(1);
    expect(parse("\ufeff[]")).toEqual([]);
    expect(() => parse("[\ufeff]")).toThrow(Corrupt);
    expect(() => parse("\ufeff\ufeff1")).toThrow(Corrupt);
  });
});

describe("structure", () => {
  test.each([
    "",
    " ",
    "[",
    "{",
    "[1",
    "[1,",
    "[,]",
    "[1 2]",
    "[1,]",
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,}',
    "{a:1}",
    "{,}",
    "1 2",
    "nul",
    "tru",
    "fals",
    "[]]",
    "undefined",
    "\u00a01",
    "//x",
    "{1:2}",
  ])("%j is refused", (text) => {
    expect(() => parse(text)).toThrow(Corrupt);
  });
  test("errors say line and column", () => {
    expect(() => parse('{\n  "a": 1,\n  "b": x\n}')).toThrow(
      'doc, as JSON, should have a value, found "x" at line 3, column 8',
    );
    expect(() => parse("[1,\n2")).toThrow('doc, as JSON, should have "," or "]", found the end at line 2, column 2');
  });
  test("depth and size have limits", () => {
    const nested = (n: number) => "[".repeat(n) + "]".repeat(n);
    parse(nested(64));
    expect(() => parse(nested(65))).toThrow(LimitExceeded);
    expect(() => parse('{"a":'.repeat(1e6))).toThrow(LimitExceeded);
    expect(() => parseJson(nested(1e6), { ...defaultLimits, jsonDepth: 1e9 }, "doc")).toThrow(LimitExceeded);
    parseJson("[[],[],[]]", { ...defaultLimits, jsonDepth: 2 }, "doc");
    expect(() => parseJson("[1,2]", { ...defaultLimits, metadataBytes: 4 }, "doc")).toThrow(LimitExceeded);
  });
});

describe("against JSON.parse", () => {
  test("equal on every document without integers beyond 2^53", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), fc.constantFrom(0, 1, 4), (text, indent) => {
        const spaced = JSON.stringify(JSON.parse(text), null, indent);
        // A whole float beyond 2^53 looks like an integer once JavaScript has printed it: that is the loss avoided here.
        const safe = JSON.parse(spaced, (_, value) =>
          Number.isInteger(value) && !Number.isSafeInteger(value) ? 0 : value,
        );
        const json = JSON.stringify(safe, null, indent);
        expect(parse(json)).toEqual(safe);
      }),
    );
  });
  test("refuses what JSON.parse refuses, whatever one character is changed", () => {
    const documents = ['{"a":[1,-2.5e3,"x\\n",true,false,null],"b":{}}', "[[[]],{}]", '"\\u0041"'];
    fc.assert(
      fc.property(
        fc.constantFrom(...documents),
        fc.nat(),
        fc.constantFrom(...'{}[],:"\\0-9eE.+tfnu x'),
        (text, where, character) => {
          const at = where % (text.length + 1);
          const changed = text.slice(0, at) + character + text.slice(at + 1);
          let expected: unknown;
          try {
            expected = JSON.parse(changed);
          } catch {
            expect(() => parse(changed)).toThrow(Corrupt);
            return;
          }
          expect(parse(changed)).toEqual(expected);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(null, true, false, -0, 1e16, 1e-5, 123456.789e3, 0.1, 2 ** 53, 1e22, 5e-324),
    fc.double(),
    fc.integer(),
    fc.bigInt(),
    fc.string({ unit: "binary" }),
    fc.array(tie("value")),
    fc.dictionary(fc.string({ unit: "binary" }), tie("value")),
  ),
})).value;

/** bigints that fit a number come back as a number. */
const normal = (value: Json): Json => {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(normal);
  if (isJsonObject(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, normal(item)]));
  return value;
};

describe("writing", () => {
  test("what is written is read back", () => {
    const options = fc.record({ indent: fc.nat(4), sortKeys: fc.boolean(), ascii: fc.boolean() }, { requiredKeys: [] });
    fc.assert(
      fc.property(json, options, (value, chosen) => {
        const written = stringifyJson(value, { ...chosen, tokens: true });
        if (chosen.ascii) expect(written).toMatch(/^[\n -~]*$/);
        expect(parse(new TextEncoder().encode(written), { tokens: true })).toEqual(normal(value));
      }),
    );
  });
  test("as Zarr 0.4.0 wrote it", () => {
    const meta = { shape: [100], chunks: [10], fill_value: new JsonFloat(0), dtype: "<f8", a: {}, b: [], é: "\x7f😀~" };
    expect(stringifyJson(meta, python)).toBe(
      '{\n    "a": {},\n    "b": [],\n    "chunks": [\n        10\n    ],\n    "dtype": "<f8",\n    "fill_value": 0.0,\n    "shape": [\n        100\n    ],\n    "\\u00e9": "\\u007f\\ud83d\\ude00~"\n}',
    );
  });
  test.each([
    [0, "0.0"],
    [-0, "-0.0"],
    [1, "1.0"],
    [1e15, "1000000000000000.0"],
    [2 ** 53, "9007199254740992.0"],
    [1e16, "1e+16"],
    [1.25e22, "1.25e+22"],
    [-1e300, "-1e+300"],
    [0.0001, "0.0001"],
    [-0.00012, "-0.00012"],
    [0.00001, "1e-05"],
    [1.5e-7, "1.5e-07"],
    [5e-324, "5e-324"],
    [123.456, "123.456"],
    [Number.NaN, "NaN"],
    [Number.NEGATIVE_INFINITY, "-Infinity"],
  ])("the float %d is %s", (value, text) => {
    expect(stringifyJson(new JsonFloat(value), { tokens: true })).toBe(text);
  });
  test("a whole float beyond 2^53 stays a float", () => {
    expect(parse(stringifyJson([1e20, 2 ** 60]))).toEqual([1e20, 2 ** 60]);
  });
  test("what JSON cannot hold is refused with its place", () => {
    expect(() => stringifyJson({ a: [1, { b: Number.NaN }] })).toThrow(
      new InvalidInput("JSON cannot hold NaN, found at a.1.b"),
    );
    expect(() => stringifyJson({ a: undefined as unknown as Json })).toThrow(InvalidInput);
    expect(() => stringifyJson((() => 1) as unknown as Json)).toThrow(InvalidInput);
  });
  test("a value in a sentence is short, whatever it is", () => {
    expect([undefined, 2n ** 64n, [Number.NaN, { a: 1 }]].map(showJson)).toEqual([
      "nothing",
      "18446744073709551616",
      '[NaN,{"a":1}]',
    ]);
    expect(showJson("x".repeat(1e6))).toHaveLength(80);
  });
  test("a value that holds itself is refused", () => {
    const circle: Json[] = [];
    circle.push([circle]);
    expect(() => stringifyJson(circle)).toThrow(InvalidInput);
  });
  test("keys are sorted by code point", () => {
    const keys = ["\ue000", "😀", "\ud83d", "\ud83d\ue000", "\ud83dz", "a", "", "A", "ab", "\ud83dy", "\ud800\udc00"];
    const byCodePoints = (a: string, b: string) => {
      const [left, right] = [[...a], [...b]].map((text) => text.map((each) => each.codePointAt(0)!));
      for (let i = 0; i < left!.length && i < right!.length; i++)
        if (left![i] !== right![i]) return left![i]! - right![i]!;
      return left!.length - right!.length;
    };
    for (const a of keys)
      for (const b of keys) expect(Math.sign(compareCodePoints(a, b))).toBe(Math.sign(byCodePoints(a, b)));
  });
});

const hasPython = (() => {
  try {
    return execFileSync("python3", ["-c", "print(1)"]).toString() === "1\n";
  } catch {
    return false;
  }
})();

test.skipIf(!hasPython)("byte for byte what Python writes (needs python3)", () => {
  const values = fc.sample(json, { numRuns: 400, seed: 7 });
  const program =
    "import json,sys\nfor line in sys.stdin: print(json.dumps(json.dumps(json.loads(line), indent=4, sort_keys=True)))";
  const input = values.map((value) => stringifyJson(value, { ascii: true, tokens: true })).join("\n");
  const answers = execFileSync("python3", ["-c", program], { input, maxBuffer: 1 << 28 })
    .toString()
    .trimEnd()
    .split("\n");
  expect(answers.length).toBe(values.length);
  values.forEach((value, i) => {
    expect(stringifyJson(value, python)).toBe(parse(answers[i]!));
  });
});
