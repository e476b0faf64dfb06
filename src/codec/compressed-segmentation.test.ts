import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Corrupt, InvalidInput } from "../errors.js";
import { type Block, type LabelKernel, loadWasmLabelKernel, plainLabelKernel } from "../kernel/labels.js";
import { CodecChain } from "./chain.js";
import { compressedSegmentationCodec, decodeSegmentation, encodeSegmentation } from "./compressed-segmentation.js";
import type { ChunkSpec } from "./types.js";

const wasm = (await loadWasmLabelKernel())!;
const kernels: readonly LabelKernel[] = [wasm, plainLabelKernel];

const specOf = (shape: readonly number[], size: 4 | 8): ChunkSpec => ({
  shape,
  dtype: { kind: "uint", size, endian: "little" },
  fill: new Uint8Array(size),
});

const words = (...values: number[]): Uint8Array => new Uint8Array(Uint32Array.from(values).buffer);

/** 3 × 2 × 1 voxels in blocks of 2 × 2 × 1: the first has two labels, the second sticks out and has one. */
const LABELS = Uint32Array.from([7, 9, 7, 9, 9, 7]);
const PACKED = words(
  1, // the channel begins at word 1
  ...[5 | (1 << 24), 4], // table at 5, one bit each, indices at 4
  ...[7, 7], // no bits; its table is new
  0b1110, // x fastest: 7 9, then 9 9
  ...[7, 9],
  7,
);

describe.each(kernels.map((kernel) => [kernel.kind, kernel] as const))("compressed_segmentation, %s", (_, kernel) => {
  const decode = (bytes: Uint8Array, spec: ChunkSpec, block: Block) => decodeSegmentation(bytes, spec, block, kernel);
  const encode = (data: Uint8Array, spec: ChunkSpec, block: Block) => encodeSegmentation(data, spec, block, kernel);

  it("has the bytes that the format says", () => {
    const data = new Uint8Array(LABELS.buffer);
    const spec = specOf([1, 1, 2, 3], 4);
    expect([...encode(data, spec, [2, 2, 1])]).toEqual([...PACKED]);
    expect([...decode(PACKED, spec, [2, 2, 1])]).toEqual([...data]);
  });

  it("writes a table once where blocks share it", () => {
    const data = new Uint8Array(Uint32Array.from([1, 2, 1, 2]).buffer);
    const packed = words(1, 5 | (1 << 24), 4, 5 | (1 << 24), 7, 0b10, 1, 2, 0b10);
    expect([...encode(data, specOf([1, 1, 1, 4], 4), [2, 1, 1])]).toEqual([...packed]);
  });

  it("keeps 64 bits, and sorts them as numbers without a sign", () => {
    const data = new Uint8Array(BigUint64Array.from([2n ** 64n - 1n, 2n ** 53n + 1n, 0n, 2n ** 63n]).buffer);
    const spec = specOf([1, 1, 1, 4], 8);
    const packed = encode(data, spec, [4, 1, 1]);
    expect([...packed]).toEqual([
      ...words(1, 3 | (2 << 24), 2, 0b10_00_01_11, 0, 0, 1, 2 ** 21, 0, 2 ** 31, 2 ** 32 - 1, 2 ** 32 - 1),
    ]);
    expect([...decode(packed, spec, [4, 1, 1])]).toEqual([...data]);
  });

  it("refuses what points outside", () => {
    const spec = specOf([1, 1, 2, 3], 4);
    const damaged = (word: number, value: number): Uint8Array => {
      const bytes = PACKED.slice();
      new DataView(bytes.buffer).setUint32(4 * word, value, true);
      return bytes;
    };
    const refuses = (bytes: Uint8Array, why: RegExp) => {
      expect(() => decode(bytes, spec, [2, 2, 1])).toThrow(Corrupt);
      expect(() => decode(bytes, spec, [2, 2, 1])).toThrow(why);
    };
    refuses(PACKED.subarray(0, 31), /whole words/);
    refuses(new Uint8Array(0), /whole words/);
    refuses(damaged(0, 0), /should begin between word 1 and 9, found 0/);
    refuses(damaged(0, 10), /found 10/);
    refuses(damaged(0, 7), /input ends too early/);
    for (const bits of [3, 5, 33, 64, 255]) refuses(damaged(1, 5 | (bits << 24)), /number of bits/);
    refuses(damaged(1, 3 | (1 << 24)), /table/); // a header
    refuses(damaged(1, 8 | (1 << 24)), /table/);
    refuses(damaged(1, 0xffffff | (1 << 24)), /table/);
    refuses(damaged(2, 3), /indices of a block/);
    refuses(damaged(2, 8), /indices of a block/);
    refuses(damaged(2, 2 ** 32 - 1), /indices of a block/);
    refuses(damaged(1, 5 | (32 << 24)), /points past the end/); // four indices of 32 bits, the first of them 14
    refuses(damaged(1, 7 | (1 << 24)), /points past the end/); // a table of one value, an index of 1
    // Without bits there are no indices, wherever they are said to be.
    expect([...decode(damaged(4, 2 ** 32 - 1), spec, [2, 2, 1])]).toEqual([...new Uint8Array(LABELS.buffer)]);
  });

  it("refuses elements and shapes that it does not know", () => {
    const data = new Uint8Array(6);
    expect(() => encode(data, specOf([1, 2, 3], 4), [1, 1, 1])).toThrow(InvalidInput);
    expect(() => encode(data, specOf([1, 1, 2, 3], 4), [1, 1, 1])).toThrow(/24 bytes, found 6/);
    const dtype = { kind: "uint", size: 1 } as ChunkSpec["dtype"];
    expect(() => decode(data, { ...specOf([1, 1, 2, 3], 4), dtype }, [1, 1, 1])).toThrow(/uint32 or uint64/);
  });
});

