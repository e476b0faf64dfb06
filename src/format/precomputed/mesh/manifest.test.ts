import fc from "fast-check";
import { expect, test } from "vitest";
import { Corrupt, InvalidInput } from "../../../errors.js";
import { defaultLimits } from "../../../limits.js";
import { Affine } from "../../../space/transform.js";
import { boxOf } from "./fragment.js";
import { MeshInfo } from "./info.js";
import { LegacyFragment, LegacyManifest, legacyNames } from "./legacy.js";
import { Manifest } from "./manifest.js";

/** Little-endian words: float32 after "f", uint32 after "u". */
function pack(...words: readonly (readonly ["f" | "u", ...number[]])[]): Uint8Array<ArrayBuffer> {
  const count = words.reduce((sum, [, ...numbers]) => sum + numbers.length, 0);
  const view = new DataView(new ArrayBuffer(4 * count));
  let at = 0;
  for (const [type, ...numbers] of words)
    for (const number of numbers) {
      if (type === "f") view.setFloat32(at, number, true);
      else view.setUint32(at, number, true);
      at += 4;
    }
  return new Uint8Array(view.buffer);
}

const packed = pack(
  ["f", 16, 16, 8], // chunk_shape
  ["f", -4, 0, 100], // grid_origin
  ["u", 2],
  ["f", 1, 2.5], // lod_scales
  ["f", 0, 0, 0, 0.5, 0.25, 0], // vertex_offsets
  ["u", 3, 1],
  ["u", 0, 1, 0, 0, 0, 1, 0, 0, 0], // x, y, z of the cells of lod 0
  ["u", 10, 0, 7],
  ["u", 0, 0, 0],
  ["u", 5],
);
const manifest: Manifest = {
  chunkShape: [16, 16, 8],
  gridOrigin: [-4, 0, 100],
  lods: [
    { scale: 1, offset: [0, 0, 0], cells: Uint32Array.of(0, 1, 0, 0, 0, 1, 0, 0, 0), sizes: Uint32Array.of(10, 0, 7) },
    { scale: 2.5, offset: [0.5, 0.25, 0], cells: Uint32Array.of(0, 0, 0), sizes: Uint32Array.of(5) },
  ],
};

test("a manifest packed by hand is read and written", () => {
  expect(packed.length).toBe(28 + 20 * 2 + 16 * 4);
  expect(Manifest.parse(packed, "x")).toEqual(manifest);
  expect(Manifest.encode(manifest)).toEqual(packed);
  expect(Manifest.range(manifest, 0)).toEqual({ offset: 0, length: 17, total: 22 });
  expect(Manifest.range(manifest, 1)).toEqual({ offset: 17, length: 5, total: 22 });
});

test("bytes that are not aligned are read too", () => {
  const moved = new Uint8Array(packed.length + 1);
  moved.set(packed, 1);
  expect(Manifest.parse(moved.subarray(1), "x")).toEqual(manifest);
});

const float = fc.float({ noNaN: true, noDefaultInfinity: true });
const positive = fc.float({ min: 0, noNaN: true, noDefaultInfinity: true });
const word = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const anyManifest: fc.Arbitrary<Manifest> = fc.record({
  chunkShape: fc.array(positive, { minLength: 3, maxLength: 3 }),
  gridOrigin: fc.array(float, { minLength: 3, maxLength: 3 }),
  lods: fc
    .array(
      fc.record({
        scale: positive,
        offset: fc.array(float, { minLength: 3, maxLength: 3 }),
        fragments: fc.array(fc.tuple(word, word, word, word), { maxLength: 6 }),
      }),
      { minLength: 1, maxLength: 5 },
    )
    .map((lods) =>
      lods.map(({ scale, offset, fragments }) => ({
        scale,
        offset,
        cells: Uint32Array.from([0, 1, 2].flatMap((axis) => fragments.map((one) => one[axis]!))),
        sizes: Uint32Array.from(fragments, (one) => one[3]),
      })),
    ),
});

test("every manifest survives being written", () => {
  fc.assert(
    fc.property(anyManifest, (one) => {
      expect(Manifest.parse(Manifest.encode(one), "x")).toEqual(one);
    }),
  );
});

