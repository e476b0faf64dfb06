/** A viewer in a page of one's own: the entry "octavo/viewer". */
import { InvalidInput } from "../errors.js";
import { open } from "../index.js";
import type { VectorDataset } from "../model/vectors.js";
import type { OpenOptions } from "../open.js";
import { Stage, type ViewerOptions } from "./stage.js";
import type { Look } from "./three/object.js";

export type { Bounds, Camera, Vector } from "../scene/camera.js";
export type { Filter, Status } from "./engine/engine.js";
export type { Picked } from "./engine/picked.js";
export type { Layer, Stage, ViewerOptions } from "./stage.js";
export type { Look } from "./three/object.js";

/** What is shown from the beginning, and how to reach it. */
export interface MountOptions extends ViewerOptions, Pick<OpenOptions, "fetch"> {
  /** Addresses, or datasets that are open already. */
  readonly data?: readonly (string | VectorDataset)[] | undefined;
  readonly look?: Look | undefined;
}

/** Fills an element with a viewer; its size is the element's. Call `dispose` when it goes. */
export async function mount(element: HTMLElement, options: MountOptions = {}): Promise<Stage> {
  const stage = new Stage(element, options);
  try {
    for (const item of options.data ?? []) {
      const dataset = typeof item === "string" ? await vectorsAt(item, options) : item;
      stage.add(dataset, nameOf(dataset.url), options.look);
    }
  } catch (error) {
    stage.dispose();
    throw error;
  }
  return stage;
}

/** The geometry at an address; InvalidInput where something else is there. */
export async function vectorsAt(url: string, options: OpenOptions = {}): Promise<VectorDataset> {
  const dataset = await open(url, options);
  if (dataset.kind === "vectors") return dataset;
  throw new InvalidInput(
    `${url} is ${dataset.kind === "array" ? "an array" : "a group"}, and the viewer shows geometry`,
  );
}

/** The last part of an address, as a name for people. */
export const nameOf = (url: string): string =>
  decodeURIComponent(url.replace(/\/+$/, "").split("/").at(-1) ?? url) || url;
