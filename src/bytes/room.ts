/**
 * Memory for large arrays that come and go, of sizes that many of them have: 16 between a power of two and the next. What is thrown
 * away is used again for what fits into it, and pieces of a file that differ by a few bytes leave holes that nobody fills: a process
 * that read 10 GB of them grew by 200 MB.
 */
const LARGE = 1 << 17; // bytes below which allocators have sizes of their own

interface ArrayType<T> {
  readonly BYTES_PER_ELEMENT: number;
  new (length: number): T;
  new (buffer: ArrayBuffer, at: number, length: number): T;
}

/** An array of zeros, whose buffer may be longer. */
export function room<T>(Type: ArrayType<T>, length: number): T {
  const bytes = length * Type.BYTES_PER_ELEMENT;
  if (!(bytes >= LARGE)) return new Type(length);
  const step = 2 ** (Math.floor(Math.log2(bytes)) - 4);
  return new Type(new ArrayBuffer(Math.ceil(bytes / step) * step), 0, length);
}
