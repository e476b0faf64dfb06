/** What an engine understands, and what it says of how far it is. */
import type { Filter } from "./filter.js";

/** What an engine understands. */
export interface EngineOptions {
  /** Bytes of decoded pieces that are kept: 256 MiB unless told. */
  readonly memory?: number | undefined;
  /** Vertices per pixel of the view: a sixth unless told. */
  readonly detail?: number | undefined;
  /** Colours, as `octavo render --color`. */
  readonly color?: string | undefined;
  /** Only this part of the data. */
  readonly filter?: Filter | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Something else is to be drawn: the next frame has it. */
  readonly onChange?: (() => void) | undefined;
  /** A request began or ended: how much is there, and how much is under way. */
  readonly onProgress?: ((status: Status) => void) | undefined;
  /** A chunk is damaged or cannot be reached; the others are shown. */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** How far it is. */
export interface Status {
  readonly loading: boolean;
  readonly level: number | undefined;
  readonly vertices: number;
  readonly bytes: number;
  /** Chunks that are damaged or cannot be reached. */
  readonly missing: number;
  /** Some of the data were left out because there are too many for what is read as a whole. */
  readonly truncated: boolean;
  /** What the filter leaves is too much for the finest level: some or all of it is shown at a coarser one. */
  readonly coarse: boolean;
  /** What went over the network, where that is known. */
  readonly traffic?: { readonly requests: number; readonly bytes: number } | undefined;
}
