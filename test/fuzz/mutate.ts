/**
 * Damaged copies of good bytes. Everything follows from one number, so that an input can be made again from the seed of
 * the run and its own number in it.
 */
export interface Random {
  /** A whole number from 0 up to, not including, n. */
  below(n: number): number;
}

/** mulberry32: small, and good enough to pick places in a file. */
export function random(seed: number): Random {
  let state = seed | 0;
  return {
    below(n) {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return Math.floor((((t ^ (t >>> 14)) >>> 0) / 0x100000000) * n);
    },
  };
}

/** The numbers at which sizes, counts and offsets go wrong. */
const INTEGERS = [0n, 1n, 2n, 7n, 8n, 15n, 16n, 127n, 128n, 255n, 256n, 32767n, 32768n, 65535n, 65536n].concat([
  2n ** 24n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 32n,
  2n ** 53n,
  2n ** 53n + 1n,
  2n ** 63n,
  2n ** 64n - 1n,
]);

/** Text at which parsers of metadata go wrong. */
const TOKENS = [
  "NaN",
  "-Infinity",
  "null",
  "1e400",
  "-1",
  "18446744073709551615",
  "9007199254740993",
  "0.5",
  '""',
  "[",
  "{",
  "[[[[[[[[",
  '"__proto__"',
  "\\ud800",
  "\0",
  "é",
  "{}",
  "[]",
  ",",
  ":",
  "true",
  '"|O"',
  '"<M8[ns]"',
].map((text) => new TextEncoder().encode(text));

const LARGEST = 1 << 16; // growing inputs without end would make every run a test of speed

/** One to four changes of `seed`; `other` lends its parts. */
export function mutate(seed: Uint8Array, other: Uint8Array, dice: Random): Uint8Array {
  let bytes = seed.slice();
  for (let changes = 1 + dice.below(4); changes > 0; changes--) {
    bytes = mutations[dice.below(mutations.length)]!(bytes, other, dice).slice(0, Math.max(LARGEST, seed.length));
  }
  return bytes;
}

type Mutation = (bytes: Uint8Array, other: Uint8Array, dice: Random) => Uint8Array;

const mutations: readonly Mutation[] = [
  function flipBit(bytes, _, dice) {
    if (bytes.length > 0) bytes[dice.below(bytes.length)]! ^= 1 << dice.below(8);
    return bytes;
  },
  function flipBitNearTheFront(bytes, _, dice) {
    if (bytes.length > 0) bytes[dice.below(Math.min(bytes.length, 32))]! ^= 1 << dice.below(8);
    return bytes;
  },
  function setByte(bytes, _, dice) {
    if (bytes.length > 0) bytes[dice.below(bytes.length)] = [0, 1, 0x7f, 0x80, 0xff, dice.below(256)][dice.below(6)]!;
    return bytes;
  },
  function setInteger(bytes, _, dice) {
    const size = 1 << dice.below(4);
    if (bytes.length < size) return bytes;
    const at = dice.below(2) ? dice.below(bytes.length - size + 1) : dice.below(Math.min(bytes.length - size + 1, 32));
    const value = INTEGERS[dice.below(INTEGERS.length)]!;
    const big = dice.below(2) === 1;
    for (let i = 0; i < size; i++) bytes[big ? at + size - 1 - i : at + i] = Number((value >> BigInt(8 * i)) & 255n);
    return bytes;
  },
  function addToInteger(bytes, _, dice) {
    const size = 1 << dice.below(4);
    if (bytes.length < size) return bytes;
    const at = dice.below(bytes.length - size + 1);
    let carry = dice.below(33) - 16;
    for (let i = 0; i < size; i++) {
      carry += bytes[at + i]!;
      bytes[at + i] = carry;
      carry >>= 8;
    }
    return bytes;
  },
  function truncate(bytes, _, dice) {
    return bytes.slice(0, dice.below(bytes.length + 1));
  },
  function extend(bytes, _, dice) {
    const more = new Uint8Array(1 + dice.below(64)).fill(dice.below(2) ? 0 : dice.below(256));
    return splice(bytes, bytes.length, 0, more);
  },
  function remove(bytes, _, dice) {
    const at = dice.below(bytes.length + 1);
    return splice(bytes, at, dice.below(Math.min(64, bytes.length - at) + 1), new Uint8Array(0));
  },
  function repeat(bytes, _, dice) {
    const [from, length] = part(bytes, dice);
    const times = 1 + dice.below(8);
    const block = new Uint8Array(length * times);
    for (let i = 0; i < times; i++) block.set(bytes.subarray(from, from + length), i * length);
    return splice(bytes, dice.below(bytes.length + 1), 0, block);
  },
  function move(bytes, _, dice) {
    const [from, length] = part(bytes, dice);
    return splice(bytes, dice.below(bytes.length + 1), length, bytes.slice(from, from + length));
  },
  function insertToken(bytes, _, dice) {
    const token = TOKENS[dice.below(TOKENS.length)]!;
    return splice(bytes, dice.below(bytes.length + 1), dice.below(2) ? token.length : 0, token);
  },
  function borrow(bytes, other, dice) {
    const [from, length] = part(other, dice);
    return splice(bytes, dice.below(bytes.length + 1), dice.below(2) ? length : 0, other.slice(from, from + length));
  },
  function crossOver(bytes, other, dice) {
    const tail = other.slice(dice.below(other.length + 1));
    return splice(bytes, dice.below(bytes.length + 1), Number.POSITIVE_INFINITY, tail);
  },
];

function part(bytes: Uint8Array, dice: Random): [from: number, length: number] {
  const from = dice.below(bytes.length + 1);
  return [from, dice.below(Math.min(256, bytes.length - from) + 1)];
}

/** `removed` bytes at `at` give way to `inserted`. */
function splice(bytes: Uint8Array, at: number, removed: number, inserted: Uint8Array): Uint8Array {
  const rest = bytes.subarray(Math.min(bytes.length, at + removed));
  const out = new Uint8Array(at + inserted.length + rest.length);
  out.set(bytes.subarray(0, at));
  out.set(inserted, at);
  out.set(rest, at + inserted.length);
  return out;
}
