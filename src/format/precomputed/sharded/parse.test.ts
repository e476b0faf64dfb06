import { expect, test } from "vitest";
import { Corrupt, InvalidInput } from "../../../errors.js";
import { checkSharding, formatSharding, parseSharding } from "./parse.js";
import type { Sharding, ShardingDocument } from "./types.js";

const document: ShardingDocument = {
  "@type": "neuroglancer_uint64_sharded_v1",
  hash: "murmurhash3_x86_128",
  preshift_bits: 9,
  minishard_bits: 6,
  shard_bits: 15,
  minishard_index_encoding: "gzip",
  data_encoding: "raw",
};
const sharding: Sharding = {
  hash: "murmur3",
  preshiftBits: 9,
  minishardBits: 6,
  shardBits: 15,
  indexEncoding: "gzip",
  dataEncoding: "raw",
};

test("a sharding is read and written as it stands", () => {
  expect(parseSharding({ ...document }, "info")).toEqual(sharding);
  expect(formatSharding(sharding)).toEqual(document);
  const { minishard_index_encoding: _, data_encoding: __, ...short } = document;
  expect(parseSharding({ ...short, hash: "IDENTITY" }, "info")).toEqual({
    ...sharding,
    hash: "identity",
    indexEncoding: "raw",
  });
  for (const [preshift_bits, minishard_bits, shard_bits] of [
    [64, 32, 32],
    [0, 0, 64],
    [63, 1, 63],
  ] as const)
    expect(parseSharding({ ...document, preshift_bits, minishard_bits, shard_bits }, "info").shardBits).toBe(
      shard_bits,
    );
});

test("what is not a sharding is refused, by the name of what is wrong", () => {
  const wrong: [object, RegExp][] = [
    [{ "@type": "neuroglancer_uint64_sharded_v2" }, /sharding @type of info should be neuroglancer_uint64_sharded_v1/],
    [
      { hash: "murmurhash3_x86_32" },
      /hash of info should be identity or murmurhash3_x86_128, found "murmurhash3_x86_32"/,
    ],
    [{ preshift_bits: 65 }, /preshift_bits of info should be a whole number from 0 to 64, found 65/],
    [{ preshift_bits: -1 }, /preshift_bits/],
    [{ minishard_bits: 33 }, /minishard_bits/],
    [{ minishard_bits: 1.5 }, /minishard_bits/],
    [{ shard_bits: 59 }, /shard_bits of info should be a whole number from 0 to 58/],
    [{ shard_bits: "3" }, /shard_bits/],
    [{ data_encoding: "zstd" }, /data_encoding of info should be raw or gzip, found "zstd"/],
    [{ minishard_index_encoding: null }, /minishard_index_encoding/],
    [{ minishardbits: 3 }, /has a member "minishardbits", which the format does not have/],
  ];
  for (const [change, message] of wrong) {
    expect(() => parseSharding({ ...document, ...change }, "info")).toThrow(message);
    expect(() => parseSharding({ ...document, ...change }, "info")).toThrow(Corrupt);
  }
  for (const none of [null, undefined, 3, "x", []] as const) expect(() => parseSharding(none, "info")).toThrow(Corrupt);
  expect(() => checkSharding({ ...sharding, minishardBits: 33 })).toThrow(InvalidInput);
  expect(() => formatSharding({ ...sharding, shardBits: 60 })).toThrow(InvalidInput);
});
