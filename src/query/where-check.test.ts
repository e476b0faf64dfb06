import { describe, expect, test } from "vitest";
import { InvalidInput, LimitExceeded } from "../errors.js";
import type { Schema } from "../model/vectors.js";
import { Where } from "./where.js";

const float32 = { kind: "float", size: 4, endian: "little" } as const;
const schema: Partial<Schema> = {
  vertex: [
    { name: "fa", dtype: float32, channels: 1 },
    { name: "color", dtype: { kind: "uint", size: 1, endian: "little" }, channels: 3, channelNames: ["r", "g", "b"] },
    { name: "pair", dtype: float32, channels: 2 },
    { name: "flag", dtype: { kind: "bool", size: 1 }, channels: 1 },
    { name: "wave", dtype: { kind: "complex", size: 8, endian: "little" }, channels: 1 },
  ],
  object: [
    { name: "fa", dtype: float32, channels: 1 },
    { name: "type", dtype: { kind: "uint", size: 1, endian: "little" }, channels: 1, categories: ["a", "b"] },
    { name: "odd name", dtype: { kind: "string" }, channels: 1 },
  ],
};
const check = (text: string) => Where.check(Where.parse(text), schema);

describe("a where expression against a schema", () => {
  test("says which domains and attributes it needs", () => {
    const { domains, attributes } = check("vertex.fa > 1 and (type = 'a' or color[r] = 1 or color[2] = 1)");
    expect(domains).toEqual(new Set(["vertex", "object"]));
    expect([...attributes.keys()]).toEqual(["vertex.fa", "object.type", "vertex.color"]);
    expect(attributes.get("object.type")).toEqual({ domain: "object", info: schema.object![1] });
  });

  test.each([
    [
      "nope = 1",
      'there is no attribute nope; there are vertex.fa, vertex.color, vertex.pair, vertex.flag, vertex.wave, object.fa, object.type, object."odd name"',
    ],
    ["link.fa = 1", "there is no attribute link.fa; there are vertex.fa"],
    ["fa = 1", "the attribute fa could be vertex.fa, object.fa: say which"],
    ["color = 1", "the channel of vertex.color should be [0] to [2], or by name r, g, b, found none"],
    ["color[3] = 1", "found [3]"],
    ["color[x] = 1", "found [x]"],
    ["pair[r] = 1", "the channel of vertex.pair should be [0] to [1], found [r]"],
    ["vertex.fa[1] = 1", "the channel of vertex.fa should be [0] to [0], found [1]"],
    ["vertex.fa = 'a'", "vertex.fa should be compared with a number, found 'a'"],
    ["vertex.fa = true", "vertex.fa should be compared with a number, found true"],
    ["flag = 'a'", "vertex.flag should be compared with true or false, found 'a'"],
    ["type = 1", "object.type should be compared with text in single quotes, found 1"],
    ["type in ('a', 1)", "object.type should be compared with text in single quotes, found 1"],
    ["type between 'a' and 1", "found 1"],
    ["wave = 1", "vertex.wave is of type complex, which no condition can be put on"],
  ])("%s is refused", (text, message) => {
    expect(() => check(text)).toThrow(InvalidInput);
    expect(() => check(text)).toThrow(message);
  });

  test("an empty schema says so", () => {
    expect(() => Where.check(Where.parse("a = 1"), {})).toThrow("there is no attribute a; there are none");
  });

  test("trees that no parser made are looked at as closely", () => {
    const wrong: unknown[] = [
      undefined,
      null,
      1,
      {},
      { op: "and" },
      { op: "and", args: [] },
      { op: "or", args: "a" },
      { op: "not" },
      { op: "like", name: "type", value: "a" },
      { op: "=", value: 1 },
      { op: "=", name: "type" },
      { op: "=", name: "type", value: null },
      { op: "=", name: "type", value: {} },
      { op: "=", name: "type", domain: "nowhere", value: "a" },
      { op: "=", name: "flag", channel: null, value: true },
      { op: "=", name: "fa", domain: "vertex", value: Number.NaN },
      { op: "=", name: "fa", domain: "vertex", value: Number.POSITIVE_INFINITY },
      { op: "=", name: "fa", domain: "vertex", value: 10n ** 400n },
      { op: "in", name: "type" },
      { op: "in", name: "type", values: [] },
      { op: "between", name: "type", low: "a" },
    ];
    for (const tree of wrong) expect(() => Where.check(tree as Where, schema), String(tree)).toThrow(InvalidInput);
    let deep: Where = { op: "absent", name: "type" };
    for (let i = 0; i < 1e4; i++) deep = { op: "not", arg: deep };
    expect(() => Where.check(deep, schema)).toThrow(LimitExceeded);
    const wide: Where = {
      op: "or",
      args: Array.from({ length: 1001 }, () => ({ op: "absent", name: "type" }) as const),
    };
    expect(() => Where.check(wide, schema)).toThrow(LimitExceeded);
  });
});
