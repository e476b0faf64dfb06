/** An array in an .npy file, some of its rows at a time: for files that are larger than memory. */
import { swapUnit } from "../../bytes/dtype.js";
import { swapBytes } from "../../bytes/swap.js";
import { copyStrided } from "../../codec/strided.js";
import { Corrupt, NotFound, Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { NdArray } from "../../model/array.js";
import { elementCount, strides } from "../../space/shape.js";
import type { Key } from "../../store/key.js";
import type { CallOptions, Store } from "../../store/types.js";
import { readNpyHeader } from "./npy.js";

/** An array whose first axis can be read in parts. */
export interface NpyRows extends Pick<NdArray, "shape" | "dtype"> {
  /** The rows from `start` up to `stop`. */
  read(start: number, stop: number, options?: CallOptions): Promise<NdArray>;
}

/** More than any header that numpy writes for an array of numbers. */
const HEAD_BYTES = 1 << 16;

/** What is in an .npy file; its elements are not read yet. */
export async function openNpy(store: Store, file: Key, options: CallOptions = {}): Promise<NpyRows> {
  const where = `${store.url}/${file}`;
  const found = await store.stat(file, options);
  if (found === undefined) throw new NotFound(`${where} is not there`, { where });
  const get = async (offset: number, length: number, { signal }: CallOptions): Promise<Uint8Array> => {
    const bytes = await store.get(file, { signal, range: { offset, length } });
    if (bytes === undefined) throw new NotFound(`${where} is not there any more`, { where });
    return bytes;
  };
  const head = await get(0, Math.min(found.size, HEAD_BYTES), options);
  const { dtype, shape, fortran, offset } = readNpyHeader(head, withLimits(undefined), where);
  const needed = elementCount(shape) * dtype.size;
  if (found.size - offset !== needed)
    throw new Corrupt(
      `${where} has ${found.size - offset} bytes of elements, but its shape [${shape}] of ${dtype.size}-byte elements needs ${needed}`,
      { where },
    );
  const [rows, ...rest] = shape as [number, ...number[]];
  if (rest.length !== 1)
    throw new Unsupported(`${where} should have rows of numbers, found the shape [${shape}]`, { where });
  const width = rest[0]!;
  return {
    shape,
    dtype,
    async read(start, stop, options = {}) {
      const count = stop - start;
      const own = { shape: [count, width], dtype };
      const native = (data: Uint8Array): Uint8Array =>
        "endian" in dtype && dtype.endian === "big" ? swapBytes(data, swapUnit(dtype)) : data;
      if (!fortran) {
        const data = await get(offset + start * width * dtype.size, count * width * dtype.size, options);
        return { ...own, data: native(data) };
      }
      const data = new Uint8Array(count * width * dtype.size);
      for (let column = 0; column < width; column++) {
        const values = native(await get(offset + (column * rows + start) * dtype.size, count * dtype.size, options));
        const to = { offset: column, strides: strides(own.shape) };
        copyStrided(data, to, values, { offset: 0, strides: [1, 1] }, [count, 1], dtype);
      }
      return { ...own, data };
    },
  };
}
