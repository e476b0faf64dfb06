/**
 * compressed_segmentation: labels in small blocks, each with a table of the few that it has and an index for each voxel. Of
 * chunks of shape [channel, z, y, x] and elements uint32 or uint64. Byte for byte what tensorstore and cloud-volume write.
 *
 * | words of 32 bits  | what                                                                                           |
 * |-------------------|------------------------------------------------------------------------------------------------|
 * | 1 for each channel| where the channel begins, in words                                                             |
 * | …                 | the channels, each as in kernel/plain/segmentation.ts; offsets inside count from its own start  |
 */
import { isFixed } from "../bytes/dtype.js";
import { Corrupt, InvalidInput } from "../errors.js";
import { type Block, decodeFault, type LabelKernel, loadLabelKernel, segmentationRoom } from "../kernel/labels.js";
import { placeFor } from "./room.js";
import type { ChunkSpec, CodecEntry, Into } from "./types.js";

/** A header has room for 24 bits of a table's place: larger blocks than this could not be told from one another. */
const LARGEST_BLOCK = 2 ** 24;

export const compressedSegmentationCodec: CodecEntry = {
  name: "precomputed.compressed_segmentation",
  async load({ block_size: block }) {
    if (!isBlock(block))
      throw new InvalidInput(
        `compressed_segmentation should have a block_size of three whole numbers above 0 whose product is at most 2^24, found ${JSON.stringify(block)}`,
      );
    const kernel = await loadLabelKernel();
    return {
      kind: "array-bytes",
      decode: (bytes, spec, _limits, into) => decodeSegmentation(bytes, spec, block, kernel, into),
      encode: (data, spec) => encodeSegmentation(data as Uint8Array, spec, block, kernel),
    };
  },
};

const isBlock = (value: unknown): value is Block =>
  Array.isArray(value) &&
  value.length === 3 &&
  value.every((length) => Number.isInteger(length) && length > 0) &&
  value[0] * value[1] * value[2] <= LARGEST_BLOCK;

/** What a chunk is made of: channels, each a volume of voxels of `size` bytes. */
function partsOf({ shape, dtype }: ChunkSpec): { channels: number; volume: Block; voxels: number; size: number } {
  const [channels, z, y, x] = shape;
  if (shape.length !== 4 || !isFixed(dtype) || dtype.kind !== "uint" || dtype.size < 4)
    throw new InvalidInput(
      `compressed_segmentation takes chunks [channel, z, y, x] of uint32 or uint64, found [${shape}] of ${dtype.kind} ${isFixed(dtype) ? dtype.size : ""}`,
    );
  return { channels: channels!, volume: [x!, y!, z!], voxels: x! * y! * z!, size: dtype.size };
}

const aligned = (size: number): number => (size + 15) & ~15;

export function decodeSegmentation(
  bytes: Uint8Array,
  spec: ChunkSpec,
  block: Block,
  kernel: LabelKernel,
  into?: Into,
): Uint8Array {
  const { channels, volume, voxels, size } = partsOf(spec);
  const words = bytes.length / 4;
  if (!Number.isInteger(words) || words < channels)
    throw new Corrupt(
      `compressed_segmentation of ${channels} channels should have whole words of 4 bytes, at least ${channels}, found ${bytes.length} bytes`,
    );
  const room = kernel.reserve(aligned(bytes.length) + channels * voxels * size);
  const target = room.start + aligned(bytes.length);
  room.memory.set(bytes, room.start);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let channel = 0; channel < channels; channel++) {
    const at = view.getUint32(4 * channel, true);
    if (at < channels || at > words)
      throw new Corrupt(
        `channel ${channel} of compressed_segmentation should begin between word ${channels} and ${words}, found ${at}`,
      );
    const to = target + channel * voxels * size;
    const fault = room.segmentationDecode(size, room.start + 4 * at, words - at, to, ...volume, ...block);
    if (fault !== 0)
      throw new Corrupt(`channel ${channel} of compressed_segmentation is damaged: ${decodeFault(fault)}`);
  }
  const found = room.memory.subarray(target, target + channels * voxels * size);
  if (into === "lend") return found;
  const place = placeFor(into, found.length);
  if (place === undefined) return found.slice();
  place.set(found);
  return place;
}

export function encodeSegmentation(data: Uint8Array, spec: ChunkSpec, block: Block, kernel: LabelKernel): Uint8Array {
  const { channels, volume, voxels, size } = partsOf(spec);
  if (data.length !== channels * voxels * size)
    throw new InvalidInput(
      `a chunk of shape [${spec.shape}] should have ${channels * voxels * size} bytes, found ${data.length}`,
    );
  const { most, scratch } = segmentationRoom(size, volume, block);
  const result = aligned(4 * channels + channels * most);
  const room = kernel.reserve(aligned(data.length) + result + scratch);
  room.memory.set(data, room.start);
  const target = room.start + aligned(data.length);
  const view = new DataView(room.memory.buffer);
  let end = target + 4 * channels;
  for (let channel = 0; channel < channels; channel++) {
    view.setUint32(target + 4 * channel, (end - target) / 4, true);
    const from = room.start + channel * voxels * size;
    const length = room.segmentationEncode(size, from, end, target + result, ...volume, ...block);
    if (length < 0)
      throw new InvalidInput(
        `a chunk of ${volume.join(" × ")} voxels has too many different labels for compressed_segmentation, whose tables end at 64 MiB`,
        { hint: "Choose smaller chunks." },
      );
    end += length;
  }
  return room.memory.slice(target, end);
}