test("manifests that lie are refused", () => {
  for (let cut = 0; cut < packed.length; cut++)
    expect(() => Manifest.parse(packed.subarray(0, cut), "x")).toThrow(Corrupt);
  expect(() => Manifest.parse(Uint8Array.of(...packed, 0, 0, 0, 0), "x")).toThrow(/4 more bytes follow/);
  const changed = (word: number, value: number): Uint8Array => {
    const bytes = Uint8Array.from(packed);
    new DataView(bytes.buffer).setUint32(4 * word, value, true);
    return bytes;
  };
  const NAN = 0x7fc00000;
  // Infinities and NaN in every float, a size below 0, no lods or 4 billion, and as many fragments.
  for (const [word, value] of [
    ...[0, 1, 2, 3, 4, 5, 7, 8, 9, 12].flatMap(
      (at) =>
        [
          [at, NAN],
          [at, 0x7f800000],
        ] as const,
    ),
    [0, 0xbf800000],
    [7, 0xbf800000],
    [6, 0],
    [6, 1],
    [6, 0xffffffff],
    [15, 0xffffffff],
    [16, 2],
  ] as const)
    expect(() => Manifest.parse(changed(word, value), "x"), `${word} ${value}`).toThrow(Corrupt);
  const many = { ...manifest, lods: Array.from({ length: 65 }, () => manifest.lods[1]!) };
  expect(() => Manifest.encode(many)).toThrow(/1 to 64 levels of detail, found 65/);
  const [first] = manifest.lods;
  expect(() => Manifest.encode({ ...manifest, lods: [{ ...first!, cells: new Uint32Array(8) }] })).toThrow(
    InvalidInput,
  );
});

test("any bytes are a manifest or Corrupt", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), word, (bytes, at) => {
      const hostile = Uint8Array.from(packed);
      hostile.set(bytes.subarray(0, hostile.length), at % Math.max(1, hostile.length - bytes.length));
      try {
        expect(Manifest.encode(Manifest.parse(hostile, "x"))).toEqual(hostile);
      } catch (error) {
        if (!(error instanceof Corrupt)) throw error;
      }
    }),
  );
});

test("a level that is not stored is shown by the next finer one, else by the finest", () => {
  const scaled = (...scales: number[]): Manifest => ({
    ...manifest,
    lods: scales.map((scale) => ({
      ...manifest.lods[1]!,
      scale,
      ...(scale === 0 && { cells: new Uint32Array(), sizes: new Uint32Array() }),
    })),
  });
  const shown = (one: Manifest) => [0, 1, 2, 3].map((level) => Manifest.lodAt(one, level));
  expect(shown(scaled(1, 2))).toEqual([0, 1, 1, 1]);
  expect(shown(scaled(1, 0, 4))).toEqual([0, 0, 2, 2]);
  expect(shown(scaled(0, 2, 4))).toEqual([1, 1, 2, 2]);
  expect(shown(scaled(0))).toEqual([undefined, undefined, undefined, undefined]);
});

test("the z-curve is that of interleaved bits, x lowest", () => {
  const code = ([x, y, z]: readonly number[]): bigint => {
    let sum = 0n;
    for (let bit = 0; bit < 32; bit++)
      for (const [axis, value] of [x!, y!, z!].entries())
        if (Math.floor(value / 2 ** bit) % 2 === 1) sum |= 1n << BigInt(3 * bit + axis);
    return sum;
  };
  fc.assert(
    fc.property(fc.array(fc.tuple(word, word, word), { minLength: 2, maxLength: 2 }), (cells) => {
      const [a, b] = cells.map(code);
      const lod = {
        scale: 1,
        offset: [0, 0, 0],
        cells: Uint32Array.from([0, 1, 2].flatMap((axis) => cells.map((cell) => cell[axis]!))),
        sizes: Uint32Array.of(1, 1),
      };
      expect(Manifest.disorder(lod)).toBe(a! < b! ? undefined : 1);
    }),
  );
  expect(Manifest.disorder(manifest.lods[0]!)).toBeUndefined();
});

test("a cell lies in one of the next coarser lod that is stored", () => {
  const lod = (...cells: (readonly number[])[]) => ({
    scale: 1,
    offset: [0, 0, 0],
    cells: Uint32Array.from([0, 1, 2].flatMap((axis) => cells.map((cell) => cell[axis]!))),
    sizes: new Uint32Array(cells.length),
  });
  const orphans = (...lods: Manifest["lods"]) => lods.map((_, i) => Manifest.orphan({ ...manifest, lods }, i));
  expect(orphans(lod([0, 0, 0], [3, 1, 0]), lod([0, 0, 0], [1, 0, 0]))).toEqual([undefined, undefined]);
  expect(orphans(lod([0, 0, 0], [3, 2, 0]), lod([0, 0, 0], [1, 0, 0]))).toEqual([1, undefined]);
  expect(orphans(lod([7, 5, 0]), lod(), lod([1, 1, 0]))).toEqual([undefined, undefined, undefined]);
  expect(orphans(lod([2 ** 32 - 1, 0, 0]), lod([2 ** 31 - 1, 0, 0]))).toEqual([undefined, undefined]);
});

test("a box holds the cells with geometry, in nanometres", () => {
  // Lod 0 has geometry in the cells 0 0 0 and 0 1 0; that at 1 0 0 is empty.
  expect([...boxOf(manifest, 0)]).toEqual([-4, 0, 100, 12, 32, 108]);
  expect([...boxOf(manifest, 1)]).toEqual([-3.5, 0.25, 100, 28.5, 32.25, 116]);
  expect([...boxOf(manifest, 0, Affine.scale([-2, 1, 4], [0, 5, 0]))]).toEqual([-24, 5, 400, 8, 37, 432]);
});

