/** Volumes: arrays [x, y, z, channel] at several scales. */
export { openVolume, type VolumeArray } from "./array.js";
export { type CreateVolumeOptions, createVolume, type VolumeWriter } from "./create.js";
export { type VolumeDescription, volumeInfo, volumeSharding } from "./describe.js";
export { type Boxes, downsample, type Method } from "./downsample.js";
export { formatVolume, parseVolume } from "./info.js";
export type { Scale, Triple, VolumeEncoding, VolumeInfo } from "./types.js";
export { type WriteVolumeOptions, writeVolume } from "./write.js";
