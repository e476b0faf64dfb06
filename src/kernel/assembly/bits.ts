// Bits that are written from the lowest on.

export let bits: u64 = 0;
/** How many there are of them, 7 at most between two calls. */
export let held: u32 = 0;
/** Where the next whole byte goes. */
export let out: usize = 0;

/** Goes on elsewhere, or with what was written in another way. */
export function continueAt(to: usize, word: u64 = 0, used: u32 = 0): void {
  out = to;
  bits = word;
  held = used;
}

/** At most 32 bits. */
export function write(value: u32, n: u32): void {
  bits |= <u64>value << held;
  held += n;
  store<u64>(out, bits);
  out += held >> 3;
  bits >>= held & 0x38;
  held &= 7;
}

/** Up to the next whole byte. */
export function fillByte(): void {
  if (held > 0) write(0, 8 - held);
}
