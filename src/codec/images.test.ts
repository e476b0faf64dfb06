/** png and jpeg: against test/golden/images.json, what libpng and libjpeg-turbo wrote and read, and by hand. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { concat } from "../bytes/concat.js";
import { Corrupt, InvalidInput, OctavoError, Unsupported } from "../errors.js";
import { defaultLimits as limits } from "../limits.js";
import { CodecChain } from "./chain.js";
import { nativeDeflate } from "./deflate.js";
import { decodeJpeg } from "./jpeg.js";
import { decodePng, encodePng } from "./png.js";
import type { ChunkSpec } from "./types.js";

interface Golden {
  readonly origin: string;
  readonly cases: { name: string; codec: string; shape: number[]; dtype: string; encoded: string; decoded: string }[];
}
const golden: Golden = JSON.parse(readFileSync(new URL("../../test/golden/images.json", import.meta.url), "utf8"));
const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "base64"));
const engine = nativeDeflate()!;

const specOf = (shape: readonly number[], size: 1 | 2 = 1): ChunkSpec => ({
  shape,
  dtype: { kind: "uint", size, endian: "little" },
  fill: new Uint8Array(size),
});

describe(golden.origin, () => {
  test.each(golden.cases.map((one) => [`${one.codec}: ${one.name}`, one] as const))("%s", async (_, one) => {
    const chain = await CodecChain.load([{ name: `precomputed.${one.codec}`, configuration: {} }]);
    const bound = chain.bind(specOf(one.shape, one.dtype === "<u2" ? 2 : 1));
    expect(Buffer.compare(bound.decode(bytes(one.encoded), limits) as Uint8Array, bytes(one.decoded))).toBe(0);
    if (one.codec === "jpeg") expect(() => bound.encode(bytes(one.decoded))).toThrow(Unsupported);
  });
});

/** One pixel of grey 7: IHDR, IDAT (a stored block: filter 0, the value), IEND, with the checksums that belong to them. */
const PIXEL = Uint8Array.of(
  ...[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  ...[0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0, 0x3a, 0x7e, 0x9b, 0x55],
  ...[0, 0, 0, 13, 0x49, 0x44, 0x41, 0x54, 0x78, 0x01, 1, 2, 0, 0xfd, 0xff, 0, 7, 0, 9, 0, 8],
  ...[0, 0, 0, 0],
  ...[0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82],
);
new DataView(PIXEL.buffer).setUint32(54, engine.crc32(PIXEL.subarray(37, 54)));

describe("png", () => {
  const decode = (data: Uint8Array, spec: ChunkSpec) => decodePng(data, spec, limits, engine);

  it("has the bytes that the format says", () => {
    expect([...decode(PIXEL, specOf([1, 1, 1, 1]))]).toEqual([7]);
    expect([...encodePng(Uint8Array.of(7), specOf([1, 1, 1, 1]), 0, engine)]).toEqual([...PIXEL]);
  });

  it("comes back as it was, whatever filter was best", () => {
    const chunks = fc
      .record({
        shape: fc.tuple(...[4, 3, 5, 9].map((max) => fc.integer({ min: 1, max }))),
        size: fc.constantFrom(1 as const, 2 as const),
        step: fc.constantFrom(0, 1, 7, 131),
      })
      .map(({ shape, size, step }) => ({
        spec: specOf(shape, size),
        data: Uint8Array.from({ length: shape.reduce((n, length) => n * length, size) }, (_, i) => (i * i * step) >> 3),
      }));
    fc.assert(
      fc.property(chunks, ({ spec, data }) => {
        expect([...decode(encodePng(data, spec, 6, engine), spec)]).toEqual([...data]);
      }),
      { numRuns: 200 },
    );
  });

  const piece = (name: string, content: Uint8Array): Uint8Array => {
    const covered = concat([new TextEncoder().encode(name), content]);
    const ends = new Uint8Array(8);
    new DataView(ends.buffer).setUint32(0, content.length);
    new DataView(ends.buffer).setUint32(4, engine.crc32(covered));
    return concat([ends.subarray(0, 4), covered, ends.subarray(4)]);
  };

  it("skips what it need not know, and refuses what it must", () => {
    const [head, rest] = [PIXEL.subarray(0, 33), PIXEL.subarray(33)];
    const spec = specOf([1, 1, 1, 1]);
    expect([...decode(concat([head, piece("tEXt", Uint8Array.of(1)), rest]), spec)]).toEqual([7]);
    expect(() => decode(concat([head, piece("TEXt", Uint8Array.of(1)), rest]), spec)).toThrow(Unsupported);
    expect(() => decode(concat([head, head.subarray(8), rest]), spec)).toThrow(/one IHDR/);
    expect(() => decode(concat([PIXEL, Uint8Array.of(0)]), spec)).toThrow(/1 more bytes follow/);
    expect(() => decode(PIXEL, specOf([1, 1, 1, 2]))).toThrow(/should have 2 pixels of 1 channels, found 1 × 1 of 1/);
    expect(() => decode(PIXEL, specOf([1, 1, 1, 1], 2))).toThrow(/samples of 16 bits, found 8/);
    expect(() => decode(PIXEL, specOf([5, 1, 1, 1]))).toThrow(InvalidInput);
    const header = (...changed: [at: number, value: number][]): Uint8Array => {
      const content = PIXEL.slice(16, 29);
      for (const [at, value] of changed) content[at] = value;
      return concat([PIXEL.subarray(0, 8), piece("IHDR", content), rest]);
    };
    expect(() => decode(header([12, 1]), spec)).toThrow(/interlaced/);
    expect(() => decode(header([9, 3]), spec)).toThrow(/kind 3/);
    expect(() => decode(header([0, 255], [4, 255]), spec)).toThrow(Corrupt); // pixels without end, refused by their number
  });

  it("notices every single bit", () => {
    for (let bit = 0; bit < 8 * PIXEL.length; bit++) {
      const data = PIXEL.slice();
      data[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => decode(data, specOf([1, 1, 1, 1]))).toThrow(OctavoError);
    }
  });
});

describe("jpeg", () => {
  const { encoded, shape } = golden.cases.find(({ name }) => name === "grey")!;
  const image = bytes(encoded);

  it("refuses another size, an end that is not one, and bytes behind it", () => {
    expect(() => decodeJpeg(image, specOf([1, 1, 20, 18]))).toThrow(/360 pixels of 1 channels, found 17 × 20 of 1/);
    expect(() => decodeJpeg(image, specOf([3, 1, 20, 17]))).toThrow(/3 channels/);
    expect(() => decodeJpeg(image, specOf([1, 1, 20, 17], 2))).toThrow(InvalidInput);
    expect(() => decodeJpeg(concat([image, Uint8Array.of(0)]), specOf(shape))).toThrow(/1 more bytes follow/);
    for (let end = 0; end < image.length; end++)
      expect(() => decodeJpeg(image.subarray(0, end), specOf(shape))).toThrow(Corrupt);
  });

  it("refuses thousands of scans", () => {
    const progressive = bytes(golden.cases.find(({ name }) => name.startsWith("grey, progressive"))!.encoded);
    const at = progressive.findIndex((byte, i) => byte === 0xff && progressive[i + 1] === 0xda);
    const next = progressive.findIndex(
      (byte, i) => i > at && byte === 0xff && [0xc4, 0xda].includes(progressive[i + 1]!),
    );
    const many = Array.from({ length: 200 }, () => progressive.subarray(at, next));
    const data = concat([progressive.subarray(0, at), ...many, progressive.subarray(next)]);
    expect(() => decodeJpeg(data, specOf(shape))).toThrow(/at most 100 scans/);
  });
});
