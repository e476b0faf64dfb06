/**
 * MurmurHash3_x86_128, which places ids in the shards of Neuroglancer's precomputed format. 32-bit arithmetic throughout.
 * Sixteen bytes at a time go into four words, what is left over into the same words last; then the words are mixed.
 */
const C1 = 0x239b961b;
const C2 = 0xab0e9789;
const C3 = 0x38b34ae5;
const C4 = 0xa1e38b93;

const rotate = (word: number, by: number): number => (word << by) | (word >>> (32 - by));

/** The four words of the hash, unsigned, in their order in memory. */
export function murmur3(bytes: Uint8Array, seed = 0): [number, number, number, number] {
  let [h1, h2, h3, h4] = [seed, seed, seed, seed];
  const blocks = bytes.length & ~15;
  for (let at = 0; at < blocks; at += 16) {
    h1 ^= Math.imul(rotate(Math.imul(word(bytes, at), C1), 15), C2);
    h1 = (Math.imul((rotate(h1, 19) + h2) | 0, 5) + 0x561ccd1b) | 0;
    h2 ^= Math.imul(rotate(Math.imul(word(bytes, at + 4), C2), 16), C3);
    h2 = (Math.imul((rotate(h2, 17) + h3) | 0, 5) + 0x0bcaa747) | 0;
    h3 ^= Math.imul(rotate(Math.imul(word(bytes, at + 8), C3), 17), C4);
    h3 = (Math.imul((rotate(h3, 15) + h4) | 0, 5) + 0x96cd1c35) | 0;
    h4 ^= Math.imul(rotate(Math.imul(word(bytes, at + 12), C4), 18), C1);
    h4 = (Math.imul((rotate(h4, 13) + h1) | 0, 5) + 0x32ac3b17) | 0;
  }
  h4 ^= Math.imul(rotate(Math.imul(word(bytes, blocks + 12), C4), 18), C1);
  h3 ^= Math.imul(rotate(Math.imul(word(bytes, blocks + 8), C3), 17), C4);
  h2 ^= Math.imul(rotate(Math.imul(word(bytes, blocks + 4), C2), 16), C3);
  h1 ^= Math.imul(rotate(Math.imul(word(bytes, blocks), C1), 15), C2);
  return finish(h1, h2, h3, h4, bytes.length);
}

/** Low 8 bytes of the hash of an id's 8 little-endian bytes: where the id lives. */
export function murmur3OfId(id: bigint): bigint {
  const words = new Uint32Array(2);
  murmur3OfWords(Number(id & 0xffffffffn), Number(id >> 32n), words);
  return (BigInt(words[1]!) << 32n) | BigInt(words[0]!);
}

/** The same from the id's two words, into two words, without making anything: for millions of ids. */
export function murmur3OfWords(low: number, high: number, into: Uint32Array): void {
  const first = Math.imul(rotate(Math.imul(low, C1), 15), C2) ^ 8;
  const second = Math.imul(rotate(Math.imul(high, C2), 16), C3) ^ 8;
  const sum = (first + second + 16) | 0; // the other two words are 8 each
  const h2 = mix((second + sum) | 0);
  const h3 = mix((8 + sum) | 0); // and so is the fourth
  const h1 = (mix(sum) + h2 + h3 + h3) | 0;
  into[0] = h1;
  into[1] = h2 + h1;
}

function finish(h1: number, h2: number, h3: number, h4: number, length: number): [number, number, number, number] {
  [h1, h2, h3, h4] = spread(h1 ^ length, h2 ^ length, h3 ^ length, h4 ^ length);
  [h1, h2, h3, h4] = spread(mix(h1), mix(h2), mix(h3), mix(h4));
  return [h1 >>> 0, h2 >>> 0, h3 >>> 0, h4 >>> 0];
}

function spread(h1: number, h2: number, h3: number, h4: number): [number, number, number, number] {
  const sum = (h1 + h2 + h3 + h4) | 0;
  return [sum, (h2 + sum) | 0, (h3 + sum) | 0, (h4 + sum) | 0];
}

function mix(h: number): number {
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** Little-endian; what lies beyond the end counts as zero. */
function word(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
}
