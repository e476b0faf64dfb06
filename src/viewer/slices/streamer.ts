/** Slices as whoever draws them sees them, wherever they are read: in this thread (`SliceEngine`) or in a worker. */
import type { Volume } from "../../scene/volume.js";
import type { Timeline } from "../engine/timeline.js";
import type { View } from "../engine/view.js";
import type { PlacedSlice, SliceLook, SliceStatus } from "./engine.js";

/** What a volume says of itself. */
export interface VolumeAbout extends Omit<Volume, "levels"> {
  /** Voxels of each scale along x, y and z, finest first. */
  readonly shapes: readonly (readonly number[])[];
  readonly dtype: string;
}

export const aboutVolume = ({ levels, ...volume }: Volume): VolumeAbout => {
  const { kind, size } = levels[0]!.array.dtype as { kind: string; size: number };
  return { ...volume, shapes: levels.map(({ shape }) => shape), dtype: kind === "bool" ? kind : `${kind}${8 * size}` };
};

/** Streams slices to whoever draws them. */
export interface SliceStreamer {
  readonly about: VolumeAbout;
  /** The values that are black and white. */
  readonly range: readonly [number, number];
  readonly timeline: Timeline;
  /** Other planes, other colours. */
  set(change: SliceLook): void;
  /** Reads what this view needs; resolves when it is there, or when another look took its place. */
  look(view: View): Promise<void>;
  /** The pictures as they are now. */
  slices(): readonly PlacedSlice[];
  /** How far it is. */
  status(): SliceStatus;
  /** Ends every request, and gives back all that it holds. */
  dispose(): void;
}
