/**
 * Elements of variable size, as numcodecs and v3 store them: vlen-utf8, vlen-bytes, vlen-array.
 *
 * | bytes | meaning                                                          |
 * |-------|------------------------------------------------------------------|
 * | u32   | number of elements                                               |
 * | u32   | bytes of the next element, then those bytes; once per element    |
 *
 * The number must be that of the chunk, and nothing may follow.
 */

import { Reader } from "../bytes/reader.js";
import { swapBytes } from "../bytes/swap.js";
import { decodeUtf8, encodeUtf8 } from "../bytes/text.js";
import { Writer } from "../bytes/writer.js";
import { Corrupt, InvalidInput } from "../errors.js";
import { elementCount } from "../space/shape.js";
import { bytesOf, numericOption, numericView } from "./numeric.js";
import type { ArrayBytesCodec, CodecEntry, NumericArray, VlenValue } from "./types.js";

export const vlenUtf8Codec: CodecEntry = {
  name: "vlen-utf8",
  load: async () =>
    vlen("vlen-utf8", text, (value) => {
      if (typeof value !== "string") throw new InvalidInput(`vlen-utf8 takes texts, found ${typeof value}`);
      return encodeUtf8(value, "a text for vlen-utf8");
    }),
};

export const vlenBytesCodec: CodecEntry = {
  name: "vlen-bytes",
  load: async () =>
    vlen(
      "vlen-bytes",
      (bytes) => new Uint8Array(bytes), // of its own, so that one element does not keep the whole chunk
      (value) => {
        if (!(value instanceof Uint8Array)) throw new InvalidInput(`vlen-bytes takes bytes, found ${typeof value}`);
        return value;
      },
    ),
};

export const vlenArrayCodec: CodecEntry = {
  name: "vlen-array",
  async load(configuration) {
    const item = numericOption(configuration, "vlen-array", "dtype");
    const unit = item.endian === "big" ? item.size : 1;
    return vlen(
      "vlen-array",
      (bytes) => {
        if (bytes.length % item.size !== 0)
          throw new Corrupt(
            `an element of vlen-array should be whole items of ${item.size} bytes, found ${bytes.length}`,
          );
        return numericView(item, swapBytes(bytes, unit));
      },
      (value) => {
        if (typeof value === "string") throw new InvalidInput("vlen-array takes arrays of numbers, found a text");
        return swapBytes(bytesOf(value as NumericArray), unit);
      },
    );
  },
};

function vlen(
  name: string,
  decode: (bytes: Uint8Array) => VlenValue,
  encode: (value: VlenValue) => Uint8Array,
): ArrayBytesCodec {
  return {
    kind: "array-bytes",
    decode(bytes, { shape }) {
      const reader = new Reader(bytes, `a ${name} chunk`);
      const count = reader.count(reader.u32(), 4);
      if (count !== elementCount(shape))
        throw new Corrupt(
          `a ${name} chunk of shape [${shape}] should have ${elementCount(shape)} elements, found ${count}`,
        );
      const values = new Array<VlenValue>(count);
      for (let i = 0; i < count; i++) values[i] = decode(reader.bytes(reader.u32()));
      reader.end();
      return values;
    },
    encode(data, { shape }) {
      if (!Array.isArray(data) || data.length !== elementCount(shape))
        throw new InvalidInput(
          `${name} takes ${elementCount(shape)} values, found ${data.length} of another kind or number`,
        );
      const writer = new Writer();
      writer.u32(data.length);
      for (const value of data) {
        const bytes = encode(value);
        writer.u32(bytes.length);
        writer.bytes(bytes);
      }
      return writer.finish();
    },
  };
}

/** Most texts are short and ASCII, which needs no decoder. */
function text(bytes: Uint8Array): string {
  if (bytes.length > 24) return decodeUtf8(bytes, "a vlen-utf8 element");
  let out = "";
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (byte > 127) return decodeUtf8(bytes, "a vlen-utf8 element");
    out += String.fromCharCode(byte);
  }
  return out;
}
