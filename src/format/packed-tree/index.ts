/** PackedTree: octrees over particles, read, verified, built and asked; and the particles in HDF5 that they are made of. */
export { type CubeParticles, type Cubes, joinCubes, nearestInCubes, particlesInCubes } from "../snapshot/cubes.js";
export type { SnapshotDataset } from "../snapshot/dataset.js";
export { snapshot } from "../snapshot/format.js";
export { type OpenSnapshotOptions, openCubes, openSnapshot, snapshotTypes } from "../snapshot/open.js";
export type { ParticleType, Snapshot } from "../snapshot/snapshot.js";
export {
  encodeSnapshot,
  type NewParticles,
  numberedParticles,
  type SelectionOptions,
  selectedParticles,
  writeSnapshot,
} from "../snapshot/write.js";
export { openBareTree, type TreeDataset } from "./bare.js";
export { bareTree } from "./bare-format.js";
export { TreeBox, type Triple } from "./box.js";
export { type BuildTreeOptions, type BuiltTree, buildTree, type ParticlePositions } from "./build.js";
export { encodeTree } from "./encode.js";
export { type BuildOnDiskOptions, buildTreeOnDisk, type TreeOnDisk } from "./external.js";
export type { ParticleBatch, ParticleStream } from "./external-types.js";
export { type AskOptions, countInFile, type FoundParticles, particlesInFile } from "./file/ask.js";
export type { Blocks, Boxes, Pages } from "./file/blocks.js";
export { openParticles, type ParticleDataset } from "./file/dataset.js";
export type { Description, FileColumn, Part } from "./file/description.js";
export { packedTree } from "./file/format.js";
export type { Head } from "./file/layout.js";
export type { Span } from "./file/plan.js";
export { type BlockOptions, openParticleFile, type ParticleFile } from "./file/read.js";
export type { TreeRows } from "./file/rows.js";
export type { SampleLevel } from "./file/sample.js";
export { encodeParticles, encodeRows, type WriteParticlesOptions, writeParticles, writeRows } from "./file/write.js";
export type { TreeHeader } from "./header.js";
export { type NearestOptions, type Neighbours, nearestParticles } from "./nearest.js";
export type { Nodes } from "./nodes.js";
export { type ParseTreeOptions, parseTree } from "./parse.js";
export { inTreeOrder, joinParticles, type Particles, type TreeParts } from "./particles.js";
export {
  type Answers,
  countIn,
  countInEach,
  particlesIn,
  particlesInEach,
  type RangeOptions,
} from "./range.js";
export type { TreeRegion } from "./region.js";
export { type SliceOptions, slicesIn } from "./slices.js";
export type { PackedTree } from "./types.js";
export { validateTree } from "./validate.js";