test("a fragment of the older form, packed by hand", () => {
  const bytes = pack(["u", 3], ["f", 0, 0, 0, 1.5, 0, 0, 0, -2, 8], ["u", 0, 1, 2]);
  const mesh = { positions: Float32Array.of(0, 0, 0, 1.5, 0, 0, 0, -2, 8), faces: Uint32Array.of(0, 1, 2) };
  expect(LegacyFragment.parse(bytes, "x")).toEqual(mesh);
  expect(LegacyFragment.encode(mesh)).toEqual(bytes);
  for (let cut = 0; cut < bytes.length; cut++)
    if (cut !== 40) expect(() => LegacyFragment.parse(bytes.subarray(0, cut), "x"), `${cut}`).toThrow(Corrupt);
  expect(LegacyFragment.parse(bytes.subarray(0, 40), "x").faces.length).toBe(0);
  for (const at of [0, 40, 48]) {
    const bad = Uint8Array.from(bytes);
    bad.fill(255, at, at + 4);
    expect(() => LegacyFragment.parse(bad, "x")).toThrow(Corrupt);
  }
  expect(() => LegacyFragment.encode({ ...mesh, faces: Uint32Array.of(0, 1, 3) })).toThrow(InvalidInput);
  expect(() => LegacyFragment.encode({ ...mesh, faces: Uint32Array.of(0, 1) })).toThrow(InvalidInput);
  expect(() => LegacyFragment.encode({ ...mesh, positions: new Float32Array(8) })).toThrow(InvalidInput);
});

test("every fragment of the older form survives being written", () => {
  fc.assert(
    fc.property(
      fc.array(fc.float(), { minLength: 3, maxLength: 60 }).map((all) => all.slice(0, 3 * Math.floor(all.length / 3))),
      fc.array(fc.nat(), { maxLength: 60 }),
      (numbers, corners) => {
        const mesh = {
          positions: Float32Array.from(numbers),
          faces: Uint32Array.from(
            corners.slice(0, 3 * Math.floor(corners.length / 3)),
            (one) => one % (numbers.length / 3),
          ),
        };
        expect(LegacyFragment.parse(LegacyFragment.encode(mesh), "x")).toEqual(mesh);
      },
    ),
  );
});

test("the document of an older mesh names files of its folder", () => {
  const names = ["5:0:0-64_0-64_0-64", "parts/b"];
  const encode = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
  expect(LegacyManifest.parse(encode({ fragments: names }), defaultLimits, "x")).toEqual(names);
  expect(LegacyManifest.parse(LegacyManifest.encode(names), defaultLimits, "x")).toEqual(names);
  for (const wrong of [[], {}, { fragments: "a" }, { fragments: [5] }, { fragments: ["../a"] }, { fragments: [""] }])
    expect(() => LegacyManifest.parse(encode(wrong), defaultLimits, "x")).toThrow(Corrupt);
  expect(() => LegacyManifest.encode(["a/../b"])).toThrow(InvalidInput);
  expect(legacyNames.idOf("18446744073709551615:0")).toBe(2n ** 64n - 1n);
  for (const name of ["5", "5:1", "5:0:0-64", "x:0", "18446744073709551616:0"])
    expect(legacyNames.idOf(name)).toBeUndefined();
});

const multi = {
  kind: "multi",
  quantizationBits: 10,
  transform: Affine.scale([4, 4, 8]),
  lodScaleMultiplier: 1.5,
  sharding: null,
  segmentProperties: "props",
} as const;

test("an info is read as it was written, and what others add is left alone", () => {
  const info = MeshInfo.format(multi);
  expect(info).not.toHaveProperty("sharding");
  expect(MeshInfo.parse({ ...info, mip: 0, spatial_index: { resolution: [4, 4, 8] } }, "x")).toEqual({
    ...multi,
    undrawn: [],
  });
  expect(MeshInfo.parse({ ...info, sharding: null }, "x").undrawn.length).toBe(1);
  const legacy = { kind: "legacy", sharding: null, segmentProperties: undefined } as const;
  expect(MeshInfo.format(legacy)).toEqual({ "@type": "neuroglancer_legacy_mesh" });
  expect(MeshInfo.parse(MeshInfo.format(legacy), "x")).toEqual({ ...legacy, undrawn: [] });
});

test("an info that is none is refused", () => {
  const info = MeshInfo.format(multi);
  for (const wrong of [
    { vertex_quantization_bits: 12 },
    { vertex_quantization_bits: "10" },
    { lod_scale_multiplier: 0 },
    { lod_scale_multiplier: "1" },
    { transform: [1, 2] },
    { transform: Array(12).fill(null) },
    { sharding: {} },
    { segment_properties: 5 },
    { "@type": "neuroglancer_legacy_mesh", sharding: { "@type": "neuroglancer_uint64_sharded_v1" } },
  ])
    expect(() => MeshInfo.parse({ ...info, ...wrong }, "x"), JSON.stringify(wrong)).toThrow(Corrupt);
});
