import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../bytes/json.js";
import { Corrupt, LimitExceeded, Unsupported } from "../../../errors.js";
import { parseLevel } from "./parse-level.js";
import { parseRoot } from "./parse-root.js";

const own: JsonObject = {
  zv_version: "0.9.2",
  chunk_shape: [50, 50],
  bounds: [
    [0, 0],
    [100, 100],
  ],
  geometry_types: ["point_cloud"],
};
const dataset = (path: string, scale: number, translation: number): JsonObject => ({
  path,
  coordinateTransformations: [
    { type: "scale", scale: [scale, scale] },
    { type: "translation", translation: [translation, translation] },
  ],
});
const scales: JsonObject = {
  axes: [{ name: "x", type: "space", unit: "um" }, { name: "y" }],
  datasets: [dataset("0", 1, 25), dataset("2", 4, 50)],
};
const root = (changes: JsonObject = {}, multiscales: Json = [scales], more: JsonObject = {}) =>
  parseRoot({ zarr_vectors: { ...own, ...changes }, multiscales, ...more }, "it");

describe("a root", () => {
  test("says what is known of it, and defaults", () => {
    expect(root()).toMatchObject({
      version: "0.9.2",
      axes: [
        { name: "x", type: "space", unit: "um" },
        { name: "y", type: "space", unit: undefined },
      ],
      chunkShape: [50, 50],
      bounds: { min: [0, 0], max: [100, 100] },
      linksConvention: "implicit_sequential",
      crossLevelStorage: "explicit",
      identityIndex: false,
      capabilities: [],
      requiredCapabilities: [],
      levels: [0, 2],
      notes: [],
    });
    expect([...root().bins]).toEqual([
      [0, [50, 50]],
      [2, [100, 100]],
    ]);
  });
  test("to 0.4 has its axes with the rest", () => {
    const { zv_version: _, ...rest } = own;
    const spatial = [
      { name: "dim0", type: "space", unit: "unit" },
      { name: "dim1", type: "space", unit: "" },
    ];
    const meta = parseRoot({ zarr_vectors: { ...rest, format_version: "0.4", spatial_index_dims: spatial } }, "it");
    expect(meta.axes.map(({ unit }) => unit)).toEqual([undefined, undefined]);
    expect(meta.levels).toBeUndefined();
  });
  test("of a newer version is read, with a note", () => {
    expect(root({ zv_version: "0.10.0" }).notes).toHaveLength(1);
    expect(root({ zv_version: "0.9.4" }).notes).toHaveLength(0);
  });
  test("keeps what it does not know", () => {
    const meta = root({ shard_shape: [2, 2], later: 2n ** 70n }, [scales], { user_metadata: { a: 1 } });
    expect(meta.attributes.zarr_vectors).toMatchObject({ later: 2n ** 70n });
    expect(meta.userMetadata).toEqual({ a: 1 });
  });
  test("has bins from the scale where the translation says nothing", () => {
    const [first] = scales.datasets as readonly Json[];
    const bare = { path: "1", coordinateTransformations: [{ type: "scale", scale: [2, 4] }] };
    const meta = root({ base_bin_shape: [25, 10] }, [{ ...scales, datasets: [first!, bare] }]);
    expect(meta.bins.get(0)).toEqual([25, 10]);
    expect(meta.bins.get(1)).toEqual([50, 40]);
  });

  test.each<[string, JsonObject]>([
    ["no version", { zv_version: null }],
    ["a version in words", { zv_version: "latest" }],
    ["a version of digits without end", { zv_version: `0.${"9".repeat(400)}` }],
    ["chunks of nothing", { chunk_shape: [50, 0] }],
    ["chunks of less", { chunk_shape: [50, -1] }],
    ["chunks of another rank", { chunk_shape: [50] }],
    ["chunks in words", { chunk_shape: ["50", "50"] }],
    ["chunks without end", { chunk_shape: [50, Number.POSITIVE_INFINITY] }],
    ["bounds of one corner", { bounds: [[0, 0]] }],
    [
      "bounds the wrong way round",
      {
        bounds: [
          [0, 5],
          [1, 4],
        ],
      },
    ],
    [
      "bounds that are no numbers",
      {
        bounds: [
          [0, Number.NaN],
          [1, 4],
        ],
      },
    ],
    ["no geometry types", { geometry_types: null }],
    ["geometry types that are no list", { geometry_types: "mesh" }],
    ["an unknown convention of links", { links_convention: "implicit" }],
    ["an unknown convention of the index", { object_index_convention: "other" }],
    ["an unknown strategy", { cross_chunk_strategy: "none" }],
    ["bins that do not fill chunks", { base_bin_shape: [30, 25] }],
    ["bins larger than chunks", { base_bin_shape: [100, 50] }],
    ["a depth in words", { cross_level_depth: "1" }],
    ["an unknown storage of links between levels", { cross_level_storage: "both" }],
    ["capabilities that are no list", { required_capabilities: "all" }],
  ])("with %s is Corrupt", (_, changes) => {
    expect(() => root(changes)).toThrow(Corrupt);
  });
  test.each<[string, Json]>([
    ["no axes", [{ datasets: [] }]],
    ["an axis without a name", [{ ...scales, axes: [{ type: "space" }, { name: "y" }] }]],
    ["an empty list", []],
    ["two datasets for a level", [{ ...scales, datasets: [dataset("1", 2, 1), dataset("1", 2, 1)] }]],
    ["a dataset of no size", [{ ...scales, datasets: [dataset("1", 0, 0)] }]],
    [
      "a dataset of another rank",
      [{ ...scales, datasets: [{ path: "1", coordinateTransformations: [{ type: "scale", scale: [1] }] }] }],
    ],
  ])("with a multiscales document with %s is Corrupt", (_, multiscales) => {
    expect(() => root({}, multiscales)).toThrow(Corrupt);
  });
  test("of too many axes is refused", () => {
    const axes = Array.from({ length: 17 }, (_, i) => ({ name: `${i}` }));
    expect(() => root({}, [{ axes, datasets: [] }])).toThrow(LimitExceeded);
  });
  test("that requires what is not known is refused by name", () => {
    expect(() => root({ required_capabilities: ["dense_manifests", "additive_levels"] })).toThrow(/"additive_levels"/);
    expect(() => root({ required_capabilities: ["time_travel"] })).toThrow(Unsupported);
    expect(root({ required_capabilities: ["dense_manifests"] }).requiredCapabilities).toEqual(["dense_manifests"]);
  });
});

