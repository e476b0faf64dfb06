import fc from "fast-check";
import { expect, test } from "vitest";
import { Corrupt, InvalidInput } from "../../../errors.js";
import { Blobs } from "./blobs.js";
import { Groups } from "./groups.js";
import { Int64 } from "./int64.js";

const big = 2n ** 53n + 1n;
const list = (...ids: bigint[]) => new Uint8Array(BigInt64Array.from(ids).buffer);

test("ids keep their 64 bits, ranges stay ranges", () => {
  const range = { start: 5n, stop: 2n ** 60n };
  const blobs = Blobs.of([list(0n, big), list(), list(-(2n ** 63n))]);
  const groups = Groups.parse(blobs, new Map([[1, range]]), "x");
  expect(groups).toEqual(Groups.of([[0n, big], range, [-(2n ** 63n)]]));
  expect([...groups.offsets]).toEqual([0, 2, 2, 3]);
  expect(Groups.has(groups, 0, big)).toBe(true);
  expect(Groups.has(groups, 0, big - 1n)).toBe(false);
  expect([4n, 5n, 2n ** 60n - 1n, 2n ** 60n].map((id) => Groups.has(groups, 1, id))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect(Blobs.encodeChunk(Groups.encode(groups))).toEqual(Blobs.encodeChunk(blobs));
});

test("up to 0.8.0: data and byte offsets", () => {
  const groups = Groups.fromOffsets(list(1n, 2n, 3n), Int64.encode([0, 16, 16]), "x");
  expect(groups).toEqual(Groups.of([[1n, 2n], [], [3n]]));
  expect(Blobs.encodeOffsets(Groups.encode(groups))).toEqual({
    data: list(1n, 2n, 3n),
    offsets: Int64.encode([0, 16, 16]),
  });
});

test("damage", () => {
  const blobs = Blobs.of([list(1n), list()]);
  const range = { start: 0n, stop: 1n };
  expect(() => Groups.parse(Blobs.of([new Uint8Array(9)]), new Map(), "x")).toThrow(Corrupt);
  for (const [group, given] of [
    [0, range],
    [2, range],
    [-1, range],
    [0.5, range],
    [1, { start: 2n, stop: 1n }],
  ] as const)
    expect(() => Groups.parse(blobs, new Map([[group, given]]), "x"), `${group}`).toThrow(Corrupt);
  for (const offsets of [[0, 4], [0, 32], [8], [0, 16, 8], []])
    expect(() => Groups.fromOffsets(list(1n, 2n, 3n), Int64.encode(offsets), "x")).toThrow(Corrupt);
  expect(() => Groups.of([{ start: 2n, stop: 1n }])).toThrow(InvalidInput);
});

test("any groups come back", () => {
  const id = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  const range = fc.tuple(fc.nat(9), fc.nat(9)).map(([a, b]) => ({ start: BigInt(a), stop: BigInt(a + b) }));
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.array(id), range)), (given) => {
      const groups = Groups.of(given);
      const chunk = Blobs.encodeChunk(Groups.encode(groups));
      expect(Groups.parse(Blobs.parseChunk(chunk, groups.count, "x"), groups.ranges, "x")).toEqual(groups);
    }),
  );
});
