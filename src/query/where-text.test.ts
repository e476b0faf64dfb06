import { describe, expect, test } from "vitest";
import { InvalidInput, LimitExceeded } from "../errors.js";
import { Where } from "./where.js";

describe("the text of a where expression", () => {
  test.each<[string, Where]>([
    ["fa > 0.3", { op: ">", name: "fa", value: 0.3 }],
    ["a=1", { op: "=", name: "a", value: 1 }],
    ["x<-1.5e-3", { op: "<", name: "x", value: -0.0015 }],
    ["x >= .5", { op: ">=", name: "x", value: 0.5 }],
    ["id = 9007199254740991", { op: "=", name: "id", value: 9007199254740991 }],
    ["id = 9007199254740993", { op: "=", name: "id", value: 9007199254740993n }],
    ["id != -9223372036854775808", { op: "!=", name: "id", value: -9223372036854775808n }],
    ["x = 1e20", { op: "=", name: "x", value: 1e20 }],
    ["ok = TRUE", { op: "=", name: "ok", value: true }],
    ["t = 'it''s'", { op: "=", name: "t", value: "it's" }],
    ["t = ''", { op: "=", name: "t", value: "" }],
    [`"odd ""name""" = 1`, { op: "=", name: 'odd "name"', value: 1 }],
    [`"and" = 1`, { op: "=", name: "and", value: 1 }],
    ["größe_2 = 1", { op: "=", name: "größe_2", value: 1 }],
    ["vertex.fa = 1", { op: "=", domain: "vertex", name: "fa", value: 1 }],
    [`Object."a.b" = 1`, { op: "=", domain: "object", name: "a.b", value: 1 }],
    ["group = 1", { op: "=", name: "group", value: 1 }], // a domain is a name like others where no dot follows
    ["link.link = 1", { op: "=", domain: "link", name: "link", value: 1 }],
    ["color[2] = 1", { op: "=", name: "color", channel: 2, value: 1 }],
    ["vertex.color[r] = 1", { op: "=", domain: "vertex", name: "color", channel: "r", value: 1 }],
    [`color["0"] = 1`, { op: "=", name: "color", channel: "0", value: 1 }],
    ["a in (1, 'b', false)", { op: "in", name: "a", values: [1, "b", false] }],
    ["a NOT IN (1)", { op: "not in", name: "a", values: [1] }],
    ["a between 1 and 2", { op: "between", name: "a", low: 1, high: 2 }],
    ["a is absent", { op: "absent", name: "a" }],
    ["a is not absent", { op: "not", arg: { op: "absent", name: "a" } }],
  ])("%s", (text, tree) => {
    expect(Where.parse(text)).toEqual(tree);
    expect(Where.parse(Where.format(tree))).toEqual(tree);
  });

  test("not binds before and, and before or, and between keeps its own and", () => {
    const [a, b, c] = ["a", "b", "c"].map((name) => ({ op: "=", name, value: 1 }) as const);
    expect(Where.parse("not a = 1 and b = 1 or c = 1")).toEqual({
      op: "or",
      args: [{ op: "and", args: [{ op: "not", arg: a }, b] }, c],
    });
    expect(Where.parse("a = 1 or b = 1 and c = 1")).toEqual({ op: "or", args: [a, { op: "and", args: [b, c] }] });
    expect(Where.parse("not (a = 1 or b = 1)")).toEqual({ op: "not", arg: { op: "or", args: [a, b] } });
    expect(Where.parse("a between 1 and 2 and b = 1")).toEqual({
      op: "and",
      args: [{ op: "between", name: "a", low: 1, high: 2 }, b],
    });
    expect(Where.parse("a = 1 and b = 1 and c = 1")).toEqual({ op: "and", args: [a, b, c] });
    expect(Where.parse("a = 1 and (b = 1 and c = 1)")).toEqual({ op: "and", args: [a, { op: "and", args: [b, c] }] });
  });

  test("is written with as few parentheses as it needs", () => {
    const text = "not (a = 1 or b is not absent) and vertex.\"x y\"[r] in ('it''s', 'b') or id = 9007199254740993";
    expect(Where.format(Where.parse(` ( ${text} ) `))).toBe(text);
  });

  test.each([
    ["", "should have the name of an attribute at character 1, found its end"],
    ["fa", "should have = != < <= > >= in, between or is at character 3, found its end"],
    ["fa > ", "should have a number, a text, true or false at character 6, found its end"],
    ["type = a", "at character 8, found a; text goes in single quotes"],
    ['type = "a"', 'at character 8, found "a"; text goes in single quotes'],
    ["a = 1 b = 2", 'should have "and", "or" or its end at character 7, found b'],
    ["(a = 1", 'should have ")" at character 7, found its end'],
    ["a = 1)", "at character 6, found )"],
    ["a == 1", "should have a number, a text, true or false at character 4, found ="],
    ["a & b", "at character 3, found &"],
    ["a = 'it", "should have a second ' after the one at character 5, found none"],
    ["color.r = 1", "should have a dot only after vertex, link, fragment, object, group at character 6"],
    ['"vertex".x = 1', "should have a dot only after"],
    ["in = 1", "should have the name of an attribute at character 1, found in; a name that is a keyword goes in"],
    ["a in ()", "should have a number, a text, true or false at character 7, found )"],
    ["a in 1", 'should have "(" at character 6, found 1'],
    ["a not = 1", 'should have "in" at character 7, found ='],
    ["a is 1", 'should have "absent" at character 6'],
    ["a between 1 or 2", 'should have "and" after the lower bound at character 13'],
    ["a[-1] = 1", "should have the number or the name of a channel at character 3, found -1"],
    ["a[1 = 1", 'should have "]" at character 5'],
    ["a = 1e999", "should have a number that float64 can hold at character 5, found 1e999"],
    [`a = ${"9".repeat(400)}`, `found ${"9".repeat(40)}…`],
  ])("%s is refused", (text, message) => {
    expect(() => Where.parse(text)).toThrow(InvalidInput);
    expect(() => Where.parse(text)).toThrow(message);
  });

  test("has bounds", () => {
    expect(() => Where.parse(" ".repeat(70_000))).toThrow(LimitExceeded);
    expect(() => Where.parse("(".repeat(30_000))).toThrow("nested over 100 deep at character 102");
    expect(() => Where.parse("not ".repeat(10_000))).toThrow(LimitExceeded);
    expect(() => Where.parse("a=1 or ".repeat(2000))).toThrow('over 1000 conditions; "in (…)" holds many values');
    const deep = `${"(a=1 or a=1 and ".repeat(100)}a=1${")".repeat(100)}`;
    expect(Where.check(Where.parse(deep), { vertex: [byte] }).domains).toEqual(new Set(["vertex"]));
  });
});

const byte = { name: "a", dtype: { kind: "uint", size: 1, endian: "little" }, channels: 1 } as const;
