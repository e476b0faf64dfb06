import { describe, expect, it } from "vitest";
import type { AttributeInfo, Column } from "../model/attributes.js";
import { absentValue, ColumnsBuilder, copyRuns, padded, pick, pickRows } from "./columns.js";

const info = (name: string, dtype: AttributeInfo["dtype"], more: Partial<AttributeInfo> = {}): AttributeInfo => ({
  name,
  dtype,
  channels: 1,
  ...more,
});
const int = (size: 1 | 2 | 4 | 8): AttributeInfo["dtype"] => ({ kind: "int", size, endian: "little" });
const float32: AttributeInfo["dtype"] = { kind: "float", size: 4, endian: "little" };

describe("columns from pieces", () => {
  it("hold every row that was put, whatever its type", () => {
    const builder = new ColumnsBuilder(3);
    const big: Column = { info: info("big", int(8)), values: BigInt64Array.of(2n ** 60n, -1n) };
    const text: Column = { info: info("text", { kind: "string" }), values: ["a", "b"] };
    builder.put(new Map([["big", big]]), 0, 2, 1);
    builder.put(new Map([["text", text]]), 1, 1, 0);
    const done = builder.done();
    expect([...(done.get("big")!.values as BigInt64Array)]).toEqual([-(2n ** 63n), 2n ** 60n, -1n]);
    expect(done.get("big")!.info.absent).toBe(-(2n ** 63n));
    expect(done.get("text")!.values).toEqual(["b", "", ""]);
  });

  it("say nothing of absence where every row was put", () => {
    const builder = new ColumnsBuilder(1);
    builder.put(new Map([["x", { info: info("x", int(2)), values: Int16Array.of(7) }]]), 0, 1, 0);
    expect(builder.done().get("x")!.info.absent).toBeUndefined();
  });

  it("take runs of rows to their places, short and long", () => {
    const from = Float32Array.from({ length: 300 }, (_, i) => i);
    const to = new Float32Array(300);
    const runs = {
      order: Uint32Array.of(1, 0),
      first: 0,
      last: 2,
      from: Uint32Array.of(98, 0),
      offsets: Uint32Array.of(0, 2, 100),
    };
    copyRuns(from, to, 3, runs);
    expect([...to.subarray(0, 7)]).toEqual([294, 295, 296, 297, 298, 299, 0]);
    expect([...to.subarray(6)]).toEqual([...from.subarray(0, 294)]);
  });
});

describe("rows of columns", () => {
  it("come in the order asked for, with all channels and the bits of a NaN", () => {
    const bits = Uint32Array.of(0x7fc00001, 1, 2, 3);
    const picked = pick(new Float32Array(bits.buffer), 2, [1, 0]);
    expect([...new Uint32Array(picked.buffer)]).toEqual([2, 3, 0x7fc00001, 1]);
    const columns = new Map([["t", { info: info("t", { kind: "string" }), values: ["a", "b", "c"] }]]);
    expect(pickRows(columns, Uint32Array.of(2, 2)).get("t")!.values).toEqual(["c", "c"]);
  });

  it("are filled up with what stands for none", () => {
    const column: Column = { info: info("x", float32), values: Float32Array.of(1) };
    expect([...(padded(column, column.info, 2).values as Float32Array)]).toEqual([1, Number.NaN]);
    expect(padded(column, column.info, 1)).toBe(column);
    const half = padded(undefined, info("h", { kind: "float", size: 2, endian: "little" }, { absent: Number.NaN }), 1);
    expect(padded(half, half.info, 2)).toEqual({ ...half, values: Uint16Array.of(0x7e00, 0x7e00) });
    expect([...(padded(undefined, info("b", { kind: "bool", size: 1 }), 2).values as Uint8Array)]).toEqual([255, 255]);
  });

  it.each([
    [info("a", int(1)), -128],
    [info("a", { kind: "uint", size: 8, endian: "little" }), 2n ** 64n - 1n],
    [info("a", { kind: "float", size: 2, endian: "little" }), 0x7e00],
    [info("a", { kind: "float", size: 2, endian: "little" }, { absent: Number.NaN }), 0x7e00],
    [info("a", { kind: "float", size: 2, endian: "little" }, { absent: -1 }), 0xbc00],
    [info("a", { kind: "uint", size: 1, endian: "little" }, { categories: ["x", "y"] }), 2],
    [info("a", int(4), { absent: 5 }), 5],
    [info("a", { kind: "uint", size: 1, endian: "little" }, { categories: ["x", "y"], absent: "y" }), 1],
  ])("have a value for none in %o", (own, none) => expect(absentValue(own)).toBe(none));
});
