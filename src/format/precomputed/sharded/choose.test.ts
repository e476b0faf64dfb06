import { expect, test } from "vitest";
import { InvalidInput } from "../../../errors.js";
import { chooseSharding } from "./choose.js";
import { checkSharding } from "./parse.js";

test("few values are one minishard, many are spread as the peers' rules say", () => {
  const bits = (count: number, mean: number) => {
    const { minishardBits, shardBits } = chooseSharding({ count, bytes: count * mean }).sharding;
    return [minishardBits, shardBits];
  };
  expect([0, 1, 1024].map((count) => bits(count, 1000))).toEqual([
    [0, 0],
    [0, 0],
    [0, 0],
  ]);
  expect(bits(1025, 1000)).toEqual([1, 0]);
  expect(bits(500_000, 1000)).toEqual([9, 0]);
  expect(bits(1_000_000, 1000)).toEqual([9, 1]);
  expect(bits(1_000_000, 20_000)).toEqual([5, 5]); // no shard over a gibibyte
  expect(bits(1e9, 5000)).toEqual([7, 13]);
});

test("values that gain nothing are not compressed", () => {
  const encoding = (bytes: number, compressed?: boolean) =>
    chooseSharding({ count: 1000, bytes, compressed }).sharding.dataEncoding;
  expect([encoding(50_000), encoding(500_000), encoding(500_000, true)]).toEqual(["raw", "gzip", "raw"]);
});

test("the bits of a Morton code are all used, and a shard is a box", () => {
  for (const [mortonBits, mean] of [
    [0, 100],
    [5, 2e6],
    [24, 32_768],
    [30, 2e6],
    [63, 1000],
    [64, 1],
  ] as const) {
    const { sharding, why } = chooseSharding({ count: 100, bytes: 100 * mean, mortonBits });
    const { preshiftBits, minishardBits, shardBits } = sharding;
    expect(() => checkSharding(sharding)).not.toThrow();
    expect(preshiftBits + minishardBits + shardBits).toBe(mortonBits);
    if (shardBits > 0) expect((preshiftBits + minishardBits) % 3).toBe(0);
    expect(2 ** (preshiftBits + minishardBits) * mean).toBeLessThanOrEqual(2 ** 30 * 1.01);
    expect(why.length).toBe(4);
  }
  expect(() => chooseSharding({ count: -1, bytes: 0 })).toThrow(InvalidInput);
});
