import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chunkKey, parseChunkKey } from "./keys.js";
import type { ChunkKeys } from "./types.js";

const all: ChunkKeys[] = [
  { kind: "v0" },
  { kind: "v2", separator: "." },
  { kind: "v2", separator: "/" },
  { kind: "default", separator: "/" },
  { kind: "default", separator: "." },
];

describe("chunk keys", () => {
  it("are those of the table", () => {
    expect(all.map((keys) => chunkKey(keys, [1, 2]))).toEqual(["__zdata__/1.2.blosc", "1.2", "1/2", "c/1/2", "c.1.2"]);
    expect(all.map((keys) => chunkKey(keys, [3]))).toEqual(["__zdata__/3.blosc", "3", "3", "c/3", "c.3"]);
    expect(all.slice(1).map((keys) => chunkKey(keys, []))).toEqual(["0", "0", "c", "c"]);
  });

  it("lead back to their place", () => {
    const coords = fc.array(fc.nat({ max: Number.MAX_SAFE_INTEGER }), { maxLength: 5 });
    fc.assert(
      fc.property(fc.constantFrom(...all), coords, (keys, place) => {
        expect(parseChunkKey(keys, place.length, chunkKey(keys, place))).toEqual(place);
      }),
    );
  });

  it("have one spelling: anything else is no chunk", () => {
    const [v0, dots, slashes, nested] = all as [ChunkKeys, ChunkKeys, ChunkKeys, ChunkKeys];
    const others = [
      "__zdata__/0.01.blosc",
      "__zdata__/0.1.blosc.lock",
      "__zdata__/0.1.blosc.x1.partial",
      "0.1.blosc",
      "__zdata__/0.1",
    ];
    for (const name of others) expect(parseChunkKey(v0, 2, name)).toBeUndefined();
    for (const name of ["01.2", "1.2.3", "1", "1/2", "+1.2", "1.2 ", ".1.2", "1.9007199254740993"]) {
      expect(parseChunkKey(dots, 2, name)).toBeUndefined();
    }
    expect(parseChunkKey(slashes, 2, "1.2")).toBeUndefined();
    for (const name of ["c/1", "c/1/2/3", "c/1/02", "1/2", "c.1.2", "c/1/2/"]) {
      expect(parseChunkKey(nested, 2, name)).toBeUndefined();
    }
    expect(parseChunkKey(dots, 0, "1")).toBeUndefined();
  });
});
