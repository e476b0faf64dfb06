import fc from "fast-check";
import NumcodecsLz4 from "numcodecs/lz4";
import { describe, expect, it } from "vitest";
import { Corrupt, InvalidInput, LimitExceeded } from "../errors.js";
import { loadKernel, plainKernel } from "../kernel/index.js";
import { defaultLimits } from "../limits.js";
import { decodeLz4, encodeLz4, lz4Codec } from "./lz4.js";
import { applyShuffle, shuffleCodec } from "./shuffle.js";
import type { BytesCodec, CodecEntry, CodecSpec } from "./types.js";

const kernels = [await loadKernel(), plainKernel];
const load = (entry: CodecEntry, configuration: CodecSpec["configuration"]): Promise<BytesCodec> =>
  entry.load(configuration, { chain: async () => [] }) as Promise<BytesCodec>;

describe.each(kernels)("lz4, $kind", (kernel) => {
  it("reads a block behind its size", () => {
    const bytes = Uint8Array.of(10, 0, 0, 0, 0x32, 97, 98, 99, 3, 0, 0x10, 122);
    expect(new TextDecoder().decode(decodeLz4(bytes, 10, defaultLimits, kernel))).toBe("abcabcabcz");
  });
  it.each([
    ["nothing", Uint8Array.of(), undefined, Corrupt],
    ["only a size", Uint8Array.of(0, 0, 0, 0), undefined, Corrupt],
    ["another size than expected", Uint8Array.of(1, 0, 0, 0, 0x10, 97), 2, Corrupt],
    ["more than its bytes can hold", Uint8Array.of(0, 0, 0, 0x7f, 0x10, 97), undefined, Corrupt],
    ["more than the limits", Uint8Array.of(0, 0, 0, 0xff, 0x10, 97), undefined, LimitExceeded],
    ["a cut block", Uint8Array.of(2, 0, 0, 0, 0x20, 97), 2, Corrupt],
  ])("refuses %s", (_, bytes, expected, kind) => {
    expect(() => decodeLz4(bytes, expected, defaultLimits, kernel)).toThrow(kind);
  });
  it("writes what it and numcodecs.js read", async () => {
    const peer = new NumcodecsLz4();
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 3000 }),
        fc.integer({ min: -3, max: 20 }),
        async (part, acceleration) => {
          const bytes = Uint8Array.of(...part, ...part, ...part.slice(0, 9));
          const encoded = encodeLz4(bytes, acceleration, kernel);
          expect(decodeLz4(encoded, bytes.length, defaultLimits, kernel)).toEqual(bytes);
          if (bytes.length > 0) expect(new Uint8Array(await peer.decode(encoded))).toEqual(bytes);
        },
      ),
      { numRuns: 50 },
    );
  });
});

it("the lz4 codec round-trips", async () => {
  const codec = await load(lz4Codec, { acceleration: 1 });
  const bytes = new Uint8Array(5000).fill(9);
  expect(codec.encode(bytes).length).toBeLessThan(60);
  expect(codec.decode(codec.encode(bytes), 5000, defaultLimits)).toEqual(bytes);
});

describe("shuffle", () => {
  it("moves bytes", () => {
    for (const kernel of kernels) {
      expect([...applyShuffle(kernel, "shuffle", 2, Uint8Array.of(1, 2, 3, 4, 5, 6))]).toEqual([1, 3, 5, 2, 4, 6]);
      expect([...applyShuffle(kernel, "unshuffle", 3, Uint8Array.of(1, 2, 3, 4, 5, 6))]).toEqual([1, 3, 5, 2, 4, 6]);
    }
  });
  it("takes whole elements only", async () => {
    const codec = await load(shuffleCodec, {});
    expect(codec.decode(codec.encode(Uint8Array.of(1, 2, 3, 4)), 4, defaultLimits)).toEqual(Uint8Array.of(1, 2, 3, 4));
    expect(() => codec.encode(new Uint8Array(6))).toThrow(InvalidInput);
    expect(() => codec.decode(new Uint8Array(6), undefined, defaultLimits)).toThrow(Corrupt);
    expect(() => codec.decode(new Uint8Array(8), 12, defaultLimits)).toThrow("found 8");
    expect(codec.encodedSize?.(8)).toBe(8);
    await expect(load(shuffleCodec, { elementsize: 0 })).rejects.toThrow(InvalidInput);
  });
});
