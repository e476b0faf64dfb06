import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Corrupt, LimitExceeded, OctavoError, Unsupported } from "../../errors.js";
import { defaultLimits } from "../../limits.js";
import { parseV0 } from "./parse-v0.js";
import { parsePickle } from "./pickle.js";

const bytes = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));
const read = (text: string) => parsePickle(bytes(text), defaultLimits, "__zmeta__");

/** Python's pickle.dumps(np.dtype(…), 0), without its memo where nothing comes back. */
const simple = (code: string, order: string) =>
  `cnumpy\ndtype\n(V${code}\nI00\nI01\ntR(I3\nV${order}\nNNNI-1\nI-1\nI0\ntb`;

describe("a pickle of zarr 0.3.0", () => {
  it("holds numbers, text, tuples, lists and dicts", () => {
    expect(read("(I1\nI-7\nL9007199254740993L\nI01\nI00\nNF1.5\nFnan\nF-inf\nt.")).toEqual([
      1,
      -7,
      9007199254740993n,
      true,
      false,
      null,
      1.5,
      Number.NaN,
      Number.NEGATIVE_INFINITY,
    ]);
    expect(read("(V\xe9\\u000a\\u20ac\nS'a\\x00\\n\\'b'\nS\"it's\"\nl.")).toEqual(["é\n€", "a\0\n'b", "it's"]);
    expect(read("(dVa\nI1\nsV__proto__\n(lI2\nas.")).toEqual(JSON.parse('{"a":1,"__proto__":[2]}'));
    expect(read("(Va\nI1\nd.")).toEqual({ a: 1 });
  });
  it("keeps and fetches values", () => {
    expect(read("(Vx\np0\ng0\ng0\nt.")).toEqual(["x", "x", "x"]);
  });
  it("has bytes as text through _codecs.encode", () => {
    expect(read("c_codecs\nencode\n(Vlz4\\u0000\xff\nVlatin1\ntR.")).toBe("lz4\0ÿ");
  });

  it("has types in numpy's spelling", () => {
    expect(read(`${simple("f8", "<")}.`)).toBe("<f8");
    expect(read(`${simple("i4", ">")}.`)).toBe(">i4");
    expect(read(`${simple("S7", "|")}.`)).toBe("|S7");
    const time =
      "cnumpy\ndtype\n(VM8\nI00\nI01\ntR(I4\nV<\nNNNI-1\nI-1\nI0\n(N(c_codecs\nencode\n(Vs\nVlatin1\ntRI25\nI1\nI1\ntttb.";
    expect(read(time)).toBe("<M8[25s]");
  });
  it("has structs with their gaps as padding, and subarrays", () => {
    // np.dtype([("k", "u1"), ("v", ">f8")], align=True)
    const aligned = `cnumpy\ndtype\n(VV16\nI00\nI01\ntR(I3\nV|\nN(Vk\nVv\nt(dVk\n(${simple("u1", "|")}I0\ntsVv\n(${simple("f8", ">")}I8\ntsI16\nI8\nI144\ntb.`;
    expect(read(aligned)).toEqual([
      ["k", "|u1"],
      ["", "|V7"],
      ["v", ">f8"],
    ]);
    // np.dtype([("v", "<f4", (3,))])
    const sub = `cnumpy\ndtype\n(VV12\nI00\nI01\ntR(I3\nV|\nN(Vv\nt(dVv\n(cnumpy\ndtype\n(VV12\nI00\nI01\ntR(I3\nV|\n(${simple("f4", "<")}(I3\nttNNI12\nI4\nI0\ntbI0\ntsI12\nI1\nI16\ntb.`;
    expect(read(sub)).toEqual([["v", "<f4", [3]]]);
  });
  it("has numpy scalars as values", () => {
    const scalar = (type: string, data: string) =>
      read(`cnumpy.core.multiarray\nscalar\n(${type}c_codecs\nencode\n(V${data}\nVlatin1\ntRtR.`);
    expect(scalar(simple("f4", "<"), "\\u0000\\u0000\xc0?")).toBe(1.5);
    expect(scalar(simple("u8", "<"), "\xff".repeat(8))).toBe(2n ** 64n - 1n);
    expect(scalar(simple("b1", "|"), "\x01")).toBe(true);
    expect(() => scalar(simple("f4", "<"), "abc")).toThrow(Corrupt);
  });
  it("parses to the same as the JSON of zarr 0.4.0", () => {
    const text = `(dVshape\n(L20L\nL30L\ntsVchunks\n(L8L\nL8L\ntsVdtype\n${simple("i4", ">")}sVcname\nVlz4\nsVclevel\nL5L\nsVshuffle\nL1L\nsVfill_value\nF3.7\ns.`;
    const json = '{"shape":[20,30],"chunks":[8,8],"dtype":">i4","cname":"lz4","clevel":5,"shuffle":1,"fill_value":3.7}';
    const { notes, ...meta } = parseV0(bytes(text), undefined, defaultLimits, "x");
    const { notes: jsonNotes, ...expected } = parseV0(bytes(json), undefined, defaultLimits, "x");
    expect(meta).toEqual(expected);
    expect(notes).toEqual([...jsonNotes, "The metadata is a pickle of zarr 0.3.0."]);
  });
});

