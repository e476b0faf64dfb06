/** Every golden document: what it parses to, and that encoding gives it back. Rules are tested beside each parser. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fixtures } from "../../../test/fixtures.js";
import { isFixed } from "../../bytes/dtype.js";
import type { Json, JsonObject } from "../../bytes/json.js";
import { Corrupt, OctavoError } from "../../errors.js";
import { defaultLimits } from "../../limits.js";
import { formatNumpyDtype } from "./dtype-numpy.js";
import { encodeNode } from "./encode.js";
import { parseV2Array, parseV2Consolidated, parseV2Group, parseV3 } from "./parse.js";
import { parseV0, parseV1 } from "./parse-v0.js";
import type { ArrayMeta, GroupMeta, NodeMeta } from "./types.js";

const root = fixtures("zarr");
const read = (store: string, name: string): Uint8Array | undefined => {
  const path = join(root, store, name);
  return existsSync(path) ? readFileSync(path) : undefined;
};
const json = (bytes: Uint8Array | undefined): JsonObject => JSON.parse(new TextDecoder().decode(bytes));

function parse(store: string): ArrayMeta {
  const v3 = read(store, "zarr.json");
  if (v3) return parseV3(v3, defaultLimits, store) as ArrayMeta;
  const v2 = read(store, ".zarray");
  if (v2) return parseV2Array(v2, read(store, ".zattrs"), defaultLimits, store);
  const v1 = read(store, "meta");
  if (v1) return parseV1(v1, read(store, "attrs"), defaultLimits, store);
  return parseV0(read(store, "__zmeta__")!, read(store, "__zattr__"), defaultLimits, store);
}

interface Expected {
  readonly store: string;
  readonly shape?: number[];
  readonly dtype?: Json;
  readonly expect_error?: string;
}
const cases = readdirSync(join(root, "expected"))
  .filter((name) => name.endsWith(".json"))
  .map((name) => JSON.parse(readFileSync(join(root, "expected", name), "utf8")) as Expected);
const good = cases.filter((one) => one.expect_error === undefined);
const stores = (version: string): string[] => readdirSync(join(root, version)).map((name) => `${version}/${name}`);

describe("golden documents parse", () => {
  it.each(good.map((one) => [one.store, one] as const))("%s", (store, expected) => {
    const meta = parse(store);
    expect(meta.shape).toEqual(expected.shape);
    if (!isFixed(meta.dtype)) return expect(["object", "StringDType()"]).toContain(expected.dtype);
    // In v3 the byte order is the codec's, and zarr-python always hands out its own.
    const dtype =
      meta.version === 3 && "endian" in meta.dtype ? { ...meta.dtype, endian: "little" as const } : meta.dtype;
    // numpy, asked for a type with nameless padding, names it after its place
    const nameless = JSON.stringify(expected.dtype).replace(/"f\d+","\|V/g, '"","|V');
    expect(formatNumpyDtype(dtype)).toEqual(JSON.parse(nameless));
  });
});

describe("damaged v0 documents", () => {
  it.each(cases.filter((one) => one.expect_error === "metadata").map((one) => one.store))("%s is Corrupt", (store) => {
    expect(() => parse(store)).toThrow(Corrupt);
  });
  it("a document that zarr 0.4.0 left cut off at the fill value is Corrupt", () => {
    expect(() => parse("v0_odd/fill_numpy_scalar")).toThrow(/found the end/);
  });
  it("a subarray field, which zarr 0.4.0 writes and cannot open again, is read", () => {
    expect(parse("v0_odd/dtype_struct_subarray").dtype).toMatchObject({
      kind: "struct",
      size: 13,
      fields: [
        { name: "v", offset: 0, shape: [3] },
        { name: "k", offset: 12 },
      ],
    });
  });
});

describe("what is parsed is encoded as it was", () => {
  const v0 = [...stores("v0"), "v0_odd/dtype_struct_subarray"];
  it.each(v0)("%s, byte for byte", (store) => {
    const documents = encodeNode(parse(store));
    for (const name of ["__zmeta__", "__zattr__"]) expect(documents.get(name)).toEqual(asBytes(read(store, name)));
  });
  it.each(stores("v2").filter((store) => read(store, ".zarray")))("%s", (store) => {
    const documents = encodeNode(parse(store));
    expect(json(documents.get(".zarray"))).toEqual({ dimension_separator: ".", ...json(read(store, ".zarray")) });
  });
  it.each(stores("v3"))("%s", (store) => {
    const document = read(store, "zarr.json")!;
    const encoded = encodeNode(parseV3(document, defaultLimits, store)).get("zarr.json");
    // zarr-python writes an empty configuration for some codecs and none for others
    const filled = (bytes: Uint8Array | undefined) =>
      new TextDecoder().decode(bytes).replace(/,\s*"configuration": \{\}/g, "");
    expect(JSON.parse(filled(encoded))).toEqual(JSON.parse(filled(document)));
  });
  const asBytes = (buffer: Uint8Array | undefined) => (buffer === undefined ? undefined : new Uint8Array(buffer));
});

describe("consolidated metadata", () => {
  const check = (group: GroupMeta): void => {
    expect(group.attributes).toEqual({ t: 1 });
    const nodes = [...group.consolidated!].map(([path, node]) => [path, node.node]);
    expect(Object.fromEntries(nodes)).toEqual({ a: "group", "a/b": "array" });
    expect(group.consolidated!.get("a/b")!.meta()).toMatchObject({ node: "array", shape: [10], chunkShape: [4] });
    const inner = group.consolidated!.get("a")!.meta() as GroupMeta;
    expect([...inner.consolidated!.keys()]).toEqual(["b"]);
    expect(inner.consolidated!.get("b")!.meta()).toMatchObject({ shape: [10] });
  };
  const v2 = () => parseV2Consolidated(read("v2/group_consolidated", ".zmetadata")!, defaultLimits, ".zmetadata");

  it("of v2 is a map of nodes", () => check(v2()));
  it("of v3 is the same map", () => {
    check(parseV3(read("v3/group_consolidated", "zarr.json")!, defaultLimits, "zarr.json") as GroupMeta);
  });
  it("of v2 is encoded with attributes for every node, as zarr-python 3 does", () => {
    const { metadata, ...rest } = json(read("v2/group_consolidated", ".zmetadata"));
    const written = json(encodeNode(v2()).get(".zmetadata"));
    const attributes = { "a/.zattrs": {}, "a/b/.zattrs": {} };
    const array = { dimension_separator: ".", ...((metadata as JsonObject)["a/b/.zarray"] as JsonObject) };
    expect(written).toEqual({
      ...rest,
      metadata: { ...(metadata as JsonObject), ...attributes, "a/b/.zarray": array },
    });
  });
  it("a broken document inside hurts only itself", () => {
    const text = JSON.stringify({
      zarr_consolidated_format: 1,
      metadata: {
        ".zgroup": { zarr_format: 2 },
        "bad/.zarray": { zarr_format: 2 },
        "worse/.zgroup": 7,
        "ok/.zgroup": { zarr_format: 2 },
      },
    });
    const group = parseV2Consolidated(new TextEncoder().encode(text), defaultLimits, ".zmetadata");
    expect(group.consolidated!.get("ok")!.meta().node).toBe("group");
    expect(() => group.consolidated!.get("bad")!.meta()).toThrow("bad/.zarray in .zmetadata should have a list");
    expect(() => group.consolidated!.get("worse")!.meta()).toThrow(Corrupt);
  });
  it("names from Object.prototype are names", () => {
    const text = `{"zarr_consolidated_format":1,"metadata":{".zgroup":{"zarr_format":2},"__proto__/.zgroup":{"zarr_format":2}}}`;
    const group = parseV2Consolidated(new TextEncoder().encode(text), defaultLimits, ".zmetadata");
    expect([...group.consolidated!.keys()]).toEqual(["__proto__"]);
    expect(group.consolidated!.get("constructor")).toBeUndefined();
  });
});

describe("any bytes", () => {
  const parsers: ((bytes: Uint8Array) => NodeMeta)[] = [
    (bytes) => parseV3(bytes, defaultLimits, "x"),
    (bytes) => parseV2Array(bytes, undefined, defaultLimits, "x"),
    (bytes) => parseV2Group(bytes, bytes, defaultLimits, "x"),
    (bytes) => parseV2Consolidated(bytes, defaultLimits, "x"),
    (bytes) => parseV1(bytes, undefined, defaultLimits, "x"),
    (bytes) => parseV0(bytes, undefined, defaultLimits, "x"),
  ];
  const onlyOurErrors = (bytes: Uint8Array): void => {
    for (const parser of parsers) {
      try {
        const meta = parser(bytes);
        if (meta.node === "group") for (const node of meta.consolidated?.values() ?? []) node.meta();
        else if (meta.version !== 1) encodeNode(meta);
      } catch (error) {
        if (!(error instanceof OctavoError)) throw error;
      }
    }
  };
  const documents = [
    "v3/sharded_nested/zarr.json",
    "v3/c16/zarr.json",
    "v3/group_consolidated/zarr.json",
    "v2/gzip_delta/.zarray",
    "v2/vlen_array_i4/.zarray",
    "v2/group_consolidated/.zmetadata",
    "v1/110_lzma/meta",
    "v0/dtype_struct_nested/__zmeta__",
    "v0_pickle/i4_2d_lz4/__zmeta__",
  ];

  it("give a value or one of Octavo's errors", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), onlyOurErrors), { numRuns: 300 });
  });
  it("any JSON gives a value or one of Octavo's errors", () => {
    const encoder = new TextEncoder();
    fc.assert(
      fc.property(fc.json(), (text) => onlyOurErrors(encoder.encode(text))),
      { numRuns: 300 },
    );
  });
  it("real documents with any one value replaced by any other give a value or one of Octavo's errors", () => {
    const odd = fc.oneof(
      fc.constantFrom(
        "",
        "NaN",
        "|O",
        "__proto__",
        -1,
        0,
        1.5,
        2 ** 53,
        2 ** 63,
        1e308,
        null,
        true,
        [],
        {},
        [[]],
        [["a"]],
        "0xff",
        "==",
      ),
      fc.jsonValue({ maxDepth: 2 }),
    );
    const texts = documents
      .filter((name) => !name.includes("pickle"))
      .map((name) => readFileSync(join(root, name), "utf8"));
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.nat(), odd, (text, place, value) => {
        let count = 0;
        const mutate = (inner: unknown): unknown => {
          if (count++ === place % 60) return value;
          if (Array.isArray(inner)) return inner.map(mutate);
          if (typeof inner !== "object" || inner === null) return inner;
          return Object.fromEntries(Object.entries(inner).map(([key, one]) => [key, mutate(one)]));
        };
        onlyOurErrors(new TextEncoder().encode(JSON.stringify(mutate(JSON.parse(text)))));
      }),
      { numRuns: 1000 },
    );
  });
  it("every single-bit flip of real documents gives a value or one of Octavo's errors", () => {
    for (const name of documents) {
      const bytes = new Uint8Array(readFileSync(join(root, name)));
      for (let bit = 0; bit < bytes.length * 8; bit += 23) {
        bytes[bit >> 3]! ^= 1 << (bit & 7);
        onlyOurErrors(bytes);
        bytes[bit >> 3]! ^= 1 << (bit & 7);
      }
    }
  });
});