const chunks = fc
  .record({
    size: fc.constantFrom(4 as const, 8 as const),
    shape: fc.tuple(...[2, 20, 20, 33].map((max) => fc.integer({ min: 1, max }))),
    block: fc.oneof(
      fc.constant<Block>([8, 8, 8]),
      fc.tuple(...([17, 9, 5] as const).map((max) => fc.integer({ min: 1, max }))) as fc.Arbitrary<Block>,
    ),
    labels: fc.constantFrom(1, 2, 3, 4, 9, 17, 300, 1e9),
    run: fc.constantFrom(1, 3, 11, 500),
    seed: fc.nat(),
  })
  .map(({ size, shape, block, labels, run, seed }) => {
    const data = new Uint8Array(shape.reduce((product, length) => product * length, size));
    const numbers = new Uint32Array(data.buffer);
    let state = seed;
    for (let i = 0; i < numbers.length; i++) {
      if (Math.floor((i * 4) / size) % run === 0) state = (Math.imul(state, 1103515245) + 12345) | 0;
      numbers[i] = ((state >>> 5) % labels) * 0x9e3779b1;
    }
    return { spec: specOf(shape, size), block, data };
  });

it("both kernels give the same bytes, and the labels come back", () => {
  fc.assert(
    fc.property(chunks, ({ spec, block, data }) => {
      const [one, two] = kernels.map((kernel) => encodeSegmentation(data, spec, block, kernel));
      expect(Buffer.compare(one!, two!)).toBe(0);
      for (const kernel of kernels) {
        expect(Buffer.compare(decodeSegmentation(one!, spec, block, kernel), data)).toBe(0);
        expect(Buffer.compare(decodeSegmentation(one!, spec, block, kernel, "lend"), data)).toBe(0);
      }
    }),
    { numRuns: 150 },
  );
});

it("says where tables no longer fit the header", () => {
  const labels = new Uint32Array(2 * 128 * 200 * 192).map((_, i) => i);
  const data = new Uint8Array(labels.buffer);
  expect(() => encodeSegmentation(data, specOf([1, 128, 200, 192], 8), [2, 1, 1], wasm)).toThrow(
    /tables end at 64 MiB/,
  );
});

it("is a codec by name, with a block size", async () => {
  const chain = await CodecChain.load([
    { name: "precomputed.compressed_segmentation", configuration: { block_size: [2, 2, 1] } },
  ]);
  const bound = chain.bind(specOf([1, 1, 2, 3], 4));
  expect([...bound.encode(new Uint8Array(LABELS.buffer))]).toEqual([...PACKED]);
  for (const block_size of [null, [8, 8], [8, 8, 0], [8, 8, 1.5], [4096, 4096, 2]])
    await expect(compressedSegmentationCodec.load({ block_size }, {} as never)).rejects.toThrow(InvalidInput);
});