const levelOwn: JsonObject = { level: 1, vertex_count: 7, arrays_present: ["vertices"] };
const level = (changes: JsonObject = {}, more: JsonObject = {}, number = 1) =>
  parseLevel({ zarr_vectors_level: { ...levelOwn, ...changes }, ...more }, number, "1", root(), "it");

describe("a level", () => {
  test("says what is known of it, and defaults", () => {
    expect(level()).toMatchObject({
      vertexCount: 7,
      chunkShape: [50, 50],
      binShape: [50, 50],
      sharedFragments: false,
      fragmentsTile: false,
      presenceDeferred: false,
      chunkAttribute: undefined,
      notes: [],
    });
    expect(level({ level: 2 }, {}, 2).binShape).toEqual([100, 100]);
    expect(level({ bin_ratio: [2, 3] }).binShape).toEqual([100, 150]);
    expect(level({ bin_shape: [20, 30], bin_ratio: [2, 3] }).binShape).toEqual([20, 30]);
    expect(level({ chunk_shape: [100, 50] }).chunkShape).toEqual([100, 50]);
    expect(level({ shared_vertex_groups: true }).sharedFragments).toBe(true);
    expect(level({}, { zarr_vectors_presence: "deferred" }).presenceDeferred).toBe(true);
    expect(level({ level: 4 }).notes).toHaveLength(1);
  });
  test.each<[string, JsonObject]>([
    ["no level", { level: null }],
    ["fewer than no vertices", { vertex_count: -1 }],
    ["half a vertex", { vertex_count: 0.5 }],
    ["more vertices than can be counted", { vertex_count: 2n ** 60n }],
    ["arrays that are no list", { arrays_present: {} }],
    ["a share of nothing", { object_sparsity: 0 }],
    ["a share of more than all", { object_sparsity: 1.5 }],
    ["chunks that are no multiples", { chunk_shape: [70, 50] }],
    ["chunks smaller than the root's", { chunk_shape: [25, 50] }],
    ["a flag in words", { shared_fragments: "yes" }],
    ["a chunk attribute without values", { chunk_attribute_name: "gene" }],
    ["bins of nothing", { bin_shape: [0, 1] }],
  ])("with %s is Corrupt", (_, changes) => {
    expect(() => level(changes)).toThrow(Corrupt);
  });
  test("that adds to another is refused", () => {
    expect(() => level({ refinement: "add" })).toThrow(Unsupported);
    expect(level({ refinement: "replace" }).level).toBe(1);
  });
});
