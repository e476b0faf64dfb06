/** A viewer in a page of one's own: the entry "octavo/viewer". */
import type { Dataset } from "../model/dataset.js";
import type { Source } from "./engine/source.js";
import { type LayerLook, Stage, type ViewerOptions } from "./stage.js";

export type { Bounds, Camera, Vector } from "../scene/camera.js";
export type { Plane } from "../scene/slice.js";
export type { Filter, Status } from "./engine/engine.js";
export type { Picked } from "./engine/picked.js";
export type { Files, Source } from "./engine/source.js";
export type { About, Streamer } from "./engine/streamer.js";
export type { SliceLook, SliceStatus } from "./slices/engine.js";
export type { SliceStreamer, VolumeAbout } from "./slices/streamer.js";
export type { Layer, LayerLook, Stage, VectorLayer, ViewerOptions, VolumeLayer } from "./stage.js";
export type { Look } from "./three/object.js";
export type { SliceObjectLook } from "./three/slices.js";

/** What is shown from the beginning, and how to reach it. */
export interface MountOptions extends ViewerOptions {
  /** Addresses and files, each read in a worker of its own, or datasets that are open already, read in this thread. */
  readonly data?: readonly (Source | Dataset)[] | undefined;
  readonly look?: LayerLook | undefined;
}

/** Fills an element with a viewer; its size is the element's. Call `dispose` when it goes. */
export async function mount(element: HTMLElement, options: MountOptions = {}): Promise<Stage> {
  options.signal?.throwIfAborted();
  const stage = new Stage(element, options);
  try {
    for (const item of options.data ?? []) await stage.add(item, undefined, options.look);
  } catch (error) {
    stage.dispose();
    throw error;
  }
  return stage;
}
