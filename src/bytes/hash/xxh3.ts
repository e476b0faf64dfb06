/**
 * XXH3, 64 bits: the checksum of PackedTree files. Each class of lengths has its own recipe.
 *
 * | bytes    | recipe                                                                              |
 * |----------|-------------------------------------------------------------------------------------|
 * | 0 … 16   | a few reads that overlap, one mix                                                   |
 * | 17 … 240 | pairs of 8 bytes, multiplied to 128 bits and folded                                 |
 * | 241 …    | eight sums over stripes of 64 bytes, stirred after each 1024, folded at the end     |
 *
 * The short ones are written with bigints. The long one carries each sum as two 32-bit words, which is what makes it fast.
 */
import { U64 } from "../u64.js";

const P32 = [0x9e3779b1n, 0x85ebca77n, 0xc2b2ae3dn] as const;
const P64 = [
  0x9e3779b185ebca87n,
  0xc2b2ae3d27d4eb4fn,
  0x165667b19e3779f9n,
  0x85ebca77c2b2ae63n,
  0x27d4eb2f165667c5n,
] as const;
const SECRET = fromHex(
  "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221" +
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8" +
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb" +
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e",
);

export function xxh3(bytes: Uint8Array, seed = 0n): bigint {
  return xxh3Of(bytes.length, (at, length) => bytes.subarray(at, at + length), seed);
}

/** The same of bytes that `piece` gives, in order; the last 64 of them twice. */
export function xxh3Of(length: number, piece: (at: number, length: number) => Uint8Array, seed = 0n): bigint {
  if (length <= 16) return tiny(piece(0, length), u64(seed));
  return length <= 240 ? short(piece(0, length), u64(seed)) : long(length, piece, u64(seed));
}

/** What is read at a time: a multiple of the 1024 bytes after which the sums are stirred. */
const PIECE = 1 << 20;

function tiny(bytes: Uint8Array, seed: bigint): bigint {
  const n = bytes.length;
  if (n > 8) {
    const low = read(bytes, 0) ^ u64((read(SECRET, 24) ^ read(SECRET, 32)) + seed);
    const high = read(bytes, n - 8) ^ u64((read(SECRET, 40) ^ read(SECRET, 48)) - seed);
    return avalanche(u64(BigInt(n) + swap(low) + high + fold(low, high)));
  }
  if (n >= 4) {
    const mixed = seed ^ (swap(seed & 0xffffffffn) & 0xffffffff00000000n);
    const input = read32(bytes, n - 4) | (read32(bytes, 0) << 32n);
    let hash = input ^ u64((read(SECRET, 8) ^ read(SECRET, 16)) - mixed);
    hash ^= rotate(hash, 49n) ^ rotate(hash, 24n);
    hash = u64(hash * 0x9fb21c651e98df25n);
    hash = u64((hash ^ ((hash >> 35n) + BigInt(n))) * 0x9fb21c651e98df25n);
    return hash ^ (hash >> 28n);
  }
  if (n === 0) return avalanche64(seed ^ read(SECRET, 56) ^ read(SECRET, 64));
  const input = ((bytes[0]! << 16) | (bytes[n >> 1]! << 24) | bytes[n - 1]! | (n << 8)) >>> 0;
  return avalanche64(BigInt(input) ^ u64((read32(SECRET, 0) ^ read32(SECRET, 4)) + seed));
}

function short(bytes: Uint8Array, seed: bigint): bigint {
  const n = bytes.length;
  let sum = BigInt(n) * P64[0];
  const mix = (at: number, secret: number) => {
    const low = read(bytes, at) ^ u64(read(SECRET, secret) + seed);
    const high = read(bytes, at + 8) ^ u64(read(SECRET, secret + 8) - seed);
    sum = u64(sum + fold(low, high));
  };
  if (n <= 128) {
    // From both ends towards the middle.
    for (let i = (n - 1) >> 5; i >= 0; i--) {
      mix(16 * i, 32 * i);
      mix(n - 16 * (i + 1), 32 * i + 16);
    }
    return avalanche(u64(sum));
  }
  for (let i = 0; i < 8; i++) mix(16 * i, 16 * i);
  sum = avalanche(sum);
  for (let i = 8; i < n >> 4; i++) mix(16 * i, 16 * (i - 8) + 3);
  mix(n - 16, 119);
  return avalanche(sum);
}