describe("any other pickle", () => {
  it.each([
    ["cos\nsystem\n(S'id'\ntR.", "os.system"],
    ["c__builtin__\neval\n(S'1'\ntR.", "__builtin__.eval"],
    ["cnumpy\nload\n(S'x'\ntR.", "numpy.load"],
    ["(cposix\nsystem\nt.", "posix.system"],
  ])("%j is refused by name and calls nothing", (text, name) => {
    expect(() => read(text)).toThrow(Unsupported);
    expect(() => read(text)).toThrow(`wants to call "${name}"`);
  });
  it.each(["\x80\x02K\x01.", "]q\x00.", "}.", "(i__main__\nx\n.", "(tP1\n.", "\x8c\x01a."])(
    "%j has an opcode that zarr 0.3.0 never wrote",
    (text) => {
      expect(() => read(text)).toThrow(Unsupported);
    },
  );
  it.each([
    "",
    "(",
    ".",
    "(.",
    "I1\n",
    "I1",
    "t.",
    "I1\nI2\n.",
    "Ix\n.",
    "I1e5\n.",
    "F0x1\n.",
    "Fconstructor\n.",
    "S'a\n.",
    "V\\U00110000\n.",
    "p0\n.",
    "g0\n.",
    "(I1\nd.",
    "(I1\nI2\nd.",
    "I1\nI2\nI3\ns.",
    "I1\nI2\na.",
    "I1\n(tR.",
    "I1\n(tb.",
    "cnumpy\ndtype\n.",
    "cnumpy\ndtype\n(I1\ntR.",
    "c_codecs\nencode\n(Va\nVrot13\ntR.",
    "(I1\n(I2\ns.",
  ])("%j is Corrupt", (text) => {
    expect(() => read(text)).toThrow(Corrupt);
  });
  it("cannot unfold into more than it is", () => {
    const laughs = `(tp0\n${Array.from({ length: 60 }, (_, i) => `(g${i}\ng${i}\ntp${i + 1}\n`).join("")}`;
    const text = `(${laughs}l.`;
    expect(text.length).toBeLessThan(2000);
    expect(() => read(text)).toThrow(LimitExceeded);
  });
  it("cannot hold itself, be endless or be huge", () => {
    expect(() => read("(lp0\ng0\na.")).toThrow(LimitExceeded);
    expect(() => read(`${"(".repeat(5000)}${"t".repeat(5000)}.`)).toThrow(LimitExceeded);
    expect(() => read(`I${"9".repeat(101)}\n.`)).toThrow(Corrupt);
    expect(() => parsePickle(new Uint8Array(2 ** 20 + 1), defaultLimits, "x")).toThrow(LimitExceeded);
  });
  it("gives a value or one of Octavo's errors", () => {
    const piece = fc.constantFrom(
      "(",
      "t",
      "d",
      "l",
      "s",
      "a",
      "N",
      "R",
      "b",
      ".",
      "I1\n",
      "I00\n",
      "Va\n",
      "S'x'\n",
      "p0\n",
      "g0\n",
      "cnumpy\ndtype\n",
      "c_codecs\nencode\n",
      "cnumpy.core.multiarray\nscalar\n",
      simple("i4", "<"),
      "(Vi4\ntR",
      "Vlatin1\n",
      "L5L\n",
      "F1\n",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        try {
          parseV0(bytes(`(${pieces.join("")}.`), undefined, defaultLimits, "x");
        } catch (error) {
          if (!(error instanceof OctavoError)) throw error;
        }
      }),
      { numRuns: 1000 },
    );
  });
});
