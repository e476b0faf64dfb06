import { describe, expect, it } from "vitest";
import { InvalidInput, NotFound } from "../errors.js";
import type { Column } from "../model/attributes.js";
import type { LevelSource, ObjectSource } from "../model/source.js";
import { groupNumbers, parseGroups } from "./group-names.js";

const text = { name: "name", dtype: { kind: "string" }, channels: 1 } as unknown as Column["info"];
const code = { name: "name", dtype: { kind: "uint", size: 1 }, channels: 1, absent: 255 } as unknown as Column["info"];

function numbers(column: Column | undefined, group: readonly (number | string)[]) {
  const source = { level: 0, schema: async () => ({ group: column === undefined ? [] : [column.info] }) };
  const objects = { groupColumns: async () => ({ count: 4, columns: new Map(column && [["name", column]]) }) };
  return groupNumbers(source as unknown as LevelSource, objects as unknown as ObjectSource, group, {});
}

describe("groups by name", () => {
  const named = { info: text, values: ["basket", "7", "twin", "twin"] } as unknown as Column;

  it("are their numbers; a number stays one", async () => {
    expect(await numbers(named, ["7", 3, "basket"])).toEqual([1, 3, 0]);
    expect(await numbers(undefined, [2, 9])).toEqual([2, 9]);
  });

  it("may be codes of texts, and some without", async () => {
    const codes = { info: { ...code, categories: ["a", "b"] }, values: Uint8Array.of(1, 255, 0, 255) } as Column;
    expect(await numbers(codes, ["a", "b"])).toEqual([2, 0]);
  });

  it("that two have are an error that says so; one that none has is not there", async () => {
    const twice = numbers(named, ["twin"]);
    await expect(twice).rejects.toThrow(InvalidInput);
    await expect(twice).rejects.toThrow('level 0 has 2 groups called "twin": say which by number, 2 or 3');
    const none = numbers(named, ["cell"]);
    await expect(none).rejects.toThrow(NotFound);
    await expect(none).rejects.toThrow('no group called "cell"; there are "basket", "7", "twin", "twin"');
    await expect(numbers(undefined, ["cell"])).rejects.toThrow("its groups have no names");
  });
});

it("groups in a text have commas between, and names with commas or of digits are in quotes", () => {
  expect(parseGroups('3, basket ,"left, upper","7","say ""so""",5"')).toEqual([
    3,
    "basket",
    "left, upper",
    "7",
    'say "so"',
    '5"',
  ]);
  expect(parseGroups("")).toEqual([]);
  expect(parseGroups(`"${'""'.repeat(1e5)}"`)).toEqual(['"'.repeat(1e5)]);
  for (const wrong of ['"open', '"a"b', 'a,"b', `"${'"" '.repeat(1e5)}`])
    expect(() => parseGroups(wrong)).toThrow(InvalidInput);
});
