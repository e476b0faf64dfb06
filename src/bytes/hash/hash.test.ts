import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { adler32 } from "./adler32.js";
import { crc32, crc32c } from "./crc.js";
import { murmur3, murmur3OfId } from "./murmur3.js";
import { xxh3, xxh3Of } from "./xxh3.js";

/** Made with the reference implementations (xxhash 3.x, mmh3 5.x, google-crc32c and zlib of Python) on `noise(length)`. */
type Vector = [
  length: number,
  xxh3: string,
  xxh3Seeded: string,
  murmur: string,
  murmurSeeded: string,
  crc32c: string,
  crc32: string,
  adler32: string,
];
const vectors: Vector[] = JSON.parse(readFileSync(new URL("vectors.json", import.meta.url), "utf8"));

function noise(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0, x = 1; i < length; i++) {
    x = (Math.imul(x, 1103515245) + 12345) >>> 0;
    bytes[i] = x >>> 24;
  }
  return bytes;
}

/** The same bytes in the middle of a larger buffer, unaligned. */
function inside(bytes: Uint8Array): Uint8Array {
  const buffer = new Uint8Array(bytes.length + 10).fill(0xaa);
  buffer.set(bytes, 3);
  return buffer.subarray(3, 3 + bytes.length);
}

const ascii = (text: string) => new TextEncoder().encode(text);
const hex = (value: bigint | number, digits: number) => value.toString(16).padStart(digits, "0");
const murmurHex = (bytes: Uint8Array, seed?: number) =>
  Buffer.from(new Uint32Array(murmur3(bytes, seed)).buffer).toString("hex");

test.each(vectors)("%d bytes", (length, xxh, xxhSeeded, murmur, murmurSeeded, castagnoli, crc, adler) => {
  for (const bytes of [noise(length), inside(noise(length))]) {
    expect(hex(xxh3(bytes), 16)).toBe(xxh);
    expect(hex(xxh3(bytes, 0x9e3779b97f4a7c15n), 16)).toBe(xxhSeeded);
    expect(murmurHex(bytes)).toBe(murmur);
    expect(murmurHex(bytes, 0x9747b28c)).toBe(murmurSeeded);
    expect(hex(crc32c(bytes), 8)).toBe(castagnoli);
    expect(hex(crc32(bytes), 8)).toBe(crc);
    expect(hex(adler32(bytes), 8)).toBe(adler);
  }
});

test("published values", () => {
  expect(hex(crc32c(ascii("123456789")), 8)).toBe("e3069283");
  expect(hex(crc32c(new Uint8Array(32)), 8)).toBe("8a9136aa"); // RFC 3720, B.4
  expect(hex(crc32c(new Uint8Array(32).fill(0xff)), 8)).toBe("62a8ab43");
  expect(hex(crc32(ascii("123456789")), 8)).toBe("cbf43926");
  expect(hex(adler32(ascii("Wikipedia")), 8)).toBe("11e60398");
});

test("sums continue over pieces", () => {
  const bytes = noise(10_000);
  for (const cut of [0, 1, 15, 16, 5552, 9_999, 10_000]) {
    const [head, tail] = [bytes.subarray(0, cut), bytes.subarray(cut)];
    expect(crc32c(tail, crc32c(head))).toBe(crc32c(bytes));
    expect(crc32(tail, crc32(head))).toBe(crc32(bytes));
    expect(adler32(tail, adler32(head))).toBe(adler32(bytes));
  }
});

test.each([
  [1 << 20, "aeec981f9409a587"],
  [(1 << 20) + 1, "547a2c9aeb313896"],
  [(1 << 20) + 64, "7da32a033612659e"],
  [(1 << 21) + 65, "37df84da3f71fe69"],
])("%d bytes in pieces that are not all there at once", (length, xxh) => {
  const bytes = noise(length);
  const room = new Uint8Array(1 << 20);
  const piece = (at: number, size: number): Uint8Array => {
    room.fill(0xaa).set(bytes.subarray(at, at + size));
    return room.subarray(0, size);
  };
  expect(hex(xxh3Of(length, piece), 16)).toBe(xxh);
  expect(hex(xxh3(bytes), 16)).toBe(xxh);
});

test("the largest bytes do not overflow the sums", () => {
  const bytes = new Uint8Array(1 << 16).fill(0xff);
  expect(adler32(bytes)).toBe(slowAdler(bytes));
});

function slowAdler(bytes: Uint8Array): number {
  let [low, high] = [1, 0];
  for (const byte of bytes) {
    low = (low + byte) % 65521;
    high = (high + low) % 65521;
  }
  return high * 65536 + low;
}

test.each([
  [0n, "4772b084e028ae41"],
  [1n, "e8bd67d616d4ce9a"],
  [42n, "c20b94f95119f47a"],
  [4294967295n, "007260ffc08751be"],
  [4294967296n, "bbb12d133b78fd64"],
  [9007199254740993n, "dfde6c7958396398"],
  [9223372036854775808n, "998a35e4316acfa8"],
  [18446744073709551615n, "574f66bd212b5d1a"],
])("the id %d lives where Neuroglancer looks for it", (id, expected) => {
  expect(hex(murmur3OfId(id), 16)).toBe(expected);
  const bytes = new Uint8Array(new BigUint64Array([id]).buffer);
  const [h1, h2] = murmur3(bytes);
  expect((BigInt(h2) << 32n) | BigInt(h1)).toBe(murmur3OfId(id));
});
