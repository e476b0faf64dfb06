/**
 * LZ4 as numcodecs writes it: one raw block behind its size.
 *
 * | offset | bytes | what                                      |
 * |--------|-------|-------------------------------------------|
 * | 0      | 4     | bytes when decoded, little-endian         |
 * | 4      | rest  | an LZ4 block                              |
 */
import { Corrupt, InvalidInput, LimitExceeded } from "../errors.js";
import { decodeFault, type Kernel, loadKernel } from "../kernel/index.js";
import type { Limits } from "../limits.js";
import { integerOption } from "./options.js";
import type { CodecEntry } from "./types.js";

export const lz4Codec: CodecEntry = {
  name: "lz4",
  async load(configuration) {
    const acceleration = integerOption(configuration, "lz4", "acceleration", [-(2 ** 31), 2 ** 31 - 1], 1);
    const kernel = await loadKernel();
    return {
      kind: "bytes-bytes",
      decode: (bytes, expected, limits) => decodeLz4(bytes, expected, limits, kernel),
      encode: (bytes) => encodeLz4(bytes, acceleration, kernel),
    };
  },
};

export function decodeLz4(bytes: Uint8Array, expected: number | undefined, limits: Limits, kernel: Kernel): Uint8Array {
  if (bytes.length < 5) throw new Corrupt(`lz4 data should have at least 5 bytes, found ${bytes.length}`);
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (size !== (expected ?? size)) throw new Corrupt(`lz4 data should decode to ${expected} bytes, found ${size}`);
  if (size > limits.chunkBytes)
    throw new LimitExceeded(`lz4 data should decode to at most ${limits.chunkBytes} bytes, found ${size}`);
  const length = bytes.length - 4;
  if (size > 255 * length) throw new Corrupt(`${length} bytes of lz4 data cannot hold the ${size} that they declare`);
  const room = kernel.reserve(length + size);
  const target = room.start + length;
  room.memory.set(bytes.subarray(4), room.start);
  const result = room.lz4Decode(room.start, length, target, size);
  if (result !== size) throw new Corrupt(`lz4 data of ${size} bytes is damaged: ${decodeFault(result)}`);
  return room.memory.slice(target, target + size);
}

export function encodeLz4(bytes: Uint8Array, acceleration: number, kernel: Kernel): Uint8Array {
  const size = bytes.length;
  if (size > 0x7e000000) throw new InvalidInput(`lz4 takes at most ${0x7e000000} bytes, found ${size}`);
  const most = size + Math.ceil(size / 255) + 16;
  const room = kernel.reserve(size + 4 + most);
  room.memory.set(bytes, room.start);
  const target = room.start + size;
  new DataView(room.memory.buffer).setUint32(target, size, true);
  const effort = Math.min(Math.max(acceleration, 1), 65537); // LZ4's own bounds: beyond them nothing changes
  const length = room.lz4Encode(room.start, size, target + 4, most, effort);
  return room.memory.slice(target, target + 4 + length);
}
