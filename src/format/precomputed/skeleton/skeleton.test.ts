import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fixtures } from "../../../../test/fixtures.js";
import { Corrupt, InvalidInput } from "../../../errors.js";
import { Affine } from "../../../space/transform.js";
import { NUMBER_TYPES } from "../info.js";
import { type SkeletonAttribute, SkeletonInfo } from "./info.js";
import { Skeleton } from "./skeleton.js";

const ARRAYS = {
  float32: Float32Array,
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
};

test("two vertices, an edge and a byte for each, packed by hand", () => {
  const bytes = Uint8Array.of(
    ...[2, 0, 0, 0, 1, 0, 0, 0],
    ...[0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0x40], // 1 2 3
    ...[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0xbf], // 0 0 -1
    ...[1, 0, 0, 0, 0, 0, 0, 0],
    ...[7, 255],
  );
  const attributes: SkeletonAttribute[] = [{ id: "kind", type: "uint8", components: 1 }];
  const skeleton = Skeleton.parse(bytes, attributes, "x");
  expect(skeleton).toEqual({
    vertices: Float32Array.of(1, 2, 3, 0, 0, -1),
    edges: Uint32Array.of(1, 0),
    attributes: new Map([["kind", Uint8Array.of(7, 255)]]),
    unread: 0,
  });
  expect(Skeleton.encode(skeleton, attributes)).toEqual(bytes);
  expect(Skeleton.parse(bytes, [], "x").unread).toBe(2);
});

test("golden skeletons of every attribute type come out as the reference reads them, and go back to their bytes", () => {
  const expected = JSON.parse(readFileSync(`${fixtures("precomputed")}/skeletons/expected.json`, "utf8"));
  const info = JSON.parse(readFileSync(`${fixtures("precomputed")}/skeletons/unsharded/skeletons/info`, "utf8"));
  const { attributes, transform } = SkeletonInfo.parse(info, "x");
  expect(transform?.rows).toEqual(info.transform);
  let count = 0;
  for (const one of Object.values<Record<string, unknown>>(expected.skeletons)) {
    const bytes = Uint8Array.from(Buffer.from(one.bytes_hex as string, "hex"));
    const skeleton = Skeleton.parse(bytes, attributes, "x");
    expect([...skeleton.vertices]).toEqual((one.vertices as number[][]).flat());
    expect([...skeleton.edges]).toEqual((one.edges as number[][]).flat());
    for (const { id } of attributes) expect([...skeleton.attributes.get(id)!]).toEqual([one[id]].flat(2));
    expect(Skeleton.encode(skeleton, attributes)).toEqual(bytes);
    count++;
  }
  expect(count).toBe(10);
});

const drawn = fc
  .record({
    count: fc.nat(6),
    attributes: fc.array(fc.tuple(fc.constantFrom(...NUMBER_TYPES), fc.integer({ min: 1, max: 3 })), { maxLength: 4 }),
  })
  .chain(({ count, attributes }) =>
    fc.record({
      attributes: fc.constant(attributes.map(([type, components], i) => ({ id: `a${i}`, type, components }))),
      vertices: fc.array(fc.float({ noNaN: true }), { minLength: 3 * count, maxLength: 3 * count }),
      edges: count === 0 ? fc.constant([]) : fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 5 }),
      values: fc.tuple(
        ...attributes.map(([, components]) =>
          fc.array(fc.integer({ min: -300, max: 300 }), {
            minLength: count * components,
            maxLength: count * components,
          }),
        ),
      ),
    }),
  );

test("what is encoded is parsed again", () => {
  fc.assert(
    fc.property(drawn, ({ attributes, vertices, edges, values }) => {
      const skeleton = {
        vertices: Float32Array.from(vertices),
        edges: Uint32Array.from(edges.flat()),
        attributes: new Map(attributes.map(({ id, type }, i) => [id, ARRAYS[type].from(values[i]!)])),
      };
      const bytes = Skeleton.encode(skeleton, attributes);
      // Memory that begins anywhere: what a shard hands out.
      const shifted = new Uint8Array(bytes.length + 3).subarray(3);
      shifted.set(bytes);
      expect(Skeleton.parse(shifted, attributes, "x")).toEqual({ ...skeleton, unread: 0 });
    }),
    { numRuns: 200 },
  );
});

