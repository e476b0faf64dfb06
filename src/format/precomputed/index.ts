/** Neuroglancer precomputed: volumes, skeletons, meshes, annotations and segment properties, sharded or not. */
export type { AnnotationDataset } from "./annotation/dataset.js";
export type {
  AnnotationInfo,
  AnnotationProperty,
  AnnotationType,
  PropertyType,
  SpatialLevel,
  ValuesAt,
} from "./annotation/info.js";
export type { Annotations, Related } from "./annotation/list.js";
export { type AnnotationCollection, type OpenedLevel, openAnnotations } from "./annotation/read.js";
export {
  type AnnotationDescription,
  type AnnotationsWritten,
  type AnnotationWriteOptions,
  type AnnotationWriter,
  createAnnotations,
} from "./annotation/write.js";
export { checkForNeuroglancer } from "./client/check.js";
export { checkServing, type Served, type ServingOptions } from "./client/serving.js";
export {
  type NeuroglancerState,
  neuroglancerState,
  type Shown,
  type StateLayer,
  type StateOptions,
  stateUrl,
} from "./client/state.js";
export { precomputed } from "./format.js";
export { type InfoLinks, linkInfo } from "./link.js";
export type { MeshDataset } from "./mesh/dataset.js";
export type { MeshChanges } from "./mesh/encode.js";
export type { MeshFragment } from "./mesh/fragment.js";
export type { LegacyMeshInfo, MeshInfo, MultiMeshInfo } from "./mesh/info.js";
export type { Mesh } from "./mesh/legacy.js";
export type { Lod, Manifest } from "./mesh/manifest.js";
export { type Meshes, type MeshOutline, openMeshes } from "./mesh/read.js";
export {
  createMeshes,
  type LegacyMeshDescription,
  type MeshDescription,
  type MeshesWritten,
  type MeshWriteOptions,
  type MeshWriter,
  type MultiMeshDescription,
} from "./mesh/write.js";
export type { SegmentPropertiesDataset } from "./properties/dataset.js";
export type { SegmentProperties, SegmentProperty } from "./properties/properties.js";
export { openSegmentProperties } from "./properties/read.js";
export { writeSegmentProperties } from "./properties/write.js";
export {
  type ChosenSharding,
  chooseSharding,
  type ValuesToCome,
} from "./sharded/choose.js";
export type { Compacted, CompactOptions } from "./sharded/edit.js";
export { formatSharding, parseSharding } from "./sharded/parse.js";
export type { Sharding, ShardingDocument } from "./sharded/types.js";
export type { SkeletonDataset } from "./skeleton/dataset.js";
export type { SkeletonAttribute, SkeletonInfo } from "./skeleton/info.js";
export { openSkeletons, type Skeletons } from "./skeleton/read.js";
export type { Skeleton } from "./skeleton/skeleton.js";
export {
  createSkeletons,
  type SkeletonDescription,
  type SkeletonsWritten,
  type SkeletonWriteOptions,
  type SkeletonWriter,
} from "./skeleton/write.js";
export {
  compactValues,
  createValues,
  editValues,
  type FoundValues,
  type IdRange,
  type OpenValuesOptions,
  openValues,
  repairValues,
  type ScanOptions,
  type ValueBatch,
  type ValueEditor,
  type ValueNames,
  type ValueReader,
  type ValuesWritten,
  type ValueWriter,
  verifyValues,
  type WriteValuesOptions,
} from "./values.js";
export {
  type Boxes,
  type CreateVolumeOptions,
  createVolume,
  downsample,
  type Method,
  openVolume,
  type Scale,
  type Triple,
  type VolumeArray,
  type VolumeDescription,
  type VolumeEncoding,
  type VolumeInfo,
  type VolumeWriter,
  volumeInfo,
  type WriteVolumeOptions,
  writeVolume,
} from "./volume/index.js";
