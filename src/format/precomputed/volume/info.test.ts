import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../../bytes/json.js";
import { Corrupt, InvalidInput, Unsupported } from "../../../errors.js";
import { Prefix } from "../../../store/key.js";
import { ChunkGrid } from "./chunks.js";
import { volumeInfo } from "./describe.js";
import { formatVolume, parseVolume, scalePrefix } from "./info.js";

const scale = {
  key: "4_4_40",
  size: [100, 77, 53],
  voxel_offset: [-10, 20, 30],
  resolution: [4, 4, 40.5],
  chunk_sizes: [[32, 32, 32]],
  encoding: "raw",
};
const info = (changes: JsonObject = {}, ofScale: JsonObject = {}): JsonObject => ({
  "@type": "neuroglancer_multiscale_volume",
  type: "image",
  data_type: "uint8",
  num_channels: 1,
  scales: [{ ...scale, ...ofScale }],
  ...changes,
});
const parse = (json: JsonObject) => parseVolume({ info: json, where: "memory:/info" });

describe("the info of a volume", () => {
  it("comes back as it was, with what it does not know", () => {
    const json = info({ mesh: "mesh", more: { deep: [1] } }, { hidden: true, jpeg_quality: 80 });
    expect(formatVolume(parse(json))).toEqual(json);
    const segmented = info(
      { type: "segmentation", data_type: "uint64", skeletons: "s" },
      {
        encoding: "compressed_segmentation",
        compressed_segmentation_block_size: [8, 4, 2],
        sharding: {
          "@type": "neuroglancer_uint64_sharded_v1",
          hash: "identity",
          preshift_bits: 1,
          minishard_bits: 2,
          shard_bits: 3,
          minishard_index_encoding: "gzip",
          data_encoding: "raw",
        },
      },
    );
    expect(formatVolume(parse(segmented))).toEqual(segmented);
  });

  it("may leave out its type and its offset, and say words in any case", () => {
    const { "@type": _, ...bare } = info({ type: "IMAGE", data_type: "UInt8" });
    const { voxel_offset, ...rest } = scale;
    const parsed = parse({ ...bare, scales: [{ ...rest, encoding: "RAW" }] });
    expect(parsed.scales[0]!.offset).toEqual([0, 0, 0]);
    expect(parsed.type).toBe("image");
    expect(parsed.dtype).toEqual({ kind: "uint", size: 1, endian: "little" });
    expect(parsed.scales[0]!.encoding).toEqual({ name: "raw" });
  });

  it.each<[string, JsonObject, JsonObject]>([
    ["a type that there is not", { type: "mesh" }, {}],
    ["no type", { type: null }, {}],
    ["elements that there are not", { data_type: "float64" }, {}],
    ["no channel", { num_channels: 0 }, {}],
    ["half a channel", { num_channels: 1.5 }, {}],
    ["no scales", { scales: [] }, {}],
    ["scales that are no list", { scales: {} }, {}],
    ["a scale that is no object", { scales: [1] }, {}],
    ["no key", {}, { key: 5 }],
    ["two lengths", {}, { size: [1, 2] }],
    ["a length below 0", {}, { size: [1, 2, -1] }],
    ["a length of 2^60", {}, { size: [1, 2, 2n ** 60n] }],
    ["a fraction as length", {}, { size: [1, 2, 1.5] }],
    ["a fraction as offset", {}, { voxel_offset: [1, 2, 1.5] }],
    ["an offset beyond 2^53", {}, { voxel_offset: [1, 2, 2n ** 53n] }],
    ["no chunk size", {}, { chunk_sizes: [] }],
    ["a chunk size of 0", {}, { chunk_sizes: [[1, 0, 1]] }],
    ["chunk sizes that are no lists", {}, { chunk_sizes: [32, 32, 32] }],
    ["a resolution of 0", {}, { resolution: [4, 4, 0] }],
    ["a resolution below 0", {}, { resolution: [4, 4, -40] }],
    ["no encoding", {}, { encoding: null }],
    ["labels of uint8", {}, { encoding: "compressed_segmentation", compressed_segmentation_block_size: [8, 8, 8] }],
    ["labels without a block", { data_type: "uint64" }, { encoding: "compressed_segmentation" }],
    ["jpeg of uint16", { data_type: "uint16" }, { encoding: "jpeg" }],
    ["jpeg of two channels", { num_channels: 2 }, { encoding: "jpeg" }],
    ["png of float32", { data_type: "float32" }, { encoding: "png" }],
    ["png of five channels", { num_channels: 5 }, { encoding: "png" }],
    ["a level of png that there is not", {}, { encoding: "png", png_level: 11 }],
    ["a sharding that is none", {}, { sharding: { "@type": "other" } }],
  ])("refuses %s", (_, changes, ofScale) => {
    expect(() => parse(info(changes, ofScale))).toThrow(Corrupt);
  });

  it("refuses shards of two chunk sizes", () => {
    const sharding: Json = {
      "@type": "neuroglancer_uint64_sharded_v1",
      hash: "identity",
      preshift_bits: 0,
      minishard_bits: 0,
      shard_bits: 0,
    };
    const chunk_sizes = [
      [32, 32, 32],
      [64, 64, 1],
    ];
    expect(() => parse(info({}, { sharding, chunk_sizes }))).toThrow(/one chunk size/);
    expect(parse(info({}, { chunk_sizes })).scales[0]!.chunkSizes).toHaveLength(2);
  });
});