test("bytes that lie are refused", () => {
  const bytes = Skeleton.encode(
    { vertices: new Float32Array(6), edges: Uint32Array.of(0, 1), attributes: new Map() },
    [],
  );
  for (let cut = 0; cut < bytes.length; cut++)
    expect(() => Skeleton.parse(bytes.subarray(0, cut), [], "x")).toThrow(Corrupt);
  for (const at of [0, 4, 32, 36]) {
    const bad = Uint8Array.from(bytes);
    bad.fill(255, at, at + 4); // 4 billion vertices or edges, an edge to nowhere
    expect(() => Skeleton.parse(bad, [], "x")).toThrow(Corrupt);
  }
  expect(() => Skeleton.parse(bytes, [{ id: "r", type: "float32", components: 1 }], "x")).toThrow(Corrupt);
});

test("skeletons that cannot be stored are refused", () => {
  const attributes: SkeletonAttribute[] = [{ id: "r", type: "float32", components: 1 }];
  const good = { vertices: new Float32Array(3), edges: new Uint32Array(), attributes: new Map() };
  expect(() => Skeleton.encode({ ...good, vertices: new Float32Array(4) }, [])).toThrow(InvalidInput);
  expect(() => Skeleton.encode({ ...good, edges: Uint32Array.of(0) }, [])).toThrow(InvalidInput);
  expect(() => Skeleton.encode({ ...good, edges: Uint32Array.of(0, 1) }, [])).toThrow(InvalidInput);
  expect(() => Skeleton.encode(good, attributes)).toThrow(InvalidInput);
  expect(() => Skeleton.encode({ ...good, attributes: new Map([["r", Float64Array.of(1)]]) }, attributes)).toThrow(
    /Float32Array of 1 values, found a Float64Array of 1/,
  );
});

test("an info says what Neuroglancer will not draw", () => {
  const attributes: SkeletonAttribute[] = [
    { id: "radius", type: "float32", components: 1 },
    { id: "vertex_types", type: "uint8", components: 1 },
  ];
  const written = { transform: Affine.scale([4, 4, 40]), attributes, sharding: null, segmentProperties: "props" };
  const info = SkeletonInfo.format(written);
  expect(info).not.toHaveProperty("sharding");
  expect(SkeletonInfo.parse(info, "x")).toEqual({
    ...written,
    undrawn: ["Neuroglancer draws no skeleton with attributes other than float32: vertex_types is uint8."],
  });
  expect(SkeletonInfo.parse({ sharding: null }, "x").undrawn).toEqual([
    'Neuroglancer does not open an info with "sharding": null.',
  ]);
});

test("an info always has a transform, which cloud-volume needs; one that moves nothing is none", () => {
  const written = { transform: undefined, attributes: [], sharding: null, segmentProperties: undefined };
  const info = SkeletonInfo.format(written);
  expect(info.transform).toEqual([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]);
  expect(SkeletonInfo.parse(info, "x").transform).toBeUndefined();
});

test("an info that is none is refused", () => {
  const attribute = { id: "a", data_type: "uint8", num_components: 1 };
  for (const info of [
    { transform: [1] },
    { transform: Array(12).fill("1") },
    { vertex_attributes: {} },
    { vertex_attributes: [{ ...attribute, id: "" }] },
    { vertex_attributes: [attribute, attribute] },
    { vertex_attributes: [{ ...attribute, data_type: "float64" }] },
    { vertex_attributes: [{ ...attribute, num_components: 0 }] },
    { sharding: {} },
    { segment_properties: 5 },
  ])
    expect(() => SkeletonInfo.parse(info, "x")).toThrow(Corrupt);
});
