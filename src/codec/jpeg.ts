/**
 * jpeg: a chunk of one or three channels of uint8 as a photograph, with losses; read only. codec/image.ts says which pixel is
 * which voxel. Bit for bit the samples that libjpeg gives, so that Octavo reads what the writers of such volumes read:
 * docs/decisions/images.md has the reasons for a decoder of our own.
 */
import { Unsupported } from "../errors.js";
import { checkImage, imageOf, planar } from "./image.js";
import { readJpeg } from "./jpeg-frame.js";
import { pixelsOf } from "./jpeg-samples.js";
import type { ChunkSpec, CodecEntry } from "./types.js";

export const jpegCodec: CodecEntry = {
  name: "precomputed.jpeg",
  async load() {
    return {
      kind: "array-bytes",
      decode: (bytes, spec) => decodeJpeg(bytes, spec),
      encode: () => {
        throw new Unsupported("jpeg can be read but not written: it loses what it stores", {
          hint: "Write with png or raw.",
        });
      },
    };
  },
};

export function decodeJpeg(bytes: Uint8Array, chunk: ChunkSpec): Uint8Array {
  const spec = imageOf("jpeg", chunk, [1, 3], [1]);
  const jpeg = readJpeg(bytes, ({ width, height }, channels) => checkImage("jpeg", spec, { width, height, channels }));
  return planar(pixelsOf(jpeg), spec);
}
