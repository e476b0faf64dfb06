/**
 * `packbits` of numcodecs, decoding: one byte that says how many bits of the last byte are padding, then eight booleans
 * per byte, the first in the highest bit.
 */
import { Corrupt } from "../errors.js";
import { elementCount } from "../space/shape.js";
import { decodeOnly } from "./decode-only.js";
import type { CodecEntry } from "./types.js";

export const packBitsCodec: CodecEntry = {
  name: "packbits",
  load: async () => ({
    kind: "array-array",
    encodedSpec: ({ shape }) => ({
      shape: [1 + Math.ceil(elementCount(shape) / 8)],
      dtype: { kind: "uint", size: 1, endian: "little" },
      fill: new Uint8Array(1),
    }),
    decode: (data, { shape }) => {
      const bytes = data as Uint8Array;
      const out = new Uint8Array(elementCount(shape));
      const padding = (8 - (out.length % 8)) % 8;
      if (bytes.length !== 1 + Math.ceil(out.length / 8) || bytes[0] !== padding)
        throw new Corrupt(
          `${out.length} packed booleans should have ${padding} bits of padding, found ${bytes[0]} in ${bytes.length} bytes`,
        );
      for (let i = 0; i < out.length; i++) out[i] = (bytes[1 + (i >> 3)]! >> (7 - (i & 7))) & 1;
      return out;
    },
    encode: decodeOnly("packbits"),
  }),
};
