/** `bytes`: elements of fixed size one after another, in the byte order that the configuration names. */
import { isFixed, swapUnit } from "../bytes/dtype.js";
import { swapBytes } from "../bytes/swap.js";
import { Corrupt, InvalidInput } from "../errors.js";
import { elementCount } from "../space/shape.js";
import { wordOption } from "./options.js";
import type { ChunkSpec, CodecEntry } from "./types.js";

export const bytesCodec: CodecEntry = {
  name: "bytes",
  async load(configuration) {
    // Absent is right for elements of one byte; null is how zarr-python wrote that at first.
    const endian =
      configuration.endian == null ? undefined : wordOption(configuration, "bytes", "endian", ["little", "big"]);
    const swapped = (bytes: Uint8Array, { dtype }: ChunkSpec): Uint8Array => {
      const unit = isFixed(dtype) ? swapUnit(dtype) : 1;
      if (unit > 1 && endian === undefined)
        throw new InvalidInput(`the bytes codec should name the endian of elements of ${unit} bytes, found nothing`);
      return unit > 1 && endian === "big" ? swapBytes(bytes, unit) : bytes;
    };
    return {
      kind: "array-bytes",
      decode: (bytes, spec) => {
        const size = byteSize(spec);
        if (bytes.length !== size)
          throw new Corrupt(`a chunk of shape [${spec.shape}] should have ${size} bytes, found ${bytes.length}`);
        return swapped(bytes, spec);
      },
      encode: (data, spec) => {
        const size = byteSize(spec);
        if (data.length !== size || Array.isArray(data))
          throw new InvalidInput(`a chunk of shape [${spec.shape}] should have ${size} bytes, found ${data.length}`);
        return swapped(data, spec);
      },
      encodedSize: byteSize,
    };
  },
};

function byteSize({ shape, dtype }: ChunkSpec): number {
  if (!isFixed(dtype)) throw new InvalidInput(`the bytes codec takes elements of fixed size, found ${dtype.kind}`);
  return elementCount(shape) * dtype.size;
}
