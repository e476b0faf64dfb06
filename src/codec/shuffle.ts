/** The shuffle filter of numcodecs: byte j of all elements, then byte j + 1 of all elements. */
import { Corrupt, InvalidInput } from "../errors.js";
import { type Kernel, loadKernel } from "../kernel/index.js";
import { integerOption } from "./options.js";
import type { CodecEntry } from "./types.js";

export const shuffleCodec: CodecEntry = {
  name: "shuffle",
  async load(configuration) {
    const size = integerOption(configuration, "shuffle", "elementsize", [1, 2 ** 31 - 1], 4);
    const kernel = await loadKernel();
    return {
      kind: "bytes-bytes",
      decode: (bytes, expected) => {
        if (bytes.length % size !== 0 || bytes.length !== (expected ?? bytes.length))
          throw new Corrupt(
            `shuffled data should be ${expected ?? "whole elements"} of ${size} bytes, found ${bytes.length} bytes`,
          );
        return applyShuffle(kernel, "unshuffle", size, bytes);
      },
      encode: (bytes) => {
        if (bytes.length % size !== 0)
          throw new InvalidInput(`shuffle takes whole elements of ${size} bytes, found ${bytes.length} bytes`);
        return applyShuffle(kernel, "shuffle", size, bytes);
      },
      encodedSize: (n) => n,
    };
  },
};

export function applyShuffle(
  kernel: Kernel,
  direction: "shuffle" | "unshuffle",
  typesize: number,
  bytes: Uint8Array,
): Uint8Array {
  const room = kernel.reserve(2 * bytes.length);
  const target = room.start + bytes.length;
  room.memory.set(bytes, room.start);
  room[direction](typesize, room.start, bytes.length / typesize, target);
  return room.memory.slice(target, target + bytes.length);
}
