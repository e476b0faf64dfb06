/** Octavo in scenes of three.js: the entry "octavo/three". */
export type { Bounds, Camera, Vector } from "../../scene/camera.js";
export type { Plane, Slice } from "../../scene/slice.js";
export type { EngineOptions, Filter, Status } from "../engine/engine.js";
export type { Picked } from "../engine/picked.js";
export type { Files, Source } from "../engine/source.js";
export type { About, Streamer } from "../engine/streamer.js";
export type { View } from "../engine/view.js";
export type { PlacedSlice, SliceLook, SliceStatus } from "../slices/engine.js";
export type { SliceStreamer, VolumeAbout } from "../slices/streamer.js";
export type { StreamOptions } from "../stream.js";
export { type Look, VectorObject, type VectorObjectOptions } from "./object.js";
export { SliceObject, type SliceObjectLook, type SliceObjectOptions } from "./slices.js";