it("the key of a scale leads anywhere in the store, and not out of it", () => {
  const at = Prefix.of("a/b");
  const lead = (key: string) => scalePrefix(at, key, "info");
  expect(lead("4_4_40")).toBe("a/b/4_4_40/");
  expect(lead("../c//./d/")).toBe("a/c/d/");
  expect(lead(".")).toBe("a/b/");
  expect(lead("../..")).toBe("");
  expect(() => lead("../../..")).toThrow(Unsupported);
  expect(() => lead("/etc")).toThrow(Unsupported);
  expect(() => lead("https://host/x")).toThrow(Unsupported);
  expect(() => lead("a\\b")).toThrow(Corrupt);
});

it("chunks have the names and the extents that the format says", () => {
  const grid = new ChunkGrid({ size: [100, 77, 53], offset: [-10, 20, 30], chunkSizes: [[32, 32, 32]] });
  expect(grid.shape).toEqual([4, 3, 2]);
  expect(grid.nameOf([0, 0, 0])).toBe("-10-22_20-52_30-62");
  expect(grid.nameOf([3, 2, 1])).toBe("86-90_84-97_62-83");
  expect(grid.extentOf([3, 2, 1])).toEqual([4, 13, 21]);
  expect(grid.idOf([3, 2, 1])).toBe(29n); // of facts and Neuroglancer, on a grid of 4 × 3 × 2
  expect(grid.cellOf(29n)).toEqual([3, 2, 1]);
  expect(grid.cellOf(26n)).toBeUndefined();
  for (let id = 0n; id < 32n; id++) {
    const cell = grid.cellOf(id);
    if (cell !== undefined) expect(grid.cellOfName(grid.nameOf(cell))).toEqual(cell);
  }
  const strange = ["", "0-1_0-1_0-1", "-10-22_20-52_30-61", "-10-22_20-52_30-62.gz", "-010-22_20-52_30-62", "-10-22"];
  for (const name of strange) expect(grid.cellOfName(name)).toBeUndefined();
  expect(new ChunkGrid({ size: [0, 1, 1], offset: [0, 0, 0], chunkSizes: [[1, 1, 1]] }).cellOf(0n)).toBeUndefined();
});

describe("a new volume", () => {
  const uint64 = { kind: "uint", size: 8, endian: "little" } as const;

  it("has defaults that all readers take", () => {
    const { type, scales } = volumeInfo({ size: [100, 100, 10], dtype: uint64, resolution: [4, 4, 40] });
    expect(type).toBe("segmentation");
    expect(scales).toEqual([
      {
        key: "4_4_40",
        size: [100, 100, 10],
        offset: [0, 0, 0],
        resolution: [4, 4, 40],
        chunkSizes: [[64, 64, 64]],
        encoding: { name: "compressed_segmentation", block: [8, 8, 8] },
        sharding: null,
        extras: {},
      },
    ]);
  });

  it("has coarser scales whose voxels become cubes, where they lie in space", () => {
    const { scales } = volumeInfo({
      size: [100, 100, 10],
      offset: [-3, 5, 7],
      dtype: uint64,
      resolution: [4, 4, 40],
      scales: 6,
    });
    expect(scales.map(({ resolution }) => resolution)).toEqual([
      [4, 4, 40],
      [8, 8, 40],
      [16, 16, 40],
      [32, 32, 40],
      [64, 64, 80],
      [128, 128, 160],
    ]);
    expect(scales.map(({ offset }) => offset[0])).toEqual([-3, -2, -1, -1, -1, -1]);
    expect(scales.map(({ size }) => size)).toEqual([
      [100, 100, 10],
      [51, 51, 10],
      [26, 26, 10],
      [14, 14, 10],
      [8, 7, 6],
      [5, 4, 4],
    ]);
  });

  it("has shards that are boxes", () => {
    const [scale] = volumeInfo({ size: [6400, 6400, 6400], dtype: uint64, sharding: true }).scales;
    expect(scale!.sharding).toMatchObject({ hash: "identity", preshiftBits: 9, minishardBits: 6, shardBits: 6 });
    const [small] = volumeInfo({ size: [65, 1, 1], dtype: uint64, sharding: true }).scales;
    expect(small!.sharding).toMatchObject({ preshiftBits: 1, minishardBits: 0, shardBits: 0 });
  });

  it("is refused where nothing could hold it", () => {
    const size = [10, 10, 10] as const;
    expect(() => volumeInfo({ size, dtype: { kind: "float", size: 8, endian: "little" } })).toThrow(InvalidInput);
    expect(() => volumeInfo({ size, dtype: uint64, encoding: { name: "png" } })).toThrow(/holds uint8 and uint16/);
    expect(() => volumeInfo({ size: [0, 1, 1], dtype: uint64 })).toThrow(InvalidInput);
    expect(() => volumeInfo({ size: [2, 1, 1], dtype: uint64, scales: 3 })).toThrow(/more than a size of/);
  });
});
