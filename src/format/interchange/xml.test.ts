import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Corrupt, LimitExceeded, OctavoError, Unsupported } from "../../errors.js";
import { escapeXml, type XmlEvent, XmlReader } from "./xml.js";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Everything as one string, texts joined: what a piece has does not depend on where bytes were cut. */
function told(text: string, step = Number.POSITIVE_INFINITY): string {
  const reader = new XmlReader("a.xml");
  const bytes = encode(text);
  const events: XmlEvent[] = [];
  for (let at = 0; at < bytes.length; at += step) events.push(...reader.push(bytes.subarray(at, at + step)));
  events.push(...reader.end());
  return events
    .map((event) => {
      if (event.kind === "text") return event.text;
      if (event.kind === "close") return `)${event.name}`;
      return `(${event.name}${[...event.attributes].map(([name, value]) => ` ${name}=${value}`).join("")}|`;
    })
    .join("");
}

const FILE = `\ufeff<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE GIFTI SYSTEM "http://example.org/gifti.dtd">
<!-- a > comment -->
<G a="1 > 0" b='&quot;é&quot;'><e/>x &lt;&#65;&#x42; é<![CDATA[<&>]]]]>
 <d:e-1 >t</d:e-1></G>
`;

describe("XmlReader", () => {
  it("tells tags, attributes and text, however the bytes come", () => {
    const whole = told(FILE);
    expect(whole).toBe('(G a=1 > 0 b="é"|(e|)ex <AB é<&>]]\n (d:e-1|t)d:e-1)G');
    for (let step = 1; step < 40; step++) expect(told(FILE, step)).toBe(whole);
  });

  it("says after which byte it stands", () => {
    const reader = new XmlReader("a.vtp");
    for (const event of reader.push(encode("<a><b>_\0\x01<</b>")))
      if (event.kind === "open" && event.name === "b") break;
    expect(reader.offset).toBe(6);
  });

  it("refuses what is not well formed, at every place where a file can end", () => {
    const bytes = encode(FILE.trim());
    for (let length = 0; length < bytes.length; length++) {
      const reader = new XmlReader("a.xml");
      expect(() => [...reader.push(bytes.subarray(0, length)), ...reader.end()]).toThrow(Corrupt);
    }
    for (const bad of [
      "<a></b>",
      "<a b=c/>",
      "<a b='1' b='2'/>",
      "<a b='<'/>",
      "<a/><b/>",
      "x<a/>",
      "<a>&e;</a>",
      "<a>&#0;</a>",
      "<a>&#xd800;</a>",
      "<a>& </a>",
      "< a/>",
      "<1/>",
      "</a>",
      "<a<b/>>",
      "<a b='1'c='2'/>",
      "<!ELEMENT a><a/>",
    ])
      expect(() => told(bad), bad).toThrow(Corrupt);
    expect(() => told("<a></b>")).toThrow("a.xml, byte 7: </b> where </a> belongs");
    expect(() => told('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')).toThrow(Unsupported);
    expect(() => told('<?xml version="1.0" encoding="UTF-16"?><a/>')).toThrow(Unsupported);
    expect(() => told("<a>".repeat(65))).toThrow(LimitExceeded);
  });

  it("knows names of objects as names only", () => {
    expect(told('<__proto__ constructor="1"/>')).toBe("(__proto__ constructor=1|)__proto__");
  });

  it("gives back what was escaped", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const plain = text.replace(/\p{Cc}/gu, "\t");
        const escaped = escapeXml(plain);
        expect(told(`<a b="${escaped}">${escaped}</a>`)).toBe(`(a b=${plain}|${plain})a`);
      }),
    );
  });

  it("survives anything", () => {
    const words = [
      "<",
      ">",
      "</",
      "/>",
      "<!--",
      "-->",
      "<![CDATA[",
      "]]>",
      "<?",
      "?>",
      "&",
      ";",
      "a",
      "'",
      '"',
      "=",
      " ",
      "é",
    ];
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...words), { maxLength: 20 }),
        fc.integer({ min: 1, max: 9 }),
        (list, step) => {
          try {
            told(list.join(""), step);
          } catch (error) {
            expect(error).toBeInstanceOf(OctavoError);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});
