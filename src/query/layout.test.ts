import { describe, expect, it } from "vitest";
import { Corrupt } from "../errors.js";
import { distinctChunks, type Items, lay, runOf } from "./layout.js";

/** Two objects and a part without one: 5 has part 1 of chunk 7 and parts 0 and 1 of chunk 3, 6 has nothing. */
const items: Items = {
  rows: Int32Array.of(5, 6, -1),
  place: {
    offsets: Uint32Array.of(0, 2, 2, 3),
    chunk: Int32Array.of(7, 3, 7),
    first: Uint32Array.of(1, 0, 0),
    count: Uint32Array.of(1, 2, 1),
  },
  sizes: new Map([
    [3, Uint32Array.of(0, 2, 2)],
    [7, Uint32Array.of(0, 3, 4)],
  ]),
};

describe("a layout", () => {
  it("has the fragments of each object one after the other", () => {
    const layout = lay(items, false);
    expect([...layout.fragments]).toEqual([0, 1, 3, 3, 6]);
    expect([...layout.item]).toEqual([0, 0, 0, 2]);
    expect([...layout.from]).toEqual([3, 0, 2, 0]);
    expect([...layout.parts]).toEqual([0, 3, 6]);
    expect([...layout.items]).toEqual([0, 2]);
  });

  it("knows what comes from each chunk", () => {
    const { chunks, starts, order, tileSizes } = lay(items, false);
    expect(chunks).toEqual([3, 7]);
    expect([...order.subarray(starts[0], starts[1])]).toEqual([1, 2]);
    expect([...order.subarray(starts[1], starts[2])]).toEqual([0, 3]);
    expect([...tileSizes]).toEqual([2, 4]);
  });

  it("ends a path where something was left out", () => {
    const { parts, items: ofPart } = lay({ ...items, gaps: Uint8Array.of(0, 1, 0) }, true);
    expect([...parts]).toEqual([0, 1, 3, 6]);
    expect([...ofPart]).toEqual([0, 0, 2]);
  });

  it("refuses parts that the chunk does not have", () => {
    const place = { ...items.place, first: Uint32Array.of(2, 0, 0) };
    expect(() => lay({ ...items, place }, false)).toThrow(Corrupt);
  });
});

it("a number falls into one run, and never into an empty one", () => {
  const offsets = Uint32Array.of(0, 0, 2, 2, 5);
  expect([0, 1, 2, 4].map((at) => runOf(offsets, at))).toEqual([1, 1, 3, 3]);
});

it("chunks are counted once", () => expect(distinctChunks(Int32Array.of(3, 3, 1, 3))).toEqual([1, 3]));
