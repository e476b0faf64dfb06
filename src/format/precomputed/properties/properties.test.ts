import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJson, stringifyJson } from "../../../bytes/json.js";
import { Corrupt, InvalidInput } from "../../../errors.js";
import { defaultLimits } from "../../../limits.js";
import { SegmentProperties } from "./properties.js";

const table: SegmentProperties = {
  ids: BigUint64Array.of(1n, 2n ** 53n + 1n, 2n ** 64n - 1n),
  properties: [
    { id: "name", type: "label", values: ["a", "", "ü"] },
    { id: "text", type: "description", description: "long", values: ["x", "y", "z"] },
    { id: "note", type: "string", values: ["", "", "n"] },
    { id: "tags", type: "tags", tags: ["t0", "t1"], tagDescriptions: ["d0", ""], values: [[], [0, 1], [1]] },
    { id: "size", type: "number", dataType: "uint32", values: Uint32Array.of(0, 1, 2 ** 32 - 1) },
    { id: "delta", type: "number", dataType: "int8", values: Int8Array.of(-128, 0, 127) },
    { id: "score", type: "number", dataType: "float32", values: Float32Array.of(0.1, -1e-20, 3) },
  ],
};

const text = (own: SegmentProperties): string => stringifyJson(SegmentProperties.format(own));
const parse = (json: string) => SegmentProperties.parse(parseJson(json, defaultLimits, "x") as never, "x");

test("every type of property, and ids beyond 2^53, are the same again", () => {
  expect(parse(text(table))).toEqual(table);
  expect(text(table)).toContain('"ids":["1","9007199254740993","18446744073709551615"]');
  expect(text(table)).toContain('"values":[0.1,-1e-20,3]'); // not the 17 digits of the float64
});

test("every float32 is the same again", () => {
  fc.assert(
    fc.property(fc.float32Array({ noNaN: true, noDefaultInfinity: true, maxLength: 8 }), (values) => {
      const own: SegmentProperties = {
        ids: new BigUint64Array(values.length),
        properties: [{ id: "v", type: "number", dataType: "float32", values: Float32Array.from(values) }],
      };
      const read = parse(text(own)).properties[0]!.values as Float32Array;
      expect([...read].map((value) => value + 0)).toEqual([...values].map((value) => value + 0));
    }),
  );
});

test("an empty table, and one without inline", () => {
  expect(parse("{}")).toEqual({ ids: new BigUint64Array(), properties: [] });
  expect(parse(text({ ids: new BigUint64Array(), properties: [] }))).toEqual(parse("{}"));
});

test("damage is refused", () => {
  for (const [from, to] of [
    ['"ids":["1"', '"ids":[1'],
    ['"18446744073709551615"', '"18446744073709551616"'],
    ['"ids":["1",', '"ids":["1","5",'],
    ['"a","","ü"', '"a","ü"'],
    ['"type":"string"', '"type":"label"'],
    ['"type":"string"', '"type":"other"'],
    ['"id":"note"', '"id":"name"'],
    ["[0,1]", "[1,0]"],
    ["[0,1]", "[0,2]"],
    ['["d0",""]', '["d0"]'],
    ["4294967295", "4294967296"],
    ["-128", "-129"],
    ["-128", "0.5"],
    ["-128", "null"],
    ['"int8"', '"uint64"'],
  ] as const) {
    expect(text(table)).toContain(from);
    expect(() => parse(text(table).replace(from, to)), `${from} → ${to}`).toThrow(Corrupt);
  }
});

test("tables that cannot be written are refused", () => {
  const one = BigUint64Array.of(1n);
  const refuse = (...properties: SegmentProperties["properties"]) =>
    expect(() => text({ ids: one, properties })).toThrow(InvalidInput);
  refuse({ id: "a", type: "label", values: [] });
  refuse({ id: "a", type: "label", values: [""] }, { id: "b", type: "label", values: [""] });
  refuse({ id: "a", type: "string", values: [""] }, { id: "a", type: "label", values: [""] });
  refuse({ id: "a", type: "tags", tags: [], values: [[0]] });
  refuse({ id: "a", type: "number", dataType: "int8", values: Float32Array.of(1) });
  refuse({ id: "a", type: "number", dataType: "float32", values: Float32Array.of(Number.NaN) });
});