function long(length: number, piece: (at: number, length: number) => Uint8Array, seed: bigint): bigint {
  const secret = seed === 0n ? SECRET : seeded(seed);
  const sums = new Uint32Array(16); // low and high words of the eight
  const start = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]];
  for (let i = 0; i < 16; i++) sums[i] = Number(u64(start[i >> 1]! >> (i & 1 ? 32n : 0n)) & 0xffffffffn);

  const key = wordsOf(secret);
  const last = length - 1; // the last stripe is done apart, whole or not
  for (let from = 0; from + 64 <= last; from += PIECE) {
    const size = Math.min(PIECE, length - from);
    const data = wordsOf(piece(from, size));
    const stop = Math.min(size, last - from);
    for (let at = 0, stripe = 0; at + 64 <= stop; at += 64, stripe = (stripe + 1) & 15) {
      accumulate(sums, data, at / 4, key, stripe * 2);
      if (stripe === 15) stir(sums, key);
    }
  }
  accumulate(sums, wordsOf(new Uint8Array(piece(length - 64, 64))), 0, wordsOf(secret.slice(121, 185)), 0);

  const sum = (i: number) => (BigInt(sums[2 * i + 1]!) << 32n) | BigInt(sums[2 * i]!);
  let hash = BigInt(length) * P64[0];
  for (let i = 0; i < 8; i += 2) hash += fold(sum(i) ^ read(secret, 11 + 8 * i), sum(i + 1) ^ read(secret, 19 + 8 * i));
  return avalanche(u64(hash));
}

/** Bytes as words of 32 bits; a copy where they do not begin at one. */
function wordsOf(bytes: Uint8Array): Uint32Array {
  const own = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  return new Uint32Array(own.buffer, own.byteOffset, own.length >> 2);
}

/** Per 8 bytes: the neighbour's sum grows by them, the own sum by low × high word of them xor the secret. */
function accumulate(sums: Uint32Array, data: Uint32Array, at: number, key: Uint32Array, secret: number): void {
  for (let i = 0; i < 16; i += 2) {
    const low = data[at + i]!;
    const high = data[at + i + 1]!;
    const a = (low ^ key[secret + i]!) >>> 0;
    const b = (high ^ key[secret + i + 1]!) >>> 0;
    add(sums, i ^ 2, low, high);
    const product = Math.imul(a, b) >>> 0;
    add(sums, i, product, highWord(a, b, product));
  }
}

function add(sums: Uint32Array, i: number, low: number, high: number): void {
  const sum = (sums[i]! + low) >>> 0;
  sums[i] = sum;
  sums[i + 1] = sums[i + 1]! + high + Number(sum < low);
}

/** The upper half of a × b, whose lower half is known: what float64 rounds away is less than half of 2^32. */
function highWord(a: number, b: number, low: number): number {
  return Math.round((a * b - low) / 0x100000000);
}

function stir(sums: Uint32Array, key: Uint32Array): void {
  for (let i = 0; i < 16; i += 2) {
    const low = (sums[i]! ^ (sums[i + 1]! >>> 15) ^ key[32 + i]!) >>> 0;
    const high = sums[i + 1]! ^ key[33 + i]!;
    const product = Math.imul(low, 0x9e3779b1) >>> 0;
    sums[i] = product;
    sums[i + 1] = highWord(low, 0x9e3779b1, product) + Math.imul(high, 0x9e3779b1);
  }
}

function seeded(seed: bigint): Uint8Array<ArrayBuffer> {
  const secret = new Uint8Array(192);
  for (let at = 0; at < 192; at += 16) {
    U64.set(secret, at, u64(read(SECRET, at) + seed));
    U64.set(secret, at + 8, u64(read(SECRET, at + 8) - seed));
  }
  return secret;
}

function u64(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}

function rotate(value: bigint, by: bigint): bigint {
  return u64(value << by) | (value >> (64n - by));
}

function fold(a: bigint, b: bigint): bigint {
  const product = a * b;
  return u64(product) ^ (product >> 64n);
}

function avalanche(hash: bigint): bigint {
  hash = u64((hash ^ (hash >> 37n)) * 0x165667919e3779f9n);
  return hash ^ (hash >> 32n);
}

/** The final mix of the older XXH64, which the shortest inputs keep. */
function avalanche64(hash: bigint): bigint {
  hash = u64((hash ^ (hash >> 33n)) * P64[1]);
  hash = u64((hash ^ (hash >> 29n)) * P64[2]);
  return hash ^ (hash >> 32n);
}

function read(bytes: Uint8Array, at: number): bigint {
  return U64.get(bytes, at);
}

function read32(bytes: Uint8Array, at: number): bigint {
  return BigInt((bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0);
}

function swap(value: bigint): bigint {
  const bytes = new Uint8Array(8);
  U64.set(bytes, 0, value);
  return U64.get(bytes, 0, "big");
}

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g)!, (pair) => Number.parseInt(pair, 16));
}
