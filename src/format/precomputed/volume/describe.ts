/** From what somebody wants to the info of a volume: defaults that all readers take, coarser scales, parameters of shards. */
import type { DataType } from "../../../bytes/dtype.js";
import type { JsonObject } from "../../../bytes/json.js";
import { InvalidInput } from "../../../errors.js";
import { checkSharding } from "../sharded/parse.js";
import type { Sharding } from "../sharded/types.js";
import { cannotHold, dataTypeOf } from "./info.js";
import type { Scale, Triple, VolumeEncoding, VolumeInfo } from "./types.js";

/** What a new volume is to be. */
export interface VolumeDescription {
  /** Voxels. */
  readonly size: Triple;
  readonly dtype: DataType;
  readonly channels?: number | undefined;
  /** "segmentation" for uint32 and uint64, else "image", unless told. */
  readonly type?: VolumeInfo["type"] | undefined;
  /** Nanometres; 1, 1, 1 unless told. */
  readonly resolution?: Triple | undefined;
  /** The first voxel; 0, 0, 0 unless told. */
  readonly offset?: Triple | undefined;
  /** 64, 64, 64 unless told: what viewers load well. */
  readonly chunkSize?: Triple | undefined;
  /** "compressed_segmentation" for segmentations that it holds, else "raw", unless told. */
  readonly encoding?: VolumeEncoding | undefined;
  /** true: into shards, with parameters that suit the grid. */
  readonly sharding?: Sharding | boolean | undefined;
  /** How many scales: each coarser one halves the axes along which voxels are finest. 1 unless told. */
  readonly scales?: number | undefined;
  /** `mesh`, `skeletons`, `segment_properties` and whatever else the info is to say. */
  readonly extras?: JsonObject | undefined;
}

/** The info that a description comes to. */
export function volumeInfo(wanted: VolumeDescription): VolumeInfo {
  const { size, channels = 1, resolution = [1, 1, 1], offset = [0, 0, 0], extras = {} } = wanted;
  const dataType = dataTypeOf(wanted.dtype as { kind: string; size?: number });
  if (dataType === undefined) {
    const { kind, size: bytes } = wanted.dtype as { kind: string; size?: number };
    throw new InvalidInput(`volumes have no elements of ${kind} of ${bytes ?? "several"} bytes`, {
      hint: "They have uint8 to uint64, int8 to int32 and float32.",
    });
  }
  const type = wanted.type ?? (dataType === "uint32" || dataType === "uint64" ? "segmentation" : "image");
  const segmented: VolumeEncoding = { name: "compressed_segmentation", block: [8, 8, 8] };
  const holds = cannotHold(segmented, dataType, channels) === undefined;
  const encoding = wanted.encoding ?? (type === "segmentation" && holds ? segmented : { name: "raw" });
  const problem = cannotHold(encoding, dataType, channels);
  if (problem !== undefined) throw new InvalidInput(`the encoding ${encoding.name} ${problem}`);
  const chunk = wanted.chunkSize ?? [64, 64, 64];
  check("size", size, 1);
  check("chunkSize", chunk, 1);
  check("offset", offset, Number.MIN_SAFE_INTEGER);
  const scales: Scale[] = [];
  let next: Placement = { size, offset, resolution };
  for (let i = 0; i < (wanted.scales ?? 1); i++) {
    if (i > 0) next = coarser(next, factorFor(next));
    const sharding = wanted.sharding === true ? volumeSharding(gridOf(next.size, chunk), encoding) : wanted.sharding;
    if (sharding) checkSharding(sharding);
    scales.push({
      ...next,
      key: next.resolution.join("_"),
      chunkSizes: [chunk],
      encoding,
      sharding: sharding || null,
      extras: {},
    });
  }
  const keys = new Set(scales.map(({ key }) => key));
  if (keys.size < scales.length)
    throw new InvalidInput(`${scales.length} scales are more than a size of [${size}] has`);
  return { type, dtype: wanted.dtype as VolumeInfo["dtype"], channels, scales, extras };
}

function check(what: string, triple: Triple, least: number): void {
  if (triple.length !== 3 || !triple.every((n) => Number.isSafeInteger(n) && n >= least))
    throw new InvalidInput(
      `the ${what} of a volume should be three whole numbers${least > 0 ? " above 0" : ""}, found [${triple}]`,
    );
}

type Placement = Pick<Scale, "size" | "offset" | "resolution">;

const gridOf = (size: Triple, chunk: Triple): Triple =>
  size.map((length, axis) => Math.ceil(length / chunk[axis]!)) as unknown as Triple;

/** Twice along the axes whose voxels are less than twice the finest, so that voxels become cubes. */
function factorFor({ size, resolution }: Placement): Triple {
  const finest = Math.min(...resolution.filter((_, axis) => size[axis]! > 1));
  return size.map((length, axis) => (length > 1 && resolution[axis]! < 2 * finest ? 2 : 1)) as unknown as Triple;
}

/** All boxes of the coarser scale that hold something of the finer one. */
export function coarser({ size, offset, resolution }: Placement, factor: Triple): Placement {
  const first = offset.map((start, axis) => Math.floor(start / factor[axis]!));
  return {
    offset: first as unknown as Triple,
    size: size.map((n, axis) => Math.ceil((offset[axis]! + n) / factor[axis]!) - first[axis]!) as unknown as Triple,
    resolution: resolution.map((length, axis) => length * factor[axis]!) as unknown as Triple,
  };
}

/**
 * Shards that are boxes: all bits of the Morton code are used, from the lowest up. 512 chunks in a minishard, whose index then
 * takes a few kilobytes; 64 minishards in a shard, whose index takes one.
 */
export function volumeSharding(grid: Triple, encoding: VolumeEncoding): Sharding {
  const bits = grid.reduce((sum, length) => sum + Math.ceil(Math.log2(length)), 0);
  const preshiftBits = Math.min(9, bits);
  const minishardBits = Math.min(6, bits - preshiftBits);
  return {
    hash: "identity",
    preshiftBits,
    minishardBits,
    shardBits: bits - preshiftBits - minishardBits,
    indexEncoding: "gzip",
    dataEncoding: encoding.name === "png" || encoding.name === "jpeg" ? "raw" : "gzip",
  };
}
