/** The bytes of each unit in reverse order, in an array of its own; unit 1 copies. A rest shorter than a unit stays as it is. */
export function swapBytes(bytes: Uint8Array, unit: 1 | 2 | 4 | 8): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(bytes); // copies, aligned
  const whole = Math.floor(out.length / unit);
  if (unit === 2) {
    const words = new Uint16Array(out.buffer, 0, whole);
    for (let i = 0; i < whole; i++) words[i] = (words[i]! << 8) | (words[i]! >> 8);
  } else if (unit === 4) {
    const words = new Uint32Array(out.buffer, 0, whole);
    for (let i = 0; i < whole; i++) words[i] = reverse(words[i]!);
  } else if (unit === 8) {
    const words = new Uint32Array(out.buffer, 0, whole * 2);
    for (let i = 0; i < words.length; i += 2) {
      const low = words[i]!;
      words[i] = reverse(words[i + 1]!);
      words[i + 1] = reverse(low);
    }
  }
  return out;
}

const reverse = (word: number): number =>
  (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);
