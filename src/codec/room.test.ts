import { expect, test } from "vitest";
import { Arena, placeFor } from "./room.js";

test("an arena gives every piece memory of its own until it is cleared, then the same again", () => {
  const arena = new Arena();
  const pieces = [3, 1 << 20, 0, 5, 3 << 20].map((size, i) => arena.take(size).fill(i + 1));
  expect(pieces.map(({ length }) => length)).toEqual([3, 1 << 20, 0, 5, 3 << 20]);
  for (const [i, piece] of pieces.entries()) {
    expect(piece.byteOffset % 8).toBe(0);
    expect(piece.every((byte) => byte === i + 1)).toBe(true);
  }
  arena.clear();
  expect(arena.take(8).buffer).toBe(pieces[4]!.buffer);
  expect(placeFor(arena, 4)).toHaveLength(4);
});
