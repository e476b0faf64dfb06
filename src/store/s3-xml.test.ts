import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Corrupt } from "../errors.js";
import { Xml } from "./s3-xml.js";

const parse = (text: string) => Xml.parse(text, "s3://b");

describe("Xml", () => {
  it("reads what S3 says", () => {
    const xml = parse(
      '<?xml version="1.0" encoding="UTF-8"?>\n<Error xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Code>NoSuchKey</Code>\n<Empty/><Key>a&amp;b&#x20AC;&#33;</Key></Error>\n',
    );
    expect(xml.name).toBe("Error");
    expect(Xml.text(xml, "Code")).toBe("NoSuchKey");
    expect(Xml.text(xml, "Key")).toBe("a&b€!");
    expect(Xml.text(xml, "Empty")).toBe("");
    expect(Xml.text(xml, "Absent")).toBeUndefined();
    expect(Xml.all(parse("<a><b>1</b><c/><b>2</b></a>"), "b").map((b) => b.text)).toEqual(["1", "2"]);
  });

  it.each([
    ["", /not one element/],
    ["plain text", /not one element/],
    ["<a>", /ends inside a/],
    ["<a></b>", /closes b where a is open/],
    ["</a>", /closes a where nothing is open/],
    ["<a/><b/>", /not one element/],
    ["<a/>tail", /not one element/],
    ["<a", /cannot be read at character 0/],
    ["<!DOCTYPE a><a/>", /cannot be read at character 0/],
    ["<a><![CDATA[x]]></a>", /cannot be read at character 3/],
    ["<a>&nbsp;</a>", /unknown entity/],
    ["<a>&amp</a>", /unknown entity/],
    ["<a>&toString;</a>", /unknown entity/],
    ["<a>&#x110000;</a>", /unknown entity/],
    ["<a>".repeat(17), /nests deeper/],
  ])("refuses %s", (text, message) => {
    expect(() => parse(text)).toThrow(Corrupt);
    expect(() => parse(text)).toThrow(message);
  });

  it("gives back every text it escaped", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => parse(`<a>${Xml.escape(text)}</a>`).text === text));
  });

  it("answers any text with a tree or Corrupt, in linear time", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("<", ">", "/", "a", " ", "=", '"', "&", "#", ";", "<a>", "</a>")),
        (parts) => {
          try {
            parse(parts.join(""));
          } catch (error) {
            expect(error).toBeInstanceOf(Corrupt);
          }
        },
      ),
    );
    const start = performance.now();
    for (const text of [`<a${" ".repeat(200_000)}`, `<a>${"&".repeat(200_000)}`, `<a ${'b="" '.repeat(50_000)}`])
      expect(() => parse(text)).toThrow(Corrupt);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});
