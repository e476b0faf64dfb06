import { expect, it } from "vitest";
import { room } from "./room.js";

it("gives arrays of the length that was asked for, in memory of few sizes", () => {
  expect(room(Float32Array, 3)).toEqual(new Float32Array(3));
  expect(room(Float32Array, 3).buffer.byteLength).toBe(12);
  const sizes = new Set<number>();
  for (let length = 1 << 17; length < 1 << 18; length += 999) {
    const own = room(Float64Array, length);
    expect([own.length, own.byteOffset]).toEqual([length, 0]);
    expect(own.buffer.byteLength).toBeLessThanOrEqual((8 * length * 17) / 16);
    sizes.add(own.buffer.byteLength);
  }
  expect(sizes.size).toBeLessThanOrEqual(17);
  expect(() => room(Uint8Array, -1)).toThrow(RangeError);
});
