/**
 * Fields of rows of one size, which lie in the same place of each: their bytes, row after row. They are moved as words of 4, 2 or 1
 * bytes, each kind of words in a loop of its own, which the engine compiles for nothing else.
 */

/** The bytes `at` up to `at + width` of each of `count` rows of `stride` bytes. */
export function fieldOf(rows: Uint8Array, count: number, stride: number, at: number, width: number): Uint8Array {
  const out = new Uint8Array(count * width);
  const { buffer, byteOffset } = rows;
  const from = byteOffset + at; // in the buffer, where all words are counted from its beginning
  const odd = width | stride | from;
  const [unit, copy] =
    (odd & 3) === 0 ? ([4, copyFours] as const) : (odd & 1) === 0 ? ([2, copyTwos] as const) : ([1, copyOnes] as const);
  if (count > 0) copy(out.buffer, buffer, from / unit, stride / unit, width / unit);
  return out;
}

type Copy = (out: ArrayBuffer, rows: ArrayBufferLike, from: number, stride: number, width: number) => void;

const copyFours: Copy = (out, rows, from, stride, width) => {
  const [to, source] = [new Uint32Array(out), new Uint32Array(rows, 0, rows.byteLength >> 2)];
  if (width === 1) for (let i = 0, at = from; i < to.length; i++, at += stride) to[i] = source[at]!;
  else if (width === 3)
    for (let i = 0, at = from; i < to.length; i += 3, at += stride) {
      to[i] = source[at]!; // places in space, mostly
      to[i + 1] = source[at + 1]!;
      to[i + 2] = source[at + 2]!;
    }
  else
    for (let i = 0, row = from; i < to.length; row += stride)
      for (let at = row; at < row + width; at++) to[i++] = source[at]!;
};

const copyTwos: Copy = (out, rows, from, stride, width) => {
  const [to, source] = [new Uint16Array(out), new Uint16Array(rows, 0, rows.byteLength >> 1)];
  if (width === 1) for (let i = 0, at = from; i < to.length; i++, at += stride) to[i] = source[at]!;
  else
    for (let i = 0, row = from; i < to.length; row += stride)
      for (let at = row; at < row + width; at++) to[i++] = source[at]!;
};

const copyOnes: Copy = (out, rows, from, stride, width) => {
  const [to, source] = [new Uint8Array(out), new Uint8Array(rows)];
  if (width === 1) for (let i = 0, at = from; i < to.length; i++, at += stride) to[i] = source[at]!;
  else
    for (let i = 0, row = from; i < to.length; row += stride)
      for (let at = row; at < row + width; at++) to[i++] = source[at]!;
};
